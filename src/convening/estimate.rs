//! Estimates the worst and the expected cost of a run before it starts.

use serde::Serialize;

use crate::domain::ask::{Purpose, Reservation};
use crate::domain::ids::ExpertSlug;
use crate::domain::plan::{Auditing, Plan, Role, Seat};
use crate::engine::{
    ExpectedCost, usual_cost_for_bytes, usual_output_tokens, worst_cost_for_bytes,
};
use crate::prompting::{gate_system, system};

/// Bytes per token of a reply that becomes input of a later call.
const BYTES_PER_TOKEN: usize = 4;

/// Bytes around each fenced text.
const BYTES_AROUND: usize = 400;

/// Bytes of ` (1234567 bytes)` after a file name.
const BYTES_OF_A_SIZE: usize = 20;

/// Bytes of a conclusion: five fields, some long.
const CONCLUSION_BYTES: usize = 8_000;

#[derive(Debug, Serialize)]
pub struct Estimate {
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
pub fn estimate(plan: &Plan, question: &str) -> Estimate {
    let planned = planned_calls(plan, question, |seat| seat.output_tokens_max);
    let rounds: Vec<RoundEstimate> = planned
        .iter()
        .map(|(name, calls)| {
            let worst = calls.iter().map(|call| worst_cost_for_bytes(call.seat, call.bytes));
            round(name, &worst.collect::<Vec<_>>())
        })
        .collect();
    Estimate {
        calls: rounds.iter().map(|round| round.calls).sum(),
        tokens_max: rounds.iter().map(|round| round.tokens_max).sum(),
        usd_max: rounds.iter().map(|round| round.usd_max).sum(),
        rounds,
    }
}

/// Expected cost: every reply of usual length. Seats without a known price count as free.
pub fn expected_cost(plan: &Plan, question: &str) -> ExpectedCost {
    let mut expected = ExpectedCost::default();
    let planned = planned_calls(plan, question, usual_output_tokens);
    for call in planned.iter().flat_map(|(_, calls)| calls) {
        let usual = usual_cost_for_bytes(call.seat, call.bytes).usd_micros.unwrap_or(0);
        let worst = worst_cost_for_bytes(call.seat, call.bytes).usd_micros.unwrap_or(0);
        expected.council = expected.council.saturating_add(usual);
        if worst - usual >= expected.call_worst - expected.call_usual {
            (expected.call_usual, expected.call_worst) = (usual, worst);
        }
    }
    expected
}

/// A call of the plan and the bytes it sends.
struct PlannedCall<'a> {
    seat: &'a Seat,
    bytes: usize,
}

/// The calls of each round, for replies of this many tokens.
fn planned_calls<'a>(
    plan: &'a Plan,
    question: &str,
    reply_tokens: fn(&Seat) -> u32,
) -> Vec<(&'static str, Vec<PlannedCall<'a>>)> {
    let participants: Vec<&Seat> =
        plan.seats.iter().filter(|seat| seat.roles.contains(&Role::Participant)).collect();
    let files: usize = plan.context.files.iter().map(|file| file.text.len() + BYTES_AROUND).sum();
    let names: usize =
        plan.context.indexed.iter().map(|file| file.path.len() + BYTES_OF_A_SIZE).sum();
    let asked = question.len() + files + names + judged(plan) + BYTES_AROUND;
    let reply = |seat: &&Seat| reply_tokens(seat) as usize * BYTES_PER_TOKEN + BYTES_AROUND;
    let opinions: usize = participants.iter().map(reply).sum();
    let bytes = |purpose| match purpose {
        Purpose::Opinion | Purpose::Restatement | Purpose::Judgement => asked,
        Purpose::Review | Purpose::CrossReading => asked + opinions,
        Purpose::Adjudication | Purpose::Synthesis => asked + opinions * 2,
        Purpose::Conclusion | Purpose::Revision => asked + opinions * 3,
        Purpose::Audit => question.len() + CONCLUSION_BYTES,
    };
    let call = |seat: &'a Seat, purpose| PlannedCall {
        seat,
        bytes: told(plan, seat, purpose).len() + bytes(purpose),
    };
    let named = |name: &ExpertSlug, purpose| -> Vec<PlannedCall<'a>> {
        plan.seat(name).map(|seat| call(seat, purpose)).into_iter().collect()
    };
    let all = |purpose| participants.iter().map(|seat| call(seat, purpose)).collect::<Vec<_>>();
    let (first, second, third) = match plan.gate {
        Some(_) => (Purpose::Judgement, Purpose::CrossReading, Purpose::Adjudication),
        None => (Purpose::Opinion, Purpose::Review, Purpose::Synthesis),
    };
    let chairing = plan.chairs.first().map(|chair| named(chair, third)).unwrap_or_default();
    let mut rounds = vec![("R1", all(first)), ("R2", all(second)), ("R3", chairing)];
    if let Some(ending) = &plan.conclusion {
        rounds.push(("conclusion", named(&ending.synthesizer, Purpose::Conclusion)));
        if ending.auditing == Auditing::Audited {
            rounds.push(("audit", named(&ending.critic, Purpose::Audit)));
            rounds.push(("revision", named(&ending.reviser, Purpose::Revision)));
            rounds.push(("second audit", named(&ending.critic, Purpose::Audit)));
        }
    }
    rounds
}

/// Least tokens of a review: both rounds of every deliberator, and their replies at once. With less
/// it would stop half way.
pub fn least_tokens(plan: &Plan) -> u64 {
    let about = judged(plan) + BYTES_AROUND;
    let participants = plan.seats.iter().filter(|seat| seat.roles.contains(&Role::Participant));
    let least = |seat: &Seat| {
        let read = |purpose| (told(plan, seat, purpose).len() + about) / BYTES_PER_TOKEN;
        let both = read(Purpose::Judgement) + read(Purpose::CrossReading);
        both as u64 + u64::from(seat.output_tokens_max)
    };
    participants.map(least).sum()
}

/// System prompt of a seat.
fn told(plan: &Plan, seat: &Seat, purpose: Purpose) -> String {
    let gate = plan.gate.as_deref();
    let at_the_gate = gate.and_then(|gate| gate_system(gate, purpose, &seat.name));
    at_the_gate.unwrap_or_else(|| system(purpose, plan.mode))
}

/// Bytes of a review's artifact and of its deliberators' context.
fn judged(plan: &Plan) -> usize {
    let Some(gate) = plan.gate.as_deref() else { return 0 };
    let context = gate.deliberators.iter().flat_map(|one| &one.context);
    let context: usize = context.filter_map(|file| file.text.as_ref()).map(String::len).sum();
    gate.artifact.text.len() + context
}

fn round(name: &str, worst: &[Reservation]) -> RoundEstimate {
    let micros: Option<u64> = worst.iter().map(|cost| cost.usd_micros).sum();
    RoundEstimate {
        round: name.to_owned(),
        calls: worst.len(),
        tokens_max: worst.iter().map(|cost| cost.tokens).sum(),
        usd_max: micros.map(|micros| micros as f64 / 1e6),
    }
}
