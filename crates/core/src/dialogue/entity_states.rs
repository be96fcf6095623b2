//! Entity states while one request is applied: the current status of each entity and the events
//! that changed it. The operations of this folder call `EntityStates`.

use std::collections::{HashMap, HashSet};

use crate::model::entity::EventOrigin;
use crate::model::ids::{EntityId, EntityKind, EventActor, ExpertSlug};
use crate::model::journal::NewEntityEvent;
use crate::model::lifecycle::{
    ACTIVE_TENSION_STATUSES, EntityEventType, EntityStatus, initial_status, next_statuses,
};
use crate::model::record::{EntityState, RecordLookup};

#[derive(Debug)]
pub(crate) struct EntityStates {
    round: u8,
    states: HashMap<EntityId, EntityState>,
    active_tensions: HashSet<EntityId>,
    pub events: Vec<NewEntityEvent>,
}

/// Who changes an entity, and why.
#[derive(Debug, Clone)]
pub(crate) struct TransitionCause {
    actors: Vec<EventActor>,
    origin: Option<EventOrigin>,
    reason: Option<String>,
}

impl TransitionCause {
    pub(crate) fn by_actors(actors: Vec<EventActor>) -> Self {
        Self { actors, origin: None, reason: None }
    }

    /// Sets the entity or verdict that causes the transition.
    #[must_use]
    pub(crate) fn with_origin(self, origin: Option<EventOrigin>) -> Self {
        Self { origin, ..self }
    }

    #[must_use]
    pub(crate) fn with_reason(self, reason: Option<String>) -> Self {
        Self { reason, ..self }
    }
}

/// A transition that the lifecycle does not allow. The entity is unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IllegalTransition {
    pub from: EntityStatus,
    pub to: EntityStatus,
}

impl EntityStates {
    pub(crate) fn new(round: u8, facts: &RecordLookup) -> Self {
        Self {
            round,
            states: facts.entities.clone(),
            active_tensions: facts.active_tensions.iter().copied().collect(),
            events: Vec::new(),
        }
    }

    pub(crate) fn add_entity(&mut self, id: EntityId, contributors: Vec<ExpertSlug>) {
        if id.kind == EntityKind::Tension {
            self.active_tensions.insert(id);
        }
        self.states.insert(id, EntityState { status: initial_status(id.kind), contributors });
    }

    /// The contributors of an entity; empty if the entity is unknown.
    pub(crate) fn contributors_of(&self, id: EntityId) -> &[ExpertSlug] {
        self.states.get(&id).map_or(&[], |standing| &standing.contributors)
    }

    pub(crate) fn is_contributor(&self, id: EntityId, expert: &ExpertSlug) -> bool {
        self.contributors_of(id).contains(expert)
    }

    /// Number of tensions that are open, addressed or reopened at this point.
    pub(crate) fn count_active_tensions(&self) -> usize {
        self.active_tensions.len()
    }

    /// Changes the status of an entity. A transition to the current status is kept as a comment.
    pub(crate) fn transition(
        &mut self,
        id: EntityId,
        to: EntityStatus,
        cause: TransitionCause,
    ) -> Result<(), IllegalTransition> {
        // The caller looks up every target first, so the entity is always present.
        let Some(standing) = self.states.get_mut(&id) else { return Ok(()) };
        let from = standing.status;
        let event_type = if from == to {
            EntityEventType::Commented
        } else if next_statuses(id.kind, from).contains(&to) {
            EntityEventType::Reached(to)
        } else {
            return Err(IllegalTransition { from, to });
        };
        standing.status = to;
        if ACTIVE_TENSION_STATUSES.contains(&to) && id.kind == EntityKind::Tension {
            self.active_tensions.insert(id);
        } else {
            self.active_tensions.remove(&id);
        }
        self.events.push(build_event(id, event_type, self.round, to, cause));
        Ok(())
    }
}

/// The entity that replaces this one is stored as the result; any other cause as the reference.
fn build_event(
    id: EntityId,
    event_type: EntityEventType,
    round: u8,
    to: EntityStatus,
    cause: TransitionCause,
) -> NewEntityEvent {
    let TransitionCause { actors, origin, reason } = cause;
    let (result, reference) = match origin {
        Some(EventOrigin::Entity(successor)) if to.has_successor() => (Some(successor), None),
        other => (None, other),
    };
    NewEntityEvent { entity: id, event_type, round, actors, result, reference, reason }
}
