//! Deliberation protocols: who is asked what, in which order, and when it stops.
//!
//! A protocol is a pure function from the run state to the next step. It holds no progress and
//! never waits, so the same code drives a live run, a resumed run and a test. [`Protocol`] is the
//! trait, [`Protocols`] the registry; each protocol has a folder.

pub mod alignment;
pub mod batch_builder;
pub mod classification;
pub mod conclusion;
pub mod council;
pub mod pending_asks;
pub mod protocol;
pub mod review;
#[cfg(test)]
pub(crate) mod sample;
