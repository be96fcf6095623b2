//! Messages of the review seats (seed 001): deliberators read the artifact and their context,
//! the adjudicator reads the judgements.

mod adjudicator;
mod condense;
mod deliberator;
mod instructions;
mod shown;

pub(crate) use adjudicator::adjudicator;
pub use condense::is_shown_whole;
pub(crate) use deliberator::deliberator;
pub(super) use instructions::texts;
pub use instructions::{
    Turn, adjudicator_digest, adjudicator_system, deliberator_system, gate_digest,
};
