//! Resolves the ids written in references and moves to targets. The reference and move code of
//! `ExtractionBuilder` calls `resolve_target`.

use super::entities::Roster;
use super::pointers::Aim;
use super::slip::{Slip, Slips};
use super::spelling::{Place, Prefix, Spelled};
use crate::domain::ids::{EntityId, LocalId};
use crate::domain::target::Target;

/// Returns the one target that the written id can mean, or the reason why there is none.
pub(super) fn resolve(aim: &Aim, roster: &Roster<'_>, slips: &mut Slips) -> Result<Target, String> {
    match aim {
        Aim::Position(expert) => Ok(Target::Position(expert.clone())),
        Aim::Id(id) => {
            let candidates = candidates(id, roster);
            match candidates.as_slice() {
                [target] => {
                    note(id, target, slips);
                    Ok(target.clone())
                }
                [] => Err(why_none(id, roster)),
                several => {
                    let names: Vec<String> = several.iter().map(Target::to_string).collect();
                    Err(format!("zeros are missing; it could be {}", names.join(" or ")))
                }
            }
        }
    }
}

/// Returns every target that an id can mean in this round.
fn candidates(id: &Spelled, roster: &Roster<'_>) -> Vec<Target> {
    let places = id.places();
    match &id.prefix {
        Prefix::Own => own(id, &places, roster),
        Prefix::Other(expert) => {
            let held = places.into_iter().filter(|(round, _)| *round <= roster.round);
            let local =
                |(round, seq)| LocalId { expert: expert.clone(), kind: id.kind, round, seq };
            held.map(local).map(Target::Local).collect()
        }
        Prefix::Missing => {
            let meant = |place: &Place| missing_prefix(id, *place, roster);
            places.iter().filter_map(meant).collect()
        }
    }
}

/// An entity of this reply takes precedence over one of an earlier round.
fn own(id: &Spelled, places: &[Place], roster: &Roster<'_>) -> Vec<Target> {
    let alone = id.number_alone().map(|seq| (roster.round, seq));
    let locals: Vec<LocalId> =
        places.iter().copied().chain(alone).map(|place| roster.local_id(id.kind, place)).collect();
    if let Some(said) = locals.iter().find(|id| roster.has(id)) {
        return vec![Target::Local(said.clone())];
    }
    locals.into_iter().filter(|id| id.round < roster.round).map(Target::Local).collect()
}

/// An id without a prefix is a global id if its round is earlier. Global ids of this round do not
/// exist yet, so such an id means the expert's own entity.
fn missing_prefix(id: &Spelled, (round, seq): Place, roster: &Roster<'_>) -> Option<Target> {
    if round < roster.round {
        return Some(Target::Global(EntityId { kind: id.kind, round, seq }));
    }
    let local = roster.local_id(id.kind, (round, seq));
    roster.has(&local).then_some(Target::Local(local))
}

fn note(id: &Spelled, target: &Target, slips: &mut Slips) {
    if id.prefix == Prefix::Missing && matches!(target, Target::Local(_)) {
        slips.add(Slip::MissingPrefix);
    }
    if !id.is_padded() {
        slips.add(Slip::ZeroPadding);
    }
}

fn why_none(id: &Spelled, roster: &Roster<'_>) -> String {
    let rounds = id.places();
    let Some((round, seq)) = rounds.first().copied() else {
        return "an id is a letter, two digits of round and two of number".to_owned();
    };
    if round > roster.round {
        return format!("round {round} is still to come");
    }
    let local = roster.local_id(id.kind, (roster.round, seq));
    match id.prefix {
        Prefix::Missing => {
            format!("this round has no global ids yet, and there is no {local} in this reply")
        }
        Prefix::Own | Prefix::Other(_) => format!("there is no {local} in this reply"),
    }
}
