//! Whole councils, run by the real program before a model server that plays by a script.

mod batches;
pub(crate) mod house;
mod matrix;
mod record;
mod rules;
mod shape;
mod shortcuts;
mod truncated;
mod ways;
