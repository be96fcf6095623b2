//! Councils on the command line: asking, going on, watching, playing back.

pub(super) mod ask;
mod batch;
mod closing;
mod hall;
mod progress;
pub(super) mod replay;
pub(super) mod resume;
mod telling;
mod typed;
pub(super) mod watch;
