//! The page of a council: conclusion first, then report, panel, disagreements and open points.

mod debate;
mod findings;
mod headline;
mod page;
mod panel;
pub(super) mod replies;
mod report;

pub(crate) use page::draw;
pub(super) use page::{Foot, sections};
