//! Who sits at the table.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::connect::Outlets;
use super::error::ConveneError;
use super::plan::bare;
use crate::ambient::Ambient;
use crate::config::{Conclusion, ConclusionRoles, Origin, Settings, chairs, seat, seats};
use crate::domain::council::words::Mode;
use crate::domain::ids::ExpertSlug;
use crate::domain::plan::{
    Auditing, Caps, ConclusionPlan, ContextPack, Delivery, PARTICIPANTS_MAX, Plan, Quorum, Role,
    Seat, Stakes,
};
use crate::engine::Connections;
use crate::prompting::digest;
use crate::providers::rehearsal::{Script, panel};
use crate::providers::{Provider, Transport};

/// What the caller wants, where the settings leave a choice.
#[derive(Debug, Clone)]
pub struct Wishes {
    /// These and no others, in this order.
    pub providers: Vec<String>,
    pub chair: Option<String>,
    pub stakes: Stakes,
    pub delivery: Delivery,
    /// Nothing: the run ends with the report.
    pub conclusion: Option<Auditing>,
    pub rehearsal: Rehearsal,
}

/// Whether the panel only plays.
#[derive(Debug, Clone, Default)]
pub enum Rehearsal {
    /// Only when there is nobody else.
    #[default]
    IfNobody,
    Wanted,
    Scripted(Script),
}

impl Rehearsal {
    /// Whether somebody wants the panel to play, though others may be there.
    pub fn is_asked_for(&self) -> bool {
        match self {
            Self::Wanted | Self::Scripted(_) => true,
            Self::IfNobody => false,
        }
    }

    /// By which script they play, where there is one.
    pub(super) fn script(&self) -> Option<Script> {
        match self {
            Self::Scripted(script) => Some(script.clone()),
            Self::IfNobody | Self::Wanted => None,
        }
    }
}

/// Who sits there, how each is reached, and by which rules they argue.
#[derive(Debug)]
pub struct Table {
    pub is_rehearsal: bool,
    pub connections: Connections,
    /// The plan of every run at this table, but for its question's own part.
    pattern: Plan,
}

impl Table {
    pub fn set(
        settings: &Settings,
        wishes: &Wishes,
        outlets: &Outlets,
    ) -> Result<Self, ConveneError> {
        let council = &settings.council;
        let nobody = council.origin == Origin::Nobody;
        let is_rehearsal = nobody || wishes.rehearsal.is_asked_for();
        let (mut present, origin) = match is_rehearsal {
            true => (panel(), Origin::Configured),
            false => (council.providers.clone(), council.origin),
        };
        let script = wishes.rehearsal.script();
        choose(&mut present, &wishes.providers)?;
        let chairs = appoint(&mut present, wishes.chair.as_deref())?;
        let (mut seats, notes) = seats(&present, origin, &digest());
        let quorum = quorum(council.quorum, &seats, is_rehearsal)?;
        let configured = if is_rehearsal { &present } else { &council.providers };
        let conclusion = wishes.conclusion.and_then(|auditing| {
            let by = if is_rehearsal { &Conclusion::default() } else { &settings.conclusion };
            let roles = by.roles(chairs.first(), &present, configured)?;
            seats.extend(further(&roles, &seats, configured));
            Some(planned(roles, auditing))
        });
        Ok(Self {
            is_rehearsal,
            connections: connections(&seats, configured, script.clone(), outlets),
            pattern: Plan {
                chairs,
                quorum,
                short_circuit: council.short_circuit.clone(),
                conclusion,
                stakes: wishes.stakes,
                delivery: wishes.delivery,
                anonymous_review: council.anonymous_review,
                rehearsal_script: script.and_then(|script| serde_json::to_value(script).ok()),
                notes: if is_rehearsal { Vec::new() } else { notes },
                ..bare(settings, seats)
            },
        })
    }

    /// The plan of one run at this table.
    pub fn plan(&self, mode: Mode, context: Arc<ContextPack>, ambient: &dyn Ambient) -> Plan {
        Plan { mode, context, secret: secret(ambient), ..self.pattern.clone() }
    }

    /// What each run at this table may spend.
    pub fn caps(&self) -> Caps {
        self.pattern.caps
    }
}

/// The random bits of a run.
pub(super) fn secret(ambient: &dyn Ambient) -> String {
    format!("{:016x}{:016x}", ambient.chance(), ambient.chance())
}

pub(super) fn planned(roles: ConclusionRoles, auditing: Auditing) -> ConclusionPlan {
    let ConclusionRoles { synthesizer, critic, reviser } = roles;
    ConclusionPlan { synthesizer, critic, reviser, auditing }
}

/// Places for those who have a part in the ending and none in the rounds.
pub(super) fn further(
    roles: &ConclusionRoles,
    seats: &[Seat],
    configured: &[Provider],
) -> Vec<Seat> {
    let mut named = vec![&roles.synthesizer, &roles.critic, &roles.reviser];
    named.sort_unstable();
    named.dedup();
    let is_missing = |name: &&ExpertSlug| !seats.iter().any(|seat| seat.name == **name);
    let missing = named.into_iter().filter(is_missing);
    missing
        .filter_map(|name| configured.iter().find(|provider| provider.name == *name))
        .map(|provider| Seat { roles: Vec::new(), ..seat(provider, &digest()) })
        .collect()
}

/// What must be heard, where that many are there to be.
fn quorum(wanted: Quorum, seats: &[Seat], is_rehearsal: bool) -> Result<Quorum, ConveneError> {
    let is_participant = |seat: &&Seat| seat.roles.contains(&Role::Participant);
    let participants = seats.iter().filter(is_participant).count();
    if participants > PARTICIPANTS_MAX {
        return Err(ConveneError::TooMany { seats: participants, max: PARTICIPANTS_MAX });
    }
    if is_rehearsal {
        // Three players of one family; what the file demands is meant for models.
        return Ok(Quorum { families_min: 1, r1_min: wanted.r1_min.min(participants), ..wanted });
    }
    if participants < wanted.r1_min {
        return Err(ConveneError::TooFew { seats: participants, needed: wanted.r1_min });
    }
    Ok(wanted)
}

/// How the seats of a run that began earlier are reached now: by the providers of today,
/// asked for the models of then. A seat whose provider is gone stays unreached.
pub fn reconnect(
    plan: &Plan,
    is_rehearsal: bool,
    settings: &Settings,
    outlets: &Outlets,
) -> Connections {
    let script = plan.rehearsal_script.clone().and_then(|value| serde_json::from_value(value).ok());
    let mut present = if is_rehearsal { panel() } else { settings.council.providers.clone() };
    for provider in &mut present {
        let seat = plan.seats.iter().find(|seat| seat.provider == provider.name);
        if let Some(seat) = seat {
            provider.model.clone_from(&seat.model);
            provider.output_tokens_max = seat.output_tokens_max;
            provider.temperature = seat.temperature;
        }
    }
    connections(&plan.seats, &present, script, outlets)
}

/// Keeps those who were named, in the order in which they were.
fn choose(present: &mut Vec<Provider>, wanted: &[String]) -> Result<(), ConveneError> {
    if wanted.is_empty() {
        return Ok(());
    }
    let mut chosen: Vec<Provider> = Vec::new();
    for name in wanted {
        let mut provider = find(present, name)?.clone();
        if chosen.iter().any(|known| known.name == provider.name) {
            return Err(ConveneError::NamedTwice { name: name.clone() });
        }
        // Whoever is named is meant to speak.
        if !provider.roles.contains(&Role::Participant) {
            provider.roles.push(Role::Participant);
        }
        chosen.push(provider);
    }
    *present = chosen;
    Ok(())
}

/// The named chair goes first; the others stay as they were, to stand in.
fn appoint(present: &mut [Provider], chair: Option<&str>) -> Result<Vec<ExpertSlug>, ConveneError> {
    let Some(name) = chair else { return Ok(chairs(present)) };
    let name = find(present, name)?.name.clone();
    let named = present.iter_mut().find(|provider| provider.name == name);
    if let Some(named) = named.filter(|named| !named.roles.contains(&Role::Chair)) {
        named.roles.push(Role::Chair);
    }
    let mut chairs = chairs(present);
    chairs.sort_by_key(|chair| *chair != name);
    Ok(chairs)
}

fn find<'a>(present: &'a [Provider], name: &str) -> Result<&'a Provider, ConveneError> {
    present.iter().find(|provider| provider.name.as_str() == name).ok_or_else(|| {
        let known: Vec<&str> = present.iter().map(|provider| provider.name.as_str()).collect();
        ConveneError::UnknownProvider { name: name.to_owned(), known: known.join(", ") }
    })
}

/// Seats of one provider share its transports; a seat whose provider is not there has none.
pub(super) fn connections(
    seats: &[Seat],
    present: &[Provider],
    script: Option<Script>,
    outlets: &Outlets,
) -> Connections {
    let rehearsal = outlets.rehearsal(script);
    let made: BTreeMap<&ExpertSlug, Arc<[Transport]>> = present
        .iter()
        .map(|provider| (&provider.name, outlets.transports(provider, &rehearsal)))
        .collect();
    let mut connections = Connections::default();
    for seat in seats {
        if let Some(transports) = made.get(&seat.provider) {
            connections.add(seat.name.clone(), Arc::clone(transports));
        }
    }
    connections
}
