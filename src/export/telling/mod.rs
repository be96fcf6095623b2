//! Progress lines of a run in progress, one or more per event.

mod ending;
mod review;
mod run;

pub(crate) use run::{Told, Tone, name_of_round, seat, tell};
