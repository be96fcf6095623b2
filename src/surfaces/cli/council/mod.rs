//! Councils on the command line: asking, going on, watching, playing back.

pub(super) mod ask;
mod batch;
mod hall;
mod material;
mod progress;
pub(super) mod replay;
pub(super) mod resume;
mod telling;
pub(super) mod watch;
