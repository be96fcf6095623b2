//! `register`: registers a whole round in one batch, or nothing.
//!
//! `parse_batch` parses the batch and collects malformed parts. `decide_registration` checks it
//! against the record in five steps (types, consistency, existence, meaning, lifecycle) and turns
//! it into journal events. Errors of all items are reported together; within one item, checking
//! stops at the first failed step.

pub mod batch;
pub mod check;
pub mod decide;
pub mod effects;
pub mod parse;
pub mod resolve;
