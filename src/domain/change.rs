//! What happened to a dialogue, as data.
//!
//! Operations decide on changes, the store applies them, and the journal keeps
//! them: the tables can be rebuilt from it, which is how `verify` finds a row
//! that was touched.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::dialogue::{DialogueStatus, Opening};
use super::entity::Origin;
use super::expert::{PanelSeat, Profile};
use super::ids::{Actor, EntityId, ExpertSlug, LocalId};
use super::lifecycle::EventType;
use super::reference::{Link, Move, Reference};
use super::verdict::Verdict;
use super::words::words;

words! {
    /// What kind of entry the journal holds.
    pub enum EntryKind {
        DialogueCreated = "dialogue_created",
        PanelEvolved = "panel_evolved",
        ExpertCreated = "expert_created",
        RoundRegistered = "round_registered",
        VerdictRegistered = "verdict_registered",
        DialogueAbandoned = "dialogue_abandoned",
    }
}

/// One thing that happened. A journal entry is a list of these.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum Change {
    DialogueOpened(Opening),
    PoolGiven {
        domain: Option<String>,
        experts: Value,
    },
    ExpertAdded(Profile),
    /// The round in which an expert first took part.
    ExpertJoined {
        expert: ExpertSlug,
        round: u8,
    },
    PanelSet {
        round: u8,
        seats: Vec<PanelSeat>,
    },
    RoundHeld {
        round: u8,
        title: Option<String>,
        score: i64,
        summary: Option<String>,
    },
    ScoreGiven {
        round: u8,
        expert: ExpertSlug,
        score: i64,
    },
    RawReplyKept {
        round: u8,
        expert: ExpertSlug,
        content: String,
    },
    /// The entity's own creation event goes with it.
    EntityAdded(NewEntity),
    /// A reference made after its source was registered.
    ReferenceAdded(Link),
    EventAdded(NewEvent),
    MoveMade(Move),
    /// So that the same batch, sent again, gets the same answer.
    BatchAnswered {
        round: u8,
        batch_sha256: String,
        answer: Value,
    },
    VerdictGiven(Verdict),
    StatusSet {
        status: DialogueStatus,
        reason: Option<String>,
    },
}

/// An entity as it enters the record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NewEntity {
    pub id: EntityId,
    pub local_id: LocalId,
    pub label: String,
    pub text: String,
    pub contributors: Vec<ExpertSlug>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Value>,
    pub references: Vec<Reference>,
}

/// An event as it enters the record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewEvent {
    pub entity: EntityId,
    pub event_type: EventType,
    pub round: u8,
    pub actors: Vec<Actor>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<EntityId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<Origin>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
