//! Entities (perspectives, recommendations, tensions, evidence and claims share one shape), the
//! references between them, and the moves of experts.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::ids::{EntityId, EntityKind, EventActor, ExpertSlug, MalformedText, VerdictId};
use crate::model::lifecycle::{EntityEventType, EntityStatus, initial_status};
use crate::model::string_enum::{schema_by_text, serde_by_text, words};
use crate::model::time::Moment;

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
    pub(crate) fn rewind_to(&mut self, round: u8) {
        self.events.retain(|event| event.round < round);
        self.references.retain(|made| made.target.round < round);
        let reached = self
            .events
            .iter()
            .rev()
            .find_map(|event| event.event_type.resulting_status(self.id.kind));
        self.status = reached.unwrap_or_else(|| initial_status(self.id.kind));
        self.adopted_in_verdict =
            self.adopted_in_verdict.take().filter(|_| self.status == EntityStatus::Adopted);
    }
}

/// One event in an entity's history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
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
schema_by_text!(EventOrigin, "entity or verdict id");

words! {
    /// Type of a reference from one entity to another.
    pub enum ReferenceType {
        Support = "support",
        Oppose = "oppose",
        Refine = "refine",
        Address = "address",
        Resolve = "resolve",
        Reopen = "reopen",
        Question = "question",
        Depend = "depend",
    }
}

/// Why a reference is invalid for any record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvalidReference {
    /// Only a tension can be addressed, resolved or reopened.
    TensionOnly,
    /// An entity can only be refined by an entity of the same kind.
    SameKindOnly,
}

impl ReferenceType {
    /// What an expert did to the target of the reference.
    pub fn past_tense(self) -> &'static str {
        match self {
            Self::Support => "supported",
            Self::Oppose => "opposed",
            Self::Refine => "refined",
            Self::Address => "addressed",
            Self::Resolve => "claimed to resolve",
            Self::Reopen => "reopened",
            Self::Question => "questioned",
            Self::Depend => "built on",
        }
    }

    pub fn check_kinds(
        self,
        source: EntityKind,
        target: EntityKind,
    ) -> Result<(), InvalidReference> {
        match self {
            Self::Resolve | Self::Reopen | Self::Address if target != EntityKind::Tension => {
                Err(InvalidReference::TensionOnly)
            }
            Self::Refine if source != target => Err(InvalidReference::SameKindOnly),
            Self::Support
            | Self::Oppose
            | Self::Refine
            | Self::Address
            | Self::Resolve
            | Self::Reopen
            | Self::Question
            | Self::Depend => Ok(()),
        }
    }
}

/// A reference with both its ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ReferenceLink {
    pub source: EntityId,
    pub ref_type: ReferenceType,
    pub target: EntityId,
}

/// A reference as stored with its source entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct EntityReference {
    #[serde(rename = "type")]
    pub ref_type: ReferenceType,
    pub target: EntityId,
}

words! {
    /// Type of a move. An expert makes moves in addition to stating entities.
    pub enum MoveType {
        Defend = "defend",
        Challenge = "challenge",
        Bridge = "bridge",
        Request = "request",
        Concede = "concede",
        Converge = "converge",
    }
}

impl MoveType {
    /// Minimum number of targets. A request names a topic, and converge names nothing.
    pub fn targets_min(self) -> usize {
        match self {
            Self::Defend | Self::Challenge | Self::Concede => 1,
            Self::Bridge => 2,
            Self::Request | Self::Converge => 0,
        }
    }
}

/// A move of an expert in a round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExpertMove {
    pub expert: ExpertSlug,
    pub round: u8,
    #[serde(rename = "type")]
    pub move_type: MoveType,
    pub targets: Vec<EntityId>,
    pub context: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_make_sense_or_say_why_not() {
        for ref_type in ReferenceType::ALL {
            for source in EntityKind::ALL {
                for target in EntityKind::ALL {
                    let expected = match ref_type.name() {
                        "address" | "resolve" | "reopen" => *target == EntityKind::Tension,
                        "refine" => source == target,
                        _ => true,
                    };
                    assert_eq!(ref_type.check_kinds(*source, *target).is_ok(), expected);
                }
            }
        }
    }
}
