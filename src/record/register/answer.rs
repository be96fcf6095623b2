//! Answer to `round_register`: the global id of each local id, the status changes and the warnings.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::check::CheckedUpdate;
use crate::domain::change::{NewEntity, NewEntityEvent};
use crate::domain::entity::EventOrigin;
use crate::domain::ids::{EntityId, EntityKind, LocalId};
use crate::domain::lifecycle::EntityStatus;
use crate::record::warning::RequestWarning;

/// The answer to a batch. The journal keeps it, so that the same batch gets the same answer again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RegisterAnswer {
    pub status: String,
    pub round: u8,
    pub id_mapping: Map<String, Value>,
    pub perspectives: Vec<RegisteredItem>,
    pub recommendations: Vec<RegisteredItem>,
    pub tensions: Vec<RegisteredItem>,
    pub evidence: Vec<RegisteredItem>,
    pub claims: Vec<RegisteredItem>,
    pub tension_updates: Vec<UpdatedItem>,
    pub updates: Vec<UpdatedItem>,
    /// Status changes caused by references and moves.
    pub effects: Vec<UpdatedItem>,
    pub warnings: Vec<RequestWarning>,
    pub replayed: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegisteredItem {
    pub local_id: LocalId,
    pub id: EntityId,
    pub label: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UpdatedItem {
    pub id: EntityId,
    pub status: EntityStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub via: Option<EntityId>,
}

impl RegisterAnswer {
    pub(super) fn new(
        round: u8,
        entities: &[NewEntity],
        updates: &[CheckedUpdate],
        implied: &[NewEntityEvent],
        warnings: Vec<RequestWarning>,
    ) -> Self {
        let registered = |kind: EntityKind| {
            let of_kind = entities.iter().filter(|entity| entity.id.kind == kind);
            of_kind.map(to_registered_item).collect()
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
            tension_updates: tensions.into_iter().map(to_updated_item).collect(),
            updates: others.into_iter().map(to_updated_item).collect(),
            effects: implied.iter().filter_map(to_effect).collect(),
            warnings,
            replayed: false,
        }
    }

    /// All registered items, sorted by id.
    pub fn registered_items(&self) -> impl Iterator<Item = &RegisteredItem> {
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
    pub fn mark_replayed(self) -> Self {
        Self { replayed: true, ..self }
    }
}

fn to_registered_item(entity: &NewEntity) -> RegisteredItem {
    RegisteredItem { local_id: entity.local_id.clone(), id: entity.id, label: entity.label.clone() }
}

fn to_updated_item(update: &CheckedUpdate) -> UpdatedItem {
    UpdatedItem { id: update.id, status: update.status, via: update.via }
}

/// A comment changes no status, so it gives `None`.
fn to_effect(event: &NewEntityEvent) -> Option<UpdatedItem> {
    let status = event.event_type.resulting_status(event.entity.kind)?;
    let cause = match event.reference {
        Some(EventOrigin::Entity(id)) => Some(id),
        Some(EventOrigin::Verdict(_)) | None => None,
    };
    Some(UpdatedItem { id: event.entity, status, via: event.result.or(cause) })
}
