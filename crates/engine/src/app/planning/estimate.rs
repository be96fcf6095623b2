//! Estimates the worst and the expected cost of a run before it starts.

use plenary_core::model::ask::BudgetReservation;
use plenary_core::model::plan::{Plan, Seat};
use plenary_core::protocols::protocol::{InputSizes, PlannedRound, Protocol};
use serde::Serialize;

use crate::engine::batch_admission::ExpectedCost;
use crate::engine::budget::{usual_cost_for_bytes, usual_output_tokens, worst_cost_for_bytes};

/// Bytes per token of a reply that becomes input of a later call.
const BYTES_PER_TOKEN: usize = 4;

/// Bytes around each fenced text.
const BYTES_AROUND: usize = 400;

/// Bytes of ` (1234567 bytes)` after a file name.
const BYTES_OF_A_SIZE: usize = 20;

#[derive(Debug, Serialize)]
pub struct CostEstimate {
    pub rounds: Vec<RoundEstimate>,
    pub calls: usize,
    pub tokens_max: u64,
    /// `None` if a price is unknown.
    pub usd_max: Option<f64>,
}

#[derive(Debug, Serialize)]
pub struct RoundEstimate {
    pub round: String,
    pub calls: usize,
    pub tokens_max: u64,
    pub usd_max: Option<f64>,
}

/// Worst cost: one call each without retries, every reply of maximal length, and one revision of
/// the conclusion.
pub fn estimate_cost(protocol: &dyn Protocol, plan: &Plan, question: &str) -> CostEstimate {
    let planned = planned_calls(protocol, plan, question, |seat| seat.output_tokens_max);
    let rounds: Vec<RoundEstimate> = planned
        .iter()
        .map(|planned| {
            let calls = planned.calls.iter();
            let worst = calls.map(|call| worst_cost_for_bytes(call.seat, call.bytes));
            round_estimate(planned.name, &worst.collect::<Vec<_>>())
        })
        .collect();
    CostEstimate {
        calls: rounds.iter().map(|round| round.calls).sum(),
        tokens_max: rounds.iter().map(|round| round.tokens_max).sum(),
        usd_max: rounds.iter().map(|round| round.usd_max).sum(),
        rounds,
    }
}

/// Expected cost: every reply of usual length. Seats without a known price count as free.
pub fn expected_cost(protocol: &dyn Protocol, plan: &Plan, question: &str) -> ExpectedCost {
    let mut expected = ExpectedCost::default();
    let planned = planned_calls(protocol, plan, question, usual_output_tokens);
    for call in planned.iter().flat_map(|round| &round.calls) {
        let usual = usual_cost_for_bytes(call.seat, call.bytes).usd_micros.unwrap_or(0);
        let worst = worst_cost_for_bytes(call.seat, call.bytes).usd_micros.unwrap_or(0);
        expected.council = expected.council.saturating_add(usual);
        if worst - usual >= expected.call_worst - expected.call_usual {
            (expected.call_usual, expected.call_worst) = (usual, worst);
        }
    }
    expected
}

/// The calls of each round, for replies of this many tokens.
fn planned_calls<'a>(
    protocol: &dyn Protocol,
    plan: &'a Plan,
    question: &str,
    reply_tokens: fn(&Seat) -> u32,
) -> Vec<PlannedRound<'a>> {
    let files: usize = plan.context.files.iter().map(|file| file.text.len() + BYTES_AROUND).sum();
    let names: usize =
        plan.context.indexed.iter().map(|file| file.path.len() + BYTES_OF_A_SIZE).sum();
    let reply = |seat: &Seat| reply_tokens(seat) as usize * BYTES_PER_TOKEN + BYTES_AROUND;
    let sizes = InputSizes {
        question: question.len(),
        asked: question.len() + files + names + BYTES_AROUND,
        replies: plan.participant_seats().map(reply).sum(),
    };
    protocol.planned_rounds(plan, &sizes)
}

/// The least number of tokens of a review. With fewer it would stop half way.
pub fn least_tokens(plan: &Plan) -> u64 {
    plenary_core::protocols::review::protocol::least_tokens(plan, BYTES_AROUND, BYTES_PER_TOKEN)
}

fn round_estimate(name: &str, worst: &[BudgetReservation]) -> RoundEstimate {
    let micros: Option<u64> = worst.iter().map(|cost| cost.usd_micros).sum();
    RoundEstimate {
        round: name.to_owned(),
        calls: worst.len(),
        tokens_max: worst.iter().map(|cost| cost.tokens).sum(),
        usd_max: micros.map(|micros| micros as f64 / 1e6),
    }
}
