//! The conclusion of a run as JSON document and text, shared by councils and alignment
//! dialogues.

mod difference;
mod document;
mod ended;
mod explanation;
#[cfg(test)]
pub(crate) mod sample;
mod section;
#[cfg(test)]
mod tests;
mod words;

pub(crate) use difference::{Marked, changed_words};
pub use document::{Closed, closed};
pub use ended::{AuditVerdict, Audited, Ended};
pub(crate) use section::Section;
pub(crate) use words::{
    became, field_name, field_text, involved, objects, state_name, state_word, versioned, warnings,
    what_draft_lacks,
};
