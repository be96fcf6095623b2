//! `register`: a whole round in one batch, or not at all.
//!
//! [`read`] takes the batch apart and notes what is malformed; [`decide`] checks
//! it against the record in the seed's five steps (types, consistency, existence,
//! meaning, lifecycle) and turns it into changes. Faults of every item come back
//! together; within one item a later step is not tried after an earlier one failed.

mod answer;
mod batch;
mod check;
mod decide;
mod effects;
mod find;
mod read;

pub use answer::{Answer, Registered, Updated};
pub use batch::Batch;
pub use decide::{Decision, decide};
pub use read::read;

pub(super) use check::may_resolve;
