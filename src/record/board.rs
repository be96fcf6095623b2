//! The board on which a request is played out: where every touched entity stands,
//! and the events that moved it there.

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

/// Why an entity is to move.
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

    /// Through what: the entity or verdict that brought it about.
    #[must_use]
    pub(super) fn through(self, origin: Option<Origin>) -> Self {
        Self { origin, ..self }
    }

    #[must_use]
    pub(super) fn because(self, reason: Option<String>) -> Self {
        Self { reason, ..self }
    }
}

/// The step is not one the lifecycle knows; nothing was done.
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

    /// Who stands behind an entity; nobody, when it is not on the board.
    pub(super) fn contributors(&self, id: EntityId) -> &[ExpertSlug] {
        self.standings.get(&id).map_or(&[], |standing| &standing.contributors)
    }

    pub(super) fn is_contributor(&self, id: EntityId, expert: &ExpertSlug) -> bool {
        self.contributors(id).contains(expert)
    }

    /// How many tensions still ask for work, as things stand now.
    pub(super) fn active_tensions(&self) -> usize {
        self.active_tensions.len()
    }

    /// Moves an entity. A step into the present status is kept as a comment.
    pub(super) fn step(&mut self, id: EntityId, to: Status, cause: Cause) -> Result<(), Illegal> {
        // Whatever a request points at was looked up first, so it is here.
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

/// What took an entity's place is its result; anything else is what the event refers to.
fn event(id: EntityId, event_type: EventType, round: u8, to: Status, cause: Cause) -> NewEvent {
    let Cause { actors, origin, reason } = cause;
    let (result, reference) = match origin {
        Some(Origin::Entity(successor)) if to.has_successor() => (Some(successor), None),
        other => (None, other),
    };
    NewEvent { entity: id, event_type, round, actors, result, reference, reason }
}
