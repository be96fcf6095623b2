//! Run events: the contract of every screen and stream.
//!
//! Events derive from journal entries alone, so a live run, a run watched from another process
//! and a replay look the same. `docs/events.md` lists them for users.

mod derive;
mod event;
mod readings;
#[cfg(test)]
mod tests;

pub use derive::derive_events;
pub use event::{
    AdjudicationSummary, AskSummary, AuditRound, JudgementSummary, RunEvent, SeatSummary,
};
