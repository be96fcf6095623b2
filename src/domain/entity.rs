//! Perspectives, recommendations, tensions, evidence and claims: one shape, five kinds.

use serde_json::value::RawValue;

use super::ids::{Actor, EntityId, ExpertSlug};
use super::lifecycle::{EventType, Status};
use super::reference::Reference;
use super::time::Moment;

/// An entity with its history, as the record holds it.
#[derive(Debug, Clone)]
pub struct Entity {
    pub id: EntityId,
    pub label: String,
    /// `content`, or a tension's `description`.
    pub text: String,
    pub contributors: Vec<ExpertSlug>,
    pub status: Status,
    /// A recommendation's structured data, exactly as it was registered.
    pub parameters: Option<Box<RawValue>>,
    pub references: Vec<Reference>,
    pub adopted_in_verdict: Option<String>,
    pub events: Vec<Event>,
    pub created_at: Moment,
}

/// One entry of an entity's history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    pub event_type: EventType,
    pub round: u8,
    pub actors: Vec<Actor>,
    /// What the entity became, e.g. the perspective that refines it.
    pub result: Option<EntityId>,
    /// What caused the event: an entity's id or a verdict's.
    pub reference: Option<String>,
    pub reason: Option<String>,
}
