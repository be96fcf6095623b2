//! Foreign programs: what they inherit, how they are spoken to, how they end.
//!
//! A [`Group`] is one program with everything it starts. **Invariant:** when the
//! group's owner is dropped, all of it is killed, its leader is reaped, and its
//! folder is removed.

mod environment;
mod group;
mod message;
mod talk;

pub use environment::Environment;
pub(super) use group::{Group, Scratch};
pub(super) use message::failed_start;
pub(super) use talk::{OUTPUT_BYTES_MAX, Tail, Talk};
