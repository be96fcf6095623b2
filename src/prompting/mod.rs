//! Renders what a seat is sent: our instructions, and foreign text in fences.
//!
//! **Invariant:** text of a model, a document or a person never enters a system message, and
//! appears in a user message only in a fence. `NameMask` hides model names in text that one model
//! shows to another.

pub mod alignment;
mod brands;
pub mod conclusion;
mod condense;
pub(crate) mod council;
mod fence;
pub mod gate;
mod harmless;
pub mod instructions;
mod lookalike;
mod mask;
mod message;
mod restatement;
mod view;

pub use condense::INPUT_BYTES_MAX;
pub use fence::FenceSet;
pub use gate::{adjudicator_digest, deliberator_digest, fits_whole};
pub use instructions::instructions_digest;
pub use mask::NameMask;
pub use message::RenderedPrompt;
pub use restatement::restatement_messages;
