//! What a returning expert is reminded of: the tensions they raised and how those
//! stand, and who answered them in the last round.

use crate::domain::entity::Entity;
use crate::domain::ids::EntityId;
use crate::domain::lifecycle::Status;
use crate::domain::record::Record;
use crate::domain::reference::{RefType, Reference};

/// A reminder, not a report: the newest of each are enough.
const REMINDERS_MAX: usize = 12;

/// What was said in the last round, and whose everything is.
#[derive(Debug, Default)]
pub(super) struct Answers {
    said: Vec<Said>,
    /// Each entity with each of its contributors, as their place at the table.
    owners: Vec<(EntityId, usize)>,
}

/// An entity of the last round that points at others.
#[derive(Debug)]
pub(super) struct Said {
    pub id: EntityId,
    /// Place at the table of its first contributor.
    pub speaker: usize,
    pub label: String,
    pub references: Vec<Reference>,
}

impl Answers {
    pub(super) fn note_owners(&mut self, id: EntityId, places: impl Iterator<Item = usize>) {
        self.owners.extend(places.map(|place| (id, place)));
    }

    pub(super) fn note(&mut self, said: Said) {
        self.said.push(said);
    }

    /// Everything was noted: it is looked up, and told, in the order of the ids.
    pub(super) fn sort(&mut self) {
        self.owners.sort_unstable();
        self.said.sort_by_key(|said| said.id);
    }
}

/// Nothing, when the expert at this place raised no tension and nobody answered them.
pub(super) fn round_context(record: &Record, answers: &Answers, place: usize) -> Option<String> {
    let expert = &record.experts.get(place)?.profile.expert_slug;
    let is_own = |entity: &&Entity| entity.contributors.contains(expert);
    let raised: Vec<&Entity> = record.tensions.iter().filter(is_own).collect();
    let newest = raised.iter().skip(raised.len().saturating_sub(REMINDERS_MAX));
    let mut sentences: Vec<String> = newest.map(|tension| remind(tension)).collect();
    let answers = answers_to(place, answers, record);
    if !answers.is_empty() {
        sentences.push(format!("In the last round {}.", answers.join("; ")));
    }
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

fn remind(tension: &Entity) -> String {
    let standing = match tension.status == Status::Addressed {
        true => "addressed but not resolved",
        false => tension.status.name(),
    };
    let (id, label) = (tension.id, &tension.label);
    format!("In round {}, you raised {id} ({label}), which is {standing}.", id.round)
}

/// What others said in the last round to anything of this expert's.
fn answers_to(place: usize, answers: &Answers, record: &Record) -> Vec<String> {
    let mut told = Vec::new();
    for said in answers.said.iter().filter(|said| said.speaker != place) {
        let Some(speaker) = record.experts.get(said.speaker) else { continue };
        for made in &said.references {
            if answers.owners.binary_search(&(made.target, place)).is_ok() {
                let name = speaker.profile.expert_slug.display_name();
                let (verb, target) = (past(made.ref_type), made.target);
                told.push(format!("{name} {verb} your {target} with {} ({})", said.id, said.label));
            }
        }
    }
    told.truncate(REMINDERS_MAX);
    told
}

fn past(ref_type: RefType) -> &'static str {
    match ref_type {
        RefType::Support => "supported",
        RefType::Oppose => "opposed",
        RefType::Refine => "refined",
        RefType::Address => "addressed",
        RefType::Resolve => "claimed to resolve",
        RefType::Reopen => "reopened",
        RefType::Question => "questioned",
        RefType::Depend => "built on",
    }
}
