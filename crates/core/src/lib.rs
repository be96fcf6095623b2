//! The pure part of Plenary: no I/O, no clock, no async.
//!
//! A record of dialogues and the rules that change it, the protocols that decide who is asked
//! what, the prompts that are sent, the parsers of replies, and the reports that people and
//! programs read. ARCHITECTURE.md is the map.

pub mod dialogue;
pub mod ethos;
pub mod markers;
pub mod model;
pub mod parsing;
pub mod prompting;
pub mod protocols;
pub mod report;
