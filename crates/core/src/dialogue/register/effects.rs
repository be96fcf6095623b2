//! Effects of references and moves on their target entities.
//!
//! An illegal transition is not an error here: the reference or move is kept without effect, with a
//! warning.

use crate::dialogue::diagnostics::RequestWarning;
use crate::dialogue::entity_states::{EntityStates, IllegalTransition, TransitionCause};
use crate::model::entity::{EventOrigin, ExpertMove, MoveType, ReferenceLink, ReferenceType};
use crate::model::ids::{EntityId, EntityKind, EventActor, ExpertSlug};
use crate::model::lifecycle::EntityStatus;
use crate::model::record::RecordLookup;

/// Applies one reference.
pub(crate) fn apply_reference(
    board: &mut EntityStates,
    link: ReferenceLink,
) -> Option<RequestWarning> {
    let ReferenceLink { source, ref_type, target } = link;
    let to = requested_status(ref_type, target.kind)?;
    let mut speakers = board.contributors_of(source).to_vec();
    if target.kind == EntityKind::Evidence {
        // Experts cannot confirm or challenge their own evidence.
        speakers.retain(|expert| !board.is_contributor(target, expert));
        if speakers.is_empty() {
            return None;
        }
    }
    let claim =
        (ref_type == ReferenceType::Resolve).then(|| format!("{source} claims it is resolved"));
    let cause = TransitionCause::by_actors(speakers.into_iter().map(EventActor::Expert).collect())
        .with_origin(Some(EventOrigin::Entity(source)))
        .with_reason(claim);
    let illegal = board.transition(target, to, cause).err()?;
    let warning = no_effect_warning(&format!("'{ref_type}' by {source}"), target, illegal);
    Some(warning.with_detail("source_id", source.to_string()))
}

/// The status that a reference requests, if any.
fn requested_status(ref_type: ReferenceType, target: EntityKind) -> Option<EntityStatus> {
    match (ref_type, target) {
        (ReferenceType::Refine, EntityKind::Perspective) => Some(EntityStatus::Refined),
        (ReferenceType::Refine, EntityKind::Recommendation) => Some(EntityStatus::Amended),
        // A reference only claims that a tension is resolved; see `check_may_resolve`.
        (ReferenceType::Address | ReferenceType::Resolve, EntityKind::Tension) => {
            Some(EntityStatus::Addressed)
        }
        (ReferenceType::Reopen, EntityKind::Tension) => Some(EntityStatus::Reopened),
        (ReferenceType::Support, EntityKind::Claim) => Some(EntityStatus::Supported),
        (ReferenceType::Oppose, EntityKind::Claim) => Some(EntityStatus::Opposed),
        (ReferenceType::Support, EntityKind::Evidence) => Some(EntityStatus::Confirmed),
        (ReferenceType::Oppose, EntityKind::Evidence) => Some(EntityStatus::Challenged),
        (
            ReferenceType::Support
            | ReferenceType::Oppose
            | ReferenceType::Refine
            | ReferenceType::Address
            | ReferenceType::Resolve
            | ReferenceType::Reopen
            | ReferenceType::Question
            | ReferenceType::Depend,
            _,
        ) => None,
    }
}

/// Applies one move. Only `concede` changes a status.
pub(crate) fn apply_move(
    board: &mut EntityStates,
    made: &ExpertMove,
    facts: &RecordLookup,
    links: &[ReferenceLink],
) -> Vec<RequestWarning> {
    if made.move_type != MoveType::Concede {
        return Vec::new();
    }
    let concede = |target: &EntityId| apply_concession(board, &made.expert, *target, facts, links);
    made.targets.iter().flat_map(concede).collect()
}

/// Conceding an own item withdraws it. Conceding to another expert's item withdraws the own
/// perspectives that oppose it.
fn apply_concession(
    board: &mut EntityStates,
    expert: &ExpertSlug,
    target: EntityId,
    facts: &RecordLookup,
    links: &[ReferenceLink],
) -> Vec<RequestWarning> {
    let what = format!("'concede' by {expert}");
    let by_expert = TransitionCause::by_actors(vec![EventActor::Expert(expert.clone())]);
    let steps: Vec<(EntityId, EntityStatus, TransitionCause)> = if board
        .is_contributor(target, expert)
    {
        let to = match target.kind {
            EntityKind::Perspective => EntityStatus::Conceded,
            EntityKind::Claim => EntityStatus::Withdrawn,
            EntityKind::Recommendation | EntityKind::Tension | EntityKind::Evidence => {
                let message =
                    format!("{what} has no effect: {target} is neither a perspective nor a claim");
                return vec![
                    RequestWarning::new("no_effect", message)
                        .with_detail("target_id", target.to_string()),
                ];
            }
        };
        vec![(target, to, by_expert)]
    } else {
        let to_it = by_expert.with_origin(Some(EventOrigin::Entity(target)));
        let own = opponents_of(target, facts, links).into_iter();
        own.filter(|id| board.is_contributor(*id, expert))
            .map(|id| (id, EntityStatus::Conceded, to_it.clone()))
            .collect()
    };
    let failed = steps.into_iter().filter_map(|(id, to, cause)| {
        let illegal = board.transition(id, to, cause).err()?;
        Some(no_effect_warning(&what, id, illegal))
    });
    failed.collect()
}

/// Perspectives that oppose an item, in the record and in this batch.
fn opponents_of(target: EntityId, facts: &RecordLookup, links: &[ReferenceLink]) -> Vec<EntityId> {
    let recorded = facts.opponents.get(&target).into_iter().flatten().copied();
    let is_opposition = |link: &&ReferenceLink| {
        link.ref_type == ReferenceType::Oppose
            && link.target == target
            && link.source.kind == EntityKind::Perspective
    };
    let fresh = links.iter().filter(is_opposition).map(|link| link.source);
    let mut all: Vec<EntityId> = recorded.chain(fresh).collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn no_effect_warning(
    what: &str,
    target: EntityId,
    IllegalTransition { from, to }: IllegalTransition,
) -> RequestWarning {
    let message =
        format!("{what} has no effect on {target}: its status {from} cannot change to {to}");
    RequestWarning::new("no_effect", message).with_detail("target_id", target.to_string())
}
