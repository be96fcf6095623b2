//! The Blind Critic's reply: a pass, or objections to single fields.

use serde::{Deserialize, Serialize};

use super::text::Field;
use crate::domain::words::words;

/// The parsed reply of the critic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict")]
pub enum Audit {
    #[serde(rename = "PASS")]
    Pass,
    #[serde(rename = "FLAG")]
    Flag { objections: Vec<Objection> },
}

words! {
    /// Source of an objection.
    pub enum Auditor {
        Critic = "critic",
        /// The mechanical part of RULE 0, which counts lines, bullets, sentences and words.
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
