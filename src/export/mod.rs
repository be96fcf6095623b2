//! Renders a record or a run as documents: JSON for programs, Markdown for people. Pure: the same
//! record gives the same bytes.

mod actions;
pub mod conclusion;
pub(crate) mod contributions;
pub mod council;
pub mod gate;
pub(crate) mod interventions;
mod json;
mod links;
mod markdown;
mod ran;
pub mod safe_text;
#[cfg(test)]
pub(crate) mod sample;
mod shape;
pub(crate) mod telling;
mod warnings;
pub(crate) mod wording;

pub use interventions::{
    InterventionKind, InterventionSummary, TimedIntervention, list_interventions,
};
pub use json::{DialogueDocument, dialogue_document};
pub use markdown::{dialogue_markdown, markdown_of_record};
pub use ran::RunExport;
pub use shape::{ExportShape, is_markdown_export};
pub use warnings::record_warnings;
