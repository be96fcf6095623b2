//! Result types of parsing a reply.

use crate::domain::transcript::{ParseOutcome, ReplyDocument};

pub type ParseResult<T> = Result<ParsedReply<T>, UnreadableReply>;

/// A document parsed from a reply.
#[derive(Debug, Clone, PartialEq)]
pub struct ParsedReply<T> {
    pub document: T,
    /// Whether the JSON needed repairs.
    pub repaired: bool,
    /// Whether the reply ends before the document does, so that the end may be missing.
    pub truncated: bool,
}

/// The reply has no readable document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct UnreadableReply {
    /// Names the path and the error; quotes at most a few plain characters of the reply.
    pub reason: String,
    /// The model refused to answer.
    pub refusal: bool,
}

impl UnreadableReply {
    pub(super) fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), refusal: false }
    }
}

/// Converts the result to the form kept in the run state; `document` wraps the parsed value in its
/// variant.
pub fn to_parse_outcome<T>(
    normalised: ParseResult<T>,
    document: impl FnOnce(T) -> ReplyDocument,
) -> ParseOutcome {
    match normalised {
        Ok(ParsedReply { document: found, repaired, truncated }) => {
            ParseOutcome::Parsed { document: document(found), repaired, truncated }
        }
        Err(UnreadableReply { reason, refusal }) => ParseOutcome::Unreadable { reason, refusal },
    }
}

/// A reply that cannot be used, for this reason.
pub fn unreadable(reason: &str) -> ParseOutcome {
    ParseOutcome::Unreadable { reason: reason.to_owned(), refusal: false }
}
