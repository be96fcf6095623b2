//! Resolves the targets of a request: items of the same batch first, then entities of the record.

use std::collections::{HashMap, HashSet};

use super::faults::unknown_target;
use crate::domain::change::NewEntity;
use crate::domain::dialogue::Dialogue;
use crate::domain::facts::RecordLookup;
use crate::domain::ids::{EntityId, EntityKind, ExpertSlug, LocalId};
use crate::domain::refusal::{ErrorItem, ValidationError};
use crate::domain::target::EntityTarget;

#[derive(Debug)]
pub(super) struct TargetLookup<'a> {
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
    pub(super) fn new_for_record(facts: &'a RecordLookup, dialogue: &'a Dialogue) -> Self {
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
    pub(super) fn with_batch(mut self, entities: &[NewEntity], faulty: &[String]) -> Self {
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
    pub(super) fn find_target(
        &self,
        target: &EntityTarget,
        (item, field): (&ErrorItem, &str),
        faults: &mut Vec<ValidationError>,
    ) -> Option<EntityId> {
        self.find_target_unless(|_| false, target, (item, field), faults)
    }

    /// Resolves a target of `source`. An entity cannot refer to itself, so `@muffin` in muffin's
    /// newest perspective means the perspective before it.
    pub(super) fn find_target_of(
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
