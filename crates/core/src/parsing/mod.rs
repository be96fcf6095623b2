//! Parses reply text into typed documents, or returns the exact reason why it cannot.
//!
//! Steps: strip thinking, find candidates, parse JSON (with repairs if needed), coerce values to
//! the schema, check the rules of the document. Nothing is guessed: an unreadable reply is recorded
//! with its reason.

pub mod candidates;
pub mod coerce;
#[cfg(test)]
mod hostile_tests;
pub mod json;
pub mod plain_text;
pub mod reply;
pub mod schema;
pub mod strict;
#[cfg(test)]
mod truncation_tests;
