//! The only SQL. A trait of domain verbs, and SQLite behind it.
//!
//! Writing is: look up the facts, let the rules decide, apply the changes and
//! append them to the journal, all in one transaction. Reading answers whole
//! questions; no caller ever sees a row.

mod chain;
mod error;
mod log_pages;
mod sqlite;
mod verbs;

pub use error::StoreError;
pub use log_pages::{LOG_PAGE, log_line_pages, log_pages};
pub use sqlite::SqliteStore;
pub use verbs::{End, PlacedEntry, Registration, Store, Unit, transact};
pub use verification::{Finding, Verification};

mod verification;
