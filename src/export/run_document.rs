//! The document of a run: which one it has is said by its protocol, and only here.

use serde::Serialize;

use crate::domain::dialogue::Protocol;
use crate::domain::transcript::Transcript;
use crate::export::conclusion::{Closed, closed};
use crate::export::council::{self, Deliberated};
use crate::export::gate::{self, ReviewDocument};

/// What a run came to, as its command prints it.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum RunDocument {
    Council(Box<Deliberated>),
    Review(Box<ReviewDocument>),
    /// Of a dialogue that somebody leads nothing is run but its ending.
    Closing(Box<Closed>),
}

impl RunDocument {
    pub fn of(transcript: &Transcript) -> Self {
        match transcript.opening.protocol {
            Protocol::Council => Self::Council(Box::new(council::document(transcript))),
            Protocol::Review => Self::Review(Box::new(gate::document(transcript))),
            Protocol::Alignment => Self::Closing(Box::new(closed(transcript))),
        }
    }
}
