//! Resolves the ids written in references and moves to targets. The reference and move code of
//! `ExtractionBuilder` calls `resolve_target`.

use super::entities::ReplyEntities;
use super::pointers::TargetForm;
use super::slip::{DeviationSet, MarkerDeviation};
use super::spelling::{IdPrefix, RoundPlace, WrittenId};
use crate::domain::ids::{EntityId, LocalId};
use crate::domain::target::EntityTarget;

/// Returns the one target that the written id can mean, or the reason why there is none.
pub(super) fn resolve_target(
    aim: &TargetForm,
    roster: &ReplyEntities<'_>,
    slips: &mut DeviationSet,
) -> Result<EntityTarget, String> {
    match aim {
        TargetForm::Position(expert) => Ok(EntityTarget::Position(expert.clone())),
        TargetForm::Id(id) => {
            let candidates = candidate_targets(id, roster);
            match candidates.as_slice() {
                [target] => {
                    note_deviations(id, target, slips);
                    Ok(target.clone())
                }
                [] => Err(explain_unresolved(id, roster)),
                several => {
                    let names: Vec<String> = several.iter().map(EntityTarget::to_string).collect();
                    Err(format!("zeros are missing; it could be {}", names.join(" or ")))
                }
            }
        }
    }
}

/// Returns every target that an id can mean in this round.
fn candidate_targets(id: &WrittenId, roster: &ReplyEntities<'_>) -> Vec<EntityTarget> {
    let places = id.possible_places();
    match &id.prefix {
        IdPrefix::Own => own_candidates(id, &places, roster),
        IdPrefix::Other(expert) => {
            let held = places.into_iter().filter(|(round, _)| *round <= roster.round);
            let local =
                |(round, seq)| LocalId { expert: expert.clone(), kind: id.kind, round, seq };
            held.map(local).map(EntityTarget::Local).collect()
        }
        IdPrefix::Missing => {
            let meant = |place: &RoundPlace| target_without_prefix(id, *place, roster);
            places.iter().filter_map(meant).collect()
        }
    }
}

/// An entity of this reply takes precedence over one of an earlier round.
fn own_candidates(
    id: &WrittenId,
    places: &[RoundPlace],
    roster: &ReplyEntities<'_>,
) -> Vec<EntityTarget> {
    let alone = id.sequence_alone().map(|seq| (roster.round, seq));
    let locals: Vec<LocalId> =
        places.iter().copied().chain(alone).map(|place| roster.local_id(id.kind, place)).collect();
    if let Some(said) = locals.iter().find(|id| roster.contains_id(id)) {
        return vec![EntityTarget::Local(said.clone())];
    }
    locals.into_iter().filter(|id| id.round < roster.round).map(EntityTarget::Local).collect()
}

/// An id without a prefix is a global id if its round is earlier. Global ids of this round do not
/// exist yet, so such an id means the expert's own entity.
fn target_without_prefix(
    id: &WrittenId,
    (round, seq): RoundPlace,
    roster: &ReplyEntities<'_>,
) -> Option<EntityTarget> {
    if round < roster.round {
        return Some(EntityTarget::Global(EntityId { kind: id.kind, round, seq }));
    }
    let local = roster.local_id(id.kind, (round, seq));
    roster.contains_id(&local).then_some(EntityTarget::Local(local))
}

fn note_deviations(id: &WrittenId, target: &EntityTarget, slips: &mut DeviationSet) {
    if id.prefix == IdPrefix::Missing && matches!(target, EntityTarget::Local(_)) {
        slips.add(MarkerDeviation::MissingPrefix);
    }
    if !id.is_padded() {
        slips.add(MarkerDeviation::ZeroPadding);
    }
}

fn explain_unresolved(id: &WrittenId, roster: &ReplyEntities<'_>) -> String {
    let rounds = id.possible_places();
    let Some((round, seq)) = rounds.first().copied() else {
        return "an id is a letter, two digits of round and two of number".to_owned();
    };
    if round > roster.round {
        return format!("round {round} is still to come");
    }
    let local = roster.local_id(id.kind, (roster.round, seq));
    match id.prefix {
        IdPrefix::Missing => {
            format!("this round has no global ids yet, and there is no {local} in this reply")
        }
        IdPrefix::Own | IdPrefix::Other(_) => format!("there is no {local} in this reply"),
    }
}
