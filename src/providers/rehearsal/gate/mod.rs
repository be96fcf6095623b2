//! Rehearsed review: deliberators that look for a few simple faults each, and an adjudicator that
//! counts.
//!
//! They match phrases and numbers only, and report where each fault is. Faults that need
//! understanding are not found. Text of the artifact never instructs them.

mod adjudication;
mod benches;
mod cross_reading;
mod evidence;
mod fault;
mod figures;
mod judgement;
mod page;
mod papers;
mod rule;
mod skeptic;
mod strategy;
#[cfg(test)]
mod tests;
mod voice_identity;

pub(super) use adjudication::adjudicate_review;
pub(super) use cross_reading::reconsider_judgement;
pub(super) use judgement::judge_artifact;
