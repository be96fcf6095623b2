//! The rehearsal panel: built in, deterministic and offline.
//!
//! Three seats of different temper give valid replies for every purpose, so that the whole pipeline
//! can be shown and tested without a model. A script can force any reply or failure. The replies
//! contain no knowledge and say so.

mod audit;
mod conclusion;
mod docket;
mod findings;
mod gate;
mod opinion;
mod panel;
mod prompt;
mod report;
mod review;
mod revision;
mod script;
mod shape;
mod temper;
#[cfg(test)]
mod tests;
mod transport;
mod variation;

pub use panel::rehearsal_panel;
pub use script::{RehearsalScript, ScriptError};
pub use transport::RehearsalTransport;
