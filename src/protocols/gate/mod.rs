//! The review (seed 001): four deliberators judge alone, each judges again with the judgements of
//! the others, an adjudicator decides, and a policy counts.

mod enter;
mod next;
mod numbering;
mod positions;
mod protocol;
mod row;
#[cfg(test)]
pub(crate) mod sample;
#[cfg(test)]
mod tests;

pub use enter::{round_batch, ruling_verdict};
pub use numbering::{ConcernLedger, Numbered};
pub use positions::{
    ADJUDICATION, FIRST, Part, Position, SECOND, adjudication, arithmetic, positions, undecided,
};
pub use protocol::{ReviewProtocol, least_tokens};
pub use row::{Outcome, consulted, row, seat_rows, verdict_id};
