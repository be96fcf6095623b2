//! The adjudicator's reply.

use serde::{Deserialize, Serialize};

use super::policy::ReviewDecision;

/// The adjudicator's decision. The policy counts the blocks in any case: the adjudicator can be
/// stricter, but softer only by a downgrade with a reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdjudicatorReply {
    pub final_verdict: ReviewDecision,
    /// Reasoning, based only on the deliberators' judgements.
    pub reasoning: String,
    /// What the producer should change, in order; empty if nothing.
    #[serde(default)]
    pub revision_brief: String,
    /// Requests that reducible blocks count as REVISE instead of HOLD.
    #[serde(default)]
    pub downgrade: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub downgrade_reason: Option<String>,
}

impl AdjudicatorReply {
    /// Ignores a downgrade without a reason.
    pub fn asks_for_downgrade(&self) -> bool {
        let reason = self.downgrade_reason.as_deref().unwrap_or_default();
        self.downgrade && !reason.trim().is_empty()
    }
}
