//! Links derived from references: perspectives related to a tension, the basis of a
//! recommendation, what evidence supports.

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::entity::Entity;
use crate::domain::ids::{EntityId, EntityKind};
use crate::domain::record::DialogueRecord;
use crate::domain::reference::ReferenceType;

/// For each tension, the perspectives that refer to it or that it refers to.
pub(super) fn related_perspectives(
    record: &DialogueRecord,
) -> BTreeMap<EntityId, BTreeSet<EntityId>> {
    let mut related: BTreeMap<EntityId, BTreeSet<EntityId>> = BTreeMap::new();
    for perspective in &record.perspectives {
        for target in
            reference_targets(perspective, &[]).filter(|id| id.kind == EntityKind::Tension)
        {
            related.entry(target).or_default().insert(perspective.id);
        }
    }
    for tension in &record.tensions {
        let own = reference_targets(tension, &[]).filter(|id| id.kind == EntityKind::Perspective);
        related.entry(tension.id).or_default().extend(own);
    }
    related
}

/// Targets of references of these types, in order, without duplicates; no types means all.
pub(super) fn reference_targets<'a>(
    entity: &'a Entity,
    ref_types: &'a [ReferenceType],
) -> impl Iterator<Item = EntityId> + 'a {
    let mut seen = BTreeSet::new();
    entity
        .references
        .iter()
        .filter(|made| ref_types.is_empty() || ref_types.contains(&made.ref_type))
        .map(|made| made.target)
        .filter(move |target| seen.insert(*target))
}
