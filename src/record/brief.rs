//! Reminder for a returning expert: the tensions they raised with their status, and the answers of
//! other experts in the last round. `context.rs` calls `build_round_context`.

use crate::domain::entity::Entity;
use crate::domain::ids::EntityId;
use crate::domain::lifecycle::Status;
use crate::domain::record::Record;
use crate::domain::reference::{RefType, Reference};

/// The reminder lists only the newest tensions and answers.
const REMINDERS_MAX: usize = 12;

/// Statements of the last round and the contributors of every entity.
#[derive(Debug, Default)]
pub(super) struct Answers {
    said: Vec<Said>,
    /// Pairs of an entity and the index of one of its contributors in `Record::experts`.
    owners: Vec<(EntityId, usize)>,
}

/// An entity of the last round that refers to others.
#[derive(Debug)]
pub(super) struct Said {
    pub id: EntityId,
    /// Index of the first contributor in `Record::experts`.
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

    /// Call after the last entry: lookup needs sorted owners, and the reminder lists statements by
    /// id.
    pub(super) fn sort(&mut self) {
        self.owners.sort_unstable();
        self.said.sort_by_key(|said| said.id);
    }
}

/// Returns `None` when the expert raised no tension and received no answer.
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

/// Statements of other experts in the last round that refer to an entity of this expert.
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
