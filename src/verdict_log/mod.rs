//! `council_log.jsonl`: the verdict log of the store as a file for other programs.
//!
//! The store is the source of truth and the file follows it: `sync_log` appends rows, completes a
//! torn line and writes the file for the first time. Lines of other programs are never destroyed.

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
