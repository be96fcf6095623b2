//! Words of the product, as plain values.
//!
//! Everything else in the crate speaks in these types; nothing here performs
//! I/O, reads a clock or knows that a database exists.
//!
//! **Invariant:** the record only grows. What happened is a [`change::Change`];
//! a correction is a further one.

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
