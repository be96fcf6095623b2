//! The word of the one who merges what the deliberators hold.

use serde::{Deserialize, Serialize};

use super::policy::Decision;

/// What the adjudicator decides. The policy counts all the same: its word can be stricter, and
/// softer only by a downgrade that says why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Adjudication {
    pub final_verdict: Decision,
    /// Why, resting on what the deliberators said and nothing else.
    pub reasoning: String,
    /// What the producer should change, in order; empty when there is nothing.
    #[serde(default)]
    pub revision_brief: String,
    /// Whether blocks that a revision would lift are to count as REVISE instead of HOLD.
    #[serde(default)]
    pub downgrade: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub downgrade_reason: Option<String>,
}

impl Adjudication {
    /// A downgrade that does not say why is none.
    pub fn asks_for_downgrade(&self) -> bool {
        let reason = self.downgrade_reason.as_deref().unwrap_or_default();
        self.downgrade && !reason.trim().is_empty()
    }
}
