//! Reminder for a returning expert: the tensions they raised with their status, and the answers of
//! other experts in the last round. `context.rs` calls `build_round_context`.

use crate::model::entity::{Entity, EntityReference};
use crate::model::ids::{EntityId, ExpertSlug};
use crate::model::lifecycle::EntityStatus;
use crate::model::record::DialogueRecord;

/// The reminder lists only the newest tensions and answers.
const REMINDERS_MAX: usize = 12;

/// Statements of the last round and the contributors of every entity.
#[derive(Debug, Default)]
pub(crate) struct RoundAnswers {
    statements: Vec<RoundStatement>,
    /// Pairs of an entity and the index of one of its contributors in `Record::experts`.
    owners: Vec<(EntityId, usize)>,
}

/// An entity of the last round that refers to others.
#[derive(Debug)]
pub(crate) struct RoundStatement {
    pub id: EntityId,
    /// Index of the first contributor in `Record::experts`.
    pub speaker: usize,
    pub label: String,
    pub references: Vec<EntityReference>,
}

impl RoundAnswers {
    /// The answers of a record that is in memory whole.
    pub(crate) fn from_record(record: &DialogueRecord) -> Self {
        let mut answers = Self::default();
        let last = record.rounds.last().map(|held| held.round);
        for entity in record.all_entities() {
            let place = |slug: &ExpertSlug| {
                record.experts.iter().position(|expert| expert.profile.expert_slug == *slug)
            };
            let places: Vec<usize> = entity.contributors.iter().filter_map(place).collect();
            answers.add_owners(entity.id, places.iter().copied());
            if let Some(speaker) = places.first().filter(|_| Some(entity.id.round) == last) {
                answers.add_statement(RoundStatement {
                    id: entity.id,
                    speaker: *speaker,
                    label: entity.label.clone(),
                    references: entity.references.clone(),
                });
            }
        }
        answers.sort_entries();
        answers
    }

    pub(crate) fn add_owners(&mut self, id: EntityId, places: impl Iterator<Item = usize>) {
        self.owners.extend(places.map(|place| (id, place)));
    }

    pub(crate) fn add_statement(&mut self, message: RoundStatement) {
        self.statements.push(message);
    }

    /// Call after the last entry: lookup needs sorted owners, and the reminder lists statements by
    /// id.
    pub(crate) fn sort_entries(&mut self) {
        self.owners.sort_unstable();
        self.statements.sort_by_key(|message| message.id);
    }
}

/// Returns `None` when the expert raised no tension and received no answer.
pub(crate) fn build_round_context(
    record: &DialogueRecord,
    answers: &RoundAnswers,
    place: usize,
) -> Option<String> {
    let expert = &record.experts.get(place)?.profile.expert_slug;
    let is_own = |entity: &&Entity| entity.contributors.contains(expert);
    let raised: Vec<&Entity> = record.tensions.iter().filter(is_own).collect();
    let newest = raised.iter().skip(raised.len().saturating_sub(REMINDERS_MAX));
    let mut sentences: Vec<String> = newest.map(|tension| describe_tension(tension)).collect();
    let answers = describe_answers(place, answers, record);
    if !answers.is_empty() {
        sentences.push(format!("In the last round {}.", answers.join("; ")));
    }
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

fn describe_tension(tension: &Entity) -> String {
    let standing = match tension.status == EntityStatus::Addressed {
        true => "addressed but not resolved",
        false => tension.status.name(),
    };
    let (id, label) = (tension.id, &tension.label);
    format!("In round {}, you raised {id} ({label}), which is {standing}.", id.round)
}

/// Statements of other experts in the last round that refer to an entity of this expert.
fn describe_answers(place: usize, answers: &RoundAnswers, record: &DialogueRecord) -> Vec<String> {
    let mut result = Vec::new();
    for message in answers.statements.iter().filter(|message| message.speaker != place) {
        let Some(speaker) = record.experts.get(message.speaker) else { continue };
        for made in &message.references {
            if answers.owners.binary_search(&(made.target, place)).is_ok() {
                let name = speaker.profile.expert_slug.display_name();
                let (verb, target) = (made.ref_type.past_tense(), made.target);
                result.push(format!(
                    "{name} {verb} your {target} with {} ({})",
                    message.id, message.label
                ));
            }
        }
    }
    result.truncate(REMINDERS_MAX);
    result
}
