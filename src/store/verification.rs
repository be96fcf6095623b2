//! What `verify` found.

use serde::Serialize;

/// Something that is not as it was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Stable name of the check that failed.
    pub check: &'static str,
    pub dialogue_id: Option<String>,
    /// Table, id or entry.
    pub place: String,
    pub message: String,
}

/// The result of checking a store or one dialogue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verification {
    pub dialogues: usize,
    pub entries: usize,
    /// Head of the dialogue's chain, or of the chain over all.
    pub head: String,
    pub findings: Vec<Finding>,
}
