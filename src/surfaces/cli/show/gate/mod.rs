//! The page of a review: verdict and revision brief first, then deliberators, concerns, decision
//! and next steps.

mod changes;
mod concerns;
mod decision;
mod headline;
mod imported;
mod line;
mod next;
mod page;
mod seats;
#[cfg(test)]
mod tests;

pub(super) use imported::draw_imported_rows as imported;
pub(crate) use line::draw_review_line;
pub(crate) use page::draw_review_page;
pub(super) use page::review_sections;
