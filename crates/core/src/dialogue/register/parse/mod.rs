//! Parses the arguments of `round_register`. Parsing never stops at the first error.

pub mod batch;
pub mod items;
