//! What references and moves do to the entities they point at.
//!
//! Here an illegal step is no fault: what the expert said is kept, without
//! effect, and a warning says so.

use crate::domain::facts::Facts;
use crate::domain::ids::{Actor, EntityId, EntityKind, ExpertSlug};
use crate::domain::lifecycle::Status;
use crate::domain::reference::{Move, MoveType, RefType};
use crate::record::board::{Board, Cause, Illegal};
use crate::record::warning::Warning;

/// Applies one reference.
pub(super) fn of_reference(
    board: &mut Board,
    source: EntityId,
    ref_type: RefType,
    target: EntityId,
) -> Option<Warning> {
    let to = step_of(ref_type, target.kind)?;
    let mut speakers: Vec<ExpertSlug> =
        board.standing(source).map(|standing| standing.contributors.clone()).unwrap_or_default();
    if target.kind == EntityKind::Evidence {
        // Nobody confirms or challenges their own evidence.
        speakers.retain(|expert| !board.is_contributor(target, expert));
        if speakers.is_empty() {
            return None;
        }
    }
    let becomes_source = matches!(to, Status::Refined | Status::Amended);
    let cause = Cause {
        actors: speakers.into_iter().map(Actor::Expert).collect(),
        result: becomes_source.then_some(source),
        reference: (!becomes_source).then(|| source.to_string()),
        reason: (ref_type == RefType::Resolve).then(|| format!("{source} claims it is resolved")),
    };
    let illegal = board.step(target, to, cause).err()?;
    Some(
        no_effect(&format!("'{ref_type}' by {source}"), target, illegal)
            .with("source_id", source.to_string()),
    )
}

/// The status a reference asks for, if it asks for any.
fn step_of(ref_type: RefType, target: EntityKind) -> Option<Status> {
    match (ref_type, target) {
        (RefType::Refine, EntityKind::Perspective) => Some(Status::Refined),
        (RefType::Refine, EntityKind::Recommendation) => Some(Status::Amended),
        // A reference only claims that a tension is resolved; see `check::authority`.
        (RefType::Address | RefType::Resolve, EntityKind::Tension) => Some(Status::Addressed),
        (RefType::Reopen, EntityKind::Tension) => Some(Status::Reopened),
        (RefType::Support, EntityKind::Claim) => Some(Status::Supported),
        (RefType::Oppose, EntityKind::Claim) => Some(Status::Opposed),
        (RefType::Support, EntityKind::Evidence) => Some(Status::Confirmed),
        (RefType::Oppose, EntityKind::Evidence) => Some(Status::Challenged),
        (
            RefType::Support
            | RefType::Oppose
            | RefType::Refine
            | RefType::Address
            | RefType::Resolve
            | RefType::Reopen
            | RefType::Question
            | RefType::Depend,
            _,
        ) => None,
    }
}

/// Applies one move. Only conceding does something to what it points at.
pub(super) fn of_move(
    board: &mut Board,
    made: &Move,
    opponents: &dyn Fn(EntityId) -> Vec<EntityId>,
    warnings: &mut Vec<Warning>,
) {
    match made.move_type {
        MoveType::Concede => {
            for target in &made.targets {
                concede(board, &made.expert, *target, opponents, warnings);
            }
        }
        MoveType::Defend
        | MoveType::Challenge
        | MoveType::Bridge
        | MoveType::Request
        | MoveType::Converge => {}
    }
}

/// One's own item is given up; before another's, one's own opposition to it is.
fn concede(
    board: &mut Board,
    expert: &ExpertSlug,
    target: EntityId,
    opponents: &dyn Fn(EntityId) -> Vec<EntityId>,
    warnings: &mut Vec<Warning>,
) {
    let by_expert = |result: Option<EntityId>| Cause {
        actors: vec![Actor::Expert(expert.clone())],
        result,
        ..Cause::default()
    };
    let steps: Vec<(EntityId, Status, Cause)> = if board.is_contributor(target, expert) {
        match target.kind {
            EntityKind::Perspective => vec![(target, Status::Conceded, by_expert(None))],
            EntityKind::Claim => vec![(target, Status::Withdrawn, by_expert(None))],
            EntityKind::Recommendation | EntityKind::Tension | EntityKind::Evidence => Vec::new(),
        }
    } else {
        let own = opponents(target).into_iter().filter(|id| board.is_contributor(*id, expert));
        own.map(|id| (id, Status::Conceded, by_expert(Some(target)))).collect()
    };
    for (id, to, cause) in steps {
        if let Err(illegal) = board.step(id, to, cause) {
            warnings.push(no_effect(&format!("'concede' by {expert}"), id, illegal));
        }
    }
}

fn no_effect(what: &str, target: EntityId, Illegal { from, to }: Illegal) -> Warning {
    let message =
        format!("{what} is kept without effect: {target} is {from} and cannot become {to}");
    Warning::new("no_effect", message).with("target_id", target.to_string())
}

/// The perspectives that oppose an item: in the record, and in this batch.
pub(super) fn opponents_of(
    target: EntityId,
    facts: &Facts,
    made: &[(EntityId, RefType, EntityId)],
) -> Vec<EntityId> {
    let recorded = facts.opponents.get(&target).into_iter().flatten().copied();
    let fresh = made
        .iter()
        .filter(|(source, ref_type, aim)| {
            *ref_type == RefType::Oppose && *aim == target && source.kind == EntityKind::Perspective
        })
        .map(|(source, _, _)| *source);
    let mut all: Vec<EntityId> = recorded.chain(fresh).collect();
    all.sort_unstable();
    all.dedup();
    all
}
