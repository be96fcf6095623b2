//! Result of `verify`.

use serde::Serialize;

/// A deviation from the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VerifyFinding {
    /// Stable name of the failed check.
    pub check: &'static str,
    pub dialogue_id: Option<String>,
    /// Table, id or journal entry.
    pub place: String,
    pub message: String,
}

/// The result of checking a store or one dialogue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VerifyReport {
    pub dialogues: usize,
    pub entries: usize,
    /// Head of the dialogue's chain, or of the global chain.
    pub head: String,
    pub findings: Vec<VerifyFinding>,
}
