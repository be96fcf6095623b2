//! Deliberation protocols: who is asked what, in which order, and when it stops.
//!
//! A protocol is a pure function from the run state to the next step. It holds no progress and
//! never waits, so the same code drives a live run, a resumed run and a test. [`Protocol`] is the
//! trait, [`Protocols`] the registry; each protocol has a folder.

mod asking;
pub mod conclusion;
pub mod council;
pub mod gate;
pub mod interventions;
mod items;
mod protocol;
mod registry;
#[cfg(test)]
pub(crate) mod sample;
mod step;

pub use asking::{RetryRule, pending_asks};
pub use items::{BatchBuilder, local_id};
pub use protocol::{
    AskRules, InputSizes, MissingConclusion, PlannedCall, PlannedRound, Protocol, RoleTitles,
    ShownRun,
};
pub use registry::Protocols;
pub use step::{EntryDraft, EntryPart, Step};
