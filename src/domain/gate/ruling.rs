//! The outcome of a review, and overrides by people.

use serde::{Deserialize, Serialize};

use super::adjudication::Adjudication;
use super::policy::{Arithmetic, Decision};
use crate::domain::words::words;

words! {
    /// Verdict of a review.
    pub enum GateVerdict {
        Ship = "SHIP",
        Revise = "REVISE",
        Hold = "HOLD",
        /// Too few judgements to decide; the gate fails closed.
        Incomplete = "INCOMPLETE",
    }
}

impl GateVerdict {
    /// `None` if nothing was decided.
    pub fn decision(self) -> Option<Decision> {
        match self {
            Self::Ship => Some(Decision::Ship),
            Self::Revise => Some(Decision::Revise),
            Self::Hold => Some(Decision::Hold),
            Self::Incomplete => None,
        }
    }
}

impl From<Decision> for GateVerdict {
    fn from(decision: Decision) -> Self {
        match decision {
            Decision::Ship => Self::Ship,
            Decision::Revise => Self::Revise,
            Decision::Hold => Self::Hold,
        }
    }
}

/// The outcome of a review that could be decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ruling {
    pub verdict: Decision,
    #[serde(rename = "arithmetic")]
    pub arithmetic: Arithmetic,
    pub adjudication: Adjudication,
}

impl Ruling {
    /// Only a downgrade makes the verdict softer than the computed one.
    pub fn is_downgraded(&self) -> bool {
        self.arithmetic.computed.is_some_and(|computed| self.verdict < computed)
    }
}

/// A person's decision that overrides the verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Override {
    pub verdict_id: String,
    pub decision: Decision,
    pub why: String,
}
