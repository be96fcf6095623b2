//! A council's report as a person reads it in a terminal: the answer first, then how
//! the panel stood, what it disagreed on, what remains open.

mod findings;
mod headline;
mod page;
mod panel;
mod replies;
mod report;

pub(crate) use page::draw;
pub(super) use page::{Ending, sections};
