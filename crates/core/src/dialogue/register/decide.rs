//! Decides on a batch: returns the journal events and the answer, or all errors.
//!
//! Effects apply in a fixed order: entities, explicit updates, references in order of appearance,
//! moves.

use std::collections::HashMap;

use crate::dialogue::diagnostics::{RequestWarning, out_of_order};
use crate::dialogue::entity_states::EntityStates;
use crate::dialogue::lookup::ExpertLookup;
use crate::dialogue::progress::{status_change, work_remaining};
use crate::dialogue::register::batch::{RegisterAnswer, RegisterBatch};
use crate::dialogue::register::check::check_batch;
use crate::dialogue::register::effects::{apply_move, apply_reference};
use crate::dialogue::register::resolve::{ResolvedBatch, resolve_batch};
use crate::ethos::compliance::ethos_not_approved;
use crate::ethos::rule_set::{CalibrationRecord, DialogueEthos, RuleChallenge, challenged_rules};
use crate::model::dialogue::{Dialogue, PanelSeat, inherit_panel};
use crate::model::entity::{EntityReference, ReferenceLink};
use crate::model::ids::{EntityId, EntityKind, ExpertSlug};
use crate::model::journal::{JournalEvent, NewEntity};
use crate::model::record::RecordLookup;
use crate::model::validation_error::ValidationErrors;

/// Result of a valid batch.
#[derive(Debug)]
pub struct RegisterDecision {
    pub changes: Vec<JournalEvent>,
    pub answer: RegisterAnswer,
}

pub fn decide_registration(
    batch: &RegisterBatch,
    dialogue: &Dialogue,
    facts: &RecordLookup,
) -> Result<RegisterDecision, ValidationErrors> {
    let ethos = facts.calibration.as_ref().and_then(CalibrationRecord::approved_ethos);
    let mut faults = batch.notes.errors.clone();
    if dialogue.opening.calibrated && ethos.is_none() {
        faults.push(ethos_not_approved(dialogue));
    }
    faults.extend(check_batch(batch, dialogue));
    if batch.round.is_some_and(|round| out_of_order(round, dialogue).is_some()) {
        // Other checks would compare the batch with the wrong state of the record.
        return Err(ValidationErrors::new(faults));
    }
    let round = dialogue.next_round();
    let mut board = EntityStates::new(round, facts);
    let Some(found) =
        resolve_batch(batch, round, ExpertLookup { dialogue, facts }, &mut board, &mut faults)
    else {
        return Err(ValidationErrors::new(faults));
    };
    let explicit = board.events.len();
    let mut warnings = batch.notes.warnings.clone();
    warnings.extend(warn_off_panel(&found, facts));
    warnings.extend(warn_score_sum(batch.score, &found, facts));
    let challenges = ethos.map(|ethos| find_challenges(&found.entities, ethos, &mut warnings));
    warnings.extend(apply_effects(&found, facts, &mut board));
    let implied = board.events.get(explicit..).unwrap_or_default();
    let answer = RegisterAnswer::new(round, &found.entities, &found.updates, implied, warnings);
    let mut changes = build_events(batch, found, board, &answer, dialogue, facts);
    changes.extend(challenges.into_iter().flatten().map(JournalEvent::RuleChallenged));
    Ok(RegisterDecision { changes, answer })
}

/// The rules that the tensions of the batch challenge. An unknown rule is a warning.
fn find_challenges(
    entities: &[NewEntity],
    ethos: &DialogueEthos,
    warnings: &mut Vec<RequestWarning>,
) -> Vec<RuleChallenge> {
    let mut challenges = Vec::new();
    for tension in entities.iter().filter(|entity| entity.id.kind == EntityKind::Tension) {
        for seq in challenged_rules([tension.label.as_str(), tension.text.as_str()]) {
            let Some(rule) = ethos.find_rule(seq) else {
                let message = format!(
                    "{} challenges RULE{seq:02}, which is no rule of {}",
                    tension.id, ethos.ethos_id
                );
                warnings.push(RequestWarning::new("unknown_rule", message));
                continue;
            };
            challenges.push(RuleChallenge {
                tension: tension.id,
                ethos_id: ethos.ethos_id.clone(),
                rule_id: rule.rule_id(),
                source_id: rule.source_id.clone(),
                experts: tension.contributors.clone(),
            });
        }
    }
    challenges
}

/// Applies references, then moves.
fn apply_effects(
    found: &ResolvedBatch,
    facts: &RecordLookup,
    board: &mut EntityStates,
) -> Vec<RequestWarning> {
    let mut warnings = Vec::new();
    for link in &found.links {
        warnings.extend(apply_reference(board, *link));
    }
    for made in &found.moves {
        warnings.extend(apply_move(board, made, facts, &found.links));
    }
    warnings
}

fn build_events(
    batch: &RegisterBatch,
    mut found: ResolvedBatch,
    board: EntityStates,
    answer: &RegisterAnswer,
    dialogue: &Dialogue,
    facts: &RecordLookup,
) -> Vec<JournalEvent> {
    let round = found.round;
    let new_perspectives = answer.perspectives.len();
    let scores: Vec<i64> = facts.recent_scores.iter().copied().chain([batch.score]).collect();
    let work = work_remaining(board.count_active_tensions(), new_perspectives);
    // Where nothing was said nothing converges.
    let is_empty = dialogue.total_rounds == 0 && found.entities.is_empty();
    let status = status_change(dialogue, &scores, work).filter(|_| !is_empty);
    let late = attach_references(&mut found.entities, &found.links);

    let mut changes = vec![JournalEvent::RoundRecorded {
        round,
        title: batch.title.clone(),
        score: batch.score,
        summary: batch.summary.clone(),
    }];
    changes.extend(record_inherited_panel(round, facts));
    changes.extend(build_join_events(&found, facts));
    changes.extend(found.scores.into_iter().map(|(expert, score, components)| {
        JournalEvent::ScoreGiven { round, expert, score, components }
    }));
    changes.extend(found.replies.into_iter().map(|(expert, content)| JournalEvent::RawReplyKept {
        round,
        expert,
        content,
    }));
    changes.extend(found.entities.into_iter().map(JournalEvent::EntityAdded));
    changes.extend(late);
    changes.extend(found.moves.into_iter().map(JournalEvent::MoveMade));
    changes.extend(board.events.into_iter().map(JournalEvent::EventAdded));
    changes.extend(status);
    changes.push(JournalEvent::BatchAnswered {
        round,
        batch_sha256: batch.sha256.clone(),
        answer: serde_json::json!(answer),
    });
    changes
}

/// Stores references of new entities with the entity. References of older entities become separate
/// events.
fn attach_references(entities: &mut [NewEntity], links: &[ReferenceLink]) -> Vec<JournalEvent> {
    let places: HashMap<EntityId, usize> =
        entities.iter().enumerate().map(|(place, entity)| (entity.id, place)).collect();
    let mut late = Vec::new();
    for link in links {
        let ReferenceLink { source, ref_type, target } = *link;
        match places.get(&source).and_then(|place| entities.get_mut(*place)) {
            Some(entity) => entity.references.push(EntityReference { ref_type, target }),
            None => late.push(JournalEvent::ReferenceAdded(*link)),
        }
    }
    late
}

/// The panel of the round: recorded or inherited.
fn round_panel(round: u8, facts: &RecordLookup) -> Vec<PanelSeat> {
    if facts.recorded_panel.is_empty() {
        return inherit_panel(&facts.last_panel, &facts.experts, round);
    }
    facts.recorded_panel.clone()
}

/// Records an inherited panel with its round, because experts who join later are not part of it.
fn record_inherited_panel(round: u8, facts: &RecordLookup) -> Option<JournalEvent> {
    let seats = round_panel(round, facts);
    let is_new = facts.recorded_panel.is_empty() && !seats.is_empty();
    is_new.then_some(JournalEvent::PanelSet { round, seats })
}

/// Warns about a score that is not the sum of its parts, if the whole panel has a score.
fn warn_score_sum(
    score: i64,
    found: &ResolvedBatch,
    facts: &RecordLookup,
) -> Option<RequestWarning> {
    let panel = round_panel(found.round, facts);
    let is_scored =
        |seat: &PanelSeat| found.scores.iter().any(|(expert, ..)| *expert == seat.expert_slug);
    let sum: i64 = found.scores.iter().map(|(_, score, _)| score).sum();
    if panel.is_empty() || !panel.iter().all(is_scored) || sum == score {
        return None;
    }
    let message = format!("the score is {score}, but the scores of the experts add up to {sum}");
    Some(RequestWarning::new("score_sum", message).with_detail("sum", sum))
}

/// Warns about experts who contribute without a seat on the panel.
fn warn_off_panel(found: &ResolvedBatch, facts: &RecordLookup) -> Option<RequestWarning> {
    let panel = round_panel(found.round, facts);
    let is_seated = |expert: &ExpertSlug| panel.iter().any(|seat| seat.expert_slug == *expert);
    let guests: Vec<&str> = found
        .active_experts()
        .into_iter()
        .filter(|expert| !is_seated(expert))
        .map(ExpertSlug::as_str)
        .collect();
    let message = format!("not on the panel of round {}: {}", found.round, guests.join(", "));
    (!guests.is_empty())
        .then(|| RequestWarning::new("off_panel", message).with_detail("experts", guests))
}

/// Events for experts who contribute for the first time.
fn build_join_events(found: &ResolvedBatch, facts: &RecordLookup) -> Vec<JournalEvent> {
    found
        .active_experts()
        .into_iter()
        .filter(|expert| facts.newcomers.contains(*expert))
        .map(|expert| JournalEvent::ExpertJoined { expert: expert.clone(), round: found.round })
        .collect()
}
