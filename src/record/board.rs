//! Entity states while one request is applied: the current status of each entity and the events
//! that changed it. The operations of this folder call `EntityStates`.

use std::collections::{HashMap, HashSet};

use crate::domain::change::NewEvent;
use crate::domain::entity::Origin;
use crate::domain::facts::{Facts, Standing};
use crate::domain::ids::{Actor, EntityId, EntityKind, ExpertSlug};
use crate::domain::lifecycle::{self, ACTIVE_TENSION, EventType, Status};

#[derive(Debug)]
pub(super) struct Board {
    round: u8,
    standings: HashMap<EntityId, Standing>,
    active_tensions: HashSet<EntityId>,
    pub events: Vec<NewEvent>,
}

/// Who changes an entity, and why.
#[derive(Debug, Clone)]
pub(super) struct Cause {
    actors: Vec<Actor>,
    origin: Option<Origin>,
    reason: Option<String>,
}

impl Cause {
    pub(super) fn by(actors: Vec<Actor>) -> Self {
        Self { actors, origin: None, reason: None }
    }

    /// Sets the entity or verdict that causes the transition.
    #[must_use]
    pub(super) fn through(self, origin: Option<Origin>) -> Self {
        Self { origin, ..self }
    }

    #[must_use]
    pub(super) fn because(self, reason: Option<String>) -> Self {
        Self { reason, ..self }
    }
}

/// A transition that the lifecycle does not allow. The entity is unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Illegal {
    pub from: Status,
    pub to: Status,
}

impl Board {
    pub(super) fn new(round: u8, facts: &Facts) -> Self {
        Self {
            round,
            standings: facts.entities.clone(),
            active_tensions: facts.active_tensions.iter().copied().collect(),
            events: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, id: EntityId, contributors: Vec<ExpertSlug>) {
        if id.kind == EntityKind::Tension {
            self.active_tensions.insert(id);
        }
        self.standings.insert(id, Standing { status: lifecycle::initial(id.kind), contributors });
    }

    /// The contributors of an entity; empty if the entity is unknown.
    pub(super) fn contributors(&self, id: EntityId) -> &[ExpertSlug] {
        self.standings.get(&id).map_or(&[], |standing| &standing.contributors)
    }

    pub(super) fn is_contributor(&self, id: EntityId, expert: &ExpertSlug) -> bool {
        self.contributors(id).contains(expert)
    }

    /// Number of tensions that are open, addressed or reopened at this point.
    pub(super) fn active_tensions(&self) -> usize {
        self.active_tensions.len()
    }

    /// Changes the status of an entity. A transition to the current status is kept as a comment.
    pub(super) fn step(&mut self, id: EntityId, to: Status, cause: Cause) -> Result<(), Illegal> {
        // The caller looks up every target first, so the entity is always present.
        let Some(standing) = self.standings.get_mut(&id) else { return Ok(()) };
        let from = standing.status;
        let event_type = if from == to {
            EventType::Commented
        } else if lifecycle::steps(id.kind, from).contains(&to) {
            EventType::Reached(to)
        } else {
            return Err(Illegal { from, to });
        };
        standing.status = to;
        if ACTIVE_TENSION.contains(&to) && id.kind == EntityKind::Tension {
            self.active_tensions.insert(id);
        } else {
            self.active_tensions.remove(&id);
        }
        self.events.push(event(id, event_type, self.round, to, cause));
        Ok(())
    }
}

/// The entity that replaces this one is stored as the result; any other cause as the reference.
fn event(id: EntityId, event_type: EventType, round: u8, to: Status, cause: Cause) -> NewEvent {
    let Cause { actors, origin, reason } = cause;
    let (result, reference) = match origin {
        Some(Origin::Entity(successor)) if to.has_successor() => (Some(successor), None),
        other => (None, other),
    };
    NewEvent { entity: id, event_type, round, actors, result, reference, reason }
}
