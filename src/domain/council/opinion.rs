//! The opinion that a participant writes in the first round, without seeing the others.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::words::{OpinionStance, QuestionMode, RatingLevel};
use crate::domain::ask::TokenUsage;
use crate::domain::ids::ExpertSlug;
use crate::domain::time::Moment;

/// An opinion as its model gave it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpinionReply {
    /// The answer in two or three sentences.
    pub summary: String,
    pub details: OpinionDetails,
    #[serde(default)]
    pub risks: Vec<OpinionRisk>,
    #[serde(default)]
    pub assumptions: Vec<String>,
    /// What you would need to know to be surer.
    #[serde(default)]
    pub questions: Vec<String>,
    pub confidence: RatingLevel,
    /// `none` when the question is not one of approval.
    pub stance: OpinionStance,
    /// Only in mode review: faults of the files.
    #[serde(default)]
    pub findings: Vec<OpinionFinding>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpinionDetails {
    /// What you take the question to be.
    #[serde(default)]
    pub understanding: String,
    #[serde(default)]
    pub key_considerations: Vec<String>,
    pub recommendation: String,
    #[serde(default)]
    pub rationale: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpinionRisk {
    pub description: String,
    pub severity: RatingLevel,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mitigation: Option<String>,
}

/// A fault of the material under review.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpinionFinding {
    /// Such as `SEC-001`.
    pub id: String,
    pub title: String,
    pub severity: RatingLevel,
    #[serde(default)]
    pub category: String,
    /// File and line, where it can be said.
    #[serde(default)]
    pub location: String,
    pub description: String,
    #[serde(default)]
    pub fix_approach: String,
}

/// An opinion with its author, time and cost.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CouncilOpinion {
    pub provider: ExpertSlug,
    pub model: String,
    pub round: &'static str,
    pub timestamp: Moment,
    pub mode: QuestionMode,
    #[serde(flatten)]
    pub opinion: OpinionReply,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_usage: Option<TokenUsage>,
    pub latency_ms: u64,
    /// The reply was cut off before its end.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}
