//! What happens in a run, one event at a time: the contract of every screen and stream.
//!
//! Events are derived from journal entries and nothing else, so a live run, one
//! that is watched from elsewhere and one that is replayed look alike. They are
//! listed for users in `docs/events.md`.

mod derive;
mod event;
mod readings;
#[cfg(test)]
mod tests;

pub use derive::events;
pub use event::{AdjudicationSeen, AskSeen, Event, JudgementSeen, Look, SeatSeen};
