//! Deliberation protocols: who is asked what, in which order, and when it stops.
//!
//! A protocol is a pure function from the transcript so far to the next step. It
//! holds no progress and never waits, so the same code drives a live run, a
//! resumed run and a test.

mod asking;
pub mod conclusion;
pub mod council;
pub mod gate;
pub mod interventions;
mod items;
mod next;
#[cfg(test)]
pub(crate) mod sample;
mod step;

pub use next::next;
pub use step::Step;
