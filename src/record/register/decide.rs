//! Decides on a batch: returns the journal events and the answer, or all errors.
//!
//! Effects apply in a fixed order: entities, explicit updates, references in order of appearance,
//! moves.

use std::collections::HashMap;

use super::answer::Answer;
use super::batch::Batch;
use super::find::{Found, find};
use super::{check, effects};
use crate::domain::change::{Change, NewEntity};
use crate::domain::dialogue::Dialogue;
use crate::domain::expert::{PanelSeat, inherited_panel};
use crate::domain::facts::Facts;
use crate::domain::ids::{EntityId, ExpertSlug};
use crate::domain::reference::{Link, Reference};
use crate::domain::refusal::Refusal;
use crate::record::board::Board;
use crate::record::convergence;
use crate::record::faults::out_of_order;
use crate::record::roll::Roll;
use crate::record::warning::Warning;

/// Result of a valid batch.
#[derive(Debug)]
pub struct Decision {
    pub changes: Vec<Change>,
    pub answer: Answer,
}

pub fn decide(batch: &Batch, dialogue: &Dialogue, facts: &Facts) -> Result<Decision, Refusal> {
    let mut faults = batch.notes.faults.clone();
    faults.extend(check::whole_batch(batch, dialogue));
    if batch.round.is_some_and(|round| out_of_order(round, dialogue).is_some()) {
        // Other checks would compare the batch with the wrong state of the record.
        return Err(Refusal::new(faults));
    }
    let round = dialogue.next_round();
    let mut board = Board::new(round, facts);
    let Some(found) = find(batch, round, Roll { dialogue, facts }, &mut board, &mut faults) else {
        return Err(Refusal::new(faults));
    };
    let explicit = board.events.len();
    let mut warnings = batch.notes.warnings.clone();
    warnings.extend(off_panel(&found, facts));
    warnings.extend(play(&found, facts, &mut board));
    let implied = board.events.get(explicit..).unwrap_or_default();
    let answer = Answer::new(round, &found.entities, &found.updates, implied, warnings);
    Ok(Decision { changes: changes(batch, found, board, &answer, dialogue, facts), answer })
}

/// Applies references, then moves.
fn play(found: &Found, facts: &Facts, board: &mut Board) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for link in &found.links {
        warnings.extend(effects::of_reference(board, *link));
    }
    for made in &found.moves {
        warnings.extend(effects::of_move(board, made, facts, &found.links));
    }
    warnings
}

fn changes(
    batch: &Batch,
    mut found: Found,
    board: Board,
    answer: &Answer,
    dialogue: &Dialogue,
    facts: &Facts,
) -> Vec<Change> {
    let round = found.round;
    let new_perspectives = answer.perspectives.len();
    let scores: Vec<i64> = facts.recent_scores.iter().copied().chain([batch.score]).collect();
    let work = convergence::work_remaining(board.active_tensions(), new_perspectives);
    let status = convergence::status_change(dialogue, &scores, work);
    let late = attach(&mut found.entities, &found.links);

    let mut changes = vec![Change::RoundHeld {
        round,
        title: batch.title.clone(),
        score: batch.score,
        summary: batch.summary.clone(),
    }];
    changes.extend(inherited(round, facts));
    changes.extend(joined(&found, facts));
    changes.extend(found.scores.into_iter().map(|(expert, score)| Change::ScoreGiven {
        round,
        expert,
        score,
    }));
    changes.extend(found.replies.into_iter().map(|(expert, content)| Change::RawReplyKept {
        round,
        expert,
        content,
    }));
    changes.extend(found.entities.into_iter().map(Change::EntityAdded));
    changes.extend(late);
    changes.extend(found.moves.into_iter().map(Change::MoveMade));
    changes.extend(board.events.into_iter().map(Change::EventAdded));
    changes.extend(status);
    changes.push(Change::BatchAnswered {
        round,
        batch_sha256: batch.sha256.clone(),
        answer: serde_json::json!(answer),
    });
    changes
}

/// Stores references of new entities with the entity. References of older entities become separate
/// events.
fn attach(entities: &mut [NewEntity], links: &[Link]) -> Vec<Change> {
    let places: HashMap<EntityId, usize> =
        entities.iter().enumerate().map(|(place, entity)| (entity.id, place)).collect();
    let mut late = Vec::new();
    for link in links {
        let Link { source, ref_type, target } = *link;
        match places.get(&source).and_then(|place| entities.get_mut(*place)) {
            Some(entity) => entity.references.push(Reference { ref_type, target }),
            None => late.push(Change::ReferenceAdded(*link)),
        }
    }
    late
}

/// The panel of the round: recorded or inherited.
fn panel(round: u8, facts: &Facts) -> Vec<PanelSeat> {
    if facts.recorded_panel.is_empty() {
        return inherited_panel(&facts.last_panel, &facts.experts, round);
    }
    facts.recorded_panel.clone()
}

/// Records an inherited panel with its round, because experts who join later are not part of it.
fn inherited(round: u8, facts: &Facts) -> Option<Change> {
    let seats = panel(round, facts);
    let is_new = facts.recorded_panel.is_empty() && !seats.is_empty();
    is_new.then_some(Change::PanelSet { round, seats })
}

/// Warns about experts who contribute without a seat on the panel.
fn off_panel(found: &Found, facts: &Facts) -> Option<Warning> {
    let panel = panel(found.round, facts);
    let is_seated = |expert: &ExpertSlug| panel.iter().any(|seat| seat.expert_slug == *expert);
    let guests: Vec<&str> = found
        .active()
        .into_iter()
        .filter(|expert| !is_seated(expert))
        .map(ExpertSlug::as_str)
        .collect();
    let message = format!("not on the panel of round {}: {}", found.round, guests.join(", "));
    (!guests.is_empty()).then(|| Warning::new("off_panel", message).with("experts", guests))
}

/// Events for experts who contribute for the first time.
fn joined(found: &Found, facts: &Facts) -> Vec<Change> {
    found
        .active()
        .into_iter()
        .filter(|expert| facts.newcomers.contains(*expert))
        .map(|expert| Change::ExpertJoined { expert: expert.clone(), round: found.round })
        .collect()
}
