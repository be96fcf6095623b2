//! The marker language: an expert's Markdown becomes the batch that `register` takes.
//!
//! From text to batch in four steps, each a file or two: which lines are prose (`prose.rs`), where
//! brackets stand in it (`brackets.rs`), what one says (`grammar.rs`, `pointers.rs`, `spelling.rs`,
//! `word_forms.rs`, `cursor.rs`, `meant.rs`), and what all of them together mean (`extract.rs`, `entities.rs`,
//! `bind.rs`, `aim.rs`, `trim.rs`, `gaps.rs`).
//!
//! **Invariant:** nothing is invented. Whatever is in a batch stands in the text; what could not be
//! read is a warning with its line; what was read although it was written otherwise is one too.

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

pub use batch::{Batch, RawReplies, gather};
pub use extract::extract;
pub use extraction::{Contribution, Draft, Extraction, MadeMove};
pub use marker::{Marker, Said};
pub use skills::{EXPERT_SKILL, SKILLS, Skill};
pub use slip::Slip;
pub use summary::Summary;
pub use warning::{Warning, WarningKind};
