//! Runs on the command line, for every protocol: drive, draw, resume, watch and replay them.

pub(super) mod cli_runtime;
pub(super) mod output;
pub(super) mod progress;
pub(super) mod resume;
pub(super) mod value_parsers;
pub(super) mod watch;
