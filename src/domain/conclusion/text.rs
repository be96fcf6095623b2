//! The conclusion itself: exactly five fields.

use serde::{Deserialize, Serialize};

use crate::domain::ids::{EntityId, ExpertSlug};
use crate::domain::time::Day;
use crate::domain::words::words;

words! {
    /// The five fields, by name. What an objection is about.
    pub enum Field {
        Recommendation = "recommendation",
        KeyCondition = "key_condition",
        UnresolvedPoints = "unresolved_points",
        ReviewBy = "review_by",
        Participants = "participants",
    }
}

/// A conclusion that holds together: its agents took part, its ids are in the record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Conclusion {
    /// What was decided and why, in the format that was asked for.
    pub recommendation: String,
    /// If this fails, the recommendation should be revisited.
    pub key_condition: String,
    /// Real disagreements only; there may be none.
    pub unresolved_points: Vec<UnresolvedPoint>,
    pub review_by: Day,
    pub participants: Vec<Participant>,
}

/// A disagreement that was left standing, tied to who said what.
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
pub struct Participant {
    pub agent: ExpertSlug,
    pub version: String,
}

impl Conclusion {
    /// This conclusion with some fields of another; the rest stays as it is.
    #[must_use]
    pub fn with(&self, fields: &[Field], other: &Self) -> Self {
        let mut mended = self.clone();
        for field in fields {
            match field {
                Field::Recommendation => mended.recommendation.clone_from(&other.recommendation),
                Field::KeyCondition => mended.key_condition.clone_from(&other.key_condition),
                Field::UnresolvedPoints => {
                    mended.unresolved_points.clone_from(&other.unresolved_points);
                }
                Field::ReviewBy => mended.review_by = other.review_by,
                Field::Participants => mended.participants.clone_from(&other.participants),
            }
        }
        mended
    }

    /// The fields that differ.
    pub fn differing(&self, other: &Self) -> Vec<Field> {
        let is_other = |field: &Field| self.with(&[*field], other) != *self;
        Field::ALL.iter().copied().filter(is_other).collect()
    }
}
