//! Selects the document type of a run by its protocol.

use serde::Serialize;

use crate::domain::dialogue::Protocol;
use crate::domain::transcript::Transcript;
use crate::export::conclusion::{Closed, closed};
use crate::export::council::{self, Deliberated};
use crate::export::gate::{self, ReviewDocument};

/// The result of a run, as its command prints it.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum RunDocument {
    Council(Box<Deliberated>),
    Review(Box<ReviewDocument>),
    /// In an alignment dialogue only the conclusion is a run.
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
