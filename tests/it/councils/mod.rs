//! Whole councils, run by the real program before a model server that plays by a script.

mod house;
mod matrix;
mod rules;
mod shortcuts;
