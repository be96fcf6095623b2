//! Terminal pages of dialogues.
//!
//! [`draw_dialogue`] is a pure function of the record and the canvas. Pages contain ANSI colours;
//! the caller prints through `anstream`, which removes them where they are not wanted. Colour is
//! never the only signal.

pub(super) mod audit;
mod bar;
mod board;
mod canvas;
pub(super) mod checkup;
pub(super) mod council;
pub(super) mod due;
mod ending;
pub(super) mod gate;
mod headline;
pub(super) mod health;
mod interventions;
mod layout;
mod line;
mod moves;
mod page;
mod palette;
mod reply;
mod rounds;
mod scoreboard;
mod spending;
mod tree;
pub(super) mod verdict_log;
mod verdicts;

#[cfg(test)]
mod ending_tests;
#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
mod tests;

pub use canvas::{PageCanvas, PageDetail};
pub(crate) use council::draw_result as draw_council_result;
pub(crate) use gate::draw_review_page as draw_review_result;
pub(crate) use page::{
    draw_concluded_dialogue, draw_council_record, draw_dialogue, draw_imported_log,
    draw_review_record,
};
pub(super) use reply::draw_marker_table;
