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

mod aim;
mod batch;
mod bind;
mod brackets;
mod cursor;
mod entities;
mod extract;
mod extraction;
mod gaps;
mod grammar;
mod marker;
mod meant;
mod pointers;
mod prose;
mod scan;
mod skills;
mod slip;
mod spelling;
mod summary;
mod trim;
mod warning;
mod word_forms;

#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
mod near_miss_tests;
#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod tests;

pub use batch::{RawReplies, RoundBatch, check_across_replies};
pub use extract::extract_reply;
pub use extraction::{EntityContribution, MoveContribution, ReplyExtraction, VerdictDraft};
pub use marker::{MarkerContent, ReplyMarker};
pub use skills::{AgentSkill, EXPERT_SKILL, SKILLS};
pub use slip::MarkerDeviation;
pub use summary::ReplySummary;
pub use warning::{MarkerWarning, WarningKind};
