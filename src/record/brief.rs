//! What a returning expert is reminded of: the tensions they raised, how those
//! stand, and who answered.

use std::collections::HashMap;

use crate::domain::entity::Entity;
use crate::domain::ids::{EntityId, EntityKind, ExpertSlug};
use crate::domain::lifecycle::Status;
use crate::domain::record::Record;
use crate::domain::reference::RefType;

/// A reminder, not a report: the newest tensions are enough.
const TENSIONS_MAX: usize = 12;

/// For each tension, what was said to it.
#[derive(Debug)]
pub(super) struct Answers<'a>(HashMap<EntityId, Vec<(RefType, &'a Entity)>>);

impl<'a> Answers<'a> {
    pub(super) fn of(record: &'a Record) -> Self {
        let mut answers: HashMap<EntityId, Vec<(RefType, &'a Entity)>> = HashMap::new();
        for entity in record.all_entities() {
            for made in
                entity.references.iter().filter(|made| is_answer(made.ref_type, made.target))
            {
                answers.entry(made.target).or_default().push((made.ref_type, entity));
            }
        }
        Self(answers)
    }
}

fn is_answer(ref_type: RefType, target: EntityId) -> bool {
    target.kind == EntityKind::Tension
        && matches!(
            ref_type,
            RefType::Address | RefType::Resolve | RefType::Reopen | RefType::Oppose
        )
}

/// Nothing, when the expert raised no tension.
pub(super) fn round_context(
    record: &Record,
    answers: &Answers<'_>,
    expert: &ExpertSlug,
) -> Option<String> {
    let raised = record.tensions.iter().filter(|tension| tension.contributors.contains(expert));
    let sentences: Vec<String> =
        raised.rev().take(TENSIONS_MAX).map(|tension| remind(tension, answers, expert)).collect();
    let sentences: Vec<String> = sentences.into_iter().rev().collect();
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

fn remind(tension: &Entity, answers: &Answers<'_>, expert: &ExpertSlug) -> String {
    let standing = if tension.status == Status::Addressed {
        "which was addressed but not resolved".to_owned()
    } else if tension.status == Status::Open {
        "which remains open".to_owned()
    } else {
        format!("which is {}", tension.status)
    };
    let mut sentence = format!(
        "In round {}, you raised {} ({}), {standing}.",
        tension.id.round, tension.id, tension.label
    );
    let foreign: Vec<String> = answers
        .0
        .get(&tension.id)
        .into_iter()
        .flatten()
        .filter_map(|(ref_type, source)| {
            let speaker = source.contributors.first().filter(|speaker| *speaker != expert)?;
            Some(format!(
                "{} {} it with {} ({})",
                speaker.display_name(),
                past(*ref_type),
                source.id,
                source.label
            ))
        })
        .collect();
    if !foreign.is_empty() {
        sentence.push_str(&format!(" {}.", foreign.join("; ")));
    }
    sentence
}

fn past(ref_type: RefType) -> &'static str {
    match ref_type {
        RefType::Support => "supported",
        RefType::Oppose => "opposed",
        RefType::Refine => "refined",
        RefType::Address => "addressed",
        RefType::Resolve => "claims to have resolved",
        RefType::Reopen => "reopened",
        RefType::Question => "questioned",
        RefType::Depend => "depends on",
    }
}
