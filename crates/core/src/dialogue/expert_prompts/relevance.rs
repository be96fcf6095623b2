//! Selects the prior work that a joining expert is shown first.
//!
//! 1. The subject is what reason, mandate and focus name: an entity by its id, a tension also by
//!    its label. If they name nothing, it is what the Judge's `round_context` names; if that names
//!    nothing either, it is the active tensions.
//! 2. Entities that refer to the subject, and those it refers to, are added.
//! 3. Other entities that `round_context` names are added.
//!
//! The newest of each kind are kept, the subject first; the rest is under Prior Rounds.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::model::entity::{Entity, EntityReference};
use crate::model::ids::{EntityId, EntityKind, ExpertSlug};
use crate::model::lifecycle::{ACTIVE_TENSION_STATUSES, EntityStatus};
use crate::model::record::EntityView;
use crate::protocols::alignment::state::acceptance_of;

/// About one page per kind.
const PER_KIND_MAX: usize = 8;

/// How the subject was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SubjectSource {
    Named,
    /// No text names an entity, so the subject is the active tensions.
    Open,
}

#[derive(Debug)]
pub(crate) struct RelevantWork<'a> {
    pub found: SubjectSource,
    /// The tensions that the expert addresses, oldest first.
    pub tensions: Vec<&'a PriorEntity>,
    /// The other entities, by kind.
    pub others: Vec<(EntityKind, Vec<&'a PriorEntity>)>,
    /// How many relevant entities were dropped.
    pub left_out: usize,
}

/// The Judge's texts to and about an expert.
#[derive(Debug, Default)]
pub(crate) struct JudgeTexts<'a> {
    /// Reason, mandate and focus.
    pub assignment: Vec<&'a str>,
    pub round_context: Option<&'a str>,
}

pub(crate) fn find_relevant<'a>(
    index: &'a EntityIndex,
    words: &JudgeTexts<'_>,
) -> RelevantWork<'a> {
    let charged = named_entities(index, &words.assignment);
    let result = named_entities(index, words.round_context.as_slice());
    let (found, subject) = match (charged.is_empty(), result.is_empty()) {
        (false, _) => (SubjectSource::Named, charged),
        (true, false) => (SubjectSource::Named, result.clone()),
        (true, true) => {
            (SubjectSource::Open, index.active_tensions().map(|item| item.id).collect())
        }
    };
    let near = linked_entities(index, &subject);
    let is_tension = |id: &&EntityId| id.kind == EntityKind::Tension;
    let has_tension = subject.iter().any(|id| is_tension(&id));
    let addressed: BTreeSet<EntityId> = match has_tension {
        true => subject.iter().filter(is_tension).copied().collect(),
        // An expert who works on an entity also works on the tensions linked to it.
        false => near.iter().filter(is_tension).copied().collect(),
    };
    let mut left_out = 0;
    let mut pick = |wanted: &dyn Fn(&PriorEntity) -> bool| {
        let all: Vec<&PriorEntity> =
            index.all_entities().iter().filter(|item| wanted(item)).collect();
        let (first, rest): (Vec<&PriorEntity>, Vec<&PriorEntity>) =
            all.iter().partition(|item| subject.contains(&item.id) || result.contains(&item.id));
        left_out += all.len().saturating_sub(PER_KIND_MAX);
        keep_newest(first, rest)
    };
    let tensions = pick(&|item| addressed.contains(&item.id));
    let is_other = |item: &PriorEntity| {
        let is_near = [&subject, &near, &result].iter().any(|ids| ids.contains(&item.id));
        is_near && !addressed.contains(&item.id)
    };
    let others = EntityKind::ALL.iter().map(|kind| {
        let found = pick(&|item| item.id.kind == *kind && is_other(item));
        (*kind, found)
    });
    let others = others.filter(|(_, found)| !found.is_empty()).collect();
    RelevantWork { found, tensions, others, left_out }
}

/// As many as the limit allows, sorted by id.
fn keep_newest<'a>(
    mut first: Vec<&'a PriorEntity>,
    rest: Vec<&'a PriorEntity>,
) -> Vec<&'a PriorEntity> {
    first.reverse();
    first.extend(rest.into_iter().rev());
    first.truncate(PER_KIND_MAX);
    first.sort_by_key(|item| item.id);
    first
}

fn linked_entities(index: &EntityIndex, subject: &BTreeSet<EntityId>) -> BTreeSet<EntityId> {
    let pointed_at =
        subject.iter().filter_map(|id| index.get(*id)).flat_map(|item| &item.references);
    let pointing = index.all_entities().iter().filter(|item| item.refers_to(subject));
    let near = pointed_at.map(|made| made.target).chain(pointing.map(|item| item.id));
    near.filter(|id| !subject.contains(id)).collect()
}

/// Every entity that these texts name.
fn named_entities(index: &EntityIndex, texts: &[&str]) -> BTreeSet<EntityId> {
    let mut found = BTreeSet::new();
    for text in texts {
        let words = text.split(|letter: char| !letter.is_alphanumeric());
        let ids = words.filter_map(|word| word.parse::<EntityId>().ok());
        found.extend(ids.filter(|id| index.get(*id).is_some()));
        let text = normalize_words(text);
        let is_named = |tension: &&PriorEntity| {
            let label = normalize_words(&tension.label);
            !label.trim().is_empty() && text.contains(&label)
        };
        found.extend(index.all_tensions().filter(is_named).map(|tension| tension.id));
    }
    found
}

/// The words in lower case, each with a space before and after.
fn normalize_words(text: &str) -> String {
    let lower = text.to_lowercase();
    let words =
        lower.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.fold(" ".to_owned(), |spaced, word| spaced + word + " ")
}

/// An entity of any kind.
#[derive(Debug, Clone)]
pub(crate) struct PriorEntity {
    pub id: EntityId,
    pub label: String,
    pub text: String,
    pub status: EntityStatus,
    pub contributors: Vec<ExpertSlug>,
    pub parameters: Option<Value>,
    pub references: Vec<EntityReference>,
    /// Why the Judge accepted an open tension.
    pub accepted: Option<String>,
}

impl PriorEntity {
    pub(crate) fn from_view(shown: &EntityView<'_>) -> Result<Self, serde_json::Error> {
        let names = shown.contributors.iter();
        Ok(Self {
            id: shown.id,
            label: shown.label.to_owned(),
            text: shown.text.to_owned(),
            status: shown.status,
            contributors: names.filter_map(|name| name.parse().ok()).collect(),
            parameters: shown.parameters.map(serde_json::from_str).transpose()?,
            references: shown.references.map(serde_json::from_str).transpose()?.unwrap_or_default(),
            accepted: None,
        })
    }

    pub(crate) fn from_entity(entity: &Entity) -> Self {
        Self {
            id: entity.id,
            label: entity.label.clone(),
            text: entity.text.clone(),
            status: entity.status,
            contributors: entity.contributors.clone(),
            parameters: entity.parameters.clone(),
            references: entity.references.clone(),
            accepted: acceptance_of(&entity.events).map(str::to_owned),
        }
    }

    pub(crate) fn is_by(&self, expert: &ExpertSlug) -> bool {
        self.contributors.contains(expert)
    }

    /// The contributor under whom the entity is listed.
    pub(crate) fn first_author(&self) -> Option<&ExpertSlug> {
        self.contributors.first()
    }

    pub(crate) fn refers_to(&self, ids: &BTreeSet<EntityId>) -> bool {
        self.references.iter().any(|made| ids.contains(&made.target))
    }
}

/// Sorted by id.
#[derive(Debug)]
pub(crate) struct EntityIndex {
    entities: Vec<PriorEntity>,
}

impl EntityIndex {
    pub(crate) fn new(mut item: Vec<PriorEntity>) -> Self {
        item.sort_by_key(|item| item.id);
        Self { entities: item }
    }

    pub(crate) fn all_entities(&self) -> &[PriorEntity] {
        &self.entities
    }

    pub(crate) fn of_round(&self, kind: EntityKind, round: u8) -> &[PriorEntity] {
        let place = |item: &PriorEntity| (item.id.kind, item.id.round);
        let start = self.entities.partition_point(|item| place(item) < (kind, round));
        let end = self.entities.partition_point(|item| place(item) <= (kind, round));
        self.entities.get(start..end).unwrap_or_default()
    }

    pub(crate) fn get(&self, id: EntityId) -> Option<&PriorEntity> {
        let place = self.entities.binary_search_by_key(&id, |item| item.id).ok()?;
        self.entities.get(place)
    }

    pub(crate) fn all_tensions(&self) -> impl Iterator<Item = &PriorEntity> {
        self.entities.iter().filter(|item| item.id.kind == EntityKind::Tension)
    }

    pub(crate) fn active_tensions(&self) -> impl Iterator<Item = &PriorEntity> {
        self.all_tensions().filter(|tension| ACTIVE_TENSION_STATUSES.contains(&tension.status))
    }
}

#[cfg(test)]
#[path = "relevance_tests.rs"]
mod tests;
