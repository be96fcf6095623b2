//! What a seat is sent: instructions of ours, and other people's text inside fences.
//!
//! [`Fences`] is the only way in which text that we did not write enters a message;
//! [`Mask`] takes the names of models out of it.

mod brands;
mod fence;
mod harmless;
mod lookalike;
mod mask;

pub use fence::Fences;
pub use mask::Mask;
