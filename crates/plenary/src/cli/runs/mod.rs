//! Runs on the command line, for every protocol: drive, draw, resume, watch and replay them.

pub mod cli_runtime;
pub mod count_bar;
pub mod output;
pub mod resume;
pub mod value_parsers;
pub mod watch;
