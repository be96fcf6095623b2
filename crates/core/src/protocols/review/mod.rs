//! The review protocol (seed 001): four deliberators and an adjudicator judge a document.

pub mod artifact_verdicts;
pub mod concern_codes;
pub mod concern_sections;
pub mod document;
#[cfg(test)]
pub(crate) mod document_sample_tests;
#[cfg(test)]
mod document_tests;
pub mod drift;
pub mod earlier_decision;
pub mod github_annotations;
pub mod imported_row;
pub mod junit;
pub mod locus;
#[cfg(test)]
mod locus_tests;
pub mod log_row;
#[cfg(test)]
mod markdown_tests;
pub mod messages;
pub mod messages_sections;
pub mod next;
pub mod page;
#[cfg(test)]
mod page_tests;
pub mod parse;
#[cfg(test)]
mod parse_tests;
pub mod phrases;
#[cfg(test)]
mod pipeline_tests;
pub mod policy;
pub mod protocol;
pub mod pull_request;
pub mod redaction;
#[cfg(test)]
pub(crate) mod sample;
pub mod sarif;
pub mod seat_results;
pub mod statistics;
#[cfg(test)]
mod statistics_tests;
#[cfg(test)]
mod tests;
pub mod to_entities;
pub mod types;
pub mod verdict_counts;
pub mod verdict_page;
