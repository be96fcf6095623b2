//! The dialogue, the root of one deliberation for every protocol, with its experts and panels.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::ids::{DialogueId, EntityId, ExpertSlug};
use crate::model::string_enum::{open_words, words};
use crate::model::time::Moment;

open_words! {
    /// The protocol that runs a dialogue.
    pub enum ProtocolKind {
        Alignment = "alignment",
        Council = "council",
        Review = "review",
    }
}

impl ProtocolKind {
    /// Alignment dialogues number rounds from 0, councils and reviews from 1, as the seeds do.
    pub fn first_round(self) -> u8 {
        match self {
            Self::Alignment => 0,
            Self::Council | Self::Review | Self::Other(_) => 1,
        }
    }

    /// Whether a Judge leads the dialogue: rounds have scores, verdicts have votes, and experts
    /// have prompts. The seats of every other protocol are asked by the engine.
    pub fn is_judged(self) -> bool {
        match self {
            Self::Alignment => true,
            Self::Council | Self::Review | Self::Other(_) => false,
        }
    }

    /// Whether a report accepts the tensions that it leaves open.
    pub fn accepts_open_tensions(self) -> bool {
        match self {
            Self::Council => true,
            Self::Alignment | Self::Review | Self::Other(_) => false,
        }
    }

    /// Whether a person or an agent may register rounds and verdicts by hand.
    pub fn takes_contributions(self) -> bool {
        match self {
            Self::Alignment | Self::Council => true,
            Self::Review | Self::Other(_) => false,
        }
    }
}

words! {
    /// Status of a dialogue.
    pub enum DialogueStatus {
        Open = "open",
        Converging = "converging",
        Converged = "converged",
        Abandoned = "abandoned",
    }
}

impl DialogueStatus {
    pub fn is_closed(self) -> bool {
        match self {
            Self::Open | Self::Converging => false,
            Self::Converged | Self::Abandoned => true,
        }
    }
}

words! {
    /// Result of an audited conclusion.
    pub enum TerminalState {
        Clean = "clean",
        Revised = "revised",
        Unconverged = "unconverged",
    }
}

words! {
    /// Stage of the conclusion; stages only move forward. `pending` and the rounds come before
    /// them, `terminal` after them.
    pub enum ConclusionStage {
        Concluding = "concluding",
        Auditing = "auditing",
        Revising = "revising",
    }
}

/// The attributes of a dialogue at its creation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DialogueOpening {
    pub dialogue_id: DialogueId,
    pub title: String,
    pub question: Option<String>,
    pub background: Option<Value>,
    pub protocol: ProtocolKind,
    pub rehearsal: bool,
    pub convergence_percent: u8,
    /// Seed of the panel draw, in hex. `None` if no panel was drawn.
    pub panel_seed: Option<String>,
    pub output_dir: String,
    /// An ethos binds the dialogue.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub calibrated: bool,
    /// Slug of the domain whose tenets hold, if one was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain_id: Option<String>,
}

/// A dialogue with its current state.
#[derive(Debug, Clone, PartialEq)]
pub struct Dialogue {
    pub opening: DialogueOpening,
    pub status: DialogueStatus,
    pub terminal_state: Option<TerminalState>,
    pub total_rounds: u8,
    pub total_alignment: i64,
    pub created_at: Moment,
    pub converged_at: Option<Moment>,
    /// Reason for abandoning it, if given.
    pub closed_because: Option<String>,
}

impl Dialogue {
    pub fn id(&self) -> &DialogueId {
        &self.opening.dialogue_id
    }

    /// The round that would be registered next.
    pub fn next_round(&self) -> u8 {
        self.opening.protocol.first_round() + self.total_rounds
    }

    /// The newest registered round.
    pub fn last_round(&self) -> Option<u8> {
        (self.total_rounds > 0).then(|| self.next_round() - 1)
    }
}

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
        reason: None,
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
        reason: None,
        tensions: Vec::new(),
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
    /// Why the expert has this seat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The tensions that the seat owns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tensions: Vec<EntityId>,
}
