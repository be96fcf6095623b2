//! Output of a review for programs: the document of `review --json`, GitHub annotations and SARIF.
//!
//! All of it is computed from the run state alone, so a run, its resumption and its replay give
//! the same output.

mod concerns;
mod document;
mod github;
mod grade;
mod panel;
#[cfg(test)]
mod pipeline_tests;
mod rounds;
#[cfg(test)]
pub(crate) mod sample;
mod sarif;
#[cfg(test)]
mod tests;
pub(crate) mod words;

pub use concerns::PlacedConcern;
pub use document::{
    AdjudicatorAnswer, PolicyCount, ReviewDocument, ReviewVerdict, TimedOverride, review_document,
    skipped_document,
};
pub use github::{github_annotations, unreadable_annotation};
pub use panel::{MissingContext, ReviewPanel};
pub use rounds::SeatRoundRow;
pub use sarif::sarif_document;
