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

pub(super) use imported::draw as imported;
pub(crate) use line::draw_line;
pub(crate) use page::draw;
pub(super) use page::sections;
