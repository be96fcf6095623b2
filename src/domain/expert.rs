//! Experts, and the panel of each round.

use serde::{Deserialize, Serialize};

use super::ids::ExpertSlug;
use super::words::words;

words! {
    /// How close an expert's field is to the question.
    pub enum ExpertTier {
        Core = "Core",
        Adjacent = "Adjacent",
        Wildcard = "Wildcard",
    }
}

words! {
    /// Whether an expert came from the pool or was created during the dialogue.
    pub enum ExpertSource {
        Pool = "pool",
        Created = "created",
    }
}

words! {
    /// How an expert joined the panel of a round.
    pub enum PanelSeatSource {
        Retained = "retained",
        Pool = "pool",
        Created = "created",
    }
}

impl From<ExpertSource> for PanelSeatSource {
    fn from(source: ExpertSource) -> Self {
        match source {
            ExpertSource::Pool => Self::Pool,
            ExpertSource::Created => Self::Created,
        }
    }
}

/// An expert as created. Scores are kept per round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExpertProfile {
    pub expert_slug: ExpertSlug,
    pub role: String,
    pub tier: ExpertTier,
    pub source: ExpertSource,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub focus: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relevance: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub creation_reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mandate: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub color: Option<String>,
    /// The first round the expert takes part in, once known.
    pub first_round: Option<u8>,
}

impl ExpertProfile {
    /// Creates a profile with the required fields only.
    pub fn new(
        expert_slug: ExpertSlug,
        role: impl Into<String>,
        tier: ExpertTier,
        source: ExpertSource,
    ) -> Self {
        Self {
            expert_slug,
            role: role.into(),
            tier,
            source,
            description: None,
            focus: None,
            relevance: None,
            creation_reason: None,
            mandate: None,
            color: None,
            first_round: None,
        }
    }
}

/// Panel of a round without a recorded one: the last panel, retained. Before the first panel, all
/// experts who joined by then.
pub fn inherit_panel(last: &[PanelSeat], experts: &[ExpertProfile], round: u8) -> Vec<PanelSeat> {
    if last.is_empty() {
        let present = experts.iter().filter(|expert| expert.first_round.is_none_or(|r| r <= round));
        return present.map(to_panel_seat).collect();
    }
    let retained = |seat: &PanelSeat| PanelSeat {
        source: PanelSeatSource::Retained,
        round_context: None,
        ..seat.clone()
    };
    last.iter().map(retained).collect()
}

/// Panel seat of an expert who joins for the first time.
pub fn to_panel_seat(profile: &ExpertProfile) -> PanelSeat {
    PanelSeat {
        expert_slug: profile.expert_slug.clone(),
        source: profile.source.into(),
        round_context: None,
        mandate: profile.mandate.clone(),
    }
}

/// A seat on the panel of one round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PanelSeat {
    pub expert_slug: ExpertSlug,
    pub source: PanelSeatSource,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round_context: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mandate: Option<String>,
}
