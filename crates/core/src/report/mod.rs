//! What a user sees of a record: pages and their renderers, JSON documents, run events.
//!
//! Pages are pure functions of the record and the run state; nothing here performs I/O.

pub mod calibration_export;
pub mod call_rows;
pub mod calls;
pub mod dialogue_events;
pub mod dialogue_facts;
pub mod dialogue_json;
pub mod entity_sections;
pub mod ethos_page;
pub mod events;
pub mod graph;
mod graph_drawing;
pub mod html;
mod html_sources;
#[cfg(test)]
mod html_tests;
pub mod interventions;
pub mod markdown;
pub mod markdown_escape;
#[cfg(test)]
pub(crate) mod markdown_tests;
pub mod markdown_tree;
pub mod marks;
pub mod model_list;
pub mod page;
pub mod phrases;
pub mod progress_lines;
pub mod provenance;
pub mod record_page;
pub mod run_metrics;
pub mod run_sections;
pub mod run_status;
pub mod safe_text;
#[cfg(test)]
pub(crate) mod sample;
pub mod scoreboard;
pub mod scoreboard_page;
pub mod source_sections;
pub mod spending;
pub mod statistics_page;
pub mod terminal;
pub mod text_search;
pub mod transcript;
