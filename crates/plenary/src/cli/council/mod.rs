//! Councils on the command line: ask, intervene, conclude.

pub mod ask;
pub mod batch;
pub mod conclude;
pub mod intervene;
