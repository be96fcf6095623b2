//! What a run may cost at the most, before anything is asked.

use serde::Serialize;

use crate::domain::ask::{Purpose, Reservation};
use crate::domain::plan::{Plan, Role, Seat};
use crate::engine::worst_of;
use crate::prompting::system;

/// A token is at most about this many bytes when it comes back as somebody's opinion.
const BYTES_PER_TOKEN: usize = 4;

/// What stands around each fenced text.
const BYTES_AROUND: usize = 400;

/// ` (1234567 bytes)` behind a name.
const BYTES_OF_A_SIZE: usize = 20;

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

/// One call each, without retries; every reply as long as it may be.
pub fn estimate(plan: &Plan, question: &str) -> Estimate {
    let participants: Vec<&Seat> =
        plan.seats.iter().filter(|seat| seat.roles.contains(&Role::Participant)).collect();
    let files: usize = plan.context.files.iter().map(|file| file.text.len() + BYTES_AROUND).sum();
    let names: usize =
        plan.context.indexed.iter().map(|file| file.path.len() + BYTES_OF_A_SIZE).sum();
    let asked = question.len() + files + names + BYTES_AROUND;
    let reply = |seat: &&&Seat| seat.output_tokens_max as usize * BYTES_PER_TOKEN + BYTES_AROUND;
    let opinions: usize = participants.iter().map(|seat| reply(&seat)).sum();
    let bytes = |purpose| match purpose {
        Purpose::Opinion => asked,
        Purpose::Review => asked + opinions,
        Purpose::Synthesis
        | Purpose::Conclusion
        | Purpose::Audit
        | Purpose::Revision
        | Purpose::Restatement => asked + opinions * 2,
    };
    let cost =
        |seat: &Seat, purpose| worst_of(seat, system(purpose, plan.mode).len() + bytes(purpose));
    let chair = plan.chairs.first().and_then(|name| plan.seat(name));
    let all = |purpose| -> Vec<Reservation> {
        participants.iter().map(|seat| cost(seat, purpose)).collect()
    };
    let chairing = chair.map(|seat| cost(seat, Purpose::Synthesis));
    let rounds = vec![
        round("R1", &all(Purpose::Opinion)),
        round("R2", &all(Purpose::Review)),
        round("R3", chairing.as_slice()),
    ];
    Estimate {
        calls: rounds.iter().map(|round| round.calls).sum(),
        tokens_max: rounds.iter().map(|round| round.tokens_max).sum(),
        usd_max: rounds.iter().map(|round| round.usd_max).sum(),
        rounds,
    }
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
