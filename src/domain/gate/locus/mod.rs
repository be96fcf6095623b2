//! Resolves the locus of a concern to lines of the artifact.

mod mention;
mod page;
mod resolve;
#[cfg(test)]
mod tests;

pub use resolve::{LineRange, names_lines, resolve_locus};
