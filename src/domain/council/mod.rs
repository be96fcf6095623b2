//! Documents of a council (seed 002): opinions, peer reviews, the chair's report.
//!
//! Types that derive `JsonSchema` are what models write, and their schemas go to the models. The
//! types around them add what the program knows itself, such as the provider.

pub mod opinion;
pub mod report;
pub mod review;
pub mod tally;
pub mod words;
