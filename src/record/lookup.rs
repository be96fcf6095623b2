//! Finds what a request points at: first among its own items, then in the record.

use std::collections::{HashMap, HashSet};

use super::faults::unknown_target;
use crate::domain::change::NewEntity;
use crate::domain::dialogue::Dialogue;
use crate::domain::facts::Facts;
use crate::domain::ids::{EntityId, EntityKind, ExpertSlug, LocalId};
use crate::domain::refusal::{Fault, Item};
use crate::domain::target::Target;

#[derive(Debug)]
pub(super) struct Lookup<'a> {
    facts: &'a Facts,
    dialogue: &'a Dialogue,
    fresh: HashMap<LocalId, EntityId>,
    /// The perspectives of each expert within the batch, in order.
    positions: HashMap<ExpertSlug, Vec<EntityId>>,
    /// Local ids of items that could not be read: one complaint about them is enough.
    faulty: HashSet<String>,
}

impl<'a> Lookup<'a> {
    /// For requests that bring no items of their own.
    pub(super) fn in_record(facts: &'a Facts, dialogue: &'a Dialogue) -> Self {
        Self {
            facts,
            dialogue,
            fresh: HashMap::new(),
            positions: HashMap::new(),
            faulty: HashSet::new(),
        }
    }

    /// The same, with the items of a batch on top.
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

    /// The entity a target means. What is not there is a fault of `item`.
    pub(super) fn find(
        &self,
        target: &Target,
        (item, field): (&Item, &str),
        faults: &mut Vec<Fault>,
    ) -> Option<EntityId> {
        self.find_unless(|_| false, target, (item, field), faults)
    }

    /// The entity that `source` means by a target. Nobody points at the very thing they are
    /// saying, so `@muffin` in muffin's newest perspective is the one before it.
    pub(super) fn find_for(
        &self,
        source: EntityId,
        target: &Target,
        (item, field): (&Item, &str),
        faults: &mut Vec<Fault>,
    ) -> Option<EntityId> {
        self.find_unless(|position| position == source, target, (item, field), faults)
    }

    fn find_unless(
        &self,
        is_excluded: impl Fn(EntityId) -> bool,
        target: &Target,
        (item, field): (&Item, &str),
        faults: &mut Vec<Fault>,
    ) -> Option<EntityId> {
        let recorded = self.facts.found.get(target).copied();
        let found = match target {
            Target::Global(_) => recorded,
            Target::Local(id) => self.fresh.get(id).copied().or(recorded),
            Target::Position(expert) => {
                let fresh = self.positions.get(expert).into_iter().flatten().rev().copied();
                fresh.chain(recorded).find(|position| !is_excluded(*position))
            }
        };
        if found.is_none() && !self.faulty.contains(&target.to_string()) {
            let fault = unknown_target(target, self.dialogue, self.facts);
            faults.push(fault.about(item).field(field));
        }
        found
    }
}
