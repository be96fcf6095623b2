//! The marker language: turns an expert's Markdown reply into the batch that `register` takes.
//!
//! Four steps: find the prose lines (`markdown.rs`), find the brackets (`brackets.rs`, `scan.rs`),
//! parse each bracket (`grammar.rs`, `near_miss.rs`, `written_id.rs`, `cursor.rs`), bind and
//! resolve them together (`extract.rs`, `resolve.rs`, `strip.rs`). `batch.rs` combines the replies
//! of a round.
//!
//! **Invariant:** nothing is invented. All content of a batch comes from the text. A marker that
//! cannot be parsed gives a warning with its line, and so does one that is parsed despite a
//! deviation.

pub mod batch;
pub mod brackets;
pub mod cursor;
pub mod extract;
#[cfg(test)]
mod extract_tests;
pub mod extraction;
pub mod grammar;
pub mod markdown;
pub mod near_miss;
#[cfg(test)]
mod near_miss_tests;
pub mod resolve;
#[cfg(test)]
mod robustness_tests;
pub mod scan;
pub mod skills;
pub mod strip;
pub mod warnings;
pub mod written_id;
