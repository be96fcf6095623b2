//! What comes of reading a reply.

use crate::domain::transcript::{Document, Reading};

pub type Normalised<T> = Result<Read<T>, Unreadable>;

/// A document that was found in a reply.
#[derive(Debug, Clone, PartialEq)]
pub struct Read<T> {
    pub document: T,
    /// Whether its JSON had to be mended before it could be read.
    pub repaired: bool,
    /// Whether the reply ends before the document does, so that its end may be missing.
    pub truncated: bool,
}

/// Why there is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Unreadable {
    /// Names the place and the fault; quotes a few plain characters of the reply at most.
    pub reason: String,
    /// It was a refusal to answer, not a failure to write JSON.
    pub refusal: bool,
}

impl Unreadable {
    pub(super) fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), refusal: false }
    }
}

/// The reading as the transcript keeps it; what kind of document it is, the caller knows.
pub fn reading<T>(normalised: Normalised<T>, document: impl FnOnce(T) -> Document) -> Reading {
    match normalised {
        Ok(Read { document: found, repaired, truncated }) => {
            Reading::Read { document: document(found), repaired, truncated }
        }
        Err(Unreadable { reason, refusal }) => Reading::Unreadable { reason, refusal },
    }
}
