//! The rehearsal panel: built in, deterministic and offline.
//!
//! Its replies are JSON files under `data/rehearsal/`, one per role and seat, filled with the
//! question. They show the whole pipeline without a model, contain no knowledge and say so. A
//! script can force any reply or failure.

pub mod alignment;
pub mod replies;
pub mod review;
pub mod script;
pub mod template;
#[cfg(test)]
mod tests;
pub mod transport;
