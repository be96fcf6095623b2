//! What the chair makes of it all in the third round.
//!
//! Models speak in letters; [`Report::named`] puts the seats' names in.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::opinion::Finding;
use super::words::{CritiqueType, Level, Outcome, RiskConsensus};
use crate::domain::ids::{DialogueId, ExpertSlug};

/// A report as the chair gave it. Where it says `provider`, `reviewer` or
/// `mentioned_by`, the chair writes the opinion's letter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    pub conclusion: Conclusion,
    pub rationale: Rationale,
    #[serde(default)]
    pub disagreements: Vec<Dispute>,
    #[serde(default)]
    pub uncertainties: Vec<Uncertainty>,
    #[serde(default)]
    pub risks: Vec<WeighedRisk>,
    #[serde(default)]
    pub next_actions: Vec<NextAction>,
    #[serde(default)]
    pub consensus_points: Vec<String>,
    /// Only in mode architecture: options that were weighed and not taken, and why.
    #[serde(default)]
    pub alternatives: Vec<String>,
    /// Only in mode architecture: how to find out whether the decision holds.
    #[serde(default)]
    pub verification_plan: Vec<String>,
    /// Only in mode review: the findings, merged.
    #[serde(default)]
    pub findings: Vec<MergedFinding>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Conclusion {
    pub outcome: Outcome,
    /// The decision or answer, in a few sentences that stand alone.
    pub statement: String,
    /// Needed with `need-info`: what is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rationale {
    pub summary: String,
    #[serde(default)]
    pub supporting_opinions: Vec<SupportingOpinion>,
    #[serde(default)]
    pub supporting_reviews: Vec<SupportingReview>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SupportingOpinion {
    pub provider: String,
    pub key_point: String,
    pub weight: Level,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SupportingReview {
    pub reviewer: String,
    pub critique_type: CritiqueType,
    pub key_point: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Dispute {
    pub topic: String,
    #[serde(default)]
    pub positions: Vec<Position>,
    #[serde(default)]
    pub resolution: String,
    #[serde(default)]
    pub resolution_rationale: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Position {
    pub provider: String,
    pub position: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Uncertainty {
    pub area: String,
    pub confidence: Level,
    #[serde(default)]
    pub reason: String,
    #[serde(default)]
    pub suggested_verification: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WeighedRisk {
    pub description: String,
    pub severity: Level,
    #[serde(default)]
    pub mentioned_by: Vec<String>,
    #[serde(default)]
    pub mitigation: String,
    pub consensus: RiskConsensus,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NextAction {
    pub action: String,
    pub priority: Level,
    #[serde(default)]
    pub rationale: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub success_criteria: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MergedFinding {
    #[serde(flatten)]
    pub finding: Finding,
    #[serde(default)]
    pub reported_by: Vec<String>,
    #[serde(default)]
    pub confirmed_by: Vec<String>,
    #[serde(default)]
    pub disputed_by: Vec<String>,
}

impl Report {
    /// The report with every letter replaced by the name behind it; a letter
    /// nobody has stays as it is, so that an invented peer is seen to be one.
    #[must_use]
    pub fn named(mut self, name: &dyn Fn(&str) -> Option<ExpertSlug>) -> Self {
        let put = |text: &mut String| {
            if let Some(found) = name(text) {
                *text = found.to_string();
            }
        };
        self.rationale.supporting_opinions.iter_mut().for_each(|point| put(&mut point.provider));
        self.rationale.supporting_reviews.iter_mut().for_each(|point| put(&mut point.reviewer));
        for dispute in &mut self.disagreements {
            dispute.positions.iter_mut().for_each(|position| put(&mut position.provider));
        }
        self.risks.iter_mut().flat_map(|risk| &mut risk.mentioned_by).for_each(put);
        for finding in &mut self.findings {
            let lists =
                [&mut finding.reported_by, &mut finding.confirmed_by, &mut finding.disputed_by];
            lists.into_iter().flatten().for_each(put);
        }
        self
    }
}

/// The report as it is delivered, whoever wrote it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CouncilFinalReport {
    #[serde(flatten)]
    pub report: Report,
    pub chair_provider: Option<ExpertSlug>,
    pub run_id: DialogueId,
    pub rounds_completed: u8,
    pub providers_participated: Vec<ExpertSlug>,
    /// True when this is not a chair's synthesis but a participant's opinion.
    pub fallback: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disclaimer: Option<String>,
}
