//! What a returning expert is reminded of: the tensions they raised and how those
//! stand, and who answered them in the last round.

use crate::domain::entity::Entity;
use crate::domain::ids::{EntityKind, ExpertSlug};
use crate::domain::lifecycle::Status;
use crate::domain::record::Record;
use crate::domain::reference::RefType;

/// A reminder, not a report: the newest of each are enough.
const REMINDERS_MAX: usize = 12;

/// Nothing, when the expert raised no tension and nobody answered them.
pub(super) fn round_context(record: &Record, expert: &ExpertSlug) -> Option<String> {
    let is_own = |entity: &&Entity| entity.contributors.contains(expert);
    let raised: Vec<&Entity> = record.tensions.iter().filter(is_own).collect();
    let newest = raised.iter().skip(raised.len().saturating_sub(REMINDERS_MAX));
    let mut sentences: Vec<String> = newest.map(|tension| remind(tension)).collect();
    let answers = answers(record, expert);
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
fn answers(record: &Record, expert: &ExpertSlug) -> Vec<String> {
    let Some(last) = record.rounds.last() else { return Vec::new() };
    let mut answers = Vec::new();
    let said = EntityKind::ALL.iter().flat_map(|kind| record.entities_of(*kind, last.round));
    for entity in said {
        let Some(speaker) = entity.contributors.first().filter(|speaker| *speaker != expert) else {
            continue;
        };
        for made in &entity.references {
            let target = record.entity(made.target);
            if target.is_some_and(|target| target.contributors.contains(expert)) {
                let (name, verb) = (speaker.display_name(), past(made.ref_type));
                answers.push(format!(
                    "{name} {verb} your {} with {} ({})",
                    made.target, entity.id, entity.label
                ));
            }
        }
    }
    answers.truncate(REMINDERS_MAX);
    answers
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
