//! The rehearsal panel: built in, deterministic and offline.
//!
//! Three seats of different temper give valid replies for every purpose, so that the whole pipeline
//! can be shown and tested without a model. A script can force any reply or failure. The replies
//! contain no knowledge and say so.

pub mod conclusion;
pub mod opinion;
pub mod prompt;
pub mod report;
pub mod review;
#[cfg(test)]
mod tests;
pub mod transport;
