//! Statistics of the verdict log: verdict counts, blocks, changes of mind, human overrides and
//! drift.
//!
//! `StatisticsBuilder` takes one row at a time and keeps counts, not rows. All comparisons use
//! whole numbers, so rounding cannot hide a crossed limit.

pub mod builder;
pub mod counts;
pub mod deliberators;
pub mod drift;
pub mod remarks;
#[cfg(test)]
mod tests;
