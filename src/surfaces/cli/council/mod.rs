//! Councils on the command line: asking, having a hand in it, concluding.

pub(super) mod ask;
mod batch;
pub(super) mod conclude;
pub(super) mod intervene;
