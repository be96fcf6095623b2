//! What a seat is sent: instructions of ours, and other people's text inside fences.
//!
//! **Invariant:** text that came from a model, a document or a person never enters a
//! system message, and in a user message it is always inside a fence. [`Mask`] takes
//! the names of models out of what one says to another.

pub mod alignment;
mod brands;
pub mod conclusion;
mod condense;
mod council;
mod fence;
mod gate;
mod harmless;
mod instructions;
mod lookalike;
mod mask;
mod message;
mod prepare;
mod restatement;
mod view;

pub use condense::INPUT_BYTES_MAX;
pub use fence::Fences;
pub use gate::{adjudicator_digest, gate_digest, gate_system, is_shown_whole};
pub use instructions::{digest, system};
pub use mask::Mask;
pub use message::Prepared;
pub use prepare::prepare;
pub use restatement::restatement;
