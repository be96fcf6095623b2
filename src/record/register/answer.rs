//! Answer to `round_register`: the global id of each local id, the status changes and the warnings.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::check::CheckedUpdate;
use crate::domain::change::{NewEntity, NewEvent};
use crate::domain::entity::Origin;
use crate::domain::ids::{EntityId, EntityKind, LocalId};
use crate::domain::lifecycle::Status;
use crate::record::warning::Warning;

/// The answer to a batch. The journal keeps it, so that the same batch gets the same answer again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    pub status: String,
    pub round: u8,
    pub id_mapping: Map<String, Value>,
    pub perspectives: Vec<Registered>,
    pub recommendations: Vec<Registered>,
    pub tensions: Vec<Registered>,
    pub evidence: Vec<Registered>,
    pub claims: Vec<Registered>,
    pub tension_updates: Vec<Updated>,
    pub updates: Vec<Updated>,
    /// Status changes caused by references and moves.
    pub effects: Vec<Updated>,
    pub warnings: Vec<Warning>,
    pub replayed: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registered {
    pub local_id: LocalId,
    pub id: EntityId,
    pub label: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Updated {
    pub id: EntityId,
    pub status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub via: Option<EntityId>,
}

impl Answer {
    pub(super) fn new(
        round: u8,
        entities: &[NewEntity],
        updates: &[CheckedUpdate],
        implied: &[NewEvent],
        warnings: Vec<Warning>,
    ) -> Self {
        let registered = |kind: EntityKind| {
            let of_kind = entities.iter().filter(|entity| entity.id.kind == kind);
            of_kind.map(registered).collect()
        };
        let (tensions, others): (Vec<_>, Vec<_>) =
            updates.iter().partition(|update| update.id.kind == EntityKind::Tension);
        let mapping = entities.iter().map(|entity| (entity.local_id.to_string(), json!(entity.id)));
        Self {
            status: "success".to_owned(),
            round,
            id_mapping: mapping.collect(),
            perspectives: registered(EntityKind::Perspective),
            recommendations: registered(EntityKind::Recommendation),
            tensions: registered(EntityKind::Tension),
            evidence: registered(EntityKind::Evidence),
            claims: registered(EntityKind::Claim),
            tension_updates: tensions.into_iter().map(updated).collect(),
            updates: others.into_iter().map(updated).collect(),
            effects: implied.iter().filter_map(effect).collect(),
            warnings,
            replayed: false,
        }
    }

    /// All registered items, sorted by id.
    pub fn registered(&self) -> impl Iterator<Item = &Registered> {
        let sections = [
            &self.perspectives,
            &self.recommendations,
            &self.tensions,
            &self.evidence,
            &self.claims,
        ];
        sections.into_iter().flatten()
    }

    /// Marks the answer as a repetition.
    #[must_use]
    pub fn replayed(self) -> Self {
        Self { replayed: true, ..self }
    }
}

fn registered(entity: &NewEntity) -> Registered {
    Registered { local_id: entity.local_id.clone(), id: entity.id, label: entity.label.clone() }
}

fn updated(update: &CheckedUpdate) -> Updated {
    Updated { id: update.id, status: update.status, via: update.via }
}

/// A comment changes no status, so it gives `None`.
fn effect(event: &NewEvent) -> Option<Updated> {
    let status = event.event_type.status(event.entity.kind)?;
    let cause = match event.reference {
        Some(Origin::Entity(id)) => Some(id),
        Some(Origin::Verdict(_)) | None => None,
    };
    Some(Updated { id: event.entity, status, via: event.result.or(cause) })
}
