//! Resolves the targets of a request: items of the same batch first, then entities of the record.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::dialogue::diagnostics::{expert_not_in_dialogue, unknown_target};
use crate::model::dialogue::Dialogue;
use crate::model::ids::{
    EntityId, EntityKind, EntityTarget, EventActor, ExpertSlug, JUDGE_SLUG, LocalId,
};
use crate::model::journal::NewEntity;
use crate::model::record::RecordLookup;
use crate::model::validation_error::{ErrorItem, ValidationError};

#[derive(Debug)]
pub(crate) struct TargetLookup<'a> {
    facts: &'a RecordLookup,
    dialogue: &'a Dialogue,
    fresh: HashMap<LocalId, EntityId>,
    /// New perspectives of each expert in the batch, in order.
    positions: HashMap<ExpertSlug, Vec<EntityId>>,
    /// Local ids of items with errors. References to them are not reported again.
    faulty: HashSet<String>,
}

impl<'a> TargetLookup<'a> {
    /// For requests without items of their own.
    pub(crate) fn new_for_record(facts: &'a RecordLookup, dialogue: &'a Dialogue) -> Self {
        Self {
            facts,
            dialogue,
            fresh: HashMap::new(),
            positions: HashMap::new(),
            faulty: HashSet::new(),
        }
    }

    /// Adds the items of a batch.
    #[must_use]
    pub(crate) fn with_batch(mut self, entities: &[NewEntity], faulty: &[String]) -> Self {
        self.faulty.extend(faulty.iter().cloned());
        for entity in entities {
            self.fresh.insert(entity.local_id.clone(), entity.id);
            if entity.id.kind == EntityKind::Perspective {
                for expert in &entity.contributors {
                    self.positions.entry(expert.clone()).or_default().push(entity.id);
                }
            }
        }
        self
    }

    /// Resolves a target. A missing entity is reported as an error of `item`.
    pub(crate) fn find_target(
        &self,
        target: &EntityTarget,
        (item, field): (&ErrorItem, &str),
        faults: &mut Vec<ValidationError>,
    ) -> Option<EntityId> {
        self.find_target_unless(|_| false, target, (item, field), faults)
    }

    /// Resolves a target of `source`. An entity cannot refer to itself, so `@muffin` in muffin's
    /// newest perspective means the perspective before it.
    pub(crate) fn find_target_of(
        &self,
        source: EntityId,
        target: &EntityTarget,
        (item, field): (&ErrorItem, &str),
        faults: &mut Vec<ValidationError>,
    ) -> Option<EntityId> {
        self.find_target_unless(|position| position == source, target, (item, field), faults)
    }

    fn find_target_unless(
        &self,
        is_excluded: impl Fn(EntityId) -> bool,
        target: &EntityTarget,
        (item, field): (&ErrorItem, &str),
        faults: &mut Vec<ValidationError>,
    ) -> Option<EntityId> {
        let recorded = self.facts.found.get(target).copied();
        let found = match target {
            EntityTarget::Global(_) => recorded,
            EntityTarget::Local(id) => self.fresh.get(id).copied().or(recorded),
            EntityTarget::Position(expert) => {
                let fresh = self.positions.get(expert).into_iter().flatten().rev().copied();
                fresh.chain(recorded).find(|position| !is_excluded(*position))
            }
        };
        if found.is_none() && !self.faulty.contains(&target.to_string()) {
            let fault = unknown_target(target, self.dialogue, self.facts);
            faults.push(fault.about_item(item).with_field(field));
        }
        found
    }
}

/// Experts of a dialogue, for name lookup.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ExpertLookup<'a> {
    pub dialogue: &'a Dialogue,
    pub facts: &'a RecordLookup,
}

impl ExpertLookup<'_> {
    /// Finds an expert; an unknown name is an error.
    pub(crate) fn find_expert(
        &self,
        name: &str,
        item: &ErrorItem,
        field: &str,
    ) -> Result<ExpertSlug, ValidationError> {
        let found = self.facts.find_expert(name).map(|expert| expert.expert_slug.clone());
        found.ok_or_else(|| {
            expert_not_in_dialogue(name, self.dialogue).about_item(item).with_field(field)
        })
    }

    /// Finds each expert once, in the given order. Each unknown name is reported once.
    pub(crate) fn find_experts<'n>(
        &self,
        names: impl IntoIterator<Item = &'n String>,
        item: &ErrorItem,
        field: &str,
        faults: &mut Vec<ValidationError>,
    ) -> Vec<ExpertSlug> {
        let mut seen = BTreeSet::new();
        let mut experts = Vec::new();
        for name in names.into_iter().filter(|name| seen.insert(name.as_str())) {
            match self.find_expert(name, item, field) {
                Ok(expert) => experts.push(expert),
                Err(fault) => faults.push(fault),
            }
        }
        experts
    }

    /// Same as `find_experts`, but the Judge may be named too.
    pub(crate) fn find_actors(
        &self,
        names: &[String],
        item: &ErrorItem,
        faults: &mut Vec<ValidationError>,
    ) -> Vec<EventActor> {
        let judge = names.iter().any(|name| name == JUDGE_SLUG).then_some(EventActor::Judge);
        let others = names.iter().filter(|name| *name != JUDGE_SLUG);
        let experts =
            self.find_experts(others, item, "by", faults).into_iter().map(EventActor::Expert);
        judge.into_iter().chain(experts).collect()
    }
}
