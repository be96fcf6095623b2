//! The Blind Critic's reply: a pass, or objections to single fields.

use serde::{Deserialize, Serialize};

use super::text::ConclusionField;
use crate::domain::words::words;

/// The parsed reply of the critic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict")]
pub enum AuditReply {
    #[serde(rename = "PASS")]
    Pass,
    #[serde(rename = "FLAG")]
    Flag { objections: Vec<AuditObjection> },
}

words! {
    /// Source of an objection.
    pub enum ObjectionSource {
        Critic = "critic",
        /// The mechanical part of RULE 0, which counts lines, bullets, sentences and words.
        Count = "count",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditObjection {
    pub field: ConclusionField,
    pub objection: String,
    pub by: ObjectionSource,
}

impl AuditReply {
    pub fn objections(&self) -> &[AuditObjection] {
        match self {
            Self::Pass => &[],
            Self::Flag { objections } => objections,
        }
    }
}
