//! Types of a review: the artifact and its tier, sampling, the panel, the plan, and a deliberator's
//! judgement.

use serde::{Deserialize, Serialize};

/// How often artifacts of a class are reviewed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReviewTier {
    /// Always: external, irreversible, identity-shaping, or written to a memory.
    Always,
    /// Never: internal drafts, dashboards, infrastructure.
    Never,
    /// One in five: daily briefings, internal analyses, plans.
    Sampled,
}

impl ReviewTier {
    /// In the order in which the program tries their rules.
    pub const ALL: [Self; 3] = [Self::Always, Self::Never, Self::Sampled];

    pub fn tier_number(self) -> u8 {
        match self {
            Self::Always => 1,
            Self::Never => 2,
            Self::Sampled => 3,
        }
    }

    /// Key of the tier under `tier_rules`.
    pub fn config_key(self) -> &'static str {
        match self {
            Self::Always => "tier_1",
            Self::Never => "tier_2",
            Self::Sampled => "tier_3",
        }
    }
}

impl TryFrom<u8> for ReviewTier {
    type Error = String;

    fn try_from(number: u8) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|tier| tier.tier_number() == number);
        known.ok_or_else(|| format!("there is no tier {number}: tiers are 1, 2 and 3"))
    }
}

impl Serialize for ReviewTier {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(self.tier_number())
    }
}

impl<'de> Deserialize<'de> for ReviewTier {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::try_from(u8::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

/// The document under review, as read at the start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewArtifact {
    /// Relative to the folder of `council.yaml`, with `/` as the separator.
    pub path: String,
    pub artifact_type: String,
    pub tier: ReviewTier,
    /// Author of the document, if given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub producer: Option<String>,
    pub sha256: String,
    pub text: String,
}
