//! Terminal pages of dialogues.
//!
//! [`draw_dialogue`] is a pure function of the record and the canvas. Pages contain ANSI colours;
//! the caller prints through `anstream`, which removes them where they are not wanted. Colour is
//! never the only signal.

pub mod dialogue_page;
#[cfg(test)]
mod dialogue_page_tests;
pub mod entities;
pub mod experts;
#[cfg(test)]
mod hostile_tests;
pub mod layout;
pub mod rounds;
pub mod run_sections;
pub mod statistics;
pub mod wrap;
