//! Progress lines of a run in progress, one or more per event.

mod ending;
mod review;
mod run;

pub(crate) use run::{LineSeverity, ProgressLine, describe_event, round_title, seat_column};
