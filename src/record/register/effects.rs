//! Effects of references and moves on their target entities.
//!
//! An illegal transition is not an error here: the reference or move is kept without effect, with a
//! warning.

use crate::domain::entity::Origin;
use crate::domain::facts::Facts;
use crate::domain::ids::{Actor, EntityId, EntityKind, ExpertSlug};
use crate::domain::lifecycle::Status;
use crate::domain::reference::{Link, Move, MoveType, RefType};
use crate::record::board::{Board, Cause, Illegal};
use crate::record::warning::Warning;

/// Applies one reference.
pub(super) fn of_reference(board: &mut Board, link: Link) -> Option<Warning> {
    let Link { source, ref_type, target } = link;
    let to = step_of(ref_type, target.kind)?;
    let mut speakers = board.contributors(source).to_vec();
    if target.kind == EntityKind::Evidence {
        // Experts cannot confirm or challenge their own evidence.
        speakers.retain(|expert| !board.is_contributor(target, expert));
        if speakers.is_empty() {
            return None;
        }
    }
    let claim = (ref_type == RefType::Resolve).then(|| format!("{source} claims it is resolved"));
    let cause = Cause::by(speakers.into_iter().map(Actor::Expert).collect())
        .through(Some(Origin::Entity(source)))
        .because(claim);
    let illegal = board.step(target, to, cause).err()?;
    let warning = no_effect(&format!("'{ref_type}' by {source}"), target, illegal);
    Some(warning.with("source_id", source.to_string()))
}

/// The status that a reference requests, if any.
fn step_of(ref_type: RefType, target: EntityKind) -> Option<Status> {
    match (ref_type, target) {
        (RefType::Refine, EntityKind::Perspective) => Some(Status::Refined),
        (RefType::Refine, EntityKind::Recommendation) => Some(Status::Amended),
        // A reference only claims that a tension is resolved; see `check_may_resolve`.
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

/// Applies one move. Only `concede` changes a status.
pub(super) fn of_move(
    board: &mut Board,
    made: &Move,
    facts: &Facts,
    links: &[Link],
) -> Vec<Warning> {
    if made.move_type != MoveType::Concede {
        return Vec::new();
    }
    let concede = |target: &EntityId| concede(board, &made.expert, *target, facts, links);
    made.targets.iter().flat_map(concede).collect()
}

/// Conceding an own item withdraws it. Conceding to another expert's item withdraws the own
/// perspectives that oppose it.
fn concede(
    board: &mut Board,
    expert: &ExpertSlug,
    target: EntityId,
    facts: &Facts,
    links: &[Link],
) -> Vec<Warning> {
    let what = format!("'concede' by {expert}");
    let by_expert = Cause::by(vec![Actor::Expert(expert.clone())]);
    let steps: Vec<(EntityId, Status, Cause)> = if board.is_contributor(target, expert) {
        let to = match target.kind {
            EntityKind::Perspective => Status::Conceded,
            EntityKind::Claim => Status::Withdrawn,
            EntityKind::Recommendation | EntityKind::Tension | EntityKind::Evidence => {
                let message = format!("{what} is kept without effect: {target} is no position");
                return vec![
                    Warning::new("no_effect", message).with("target_id", target.to_string()),
                ];
            }
        };
        vec![(target, to, by_expert)]
    } else {
        let to_it = by_expert.through(Some(Origin::Entity(target)));
        let own = opponents_of(target, facts, links).into_iter();
        own.filter(|id| board.is_contributor(*id, expert))
            .map(|id| (id, Status::Conceded, to_it.clone()))
            .collect()
    };
    let failed = steps.into_iter().filter_map(|(id, to, cause)| {
        let illegal = board.step(id, to, cause).err()?;
        Some(no_effect(&what, id, illegal))
    });
    failed.collect()
}

/// Perspectives that oppose an item, in the record and in this batch.
fn opponents_of(target: EntityId, facts: &Facts, links: &[Link]) -> Vec<EntityId> {
    let recorded = facts.opponents.get(&target).into_iter().flatten().copied();
    let is_opposition = |link: &&Link| {
        link.ref_type == RefType::Oppose
            && link.target == target
            && link.source.kind == EntityKind::Perspective
    };
    let fresh = links.iter().filter(is_opposition).map(|link| link.source);
    let mut all: Vec<EntityId> = recorded.chain(fresh).collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn no_effect(what: &str, target: EntityId, Illegal { from, to }: Illegal) -> Warning {
    let message =
        format!("{what} is kept without effect: {target} is {from} and cannot become {to}");
    Warning::new("no_effect", message).with("target_id", target.to_string())
}
