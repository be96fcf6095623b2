//! What can be done with the verdict log: looking, taking out, taking in, deciding otherwise.

mod decide;
mod export;
mod import;
mod tail;

pub use decide::{Overridden, override_verdict};
pub use export::{LogFilter, export_log};
pub use import::{Imported, Importing, LOG_BYTES_MAX, Malformed, Otherwise, import_log};
pub use tail::{PersonsDecision, TailRow, tail_log};
