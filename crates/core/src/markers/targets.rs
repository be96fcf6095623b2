//! Resolves the ids that an expert wrote. An id that can mean two entities is not guessed.

use std::collections::{BTreeSet, HashSet};

use crate::markers::extract::ReplyEntities;
use crate::markers::extraction::MarkerDeviation;
use crate::markers::grammar::{TargetForm, WrittenId};
use crate::model::entity::{InvalidReference, ReferenceType};
use crate::model::ids::{EntityId, EntityKind, EntityTarget, ExpertSlug, LocalId};

/// Returns the one target that the written id can mean, or the reason why there is none.
pub(crate) fn resolve_target(
    form: &TargetForm,
    entities: &ReplyEntities<'_>,
    deviations: &mut BTreeSet<MarkerDeviation>,
) -> Result<EntityTarget, String> {
    let id = match form {
        TargetForm::Position(expert) => return Ok(EntityTarget::Position(expert.clone())),
        TargetForm::Id(id) => id,
    };
    let places = id.possible_places();
    let candidates: Vec<EntityTarget> =
        places.iter().filter_map(|place| target_at(id, *place, entities)).collect();
    match candidates.as_slice() {
        [target] => {
            if id.expert.is_none() && matches!(target, EntityTarget::Local(_)) {
                deviations.insert(MarkerDeviation::MissingPrefix);
            }
            if !id.is_padded() {
                deviations.insert(MarkerDeviation::ZeroPadding);
            }
            Ok(target.clone())
        }
        [] => Err(match places.first() {
            Some((round, _)) if *round > entities.round => format!("round {round} has not begun"),
            Some(_) => "the reply does not define it".to_owned(),
            None => "its number must be 01 to 99".to_owned(),
        }),
        several => {
            let names: Vec<String> = several.iter().map(EntityTarget::to_string).collect();
            Err(format!("zeros are missing; it could be {}", names.join(" or ")))
        }
    }
}

/// An id without a name is a global id if its round is earlier. Global ids of this round do not
/// exist yet, so such an id means the expert's own entity.
fn target_at(
    id: &WrittenId,
    (round, seq): (u8, u8),
    entities: &ReplyEntities<'_>,
) -> Option<EntityTarget> {
    let kind = id.kind;
    let is_earlier = round < entities.round;
    let expert = match &id.expert {
        None if is_earlier => return Some(EntityTarget::Global(EntityId { kind, round, seq })),
        None => entities.own,
        Some(expert) => expert,
    };
    let local = LocalId { expert: expert.clone(), kind, round, seq };
    let exists = is_earlier
        || (expert != entities.own && round == entities.round)
        || entities.lines.contains_key(&local);
    exists.then_some(EntityTarget::Local(local))
}

/// Returns the number within the round if the id belongs to this expert and round.
pub(crate) fn sequence_in_round(id: &WrittenId, own: &ExpertSlug, round: u8) -> Result<u8, String> {
    if let Some(name) = id.expert.as_ref().filter(|name| *name != own) {
        return Err(format!("it is an id of {name}, and this is the reply of {own}"));
    }
    let places = id.possible_places();
    let place = places.iter().find(|place| place.0 == round);
    place.map(|(_, seq)| *seq).ok_or_else(|| match places.first() {
        Some((other, _)) => format!("it is an id of round {other}, and this is round {round}"),
        None => "its number must be 01 to 99".to_owned(),
    })
}

/// Checks that a reference of this type may connect an entity of this kind to the target.
pub(crate) fn check_reference(
    entities: &ReplyEntities<'_>,
    source: &LocalId,
    ref_type: ReferenceType,
    target: &EntityTarget,
) -> Result<(), String> {
    match target {
        EntityTarget::Local(id) if id == source => {
            return Err("an entity cannot refer to itself".to_owned());
        }
        // In round 0 no earlier perspective exists.
        EntityTarget::Position(expert) if expert == entities.own && entities.round == 0 => {
            let is_other = |id: &&LocalId| id.kind == EntityKind::Perspective && *id != source;
            if entities.lines.keys().find(is_other).is_none() {
                return Err(format!("{expert} has no other perspective yet"));
            }
        }
        EntityTarget::Local(_) | EntityTarget::Position(_) | EntityTarget::Global(_) => {}
    }
    ref_type.check_kinds(source.kind, target.entity_kind()).map_err(|invalid| match invalid {
        InvalidReference::TensionOnly => format!("only a tension can be the target of {ref_type}"),
        InvalidReference::SameKindOnly => {
            format!("{source} can refine only another {}", source.kind.type_name())
        }
    })
}

pub(crate) fn dedup_targets(targets: Vec<EntityTarget>) -> Vec<EntityTarget> {
    let mut seen = HashSet::new();
    targets.into_iter().filter(|target| seen.insert(target.clone())).collect()
}
