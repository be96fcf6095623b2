//! Types of a conclusion: exactly five fields, the critic's audit, the result, and the facts that
//! the validator checks against.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::dialogue::TerminalState;
use crate::model::ids::{ClaimSource, EntityId, ExpertSlug, VerdictId};
use crate::model::string_enum::words;
use crate::model::time::{Day, Moment};

words! {
    /// Names of the five fields. An objection names one of them.
    pub enum ConclusionField {
        Recommendation = "recommendation",
        KeyCondition = "key_condition",
        UnresolvedPoints = "unresolved_points",
        ReviewBy = "review_by",
        Participants = "participants",
    }
}

/// A valid conclusion: its agents took part, and its ids are in the record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Conclusion {
    /// The decision and its reasons, in the requested format.
    pub recommendation: String,
    /// If this condition fails, the recommendation should be revisited.
    pub key_condition: String,
    /// Real disagreements only; may be empty.
    pub unresolved_points: Vec<UnresolvedPoint>,
    pub review_by: Day,
    pub participants: Vec<ConclusionParticipant>,
}

/// A disagreement that remains, with the claims on both sides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnresolvedPoint {
    pub point: String,
    pub agents_involved: Vec<ExpertSlug>,
    pub claims: Vec<CitedClaim>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CitedClaim {
    pub id: ClaimSource,
    pub agent: ExpertSlug,
    pub claim: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConclusionParticipant {
    pub agent: ExpertSlug,
    pub version: String,
}

impl Conclusion {
    /// Replaces the given fields by those of another conclusion.
    #[must_use]
    pub fn with_fields(&self, fields: &[ConclusionField], other: &Self) -> Self {
        let mut repaired = self.clone();
        for field in fields {
            match field {
                ConclusionField::Recommendation => {
                    repaired.recommendation.clone_from(&other.recommendation)
                }
                ConclusionField::KeyCondition => {
                    repaired.key_condition.clone_from(&other.key_condition)
                }
                ConclusionField::UnresolvedPoints => {
                    repaired.unresolved_points.clone_from(&other.unresolved_points);
                }
                ConclusionField::ReviewBy => repaired.review_by = other.review_by,
                ConclusionField::Participants => {
                    repaired.participants.clone_from(&other.participants)
                }
            }
        }
        repaired
    }

    /// The fields that differ.
    pub fn differing_fields(&self, other: &Self) -> Vec<ConclusionField> {
        let is_other = |field: &ConclusionField| self.with_fields(&[*field], other) != *self;
        ConclusionField::ALL.iter().copied().filter(is_other).collect()
    }
}

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

/// The result of a concluded dialogue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConclusionResult {
    /// `None` if no audit was planned.
    pub terminal_state: Option<TerminalState>,
    /// The delivered conclusion; if unconverged, the one that the critic rejected last.
    pub conclusion: Conclusion,
    /// `None` if no audit was planned.
    pub audit: Option<AuditTrail>,
    pub synthesizer: SeatAuthor,
    pub critic: Option<SeatAuthor>,
    /// `None` if no field was revised.
    pub reviser: Option<SeatAuthor>,
}

/// A seat with the model behind it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeatAuthor {
    pub seat: ExpertSlug,
    pub model: String,
    pub family: String,
}

/// The objections of the audit, and the revision they led to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditTrail {
    /// Empty if the first audit passed.
    pub objections: Vec<AuditObjection>,
    /// The fields that the reviser had to change.
    pub revised_fields: Vec<ConclusionField>,
    pub second_objections: Vec<AuditObjection>,
    /// The first version, if it was revised.
    pub original: Option<Conclusion>,
}

words! {
    /// Whether a conclusion proved right by its review date.
    pub enum OutcomeKind {
        Held = "held",
        Failed = "failed",
        Mixed = "mixed",
    }
}

/// A person's report on how a conclusion turned out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConclusionOutcome {
    pub outcome: OutcomeKind,
    pub note: Option<String>,
}

/// A result as recorded, with its outcomes, oldest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedConclusion {
    pub ending: ConclusionResult,
    pub at: Moment,
    pub outcomes: Vec<(Moment, ConclusionOutcome)>,
}

impl ConclusionResult {
    /// The conclusion a reader may rely on; `None` if the critic rejected it twice.
    pub fn delivered_conclusion(&self) -> Option<&Conclusion> {
        let is_rejected = self.terminal_state == Some(TerminalState::Unconverged);
        (!is_rejected).then_some(&self.conclusion)
    }
}

/// The facts that the validator compares a conclusion with.
#[derive(Debug, Clone)]
pub struct ConclusionContext<'a> {
    pub participants: &'a [ConclusionParticipant],
    /// Letters that may also name a participant.
    pub letters: Vec<(char, ExpertSlug)>,
    /// Every entity of the record, with its contributors.
    pub entities: &'a BTreeMap<EntityId, Vec<ExpertSlug>>,
    /// Every verdict of the record, with its authors.
    pub verdicts: &'a BTreeMap<VerdictId, Vec<ExpertSlug>>,
    /// The day of writing; `review_by` must be later.
    pub today: Day,
}
