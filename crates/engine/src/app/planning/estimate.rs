//! Estimates the worst and the expected cost of a run before it starts.

use std::collections::BTreeSet;

use plenary_core::model::ask::BudgetReservation;
use plenary_core::model::ids::ExpertSlug;
use plenary_core::model::plan::{Plan, Seat};
use plenary_core::protocols::protocol::{InputSizes, PlannedRound, Protocol, UNUSUAL_ROUNDS};
use serde::Serialize;

use crate::app::spending::UsualReplies;
use crate::engine::batch_admission::ExpectedCost;
use crate::engine::budget::{usual_cost_for_bytes, worst_cost_for_bytes};

/// Bytes per token of a reply that becomes input of a later call.
const BYTES_PER_TOKEN: usize = 4;

/// Bytes around each fenced text.
const BYTES_AROUND: usize = 400;

/// Providers do not cache a shorter block: 1,024 tokens.
const CACHED_BYTES_MIN: usize = 1_024 * BYTES_PER_TOKEN;

/// Bytes of ` (1234567 bytes)` after a file name.
const BYTES_OF_A_SIZE: usize = 20;

#[derive(Debug, Serialize)]
pub struct CostEstimate {
    pub rounds: Vec<RoundEstimate>,
    pub calls: usize,
    pub tokens_max: u64,
    /// `None` if a price is unknown.
    pub usd_max: Option<f64>,
    /// With replies of usual length, and a conclusion that passes its audit.
    pub tokens_expected: u64,
    pub usd_expected: Option<f64>,
}

#[derive(Debug, Serialize)]
pub struct RoundEstimate {
    pub round: String,
    pub calls: usize,
    pub tokens_max: u64,
    pub usd_max: Option<f64>,
}

/// Worst cost: one call each without retries, every reply of maximal length, and one revision of
/// the conclusion. The expected cost has replies of usual length and no revision.
pub fn estimate_cost(
    protocol: &dyn Protocol,
    plan: &Plan,
    question: &str,
    usual: &UsualReplies,
) -> CostEstimate {
    let planned = planned_calls(protocol, plan, question, &|seat| seat.output_tokens_max);
    let expected = expected_calls(protocol, plan, question, usual);
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
        tokens_expected: expected.iter().map(|(_, cost)| cost.tokens).sum(),
        usd_expected: expected
            .iter()
            .map(|(_, cost)| cost.usd_micros)
            .sum::<Option<u64>>()
            .map(|micros| micros as f64 / 1e6),
        rounds,
    }
}

/// Expected cost of a council in a batch. Seats without a known price count as free.
pub fn expected_cost(
    protocol: &dyn Protocol,
    plan: &Plan,
    question: &str,
    usual: &UsualReplies,
) -> ExpectedCost {
    let mut expected = ExpectedCost::default();
    for (worst, usual) in expected_calls(protocol, plan, question, usual) {
        let [worst, usual] = [worst, usual].map(|cost| cost.usd_micros.unwrap_or(0));
        expected.council = expected.council.saturating_add(usual);
        let surplus = expected.call_worst.saturating_sub(expected.call_usual);
        if worst.saturating_sub(usual) >= surplus {
            (expected.call_usual, expected.call_worst) = (usual, worst);
        }
    }
    expected
}

/// Worst and expected cost of each usual call, if the replies before it have their usual length.
fn expected_calls(
    protocol: &dyn Protocol,
    plan: &Plan,
    question: &str,
    usual: &UsualReplies,
) -> Vec<(BudgetReservation, BudgetReservation)> {
    let planned = planned_calls(protocol, plan, question, &|seat| usual.output_tokens(seat));
    let shared = asked_bytes(plan, question);
    // The models that have read the shared block in an earlier round. Calls of one round go out
    // together, so none of them finds what another one wrote into the cache.
    let mut readers: BTreeSet<(&ExpertSlug, &str)> = BTreeSet::new();
    let mut costs = Vec::new();
    for round in planned.iter().filter(|round| !UNUSUAL_ROUNDS.contains(&round.name)) {
        for call in &round.calls {
            let (provider, model) = (&call.seat.provider, call.seat.model.as_str());
            let has_block = call.bytes >= shared && shared >= CACHED_BYTES_MIN;
            let is_cached = has_block && readers.contains(&(provider, model));
            let cached = if is_cached { shared } else { 0 };
            let output = usual.output_tokens(call.seat);
            let expected = usual_cost_for_bytes(call.seat, call.bytes, cached, output);
            costs.push((worst_cost_for_bytes(call.seat, call.bytes), expected));
        }
        let with_block = round.calls.iter().filter(|call| call.bytes >= shared);
        readers.extend(with_block.map(|call| (&call.seat.provider, call.seat.model.as_str())));
    }
    costs
}

/// The calls of each round, for replies of this many tokens.
fn planned_calls<'a>(
    protocol: &dyn Protocol,
    plan: &'a Plan,
    question: &str,
    reply_tokens: &dyn Fn(&Seat) -> u32,
) -> Vec<PlannedRound<'a>> {
    let reply = |seat: &Seat| reply_tokens(seat) as usize * BYTES_PER_TOKEN + BYTES_AROUND;
    let sizes = InputSizes {
        question: question.len(),
        asked: asked_bytes(plan, question),
        replies: plan.participant_seats().map(reply).sum(),
    };
    protocol.planned_rounds(plan, &sizes)
}

/// The question and what comes with it: the block that all messages of a run share.
fn asked_bytes(plan: &Plan, question: &str) -> usize {
    let files: usize = plan.context.files.iter().map(|file| file.text.len() + BYTES_AROUND).sum();
    let names: usize =
        plan.context.indexed.iter().map(|file| file.path.len() + BYTES_OF_A_SIZE).sum();
    question.len() + files + names + BYTES_AROUND
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
