//! From the transcript to the next step, whichever protocol runs.

use super::step::Step;
use super::{conclusion, council, gate};
use crate::domain::dialogue::Protocol;
use crate::domain::transcript::Transcript;

/// What the engine must do next: the rounds of the protocol, then the ending all share.
pub fn next(transcript: &Transcript) -> Step {
    let rounds = match transcript.opening.protocol {
        Protocol::Council => council::next(transcript),
        // What a review comes to is a verdict, and no conclusion.
        Protocol::Review => Some(gate::next(transcript)),
        // Others lead its rounds; what is run on it is its ending.
        Protocol::Alignment => None,
    };
    rounds.unwrap_or_else(|| conclusion::next(transcript))
}
