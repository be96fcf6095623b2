//! The outcome of a review, and overrides by people.

use serde::{Deserialize, Serialize};

use super::adjudication::AdjudicatorReply;
use super::policy::{BlockTally, ReviewDecision};
use crate::domain::words::words;

words! {
    /// Verdict of a review.
    pub enum FinalVerdict {
        Ship = "SHIP",
        Revise = "REVISE",
        Hold = "HOLD",
        /// Too few judgements to decide; the gate fails closed.
        Incomplete = "INCOMPLETE",
    }
}

impl FinalVerdict {
    /// `None` if nothing was decided.
    pub fn to_decision(self) -> Option<ReviewDecision> {
        match self {
            Self::Ship => Some(ReviewDecision::Ship),
            Self::Revise => Some(ReviewDecision::Revise),
            Self::Hold => Some(ReviewDecision::Hold),
            Self::Incomplete => None,
        }
    }
}

impl From<ReviewDecision> for FinalVerdict {
    fn from(decision: ReviewDecision) -> Self {
        match decision {
            ReviewDecision::Ship => Self::Ship,
            ReviewDecision::Revise => Self::Revise,
            ReviewDecision::Hold => Self::Hold,
        }
    }
}

/// The outcome of a review that could be decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewOutcome {
    pub verdict: ReviewDecision,
    #[serde(rename = "arithmetic")]
    pub tally: BlockTally,
    pub adjudication: AdjudicatorReply,
}

impl ReviewOutcome {
    /// Only a downgrade makes the verdict softer than the computed one.
    pub fn is_downgraded(&self) -> bool {
        self.tally.computed.is_some_and(|computed| self.verdict < computed)
    }
}

/// A person's decision that overrides the verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerdictOverride {
    pub verdict_id: String,
    pub decision: ReviewDecision,
    pub why: String,
}
