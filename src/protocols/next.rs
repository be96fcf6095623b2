//! From the transcript to the next step, whichever protocol runs.

use super::step::Step;
use super::{conclusion, council};
use crate::domain::dialogue::Protocol;
use crate::domain::transcript::Transcript;

/// What the engine must do next: the rounds of the protocol, then the ending all share.
pub fn next(transcript: &Transcript) -> Step {
    let rounds = match transcript.opening.protocol {
        Protocol::Council => council::next(transcript),
        // Others lead their rounds; what is run on them is their ending.
        Protocol::Alignment | Protocol::Review => None,
    };
    rounds.unwrap_or_else(|| conclusion::next(transcript))
}
