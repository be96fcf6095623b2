//! Where in an artifact a concern points: its locus, as lines.

mod mention;
mod page;
mod resolve;
#[cfg(test)]
mod tests;

pub use resolve::{Lines, names_lines, resolve};
