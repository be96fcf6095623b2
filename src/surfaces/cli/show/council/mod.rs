//! A council as a person reads it in a terminal: how it ended first, then the report, how
//! the panel stood, what it disagreed on, what remains open.

mod debate;
mod findings;
mod headline;
mod page;
mod panel;
pub(super) mod replies;
mod report;

pub(crate) use page::draw;
pub(super) use page::{Foot, sections};
