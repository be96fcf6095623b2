//! Councils on the command line: ask, intervene, conclude.

pub(super) mod ask;
mod batch;
pub(super) mod conclude;
pub(super) mod intervene;
