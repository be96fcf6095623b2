//! What the Blind Critic says: nothing, or exactly what is wrong.

use serde::{Deserialize, Serialize};

use super::text::Field;
use crate::domain::words::words;

/// A critic's reply, once it was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict")]
pub enum Audit {
    #[serde(rename = "PASS")]
    Pass,
    #[serde(rename = "FLAG")]
    Flag { objections: Vec<Objection> },
}

words! {
    /// Who objects.
    pub enum Auditor {
        Critic = "critic",
        /// The mechanical half of RULE 0: what can be counted is counted.
        Count = "count",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Objection {
    pub field: Field,
    pub objection: String,
    pub by: Auditor,
}

impl Audit {
    pub fn objections(&self) -> &[Objection] {
        match self {
            Self::Pass => &[],
            Self::Flag { objections } => objections,
        }
    }
}
