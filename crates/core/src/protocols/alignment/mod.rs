//! Alignment dialogues that the built-in Judge leads (seed 003).
//!
//! The Judge designs a pool, composes panels, reconciles and scores each round and gives the
//! verdicts. Code counts, checks and decides: quotes, merges, convergence, vote, endings.

pub mod answers;
pub mod calibrate;
pub mod design;
pub mod document;
pub mod ending;
pub mod evolve_panel;
mod merge_words;
pub mod messages;
pub mod next;
pub mod objections;
pub mod phrases;
pub mod protocol;
pub mod reconcile;
pub mod state;
pub mod to_entities;
pub mod types;
pub mod verdicts;
