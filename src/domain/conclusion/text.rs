//! Types of a conclusion: exactly five fields, the critic's audit, the result, and the facts that
//! the validator checks against.

use serde::{Deserialize, Serialize};

use crate::domain::ids::{EntityId, ExpertSlug};
use crate::domain::time::Day;
use crate::domain::words::words;

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
    pub id: EntityId,
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
        let mut mended = self.clone();
        for field in fields {
            match field {
                ConclusionField::Recommendation => {
                    mended.recommendation.clone_from(&other.recommendation)
                }
                ConclusionField::KeyCondition => {
                    mended.key_condition.clone_from(&other.key_condition)
                }
                ConclusionField::UnresolvedPoints => {
                    mended.unresolved_points.clone_from(&other.unresolved_points);
                }
                ConclusionField::ReviewBy => mended.review_by = other.review_by,
                ConclusionField::Participants => {
                    mended.participants.clone_from(&other.participants)
                }
            }
        }
        mended
    }

    /// The fields that differ.
    pub fn differing_fields(&self, other: &Self) -> Vec<ConclusionField> {
        let is_other = |field: &ConclusionField| self.with_fields(&[*field], other) != *self;
        ConclusionField::ALL.iter().copied().filter(is_other).collect()
    }
}
