//! The actions of each expert in each round, derived from the events of the entities.

use std::collections::HashMap;

use serde::Serialize;

use crate::domain::entity::{Entity, Event, Origin};
use crate::domain::ids::{Actor, EntityId, EntityKind, ExpertSlug};
use crate::domain::record::Record;
use crate::domain::reference::{RefType, Reference};

/// One action of an expert, as the seed's export shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Action<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    action: &'static str,
    id: EntityId,
    #[serde(skip_serializing_if = "Option::is_none")]
    refines: Option<EntityId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    amends: Option<EntityId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    via: Option<&'a Origin>,
}

pub(super) type Actions<'a> = HashMap<(u8, &'a ExpertSlug), Vec<Action<'a>>>;

pub(super) fn of_record(record: &Record) -> Actions<'_> {
    let mut actions: Actions<'_> = HashMap::new();
    for entity in record.all_entities() {
        let mut events = entity.events.iter();
        let first = events.next().map(|event| (event, created(entity)));
        let later = events.filter(|event| !is_told_by_result(record, entity, event));
        let later = later.map(|event| (event, stepped(entity, event)));
        for (event, action) in first.into_iter().chain(later) {
            for actor in &event.actors {
                if let Actor::Expert(expert) = actor {
                    actions.entry((event.round, expert)).or_default().push(action.clone());
                }
            }
        }
    }
    actions
}

/// A refinement is listed once, with the new entity; the event of the old one would repeat it.
fn is_told_by_result(record: &Record, entity: &Entity, event: &Event) -> bool {
    let result = event.result.and_then(|result| record.entity(result));
    result.is_some_and(|result| refined_at_birth(result) == Some(entity.id))
}

/// The entity that this one refined when it was created. References to later rounds came later.
fn refined_at_birth(entity: &Entity) -> Option<EntityId> {
    let refines = |made: &&Reference| {
        made.ref_type == RefType::Refine && made.target.round <= entity.id.round
    };
    entity.references.iter().find(refines).map(|made| made.target)
}

fn created<'a>(entity: &Entity) -> Action<'a> {
    let refined = refined_at_birth(entity);
    let is_recommendation = entity.id.kind == EntityKind::Recommendation;
    let action = match refined {
        Some(_) if is_recommendation => "amended",
        Some(_) => "refined",
        None => "created",
    };
    Action {
        kind: entity.id.kind.noun(),
        action,
        id: entity.id,
        refines: refined.filter(|_| !is_recommendation),
        amends: refined.filter(|_| is_recommendation),
        via: None,
    }
}

fn stepped<'a>(entity: &Entity, event: &'a Event) -> Action<'a> {
    Action {
        kind: entity.id.kind.noun(),
        action: event.event_type.name(),
        id: entity.id,
        refines: None,
        amends: None,
        via: event.reference.as_ref(),
    }
}
