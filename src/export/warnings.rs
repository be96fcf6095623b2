//! Warnings about missing parts of a record, for readers of its export.

use crate::domain::dialogue::DialogueStatus;
use crate::domain::lifecycle::ACTIVE_TENSION;
use crate::domain::record::Record;
use crate::domain::verdict::VerdictType;
use crate::record::Warning;

pub fn warnings(record: &Record) -> Vec<Warning> {
    let mut warnings = Vec::new();
    // Only a Judge gives scores and votes; a council has none.
    let is_judged = record.dialogue.opening.protocol.is_judged();
    if is_judged {
        warnings.extend(missing_scores(record));
    }
    warnings.extend(unresolved_tensions(record));
    warnings.extend(orphaned_perspectives(record));
    if is_judged {
        warnings.extend(incomplete_verdicts(record));
    }
    warnings
}

fn missing_scores(record: &Record) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for held in &record.rounds {
        for seat in record.panel(held.round) {
            let scored = record
                .expert(&seat.expert_slug)
                .is_some_and(|expert| expert.scores.contains_key(&held.round));
            if !scored {
                warnings.push(
                    Warning::new("missing_score", "Expert in panel but no score registered")
                        .with("expert", seat.expert_slug.as_str())
                        .with("round", held.round),
                );
            }
        }
    }
    warnings
}

/// Only a converged dialogue must have resolved or accepted every tension.
fn unresolved_tensions(record: &Record) -> Vec<Warning> {
    if record.dialogue.status != DialogueStatus::Converged {
        return Vec::new();
    }
    let accepted = |id| {
        record.verdicts.iter().any(|given| {
            given.verdict.tensions_accepted.as_ref().is_some_and(|accepted| accepted.contains(&id))
        })
    };
    let active = record.tensions.iter().filter(|tension| ACTIVE_TENSION.contains(&tension.status));
    // A council's report may accept open tensions.
    let is_council = record.dialogue.opening.protocol.accepts_open_tensions();
    let owed = active.filter(|tension| !(is_council && accepted(tension.id)));
    let warnings = owed.map(|tension| {
        let how = if accepted(tension.id) { " (accepted)" } else { "" };
        let message = format!("Dialogue converged with {} tension{how}", tension.status);
        Warning::new("unresolved_tension", message).with("tension", tension.id.to_string())
    });
    warnings.collect()
}

fn orphaned_perspectives(record: &Record) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for perspective in &record.perspectives {
        for stranger in perspective.contributors.iter().filter(|slug| record.expert(slug).is_none())
        {
            warnings.push(
                Warning::new("orphaned_perspective", "Contributor is not registered as an expert")
                    .with("perspective", perspective.id.to_string())
                    .with("expert", stranger.as_str()),
            );
        }
    }
    warnings
}

fn incomplete_verdicts(record: &Record) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for given in
        record.verdicts.iter().filter(|given| given.verdict.verdict_type == VerdictType::Final)
    {
        let verdict = &given.verdict;
        let missing = [
            (
                "tensions_resolved",
                verdict.tensions_resolved.is_none() && !record.tensions.is_empty(),
            ),
            ("vote", verdict.vote.is_none()),
            ("confidence", verdict.confidence.is_none()),
        ];
        for (field, _) in missing.into_iter().filter(|(_, missing)| *missing) {
            warnings.push(
                Warning::new("verdict_incomplete", format!("Missing {field} field"))
                    .with("verdict", verdict.verdict_id.as_str())
                    .with("field", field),
            );
        }
    }
    warnings
}
