//! Messages of the conclusion seats (seed 000): the synthesizer reads the whole record, the Blind
//! Critic question and conclusion, the reviser also the objections.

mod brief;
mod case;
mod chronicle;
mod condense;
mod synthesizer;

pub use super::restatement::restatement_messages;
pub use case::CriticInput;
pub use synthesizer::{reviser_messages, synthesizer_messages};
