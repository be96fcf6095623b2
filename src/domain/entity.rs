//! Entities (perspectives, recommendations, tensions, evidence and claims share one shape), the
//! references between them, and the moves of experts.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;
use serde_json::Value;

use super::ids::{EntityId, EventActor, ExpertSlug, MalformedText, VerdictId};
use super::lifecycle::{self, EntityEventType, EntityStatus};
use super::reference::EntityReference;
use super::time::Moment;
use super::words::serde_by_text;

/// An entity with its history.
#[derive(Debug, Clone)]
pub struct Entity {
    pub id: EntityId,
    pub label: String,
    /// `content`, or a tension's `description`.
    pub text: String,
    pub contributors: Vec<ExpertSlug>,
    pub status: EntityStatus,
    /// A recommendation's structured data.
    pub parameters: Option<Value>,
    pub references: Vec<EntityReference>,
    pub adopted_in_verdict: Option<VerdictId>,
    pub events: Vec<EntityEvent>,
    pub created_at: Moment,
}

impl Entity {
    /// Removes everything that happened in `round` or later.
    pub(super) fn rewind_to(&mut self, round: u8) {
        self.events.retain(|event| event.round < round);
        self.references.retain(|made| made.target.round < round);
        let reached = self
            .events
            .iter()
            .rev()
            .find_map(|event| event.event_type.resulting_status(self.id.kind));
        self.status = reached.unwrap_or_else(|| lifecycle::initial_status(self.id.kind));
        self.adopted_in_verdict =
            self.adopted_in_verdict.take().filter(|_| self.status == EntityStatus::Adopted);
    }
}

/// One event in an entity's history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EntityEvent {
    #[serde(rename = "type")]
    pub event_type: EntityEventType,
    pub round: u8,
    #[serde(rename = "by")]
    pub actors: Vec<EventActor>,
    /// What the entity became, for example the perspective that refines it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<EntityId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<EventOrigin>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The entity or verdict that caused an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventOrigin {
    Entity(EntityId),
    Verdict(VerdictId),
}

impl fmt::Display for EventOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Entity(id) => id.fmt(f),
            Self::Verdict(id) => id.fmt(f),
        }
    }
}

impl FromStr for EventOrigin {
    type Err = MalformedText;

    /// No verdict id parses as an entity id, so the text is unambiguous.
    fn from_str(text: &str) -> Result<Self, MalformedText> {
        text.parse().map(Self::Entity).or_else(|_| text.parse().map(Self::Verdict))
    }
}

serde_by_text!(EventOrigin);
