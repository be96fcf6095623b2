//! What the seats of an artifact gate are sent (seed 001): the deliberators the artifact and
//! what they judge by, the adjudicator what they hold of it.

mod adjudicator;
mod condense;
mod deliberator;
mod instructions;
mod shown;

pub(super) use adjudicator::adjudicator;
pub use condense::is_shown_whole;
pub(super) use deliberator::deliberator;
pub(super) use instructions::texts;
pub use instructions::{adjudicator_digest, gate_digest, gate_system};
