//! What a run may cost at the most, before anything is asked.

use serde::Serialize;

use crate::domain::ask::{Purpose, Reservation};
use crate::domain::ids::ExpertSlug;
use crate::domain::plan::{Auditing, Plan, Role, Seat};
use crate::engine::worst_of;
use crate::prompting::{gate_system, system};

/// A token is at most about this many bytes when it comes back as somebody's opinion.
const BYTES_PER_TOKEN: usize = 4;

/// What stands around each fenced text.
const BYTES_AROUND: usize = 400;

/// ` (1234567 bytes)` behind a name.
const BYTES_OF_A_SIZE: usize = 20;

/// Five fields, of which some may be long.
const CONCLUSION_BYTES: usize = 8_000;

#[derive(Debug, Serialize)]
pub struct Estimate {
    pub rounds: Vec<RoundEstimate>,
    pub calls: usize,
    pub tokens_max: u64,
    /// Nothing, when a price is not known.
    pub usd_max: Option<f64>,
}

#[derive(Debug, Serialize)]
pub struct RoundEstimate {
    pub round: String,
    pub calls: usize,
    pub tokens_max: u64,
    pub usd_max: Option<f64>,
}

/// One call each, without retries; every reply as long as it may be, and the conclusion
/// objected to.
pub fn estimate(plan: &Plan, question: &str) -> Estimate {
    let participants: Vec<&Seat> =
        plan.seats.iter().filter(|seat| seat.roles.contains(&Role::Participant)).collect();
    let files: usize = plan.context.files.iter().map(|file| file.text.len() + BYTES_AROUND).sum();
    let names: usize =
        plan.context.indexed.iter().map(|file| file.path.len() + BYTES_OF_A_SIZE).sum();
    let asked = question.len() + files + names + judged(plan) + BYTES_AROUND;
    let reply = |seat: &&&Seat| seat.output_tokens_max as usize * BYTES_PER_TOKEN + BYTES_AROUND;
    let opinions: usize = participants.iter().map(|seat| reply(&seat)).sum();
    let bytes = |purpose| match purpose {
        Purpose::Opinion | Purpose::Restatement | Purpose::Judgement => asked,
        Purpose::Review | Purpose::CrossReading => asked + opinions,
        Purpose::Adjudication | Purpose::Synthesis => asked + opinions * 2,
        Purpose::Conclusion | Purpose::Revision => asked + opinions * 3,
        Purpose::Audit => question.len() + CONCLUSION_BYTES,
    };
    let cost =
        |seat: &Seat, purpose| worst_of(seat, told(plan, seat, purpose).len() + bytes(purpose));
    let named = |name: &ExpertSlug, purpose| plan.seat(name).map(|seat| cost(seat, purpose));
    let all = |purpose| -> Vec<Reservation> {
        participants.iter().map(|seat| cost(seat, purpose)).collect()
    };
    let (first, second, third) = match plan.gate {
        Some(_) => (Purpose::Judgement, Purpose::CrossReading, Purpose::Adjudication),
        None => (Purpose::Opinion, Purpose::Review, Purpose::Synthesis),
    };
    let chairing = plan.chairs.first().and_then(|chair| named(chair, third));
    let mut rounds =
        vec![round("R1", &all(first)), round("R2", &all(second)), round("R3", chairing.as_slice())];
    if let Some(ending) = &plan.conclusion {
        let drafting = named(&ending.synthesizer, Purpose::Conclusion);
        rounds.push(round("conclusion", drafting.as_slice()));
        if ending.auditing == Auditing::Audited {
            let auditing = named(&ending.critic, Purpose::Audit);
            let mending = named(&ending.reviser, Purpose::Revision);
            rounds.push(round("audit", auditing.as_slice()));
            rounds.push(round("revision", mending.as_slice()));
            rounds.push(round("second audit", auditing.as_slice()));
        }
    }
    Estimate {
        calls: rounds.iter().map(|round| round.calls).sum(),
        tokens_max: rounds.iter().map(|round| round.tokens_max).sum(),
        usd_max: rounds.iter().map(|round| round.usd_max).sum(),
        rounds,
    }
}

/// What a review takes at the least: both readings by everybody, and room for what four may
/// reply at once. With less it would stop half way.
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

/// The instructions of a seat.
fn told(plan: &Plan, seat: &Seat, purpose: Purpose) -> String {
    let gate = plan.gate.as_deref();
    let at_the_gate = gate.and_then(|gate| gate_system(gate, purpose, &seat.name));
    at_the_gate.unwrap_or_else(|| system(purpose, plan.mode))
}

/// What a review is about: the artifact, and what its deliberators judge by.
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
