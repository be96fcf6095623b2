//! The plan of a dialogue that the built-in Judge leads, and the documents that the Judge writes.
//!
//! Types that derive `JsonSchema` are what the Judge replies with; their schemas go to the model.
//! The fields stand in the order of thinking.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ethos::compliance::RuleStatus;
use crate::ethos::library::EthosLibrary;
use crate::ethos::scoring::CalibrationMark;
use crate::ethos::synthesis::DomainChoice;
use crate::model::dialogue::{ExpertProfile, ExpertTier, PanelSeatSource};
use crate::model::ids::ExpertSlug;
use crate::model::lifecycle::EntityStatus;
use crate::model::verdict::VerdictConfidence;

/// Fewer experts do not deliberate.
pub const PANEL_MIN: usize = 2;

/// More seats than this are read by no expert, and each is a call in every round.
pub const PANEL_MAX: usize = 12;

/// Size of the panel when neither the caller nor a usable design names one.
pub const PANEL_DEFAULT: usize = 6;

/// Rounds of a dialogue, unless the settings say otherwise.
pub const MAX_ROUNDS_DEFAULT: u8 = 10;

/// Rounds that an estimate assumes: most dialogues converge by then.
pub const ROUNDS_ESTIMATED: u8 = 3;

/// The best mark for one part of a reply's score.
pub const SCORE_PART_MAX: u32 = 10;

/// What the run needs to know besides seats and limits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AlignmentPlan {
    /// The seat of the Judge.
    pub judge: ExpertSlug,
    /// The seats whose models play the experts, in order.
    pub experts: Vec<ExpertSlug>,
    pub max_rounds: u8,
    pub convergence_percent: u8,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub panel_size: Option<usize>,
    /// Experts that the caller gives; the Judge then designs none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<PlannedPool>,
    /// The Judge may create no expert.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pool_only: bool,
    /// Seed of the first panel's draw.
    pub panel_seed: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<String>,
    /// Given for a calibrated dialogue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<PlannedCalibration>,
}

/// What the ethos of a calibrated dialogue is made of, besides its constraints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedCalibration {
    pub library: EthosLibrary,
    pub domains: Vec<DomainChoice>,
}

impl PlannedCalibration {
    /// The slug of the first domain. The ethos records its lens.
    pub fn domain_id(&self) -> Option<String> {
        self.domains.first().map(|choice| choice.domain.clone())
    }
}

/// A pool that the caller gives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedPool {
    pub domain: Option<String>,
    pub experts: Vec<ExpertProfile>,
    /// The experts as the caller wrote them; the journal keeps them unchanged.
    pub as_given: Value,
}

/// What a score is made of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScoreComponents {
    pub wisdom: u32,
    pub consistency: u32,
    pub truth: u32,
    pub relationships: u32,
    /// How the reply stands to the rules of a calibrated dialogue. It is no part of the total.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<i64>,
    /// Words of the expert's reply that the score rests on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quotes: Vec<String>,
}

impl ScoreComponents {
    /// What an agent may type. Only the built-in Judge's marks give the rest, because code checks
    /// their quotes.
    pub const TYPED_FIELDS: [&str; 4] = ["wisdom", "consistency", "truth", "relationships"];

    /// A score without figures that code counts.
    pub fn new(wisdom: u32, consistency: u32, truth: u32, relationships: u32) -> Self {
        let (calibration, quotes) = (None, Vec::new());
        Self { wisdom, consistency, truth, relationships, calibration, quotes }
    }

    pub fn total(&self) -> i64 {
        [self.wisdom, self.consistency, self.truth, self.relationships].map(i64::from).iter().sum()
    }
}

/// What the parser found in an expert's reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContributionFacts {
    pub entities: usize,
    pub moves: usize,
    pub verdicts: usize,
}

impl ContributionFacts {
    /// Whether the reply says anything that the record can hold.
    pub fn is_heard(self) -> bool {
        self.entities + self.moves + self.verdicts > 0
    }
}

/// The Judge's design.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DesignReply {
    /// The field of the question, in a few words.
    pub domain: String,
    /// Facts that every expert needs, taken from the question and its files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub background: Option<String>,
    /// Requirements that the question itself states.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<String>,
    pub experts: Vec<DesignedExpert>,
    pub panel_size_reason: String,
    pub panel_size: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DesignedExpert {
    pub role: String,
    pub focus: String,
    /// "You …"
    pub description: String,
    #[schemars(schema_with = "crate::model::string_enum::word_schema::<ExpertTier>")]
    pub tier: ExpertTier,
    /// 0.20 to 0.95.
    pub relevance: f64,
}

/// The Judge's panel of a round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PanelReply {
    pub seats: Vec<SeatProposal>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SeatProposal {
    /// An expert of the dialogue; left out for a created one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expert_slug: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "crate::model::string_enum::word_schema::<ExpertTier>")]
    pub tier: Option<ExpertTier>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub focus: Option<String>,
    /// The tensions that this seat owns.
    #[serde(default)]
    pub tensions: Vec<String>,
    pub reason: String,
    /// What the expert is asked to do in the round.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directive: Option<String>,
    #[schemars(schema_with = "crate::model::string_enum::word_schema::<PanelSeatSource>")]
    pub source: PanelSeatSource,
}

/// The Judge's merges, updates and scores of a round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReconcileReply {
    #[serde(default)]
    pub merges: Vec<MergeProposal>,
    #[serde(default)]
    pub tension_updates: Vec<TensionUpdate>,
    #[serde(default)]
    pub accepted: Vec<AcceptedTension>,
    #[serde(default)]
    pub scores: Vec<ExpertScore>,
    /// How replies stand to the rules.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calibration: Vec<CalibrationMark>,
    /// What the panel has overlooked, for the directives of the next round.
    #[serde(default)]
    pub gaps: Vec<String>,
    pub title: String,
    pub summary: String,
}

/// Entities of this round that say the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MergeProposal {
    pub ids: Vec<String>,
    pub label: String,
    pub content: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TensionUpdate {
    pub id: String,
    /// The item that settles it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<String>,
    pub reason: String,
    #[schemars(schema_with = "crate::model::string_enum::word_schema::<EntityStatus>")]
    pub status: EntityStatus,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AcceptedTension {
    pub id: String,
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExpertScore {
    pub expert_slug: String,
    /// Words of that expert's reply, copied exactly.
    pub quote: String,
    #[schemars(range(max = SCORE_PART_MAX))]
    pub wisdom: u32,
    #[schemars(range(max = SCORE_PART_MAX))]
    pub consistency: u32,
    #[schemars(range(max = SCORE_PART_MAX))]
    pub truth: u32,
    #[schemars(range(max = SCORE_PART_MAX))]
    pub relationships: u32,
}

/// The Judge's verdicts at the end. There is no vote in it: code counts the signals.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VerdictsReply {
    #[serde(rename = "final")]
    pub last: FinalProposal,
    #[serde(default)]
    pub minority: Vec<MinorityProposal>,
    #[serde(default)]
    pub dissents: Vec<DissentProposal>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FinalProposal {
    #[serde(default)]
    pub key_evidence: Vec<String>,
    #[serde(default)]
    pub key_claims: Vec<String>,
    #[serde(default)]
    pub recommendations_adopted: Vec<String>,
    #[serde(default)]
    pub tensions_accepted: Vec<AcceptedTension>,
    pub description: String,
    /// How the verdict stands to each rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ethos_compliance: Option<ProposedCompliance>,
    #[serde(default)]
    pub conditions: Vec<String>,
    pub recommendation: String,
    #[schemars(schema_with = "crate::model::string_enum::word_schema::<VerdictConfidence>")]
    pub confidence: VerdictConfidence,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProposedCompliance {
    pub rules: Vec<ProposedStatus>,
}

/// How the verdict stands to one rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProposedStatus {
    pub rule_id: String,
    /// What the reason rests on.
    #[serde(default)]
    pub ids: Vec<String>,
    #[serde(default)]
    pub reason: String,
    #[schemars(schema_with = "crate::model::string_enum::word_schema::<RuleStatus>")]
    pub status: RuleStatus,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MinorityProposal {
    pub author: String,
    #[serde(default)]
    pub supporting_experts: Vec<String>,
    /// Words of a reply of the author, copied exactly.
    pub description: String,
    /// What the author recommends, in words of such a reply, too.
    #[serde(default)]
    pub recommendation: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DissentProposal {
    pub author: String,
    /// Words of a reply of the author, copied exactly.
    pub description: String,
    /// What the author recommends, in words of such a reply, too.
    #[serde(default)]
    pub recommendation: String,
}
