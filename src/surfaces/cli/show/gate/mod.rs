//! A review as a person reads it in a terminal: what was decided first and what to change,
//! then who held what, what it rests on, and what to do next.

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
