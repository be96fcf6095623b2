//! Warnings about missing parts of a record, for readers of its export.

use crate::domain::dialogue::DialogueStatus;
use crate::domain::lifecycle::ACTIVE_TENSION_STATUSES;
use crate::domain::record::DialogueRecord;
use crate::domain::verdict::VerdictType;
use crate::record::RequestWarning;

pub fn record_warnings(record: &DialogueRecord) -> Vec<RequestWarning> {
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

fn missing_scores(record: &DialogueRecord) -> Vec<RequestWarning> {
    let mut warnings = Vec::new();
    for held in &record.rounds {
        for seat in record.panel_of(held.round) {
            let scored = record
                .find_expert(&seat.expert_slug)
                .is_some_and(|expert| expert.scores.contains_key(&held.round));
            if !scored {
                warnings.push(
                    RequestWarning::new("missing_score", "Expert in panel but no score registered")
                        .with_detail("expert", seat.expert_slug.as_str())
                        .with_detail("round", held.round),
                );
            }
        }
    }
    warnings
}

/// Only a converged dialogue must have resolved or accepted every tension.
fn unresolved_tensions(record: &DialogueRecord) -> Vec<RequestWarning> {
    if record.dialogue.status != DialogueStatus::Converged {
        return Vec::new();
    }
    let accepted = |id| {
        record.verdicts.iter().any(|given| {
            given.verdict.tensions_accepted.as_ref().is_some_and(|accepted| accepted.contains(&id))
        })
    };
    let active =
        record.tensions.iter().filter(|tension| ACTIVE_TENSION_STATUSES.contains(&tension.status));
    // A council's report may accept open tensions.
    let is_council = record.dialogue.opening.protocol.accepts_open_tensions();
    let owed = active.filter(|tension| !(is_council && accepted(tension.id)));
    let warnings = owed.map(|tension| {
        let how = if accepted(tension.id) { " (accepted)" } else { "" };
        let message = format!("Dialogue converged with {} tension{how}", tension.status);
        RequestWarning::new("unresolved_tension", message)
            .with_detail("tension", tension.id.to_string())
    });
    warnings.collect()
}

fn orphaned_perspectives(record: &DialogueRecord) -> Vec<RequestWarning> {
    let mut warnings = Vec::new();
    for perspective in &record.perspectives {
        for stranger in
            perspective.contributors.iter().filter(|slug| record.find_expert(slug).is_none())
        {
            warnings.push(
                RequestWarning::new(
                    "orphaned_perspective",
                    "Contributor is not registered as an expert",
                )
                .with_detail("perspective", perspective.id.to_string())
                .with_detail("expert", stranger.as_str()),
            );
        }
    }
    warnings
}

fn incomplete_verdicts(record: &DialogueRecord) -> Vec<RequestWarning> {
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
                RequestWarning::new("verdict_incomplete", format!("Missing {field} field"))
                    .with_detail("verdict", verdict.verdict_id.as_str())
                    .with_detail("field", field),
            );
        }
    }
    warnings
}
