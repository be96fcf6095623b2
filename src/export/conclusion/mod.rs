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

pub(crate) use difference::{MarkedLines, changed_words};
pub use document::{ConclusionDocument, conclusion_document};
pub use ended::{AuditVerdict, AuditView, ConclusionView};
pub(crate) use section::ConclusionExport;
pub(crate) use words::{
    conclusion_warnings, draft_status, field_name, field_text, involved_agents, objection_text,
    outcome_line, state_label, state_name, versioned_name,
};
