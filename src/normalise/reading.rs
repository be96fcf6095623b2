//! Result types of parsing a reply.

use crate::domain::transcript::{Document, Reading};

pub type Normalised<T> = Result<Read<T>, Unreadable>;

/// A document parsed from a reply.
#[derive(Debug, Clone, PartialEq)]
pub struct Read<T> {
    pub document: T,
    /// Whether the JSON needed repairs.
    pub repaired: bool,
    /// Whether the reply ends before the document does, so that the end may be missing.
    pub truncated: bool,
}

/// The reply has no readable document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Unreadable {
    /// Names the path and the error; quotes at most a few plain characters of the reply.
    pub reason: String,
    /// The model refused to answer.
    pub refusal: bool,
}

impl Unreadable {
    pub(super) fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), refusal: false }
    }
}

/// Converts the result to the form kept in the run state; `document` wraps the parsed value in its
/// variant.
pub fn reading<T>(normalised: Normalised<T>, document: impl FnOnce(T) -> Document) -> Reading {
    match normalised {
        Ok(Read { document: found, repaired, truncated }) => {
            Reading::Read { document: document(found), repaired, truncated }
        }
        Err(Unreadable { reason, refusal }) => Reading::Unreadable { reason, refusal },
    }
}

/// A reply that cannot be used, for this reason.
pub fn unreadable(reason: &str) -> Reading {
    Reading::Unreadable { reason: reason.to_owned(), refusal: false }
}
