//! What the gate decided, and a person's word over it.

use serde::{Deserialize, Serialize};

use super::adjudication::Adjudication;
use super::policy::{Arithmetic, Decision};
use crate::domain::words::words;

words! {
    /// What a review came to.
    pub enum GateVerdict {
        Ship = "SHIP",
        Revise = "REVISE",
        Hold = "HOLD",
        /// Too few were heard to decide anything: the gate stays closed.
        Incomplete = "INCOMPLETE",
    }
}

impl GateVerdict {
    /// Nothing, where nothing was decided.
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

/// The end of a review that could be decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ruling {
    pub verdict: Decision,
    pub arithmetic: Arithmetic,
    pub adjudication: Adjudication,
}

impl Ruling {
    /// Only a downgrade makes a verdict softer than what was counted.
    pub fn is_downgraded(&self) -> bool {
        self.arithmetic.computed.is_some_and(|computed| self.verdict < computed)
    }
}

/// A person's decision over the gate's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Override {
    pub verdict_id: String,
    pub decision: Decision,
    pub why: String,
}
