//! Run events: the contract of every screen and stream.
//!
//! Events derive from journal entries alone, so a live run, a run watched from another process
//! and a replay look the same. `docs/events.md` lists them for users.

pub mod derive;
pub mod event;
#[cfg(test)]
mod tests;
