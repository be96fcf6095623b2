//! `council_log.jsonl`: the verdict log of the store, written out for other programs to read.
//!
//! The store is the truth and the file follows: appending, mending a torn line and writing it
//! for the first time are one function. What others wrote into the file is never destroyed.

mod error;
mod file;
mod line;
mod origin;
mod repair;
mod sync;
mod tail;

pub use error::LogFileError;
pub use line::{Lines, RawLine};
pub use origin::is_all_ours;
pub use repair::{Differences, compare, repair};
pub use sync::{Synced, sync};
