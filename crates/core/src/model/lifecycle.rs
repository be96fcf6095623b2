//! Lifecycle of each kind of entity: statuses, legal transitions, and the events that record them.
//!
//! **Invariant:** an entity has the status that its newest status-changing event reached. `verify`
//! recomputes it from the events.

use std::fmt;
use std::str::FromStr;

use crate::model::ids::{EntityKind, MalformedText};
use crate::model::lifecycle::EntityStatus::*;
use crate::model::string_enum::{schema_by_text, serde_by_text, words};

words! {
    /// Status of an entity. [`allowed_statuses`] lists those of each kind.
    pub enum EntityStatus {
        Open = "open",
        Refined = "refined",
        Conceded = "conceded",
        Merged = "merged",
        Proposed = "proposed",
        Amended = "amended",
        Adopted = "adopted",
        Rejected = "rejected",
        Addressed = "addressed",
        Resolved = "resolved",
        Reopened = "reopened",
        Cited = "cited",
        Challenged = "challenged",
        Confirmed = "confirmed",
        Refuted = "refuted",
        Asserted = "asserted",
        Supported = "supported",
        Opposed = "opposed",
        Withdrawn = "withdrawn",
    }
}

/// Statuses of a kind, in lifecycle order; the first is the initial one.
pub fn allowed_statuses(kind: EntityKind) -> &'static [EntityStatus] {
    match kind {
        EntityKind::Perspective => &[Open, Refined, Conceded, Merged],
        EntityKind::Recommendation => &[Proposed, Amended, Adopted, Rejected],
        EntityKind::Tension => &[Open, Addressed, Resolved, Reopened],
        EntityKind::Evidence => &[Cited, Challenged, Confirmed, Refuted],
        EntityKind::Claim => &[Asserted, Supported, Opposed, Adopted, Withdrawn],
    }
}

/// Initial status of a kind.
pub fn initial_status(kind: EntityKind) -> EntityStatus {
    match kind {
        EntityKind::Perspective | EntityKind::Tension => Open,
        EntityKind::Recommendation => Proposed,
        EntityKind::Evidence => Cited,
        EntityKind::Claim => Asserted,
    }
}

/// Statuses that can follow this one.
pub fn next_statuses(kind: EntityKind, from: EntityStatus) -> &'static [EntityStatus] {
    match (kind, from) {
        (EntityKind::Perspective, Open) => &[Refined, Conceded, Merged],
        (EntityKind::Perspective, Refined) => &[Conceded, Merged],
        (EntityKind::Recommendation, Proposed) => &[Amended, Adopted, Rejected],
        (EntityKind::Recommendation, Amended) => &[Adopted, Rejected],
        (EntityKind::Tension, Open | Reopened) => &[Addressed, Resolved],
        (EntityKind::Tension, Addressed) => &[Open, Resolved],
        (EntityKind::Tension, Resolved) => &[Reopened],
        (EntityKind::Evidence, Cited) => &[Challenged, Confirmed, Refuted],
        (EntityKind::Evidence, Challenged) => &[Confirmed, Refuted],
        (EntityKind::Evidence, Confirmed) => &[Challenged],
        (EntityKind::Claim, Asserted) => &[Supported, Opposed, Adopted, Withdrawn],
        (EntityKind::Claim, Supported) => &[Opposed, Adopted, Withdrawn],
        (EntityKind::Claim, Opposed) => &[Supported, Adopted, Withdrawn],
        _ => &[],
    }
}

/// Statuses of a tension that still needs work.
pub const ACTIVE_TENSION_STATUSES: [EntityStatus; 3] = [Open, Addressed, Reopened];

impl EntityStatus {
    /// Returns true if another entity replaced this one.
    pub fn has_successor(self) -> bool {
        matches!(self, Refined | Conceded | Merged | Amended)
    }
}

/// Type of an event in an entity's history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EntityEventType {
    Created,
    Commented,
    Reached(EntityStatus),
}

impl EntityEventType {
    /// Type of the first event in a history. Evidence starts with `cited` and claims with
    /// `asserted`, as in the seed's export.
    pub fn for_creation(kind: EntityKind) -> Self {
        match kind {
            EntityKind::Perspective | EntityKind::Recommendation | EntityKind::Tension => {
                Self::Created
            }
            EntityKind::Evidence | EntityKind::Claim => Self::Reached(initial_status(kind)),
        }
    }

    /// The status that this event leads to; a comment changes none.
    pub fn resulting_status(self, kind: EntityKind) -> Option<EntityStatus> {
        match self {
            Self::Created => Some(initial_status(kind)),
            Self::Commented => None,
            Self::Reached(status) => Some(status),
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Commented => "commented",
            // An entity that becomes open again is recorded as `opened`.
            Self::Reached(Open) => "opened",
            Self::Reached(status) => status.name(),
        }
    }
}

impl fmt::Display for EntityEventType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for EntityEventType {
    type Err = MalformedText;

    fn from_str(text: &str) -> Result<Self, MalformedText> {
        match text {
            "created" => Ok(Self::Created),
            "commented" => Ok(Self::Commented),
            "opened" => Ok(Self::Reached(Open)),
            status => EntityStatus::named(status).map(Self::Reached).ok_or(MalformedText),
        }
    }
}

serde_by_text!(EntityEventType);
schema_by_text!(EntityEventType, "event type");

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(kind: EntityKind, expected: &str) {
        let described: Vec<String> = allowed_statuses(kind)
            .iter()
            .map(|from| {
                let to: Vec<_> = next_statuses(kind, *from).iter().map(|s| s.name()).collect();
                format!("{from}>{}", to.join("|"))
            })
            .collect();
        assert_eq!(described.join(" "), expected);
    }

    #[test]
    fn the_legal_steps_are_those_of_the_specification() {
        check(
            EntityKind::Tension,
            "open>addressed|resolved addressed>open|resolved resolved>reopened reopened>addressed|resolved",
        );
        check(
            EntityKind::Perspective,
            "open>refined|conceded|merged refined>conceded|merged conceded> merged>",
        );
        check(
            EntityKind::Recommendation,
            "proposed>amended|adopted|rejected amended>adopted|rejected adopted> rejected>",
        );
        check(
            EntityKind::Evidence,
            "cited>challenged|confirmed|refuted challenged>confirmed|refuted confirmed>challenged refuted>",
        );
        check(
            EntityKind::Claim,
            "asserted>supported|opposed|adopted|withdrawn supported>opposed|adopted|withdrawn opposed>supported|adopted|withdrawn adopted> withdrawn>",
        );
    }

    #[test]
    fn an_event_leads_to_the_status_it_records() {
        for kind in EntityKind::ALL {
            assert_eq!(
                EntityEventType::for_creation(*kind).resulting_status(*kind),
                Some(initial_status(*kind))
            );
            for from in allowed_statuses(*kind) {
                for to in next_statuses(*kind, *from) {
                    assert_eq!(EntityEventType::Reached(*to).resulting_status(*kind), Some(*to));
                }
            }
        }
        assert_eq!(EntityEventType::Commented.resulting_status(EntityKind::Claim), None);
        for name in ["created", "commented", "opened", "withdrawn"] {
            assert_eq!(name.parse::<EntityEventType>().map(EntityEventType::name), Ok(name));
        }
    }
}
