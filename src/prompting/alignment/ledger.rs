//! The entities recorded before a round, indexed for the experts' prompts.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::domain::entity::Entity;
use crate::domain::ids::{EntityId, EntityKind, ExpertSlug};
use crate::domain::lifecycle::{ACTIVE_TENSION, Status};
use crate::domain::reference::Reference;
use crate::domain::shown::Shown;

/// An entity of any kind.
#[derive(Debug, Clone)]
pub(super) struct Said {
    pub id: EntityId,
    pub label: String,
    pub text: String,
    pub status: Status,
    pub contributors: Vec<ExpertSlug>,
    pub parameters: Option<Value>,
    pub references: Vec<Reference>,
}

impl Said {
    pub(super) fn of_shown(shown: &Shown<'_>) -> Result<Self, serde_json::Error> {
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

    pub(super) fn of_entity(entity: &Entity) -> Self {
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
    pub(super) fn speaker(&self) -> Option<&ExpertSlug> {
        self.contributors.first()
    }

    pub(super) fn refers_to(&self, ids: &BTreeSet<EntityId>) -> bool {
        self.references.iter().any(|made| ids.contains(&made.target))
    }
}

/// Sorted by id.
#[derive(Debug)]
pub(super) struct Ledger {
    said: Vec<Said>,
}

impl Ledger {
    pub(super) fn new(mut said: Vec<Said>) -> Self {
        said.sort_by_key(|said| said.id);
        Self { said }
    }

    pub(super) fn all(&self) -> &[Said] {
        &self.said
    }

    pub(super) fn of(&self, kind: EntityKind, round: u8) -> &[Said] {
        let place = |said: &Said| (said.id.kind, said.id.round);
        let start = self.said.partition_point(|said| place(said) < (kind, round));
        let end = self.said.partition_point(|said| place(said) <= (kind, round));
        self.said.get(start..end).unwrap_or_default()
    }

    pub(super) fn get(&self, id: EntityId) -> Option<&Said> {
        let place = self.said.binary_search_by_key(&id, |said| said.id).ok()?;
        self.said.get(place)
    }

    pub(super) fn tensions(&self) -> impl Iterator<Item = &Said> {
        self.said.iter().filter(|said| said.id.kind == EntityKind::Tension)
    }

    pub(super) fn active_tensions(&self) -> impl Iterator<Item = &Said> {
        self.tensions().filter(|tension| ACTIVE_TENSION.contains(&tension.status))
    }
}
