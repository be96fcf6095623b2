//! How each kind of entity may change: its statuses, the legal steps between
//! them, and the events that record the steps.
//!
//! **Invariant:** an entity's status is the one its newest status-changing event
//! reached; `verify` recomputes it from the events.

use super::ids::EntityKind;
use super::words::words;

words! {
    /// Where an entity stands. Which of these a kind can have is [`statuses`].
    pub enum Status {
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

use Status::*;

/// The statuses a kind can have, in the order of its life; the first is where it begins.
pub fn statuses(kind: EntityKind) -> &'static [Status] {
    match kind {
        EntityKind::Perspective => &[Open, Refined, Conceded, Merged],
        EntityKind::Recommendation => &[Proposed, Amended, Adopted, Rejected],
        EntityKind::Tension => &[Open, Addressed, Resolved, Reopened],
        EntityKind::Evidence => &[Cited, Challenged, Confirmed, Refuted],
        EntityKind::Claim => &[Asserted, Supported, Opposed, Adopted, Withdrawn],
    }
}

/// Where an entity of this kind begins.
pub fn initial(kind: EntityKind) -> Status {
    match kind {
        EntityKind::Perspective | EntityKind::Tension => Open,
        EntityKind::Recommendation => Proposed,
        EntityKind::Evidence => Cited,
        EntityKind::Claim => Asserted,
    }
}

/// The statuses that can follow this one.
pub fn steps(kind: EntityKind, from: Status) -> &'static [Status] {
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

/// Tensions in these statuses still ask for work.
pub const ACTIVE_TENSION: [Status; 3] = [Open, Addressed, Reopened];

words! {
    /// What an entry of an entity's history says.
    pub enum EventType {
        Created = "created",
        Opened = "opened",
        Commented = "commented",
        Refined = "refined",
        Conceded = "conceded",
        Merged = "merged",
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

impl EventType {
    /// The event with which an entity's history begins. Evidence is cited and
    /// claims are asserted, as the seed's export has it.
    pub fn of_creation(kind: EntityKind) -> Self {
        match kind {
            EntityKind::Perspective | EntityKind::Recommendation | EntityKind::Tension => {
                Self::Created
            }
            EntityKind::Evidence => Self::Cited,
            EntityKind::Claim => Self::Asserted,
        }
    }

    /// The event that records a step into `status`.
    pub fn of_step(status: Status) -> Self {
        match status {
            Open => Self::Opened,
            Proposed => Self::Created,
            Refined => Self::Refined,
            Conceded => Self::Conceded,
            Merged => Self::Merged,
            Amended => Self::Amended,
            Adopted => Self::Adopted,
            Rejected => Self::Rejected,
            Addressed => Self::Addressed,
            Resolved => Self::Resolved,
            Reopened => Self::Reopened,
            Cited => Self::Cited,
            Challenged => Self::Challenged,
            Confirmed => Self::Confirmed,
            Refuted => Self::Refuted,
            Asserted => Self::Asserted,
            Supported => Self::Supported,
            Opposed => Self::Opposed,
            Withdrawn => Self::Withdrawn,
        }
    }

    /// The status this event leads to; a comment leads nowhere.
    pub fn status(self, kind: EntityKind) -> Option<Status> {
        // Every other event bears the name of the status it leads to.
        if self == Self::Commented {
            None
        } else if self == Self::Created {
            Some(initial(kind))
        } else if self == Self::Opened {
            Some(Open)
        } else {
            Status::named(self.name())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(kind: EntityKind, expected: &str) {
        let described: Vec<String> = statuses(kind)
            .iter()
            .map(|from| {
                let to: Vec<_> = steps(kind, *from).iter().map(|s| s.name()).collect();
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
            assert_eq!(EventType::of_creation(*kind).status(*kind), Some(initial(*kind)));
            for from in statuses(*kind) {
                for to in steps(*kind, *from) {
                    assert_eq!(EventType::of_step(*to).status(*kind), Some(*to));
                }
            }
        }
        assert_eq!(EventType::Commented.status(EntityKind::Claim), None);
    }
}
