//! The page of a council: conclusion first, then report, panel, disagreements and open points.

mod debate;
mod findings;
mod headline;
mod page;
mod panel;
pub(super) mod replies;
mod report;

#[cfg(test)]
pub(crate) use page::draw_council_page;
pub(crate) use page::draw_result;
pub(super) use page::{PageFoot, council_sections};
