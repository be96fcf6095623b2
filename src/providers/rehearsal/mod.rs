//! The rehearsal panel: built in, deterministic and offline.
//!
//! Three seats with tempers of their own play fitting replies for every purpose, so
//! that the whole pipeline can be seen, shown and tested without a model. A script
//! drives them to any situation. Nothing they say is knowledge, and they say so.

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

pub use panel::panel;
pub use script::{Script, ScriptError};
pub use transport::RehearsalTransport;
