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
pub use numbering::{ConcernIds, NumberedConcern};
pub use positions::{
    ADJUDICATION, FIRST, RoundResult, SECOND, SeatResult, list_seat_results, read_adjudication,
    tally_blocks, tally_if_undecided,
};
pub use protocol::{ReviewProtocol, least_tokens};
pub use row::{LoggedOutcome, consulted_verdicts, log_row, seat_rows, verdict_id};
