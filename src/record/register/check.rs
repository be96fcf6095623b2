//! Checks of a batch against the record: capacity, references, authority.

use serde_json::json;

use super::batch::{Batch, Update};
use crate::domain::dialogue::Dialogue;
use crate::domain::ids::{Actor, EntityId, EntityKind, JUDGE};
use crate::domain::lifecycle::Status;
use crate::domain::limits::ITEMS_PER_ROUND_MAX;
use crate::domain::reference::{Link, Nonsense};
use crate::domain::refusal::{Code, Fault, Item};
use crate::record::board::Board;
use crate::record::faults::{closed, out_of_order};
use crate::record::lookup::Lookup;
use crate::record::roll::Roll;

/// Checks that the dialogue is open, that the round is its next one, and that the items fit.
pub(super) fn whole_batch(batch: &Batch, dialogue: &Dialogue) -> Vec<Fault> {
    let mut faults = Vec::new();
    if dialogue.status.is_closed() {
        faults.push(closed(dialogue));
    }
    faults.extend(batch.round.and_then(|round| out_of_order(round, dialogue)));
    for kind in EntityKind::ALL {
        let items = batch.items.iter().filter(|item| item.kind() == *kind).count();
        if items > usize::from(ITEMS_PER_ROUND_MAX) {
            let section = kind.section();
            let message = format!(
                "a round holds at most {ITEMS_PER_ROUND_MAX} {section}, this one has {items}"
            );
            faults.push(
                Fault::new(Code::RoundCapacityExceeded, message)
                    .field(section)
                    .value(items)
                    .suggest("merge what is alike, or keep some for the next round"),
            );
        }
    }
    faults
}

/// Checks that a reference type is allowed between two entities.
pub(super) fn meaning(link: Link, source_name: &str, item: &Item) -> Result<(), Fault> {
    let Link { source, ref_type, target } = link;
    let context =
        json!({"source_id": source_name, "target_id": target, "target_type": target.kind});
    let complain = |code: Code, message: String| {
        Fault::new(code, message)
            .about(item)
            .field("ref_type")
            .value(ref_type.name())
            .context(context)
    };
    if source == target {
        let message = format!("'{source_name}' cannot reference itself");
        return Err(complain(Code::InvalidRefTarget, message).suggest("point at another item"));
    }
    match ref_type.check(source.kind, target.kind) {
        Ok(()) => Ok(()),
        Err(Nonsense::TensionOnly) => {
            let message = format!(
                "ref_type '{ref_type}' can only target Tensions (T), but target_type is '{}'",
                target.kind
            );
            Err(complain(Code::InvalidRefTarget, message).options(["T"]).suggest(format!(
                "Use 'support' or 'oppose' for {} targets, or change target to a Tension ID",
                target.kind.title()
            )))
        }
        Err(Nonsense::SameKindOnly) => {
            let message = format!(
                "ref_type 'refine' requires same source and target type (got {}→{})",
                source.kind, target.kind
            );
            Err(complain(Code::RefineTypeMismatch, message).options([source.kind]).suggest(
                format!(
                    "Use 'support' or 'depend' across types, or refine a {}",
                    source.kind.title()
                ),
            ))
        }
    }
}

/// An update with resolved ids and actors.
#[derive(Debug)]
pub(super) struct CheckedUpdate {
    pub id: EntityId,
    pub status: Status,
    pub actors: Vec<Actor>,
    pub via: Option<EntityId>,
    pub reason: Option<String>,
}

pub(super) fn update(
    update: &Update,
    lookup: &Lookup<'_>,
    roll: &Roll<'_>,
    board: &Board,
    faults: &mut Vec<Fault>,
) -> Option<CheckedUpdate> {
    let item = update.item();
    let before = faults.len();
    let actors = roll.actors(&update.by, &item, faults);
    let id = lookup.find(&update.id, (&item, "id"), faults);
    let via = update.via.as_ref().map(|via| lookup.find(via, (&item, "via"), faults));
    if faults.len() > before {
        return None;
    }
    let (id, via) = (id?, via.flatten());
    if via == Some(id) {
        let fault = Fault::new(Code::InvalidRefTarget, format!("'{id}' cannot become itself"));
        faults.push(fault.about(&item).field("via").value(id.to_string()));
        return None;
    }
    if update.status == Status::Resolved
        && let Err(fault) = may_resolve(id, &actors, board)
    {
        faults.push(fault.about(&item).field("by"));
        return None;
    }
    Some(CheckedUpdate { id, status: update.status, actors, via, reason: update.reason.clone() })
}

/// Only contributors of a tension or the Judge may resolve it.
pub(in crate::record) fn may_resolve(
    id: EntityId,
    actors: &[Actor],
    board: &Board,
) -> Result<(), Fault> {
    let may = |actor: &Actor| match actor {
        Actor::Judge => true,
        Actor::Expert(expert) => board.is_contributor(id, expert),
    };
    if actors.iter().any(may) {
        return Ok(());
    }
    let contributors: Vec<&str> = board.contributors(id).iter().map(|slug| slug.as_str()).collect();
    let names: Vec<String> = actors.iter().map(ToString::to_string).collect();
    let message = format!(
        "{} cannot resolve {id}: only its contributors ({}) or the judge can",
        names.join(", "),
        contributors.join(", ")
    );
    Err(Fault::new(Code::NotAuthorized, message)
        .value(names)
        .options(contributors.into_iter().chain([JUDGE]))
        .suggest("propose 'addressed' instead, or let a contributor or the judge confirm"))
}
