//! The actions of each expert in each round, derived from the events of the entities.

use std::collections::HashMap;

use serde::Serialize;

use crate::domain::entity::{Entity, EntityEvent, EventOrigin};
use crate::domain::ids::{EntityId, EntityKind, EventActor, ExpertSlug};
use crate::domain::record::DialogueRecord;
use crate::domain::reference::{EntityReference, ReferenceType};

/// One action of an expert, as the seed's export shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct ExpertAction<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    action: &'static str,
    id: EntityId,
    #[serde(skip_serializing_if = "Option::is_none")]
    refines: Option<EntityId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    amends: Option<EntityId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    via: Option<&'a EventOrigin>,
}

pub(super) type ActionsByExpert<'a> = HashMap<(u8, &'a ExpertSlug), Vec<ExpertAction<'a>>>;

pub(super) fn expert_actions(record: &DialogueRecord) -> ActionsByExpert<'_> {
    let mut actions: ActionsByExpert<'_> = HashMap::new();
    for entity in record.all_entities() {
        let mut events = entity.events.iter();
        let first = events.next().map(|event| (event, created_action(entity)));
        let later = events.filter(|event| !is_refinement_event(record, entity, event));
        let later = later.map(|event| (event, event_action(entity, event)));
        for (event, action) in first.into_iter().chain(later) {
            for actor in &event.actors {
                if let EventActor::Expert(expert) = actor {
                    actions.entry((event.round, expert)).or_default().push(action.clone());
                }
            }
        }
    }
    actions
}

/// A refinement is listed once, with the new entity; the event of the old one would repeat it.
fn is_refinement_event(record: &DialogueRecord, entity: &Entity, event: &EntityEvent) -> bool {
    let result = event.result.and_then(|result| record.find_entity(result));
    result.is_some_and(|result| refined_on_creation(result) == Some(entity.id))
}

/// The entity that this one refined when it was created. References to later rounds came later.
fn refined_on_creation(entity: &Entity) -> Option<EntityId> {
    let refines = |made: &&EntityReference| {
        made.ref_type == ReferenceType::Refine && made.target.round <= entity.id.round
    };
    entity.references.iter().find(refines).map(|made| made.target)
}

fn created_action<'a>(entity: &Entity) -> ExpertAction<'a> {
    let refined = refined_on_creation(entity);
    let is_recommendation = entity.id.kind == EntityKind::Recommendation;
    let action = match refined {
        Some(_) if is_recommendation => "amended",
        Some(_) => "refined",
        None => "created",
    };
    ExpertAction {
        kind: entity.id.kind.type_name(),
        action,
        id: entity.id,
        refines: refined.filter(|_| !is_recommendation),
        amends: refined.filter(|_| is_recommendation),
        via: None,
    }
}

fn event_action<'a>(entity: &Entity, event: &'a EntityEvent) -> ExpertAction<'a> {
    ExpertAction {
        kind: entity.id.kind.type_name(),
        action: event.event_type.name(),
        id: entity.id,
        refines: None,
        amends: None,
        via: event.reference.as_ref(),
    }
}
