//! Draws pages on a terminal: colours, widths, wrapping.

pub mod blocks;
pub mod board;
#[cfg(test)]
pub(crate) mod hostile_tests;
pub mod layout;
pub mod page;
#[cfg(test)]
pub(crate) mod page_tests;
pub mod table;
pub mod wrap;
