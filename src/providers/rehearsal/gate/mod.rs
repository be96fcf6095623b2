//! The artifact gate, rehearsed: deliberators that look for a few plain faults, each of its
//! own kind, and an adjudicator that counts.
//!
//! They read the text by its words alone. What they report stands in it, and they say where;
//! what takes understanding they do not find. Nothing in an artifact instructs them.

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

pub(super) use adjudication::adjudication;
pub(super) use cross_reading::cross_reading;
pub(super) use judgement::judgement;
