//! Whether a host's agents know of the gate that reviews what they produce (seed 001's
//! modularity invariant): they must not.
//!
//! **Invariant:** a prompt that could not be read is said to be unread, and nothing that was not
//! looked at passes for clean.

mod names;
mod scan;

pub use names::{DEFAULT_NAMES, Name};
pub use scan::{ModularityError, Reference, Scan, Scanned, Unscanned, scan};
