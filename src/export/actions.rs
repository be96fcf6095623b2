//! What each expert did in each round, told from the events of the entities.

use std::collections::HashMap;

use serde::Serialize;

use crate::domain::entity::{Entity, Event};
use crate::domain::ids::{Actor, EntityId, EntityKind, ExpertSlug};
use crate::domain::lifecycle::EventType;
use crate::domain::record::Record;
use crate::domain::reference::RefType;

/// One thing an expert did, as the seed's export shows it.
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
    via: Option<&'a str>,
}

pub(super) type Actions<'a> = HashMap<(u8, &'a ExpertSlug), Vec<Action<'a>>>;

pub(super) fn of_record(record: &Record) -> Actions<'_> {
    let mut actions: Actions<'_> = HashMap::new();
    for entity in record.all_entities() {
        for (place, event) in entity.events.iter().enumerate() {
            let Some(action) = action(entity, event, place == 0) else { continue };
            for actor in &event.actors {
                if let Actor::Expert(expert) = actor {
                    actions.entry((event.round, expert)).or_default().push(action.clone());
                }
            }
        }
    }
    actions
}

/// A refinement is told once, with the new entity; the old one's event would repeat it.
fn action<'a>(entity: &Entity, event: &'a Event, is_creation: bool) -> Option<Action<'a>> {
    if matches!(event.event_type, EventType::Refined | EventType::Amended) && event.result.is_some()
    {
        return None;
    }
    let refined = entity
        .references
        .iter()
        .find(|made| is_creation && made.ref_type == RefType::Refine)
        .map(|made| made.target);
    let kind = entity.id.kind;
    let is_recommendation = kind == EntityKind::Recommendation;
    let action = match (is_creation, refined) {
        (true, Some(_)) if is_recommendation => "amended",
        (true, Some(_)) => "refined",
        (true, None) => "created",
        (false, _) => event.event_type.name(),
    };
    Some(Action {
        kind: kind.noun(),
        action,
        id: entity.id,
        refines: refined.filter(|_| !is_recommendation),
        amends: refined.filter(|_| is_recommendation),
        via: event.reference.as_deref(),
    })
}
