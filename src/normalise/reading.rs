//! What comes of reading a reply.

use crate::domain::council::opinion::Opinion;
use crate::domain::council::report::Report;
use crate::domain::council::review::Review;
use crate::domain::transcript::{Document, Reading};

pub type Normalised<T> = Result<Read<T>, Unreadable>;

/// A document that was found in a reply.
#[derive(Debug, Clone, PartialEq)]
pub struct Read<T> {
    pub document: T,
    /// Whether its JSON had to be mended before it could be read.
    pub repaired: bool,
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

/// The reading as the transcript keeps it.
pub fn reading<T: Into<Document>>(normalised: Normalised<T>) -> Reading {
    match normalised {
        Ok(Read { document, repaired }) => Reading::Read { document: document.into(), repaired },
        Err(Unreadable { reason, refusal }) => Reading::Unreadable { reason, refusal },
    }
}

impl From<Opinion> for Document {
    fn from(opinion: Opinion) -> Self {
        Self::Opinion(Box::new(opinion))
    }
}

impl From<Review> for Document {
    fn from(review: Review) -> Self {
        Self::Review(Box::new(review))
    }
}

impl From<Report> for Document {
    fn from(report: Report) -> Self {
        Self::Report(Box::new(report))
    }
}
