//! A dialogue as a person reads it in a terminal.
//!
//! [`draw`] is a pure function of the record and the canvas. Colours are written
//! as ANSI escapes; the caller prints through `anstream`, which removes them
//! where they are not wanted. Colour is never the only signal.

mod board;
mod canvas;
pub(super) mod checkup;
pub(super) mod council;
mod ending;
mod headline;
mod interventions;
mod line;
mod moves;
mod page;
mod palette;
mod rounds;
mod scoreboard;
mod tree;
mod verdicts;

#[cfg(test)]
mod ending_tests;
#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
mod tests;

pub(super) use canvas::{Canvas, Detail};
#[cfg_attr(not(test), expect(unused_imports, reason = "`conclude` prints it"))]
pub(super) use page::draw_closing;
pub(super) use page::{draw, draw_council};
