//! The chair's report of the third round.
//!
//! Models refer to participants by letters; [`ChairReport::with_seat_names`] replaces the letters
//! by names.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::ids::{DialogueId, ExpertSlug};
use crate::protocols::council::types::{
    CritiqueType, OpinionFinding, RatingLevel, ReportOutcome, RiskConsensus,
};

/// A report as the chair gave it. Where it says `provider`, `reviewer` or
/// `mentioned_by`, the chair writes the opinion's letter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChairReport {
    pub conclusion: ReportConclusion,
    pub rationale: ReportRationale,
    #[serde(default)]
    pub disagreements: Vec<ReportDispute>,
    #[serde(default)]
    pub uncertainties: Vec<ReportUncertainty>,
    #[serde(default)]
    pub risks: Vec<ReportRisk>,
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
pub struct ReportConclusion {
    pub outcome: ReportOutcome,
    /// The decision or answer, in a few sentences that stand alone.
    pub statement: String,
    /// Needed with `need-info`: what is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReportRationale {
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
    pub weight: RatingLevel,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SupportingReview {
    pub reviewer: String,
    pub critique_type: CritiqueType,
    pub key_point: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReportDispute {
    pub topic: String,
    #[serde(default)]
    pub positions: Vec<DisputePosition>,
    #[serde(default)]
    pub resolution: String,
    #[serde(default)]
    pub resolution_rationale: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DisputePosition {
    pub provider: String,
    pub position: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReportUncertainty {
    pub area: String,
    pub confidence: RatingLevel,
    #[serde(default)]
    pub reason: String,
    #[serde(default)]
    pub suggested_verification: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReportRisk {
    pub description: String,
    pub severity: RatingLevel,
    #[serde(default)]
    pub mentioned_by: Vec<String>,
    #[serde(default)]
    pub mitigation: String,
    pub consensus: RiskConsensus,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NextAction {
    pub action: String,
    pub priority: RatingLevel,
    #[serde(default)]
    pub rationale: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub success_criteria: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MergedFinding {
    #[serde(flatten)]
    pub finding: OpinionFinding,
    #[serde(default)]
    pub reported_by: Vec<String>,
    #[serde(default)]
    pub confirmed_by: Vec<String>,
    #[serde(default)]
    pub disputed_by: Vec<String>,
}

impl ChairReport {
    /// Every place where the report names a participant.
    pub fn participant_names_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let opinions =
            self.rationale.supporting_opinions.iter_mut().map(|point| &mut point.provider);
        let reviews = self.rationale.supporting_reviews.iter_mut().map(|point| &mut point.reviewer);
        let positions = self.disagreements.iter_mut().flat_map(|dispute| &mut dispute.positions);
        let risks = self.risks.iter_mut().flat_map(|risk| &mut risk.mentioned_by);
        let findings = self.findings.iter_mut().flat_map(|finding| {
            let MergedFinding { reported_by, confirmed_by, disputed_by, .. } = finding;
            reported_by.iter_mut().chain(confirmed_by).chain(disputed_by)
        });
        let positions = positions.map(|position| &mut position.provider);
        opinions.chain(reviews).chain(positions).chain(risks).chain(findings)
    }

    /// Replaces every letter by the seat's name. Removes unknown letters, because a peer that the
    /// chair invented supports nothing.
    #[must_use]
    pub fn with_seat_names(mut self, name: &dyn Fn(&str) -> Option<ExpertSlug>) -> Self {
        for text in self.participant_names_mut() {
            *text = name(text).map_or_else(String::new, |found| found.to_string());
        }
        self.rationale.supporting_opinions.retain(|point| !point.provider.is_empty());
        self.rationale.supporting_reviews.retain(|point| !point.reviewer.is_empty());
        for dispute in &mut self.disagreements {
            dispute.positions.retain(|position| !position.provider.is_empty());
        }
        for risk in &mut self.risks {
            risk.mentioned_by.retain(|who| !who.is_empty());
        }
        for MergedFinding { reported_by, confirmed_by, disputed_by, .. } in &mut self.findings {
            for list in [reported_by, confirmed_by, disputed_by] {
                list.retain(|who| !who.is_empty());
            }
        }
        self
    }
}

/// The report as delivered, by the chair or as a fallback.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CouncilFinalReport {
    #[serde(flatten)]
    pub report: ChairReport,
    pub chair_provider: Option<ExpertSlug>,
    pub run_id: DialogueId,
    pub rounds_completed: u8,
    pub providers_participated: Vec<ExpertSlug>,
    /// True if this is not a chair's synthesis but a participant's opinion.
    pub fallback: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disclaimer: Option<String>,
}
