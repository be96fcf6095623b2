//! Parses the arguments of `round_register`. Parsing never stops at the first error.

mod batch;
mod items;
mod moves;
mod references;
mod updates;

pub use batch::parse_batch;
