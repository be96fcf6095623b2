//! Renders what a seat is sent: our instructions, and foreign text in fences.
//!
//! **Invariant:** text of a model, a document or a person never enters a system message, and
//! appears in a user message only in a fence.

pub mod anonymize;
pub mod condense;
pub mod confusables;
pub mod fence;
pub mod instructions;
pub mod layout;
pub mod lens;
pub(crate) mod model_brands;
pub mod neutralize;
pub mod reader_view;
mod self_naming;
pub mod shared_block;
