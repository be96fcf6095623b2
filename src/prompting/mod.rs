//! What a seat is sent: instructions of ours, and other people's text inside fences.
//!
//! [`Fences`] is the only way in which text that we did not write enters a message.

mod fence;
mod harmless;
mod lookalike;

pub use fence::Fences;
