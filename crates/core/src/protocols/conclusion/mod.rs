//! The conclusion protocol (seed 000): five fields, a critic who sees nothing else, at most one
//! revision, and a terminal state.

pub mod critic_input;
pub mod document;
#[cfg(test)]
mod document_tests;
pub mod format;
pub mod messages;
pub mod next;
pub mod page;
#[cfg(test)]
mod page_tests;
pub mod parse;
#[cfg(test)]
mod parse_audit_tests;
pub mod parse_fields;
#[cfg(test)]
pub mod parse_tests;
pub mod phrases;
pub mod protocol;
pub mod record_digest;
#[cfg(test)]
pub(crate) mod sample;
#[cfg(test)]
mod tests;
pub mod types;
