//! Documents of a council (seed 002): opinions, peer reviews, the chair's report.
//!
//! Types that derive `JsonSchema` are what models write, and their schemas go to the models. The
//! types around them add what the program knows itself, such as the provider.

pub mod answers;
pub mod document;
pub mod final_report;
pub mod messages;
pub mod next;
pub mod page;
pub mod panel_sections;
pub mod parse;
#[cfg(test)]
mod parse_tests;
pub mod protocol;
pub mod report_sections;
pub mod report_types;
pub mod shortcuts;
#[cfg(test)]
mod tests;
pub mod to_entities;
pub(crate) mod topics;
pub mod types;
