//! `council_log.jsonl`: the verdict log of the store as a file for other programs.
//!
//! The store is the source of truth and the file follows it: `sync_log` appends rows, completes a
//! torn line and writes the file for the first time. Lines of other programs are never destroyed.

pub mod lines;
pub mod log_file;
pub mod sync;
