//! A run in words while it goes on: a line for each event, for whoever watches.

mod ending;
mod review;
mod run;

pub(crate) use run::{Told, Tone, name_of_round, seat, tell};
