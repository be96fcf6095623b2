//! Councils on the command line: asking, going on, watching, playing back, having a hand
//! in it, concluding.

pub(super) mod ask;
mod batch;
mod closing;
pub(super) mod conclude;
mod hall;
pub(super) mod intervene;
mod progress;
pub(super) mod replay;
pub(super) mod resume;
mod telling;
mod typed;
pub(super) mod watch;
