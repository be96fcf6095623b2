//! Renders a record or a run as documents: JSON for programs, Markdown for people. Pure: the same
//! record gives the same bytes.

pub mod dialogue_facts;
pub mod dialogue_json;
pub mod events;
pub mod interventions;
pub mod markdown;
pub mod phrases;
pub mod progress_lines;
pub mod run_metrics;
pub mod run_status;
pub mod safe_text;
#[cfg(test)]
pub(crate) mod sample;
pub mod terminal;
