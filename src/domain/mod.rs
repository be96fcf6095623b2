//! Types of the product, as plain values.
//!
//! All other modules use these types. Code here performs no I/O, reads no clock and knows no
//! database.
//!
//! **Invariant:** the record only grows. Everything that happens is a [`journal::JournalEvent`]; a
//! correction is another one.

pub mod ask;
pub mod asked;
pub mod catalogue;
pub mod change;
pub mod conclusion;
pub mod council;
pub mod dialogue;
pub mod dice;
pub mod digest;
pub mod entity;
pub mod expert;
pub mod facts;
pub mod gate;
pub mod hidden;
pub mod ids;
pub mod inlined_schema;
pub mod intervention;
pub mod lifecycle;
pub mod limits;
pub mod plan;
pub mod record;
pub mod reference;
pub mod refusal;
pub mod shortened;
pub mod shown;
pub mod slug;
pub mod store_files;
pub mod stretch;
pub mod strict_json;
pub mod target;
pub mod time;
pub mod transcript;
pub mod verdict;
pub mod words;
