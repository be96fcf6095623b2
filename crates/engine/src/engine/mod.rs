//! The only loop: what is the next step, do it, write it down, ask again.
//!
//! A run is a [`Deliberation`]: it owns its transcript, and everything that happens
//! in it is in the journal before anything else follows from it. Resuming is the
//! same function on a transcript that was loaded.

pub mod append;
pub mod batch_admission;
pub mod budget;
pub mod call;
pub mod call_budget;
pub mod daily_budget;
pub mod interventions;
pub mod journal;
pub mod live_text;
pub mod parse_replies;
pub mod process_lock;
pub mod record_changes;
pub(crate) mod resumed_call;
pub mod run;
pub mod run_start;
