//! The marker language: turns an expert's Markdown reply into the batch that `register` takes.
//!
//! `reply_text.rs` finds code and brackets, `grammar.rs` parses one bracket, `scan.rs` finds all
//! markers, `extract.rs` reads them in order with `targets.rs`, and `batch.rs` combines the replies
//! of a round.
//!
//! **Invariant:** nothing is invented. All content of a batch comes from the text. A marker that
//! cannot be parsed gives a warning with its line, and so does one that is parsed despite a
//! deviation.

pub mod batch;
pub mod extract;
pub mod extract_request;
#[cfg(test)]
mod extract_tests;
pub mod extraction;
pub mod grammar;
#[cfg(test)]
mod near_miss_tests;
pub mod reply_text;
#[cfg(test)]
mod robustness_tests;
pub mod scan;
pub mod skills;
pub mod targets;
