//! The entities recorded before a round, indexed for the experts' prompts.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::domain::entity::Entity;
use crate::domain::ids::{EntityId, EntityKind, ExpertSlug};
use crate::domain::lifecycle::{ACTIVE_TENSION_STATUSES, EntityStatus};
use crate::domain::reference::EntityReference;
use crate::domain::shown::EntityView;

/// An entity of any kind.
#[derive(Debug, Clone)]
pub(super) struct PriorEntity {
    pub id: EntityId,
    pub label: String,
    pub text: String,
    pub status: EntityStatus,
    pub contributors: Vec<ExpertSlug>,
    pub parameters: Option<Value>,
    pub references: Vec<EntityReference>,
}

impl PriorEntity {
    pub(super) fn from_view(shown: &EntityView<'_>) -> Result<Self, serde_json::Error> {
        let names = shown.contributors.iter();
        Ok(Self {
            id: shown.id,
            label: shown.label.to_owned(),
            text: shown.text.to_owned(),
            status: shown.status,
            contributors: names.filter_map(|name| name.parse().ok()).collect(),
            parameters: shown.parameters.map(serde_json::from_str).transpose()?,
            references: shown.references.map(serde_json::from_str).transpose()?.unwrap_or_default(),
        })
    }

    pub(super) fn from_entity(entity: &Entity) -> Self {
        Self {
            id: entity.id,
            label: entity.label.clone(),
            text: entity.text.clone(),
            status: entity.status,
            contributors: entity.contributors.clone(),
            parameters: entity.parameters.clone(),
            references: entity.references.clone(),
        }
    }

    pub(super) fn is_by(&self, expert: &ExpertSlug) -> bool {
        self.contributors.contains(expert)
    }

    /// The contributor under whom the entity is listed.
    pub(super) fn first_author(&self) -> Option<&ExpertSlug> {
        self.contributors.first()
    }

    pub(super) fn refers_to(&self, ids: &BTreeSet<EntityId>) -> bool {
        self.references.iter().any(|made| ids.contains(&made.target))
    }
}

/// Sorted by id.
#[derive(Debug)]
pub(super) struct EntityIndex {
    entities: Vec<PriorEntity>,
}

impl EntityIndex {
    pub(super) fn new(mut said: Vec<PriorEntity>) -> Self {
        said.sort_by_key(|said| said.id);
        Self { entities: said }
    }

    pub(super) fn all_entities(&self) -> &[PriorEntity] {
        &self.entities
    }

    pub(super) fn of_round(&self, kind: EntityKind, round: u8) -> &[PriorEntity] {
        let place = |said: &PriorEntity| (said.id.kind, said.id.round);
        let start = self.entities.partition_point(|said| place(said) < (kind, round));
        let end = self.entities.partition_point(|said| place(said) <= (kind, round));
        self.entities.get(start..end).unwrap_or_default()
    }

    pub(super) fn get(&self, id: EntityId) -> Option<&PriorEntity> {
        let place = self.entities.binary_search_by_key(&id, |said| said.id).ok()?;
        self.entities.get(place)
    }

    pub(super) fn all_tensions(&self) -> impl Iterator<Item = &PriorEntity> {
        self.entities.iter().filter(|said| said.id.kind == EntityKind::Tension)
    }

    pub(super) fn active_tensions(&self) -> impl Iterator<Item = &PriorEntity> {
        self.all_tensions().filter(|tension| ACTIVE_TENSION_STATUSES.contains(&tension.status))
    }
}
