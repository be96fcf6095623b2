//! Rehearsed review: deliberators that look for a few simple faults each, and an adjudicator that
//! counts.
//!
//! They match phrases and numbers only, and report where each fault is. Faults that need
//! understanding are not found. Text of the artifact never instructs them.

pub mod artifact_page;
pub mod checks;
pub mod deliberators;
pub mod judgement;
#[cfg(test)]
mod tests;
