//! Messages of the review seats (seed 001): deliberators read the artifact and their context,
//! the adjudicator reads the judgements.

mod adjudicator;
mod condense;
mod deliberator;
mod instructions;
mod shown;

pub(crate) use adjudicator::adjudicator_messages;
pub use condense::fits_whole;
pub(crate) use deliberator::deliberator_messages;
pub(super) use instructions::all_instructions;
pub use instructions::{
    ReadingRound, adjudicator_digest, adjudicator_system, deliberator_digest, deliberator_system,
};
