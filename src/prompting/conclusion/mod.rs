//! What the seats of the ending are sent (seed 000): the Synthesizer the whole record,
//! the Blind Critic two things, the reviser what was objected to.

mod brief;
mod case;
mod chronicle;
mod condense;
mod synthesizer;

pub use super::restatement::restatement;
pub use case::Case;
pub use synthesizer::{reviser, synthesizer};
