//! `register`: registers a whole round in one batch, or nothing.
//!
//! `parse_batch` parses the batch and collects malformed parts. `decide_registration` checks it
//! against the record in five steps (types, consistency, existence, meaning, lifecycle) and turns
//! it into journal events. Errors of all items are reported together; within one item, checking
//! stops at the first failed step.

mod answer;
mod batch;
mod check;
mod decide;
mod effects;
mod find;
mod read;

pub use answer::{RegisterAnswer, RegisteredItem, UpdatedItem};
pub use batch::{RegisterBatch, RegisterItem, RegisterUpdate};
pub use decide::{RegisterDecision, decide_registration};
pub use read::parse_batch;

pub(super) use check::check_may_resolve;
