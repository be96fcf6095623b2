//! Councils on the command line: ask, intervene, conclude.

pub mod align;
pub mod ask;
pub mod batch;
pub mod batch_file;
pub mod conclude;
pub mod intervene;
pub mod piped_input;
