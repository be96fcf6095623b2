//! The artifact gate (seed 001): four judge alone, each judges again with the others'
//! judgements before it, one adjudicates, and a policy counts.

mod enter;
mod next;
mod numbering;
mod positions;
mod row;
#[cfg(test)]
pub(crate) mod sample;
#[cfg(test)]
mod tests;

pub use enter::{round_batch, verdict_arguments};
pub use next::next;
pub use numbering::{ConcernLedger, Numbered};
pub use positions::{
    ADJUDICATION, FIRST, Part, Position, SECOND, adjudication, arithmetic, positions, undecided,
};
pub use row::{Outcome, consulted, row, seat_rows, verdict_id};
