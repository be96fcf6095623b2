//! Types of the product, as plain values.
//!
//! All other modules use these types. Code here performs no I/O, reads no clock and knows no
//! database.
//!
//! **Invariant:** the record only grows. Everything that happens is a [`journal::JournalEvent`]; a
//! correction is another one.

pub mod apply_events;
pub mod ask;
pub mod dialogue;
pub mod entity;
pub mod hash;
pub mod ids;
pub mod intervention;
pub mod journal;
pub mod lifecycle;
pub mod limits;
pub mod model_reply;
pub mod plan;
pub mod queries;
pub mod record;
pub mod run_state;
pub mod stored_messages;
pub mod strict_json;
pub mod string_enum;
pub mod text;
pub mod time;
pub mod validation_error;
pub mod verdict;
