//! The peer review: a participant's critique of the other opinions in the second round.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::words::{CritiqueType, FindingStance, RatingLevel};
use crate::domain::ask::TokenUsage;
use crate::domain::ids::ExpertSlug;
use crate::domain::time::Moment;

/// A review as its model gave it; opinions are known by their letters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PeerReview {
    /// One entry for each opinion you were shown.
    pub targets: Vec<OpinionAssessment>,
    /// What in the others' opinions would make you change your own.
    #[serde(default)]
    pub would_change_my_opinion: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpinionAssessment {
    /// The opinion's letter, such as `A`.
    pub letter: String,
    /// From 1 (useless) to 10 (nothing to add).
    #[schemars(range(min = 1, max = 10))]
    pub rating: u8,
    #[serde(default)]
    pub critiques: Vec<PeerCritique>,
    #[serde(default)]
    pub agreement_points: Vec<String>,
    #[serde(default)]
    pub disagreement_points: Vec<PeerDisagreement>,
    /// Only in mode review: what you hold of each of its findings.
    #[serde(default)]
    pub finding_positions: Vec<FindingPosition>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PeerCritique {
    #[serde(rename = "type")]
    pub critique_type: CritiqueType,
    pub message: String,
    pub severity: RatingLevel,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggested_correction: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PeerDisagreement {
    pub topic: String,
    #[serde(default)]
    pub reviewer_position: String,
    #[serde(default)]
    pub target_position: String,
    #[serde(default)]
    pub rationale: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FindingPosition {
    pub id: String,
    pub position: FindingStance,
    #[serde(default)]
    pub reason: String,
}

/// A peer review with its author, time and cost.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CouncilPeerReview {
    pub reviewer_provider: ExpertSlug,
    pub reviewer_model: String,
    pub round: &'static str,
    pub timestamp: Moment,
    pub targets: Vec<NamedAssessment>,
    pub would_change_my_opinion: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_usage: Option<TokenUsage>,
    pub latency_ms: u64,
    /// The reply was cut off before its end.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

/// The assessment of an opinion, with the opinion's author.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NamedAssessment {
    pub target_provider: ExpertSlug,
    #[serde(flatten)]
    pub target: OpinionAssessment,
}
