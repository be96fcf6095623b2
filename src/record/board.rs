//! The board on which a batch is played out: where every touched entity stands,
//! and the events that moved it there.

use std::collections::HashMap;

use crate::domain::change::NewEvent;
use crate::domain::facts::{Facts, Standing};
use crate::domain::ids::{Actor, EntityId, EntityKind, ExpertSlug};
use crate::domain::lifecycle::{self, ACTIVE_TENSION, EventType, Status};

#[derive(Debug)]
pub(crate) struct Board {
    round: u8,
    standings: HashMap<EntityId, Standing>,
    pub events: Vec<NewEvent>,
    active_tensions: u32,
}

/// Why an entity is to move.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cause {
    pub actors: Vec<Actor>,
    pub result: Option<EntityId>,
    pub reference: Option<String>,
    pub reason: Option<String>,
}

/// The step is not one the lifecycle knows; nothing was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Illegal {
    pub from: Status,
    pub to: Status,
}

impl Board {
    pub(super) fn new(round: u8, facts: &Facts) -> Self {
        Self {
            round,
            standings: facts.entities.clone(),
            events: Vec::new(),
            active_tensions: u32::try_from(facts.active_tensions.len()).unwrap_or(u32::MAX),
        }
    }

    pub(super) fn add(&mut self, id: EntityId, contributors: Vec<ExpertSlug>) {
        if id.kind == EntityKind::Tension {
            self.active_tensions += 1;
        }
        self.standings.insert(id, Standing { status: lifecycle::initial(id.kind), contributors });
    }

    pub(super) fn standing(&self, id: EntityId) -> Option<&Standing> {
        self.standings.get(&id)
    }

    pub(super) fn is_contributor(&self, id: EntityId, expert: &ExpertSlug) -> bool {
        self.standing(id).is_some_and(|standing| standing.contributors.contains(expert))
    }

    /// Tensions that still ask for work, as things stand now.
    pub(super) fn active_tensions(&self) -> u32 {
        self.active_tensions
    }

    /// Moves an entity. A step into the present status is kept as a comment.
    pub(super) fn step(&mut self, id: EntityId, to: Status, cause: Cause) -> Result<(), Illegal> {
        let Some(standing) = self.standings.get_mut(&id) else { return Ok(()) };
        let from = standing.status;
        let event_type = if from == to {
            EventType::Commented
        } else if lifecycle::steps(id.kind, from).contains(&to) {
            EventType::of_step(to)
        } else {
            return Err(Illegal { from, to });
        };
        standing.status = to;
        if id.kind == EntityKind::Tension {
            self.active_tensions -= u32::from(ACTIVE_TENSION.contains(&from));
            self.active_tensions += u32::from(ACTIVE_TENSION.contains(&to));
        }
        let Cause { actors, result, reference, reason } = cause;
        let round = self.round;
        self.events.push(NewEvent {
            entity: id,
            event_type,
            round,
            actors,
            result,
            reference,
            reason,
        });
        Ok(())
    }
}
