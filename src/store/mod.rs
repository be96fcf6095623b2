//! Storage of dialogues: the store traits and the SQLite backend. All SQL is in this folder.
//!
//! A write looks up the facts, lets the rules decide, applies the events and appends them to the
//! journal, all in one transaction. A read returns domain values; no caller sees a row.

mod chain;
mod error;
mod log_pages;
mod sqlite;
mod verbs;

pub use error::StoreError;
pub use log_pages::{LOG_PAGE_ROWS, log_line_pages, log_pages};
pub use sqlite::SqliteStore;
pub use verbs::{
    GlobalEntry, RoundRegistration, Store, StoreTransaction, TransactionEnd, in_transaction,
};
pub use verification::{VerifyFinding, VerifyReport};

mod verification;
