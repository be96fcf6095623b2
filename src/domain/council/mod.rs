//! What a council says: opinions, reviews, the chair's report (seed 002).
//!
//! The types without a provider's name are what models are asked for and their
//! schemas are sent to them; around them stands what we know ourselves.

pub mod opinion;
pub mod report;
pub mod review;
pub mod tally;
pub mod words;
