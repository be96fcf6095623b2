//! Types of a council: string enums, the opinions of round 1 with their tally, and the peer reviews
//! of round 2.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::ask::{TokenUsage, serialize_usage};
use crate::model::ids::ExpertSlug;
use crate::model::string_enum::words;
use crate::model::time::Moment;

words! {
    /// Kind of question.
    pub enum QuestionMode {
        General = "general",
        Architecture = "architecture",
        Review = "review",
    }
}

words! {
    /// A degree, for severity, confidence, weight and priority.
    pub enum RatingLevel {
        Low = "low",
        Medium = "medium",
        High = "high",
    }
}

impl RatingLevel {
    /// One level lower, for the confidence after a skipped round.
    #[must_use]
    pub fn lower_level(self) -> Self {
        match self {
            Self::Low | Self::Medium => Self::Low,
            Self::High => Self::Medium,
        }
    }
}

words! {
    /// A participant's stance on the question.
    pub enum OpinionStance {
        Approve = "approve",
        Reject = "reject",
        Conditional = "conditional",
        Abstain = "abstain",
        None = "none",
    }
}

words! {
    /// Kind of critique: the review dimensions.
    pub enum CritiqueType {
        Error = "error",
        Inconsistency = "inconsistency",
        Omission = "omission",
        Risk = "risk",
        Assumption = "assumption",
        Alternative = "alternative",
    }
}

words! {
    /// A reviewer's stance on a peer's finding.
    pub enum FindingStance {
        Confirm = "confirm",
        Dispute = "dispute",
    }
}

words! {
    /// Outcome in the chair's report.
    pub enum ReportOutcome {
        Adopt = "adopt",
        Reject = "reject",
        NeedInfo = "need-info",
        Answer = "answer",
    }
}

words! {
    /// Whether the panel agrees on a risk.
    pub enum RiskConsensus {
        Agreed = "agreed",
        Disputed = "disputed",
    }
}

/// An opinion as its model gave it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpinionReply {
    /// The answer and its main reason.
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

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpinionDetails {
    /// What you take the question to be.
    #[serde(default)]
    pub understanding: String,
    #[serde(default)]
    pub key_considerations: Vec<String>,
    /// Options that were not chosen, each with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alternatives_considered: Vec<String>,
    /// Facts and figures, each with its source.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
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
    #[serde(serialize_with = "serialize_usage", skip_serializing_if = "Option::is_none")]
    pub token_usage: Option<TokenUsage>,
    pub latency_ms: u64,
    /// The reply was cut off before its end.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

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
    /// From 1 (wrong or harmful) to 10 (nothing to correct or to add).
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
    #[serde(serialize_with = "serialize_usage", skip_serializing_if = "Option::is_none")]
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

/// Stances of the first round, counted independently of the report.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StanceTally {
    pub approve: usize,
    pub reject: usize,
    pub conditional: usize,
    pub abstain: usize,
    pub none: usize,
}

impl StanceTally {
    pub fn from_stances(stances: impl IntoIterator<Item = OpinionStance>) -> Self {
        let mut tally = Self::default();
        for stance in stances {
            *tally.count_mut(stance) += 1;
        }
        tally
    }

    pub fn count_of(self, stance: OpinionStance) -> usize {
        let mut tally = self;
        *tally.count_mut(stance)
    }

    fn count_mut(&mut self, stance: OpinionStance) -> &mut usize {
        match stance {
            OpinionStance::Approve => &mut self.approve,
            OpinionStance::Reject => &mut self.reject,
            OpinionStance::Conditional => &mut self.conditional,
            OpinionStance::Abstain => &mut self.abstain,
            OpinionStance::None => &mut self.none,
        }
    }

    /// Returns true if the stances differ.
    pub fn is_split(self) -> bool {
        OpinionStance::ALL.iter().filter(|stance| self.count_of(**stance) > 0).count() > 1
    }
}
