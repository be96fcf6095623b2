//! Parses reply text into typed documents, or returns the exact reason why it cannot.
//!
//! Steps: strip thinking, find candidates, parse JSON (with repairs if needed), coerce values to
//! the schema, check the rules of the document. Nothing is guessed: an unreadable reply is recorded
//! with its reason.

mod audit;
mod candidates;
mod coerce;
mod conclusion;
mod council;
mod examiner;
mod gate;
mod json;
mod reading;
mod refusal;
mod repair;
mod reply;
mod restatement;
mod rigid;
mod schema;
mod synonyms;
mod think;
mod truncation;

#[cfg(test)]
mod audit_tests;
#[cfg(test)]
mod conclusion_tests;
#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod truncation_tests;

pub use audit::parse_audit;
pub use conclusion::{parse_conclusion, parse_revision};
pub use council::{parse_opinion, parse_peer_review, parse_report};
pub use gate::{parse_adjudication, parse_judgement};
pub use reading::{ParseResult, ParsedReply, UnreadableReply, to_parse_outcome, unreadable};
pub use restatement::parse_restatement;
#[cfg(test)]
use schema::opinion_schema;
pub use schema::{ReplyShape, reply_schema};
