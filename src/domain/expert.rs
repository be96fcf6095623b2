//! Experts, and the panel of each round.

use serde::{Deserialize, Serialize};

use super::ids::ExpertSlug;
use super::words::words;

words! {
    /// How close an expert's field is to the question.
    pub enum Tier {
        Core = "Core",
        Adjacent = "Adjacent",
        Wildcard = "Wildcard",
    }
}

words! {
    /// Whether an expert came from the pool or was created during the dialogue.
    pub enum Source {
        Pool = "pool",
        Created = "created",
    }
}

words! {
    /// How an expert joined the panel of a round.
    pub enum SeatSource {
        Retained = "retained",
        Pool = "pool",
        Created = "created",
    }
}

impl From<Source> for SeatSource {
    fn from(source: Source) -> Self {
        match source {
            Source::Pool => Self::Pool,
            Source::Created => Self::Created,
        }
    }
}

/// An expert as created. Scores are kept per round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    pub expert_slug: ExpertSlug,
    pub role: String,
    pub tier: Tier,
    pub source: Source,
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

impl Profile {
    /// Creates a profile with the required fields only.
    pub fn new(
        expert_slug: ExpertSlug,
        role: impl Into<String>,
        tier: Tier,
        source: Source,
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
pub fn inherited_panel(last: &[PanelSeat], experts: &[Profile], round: u8) -> Vec<PanelSeat> {
    if last.is_empty() {
        let present = experts.iter().filter(|expert| expert.first_round.is_none_or(|r| r <= round));
        return present.map(first_seat).collect();
    }
    let retained = |seat: &PanelSeat| PanelSeat {
        source: SeatSource::Retained,
        round_context: None,
        ..seat.clone()
    };
    last.iter().map(retained).collect()
}

/// Panel seat of an expert who joins for the first time.
pub fn first_seat(profile: &Profile) -> PanelSeat {
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
    pub source: SeatSource,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round_context: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mandate: Option<String>,
}
