//! Storage of dialogues: the store traits and the SQLite backend. All SQL is in this folder.
//!
//! A write looks up the facts, lets the rules decide, applies the events and appends them to the
//! journal, all in one transaction. A read returns domain values; no caller sees a row.

pub mod error;
pub mod sqlite;
pub mod traits;
