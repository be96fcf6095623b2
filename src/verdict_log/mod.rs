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
pub use line::{RawLine, RawLines};
pub use origin::is_all_stored;
pub use repair::{LogDifferences, compare_log, repair_log};
pub use sync::{SyncResult, sync_log};
