//! Checks of a batch against the record: capacity, references, authority.

use serde_json::json;

use crate::dialogue::diagnostics::{dialogue_closed, out_of_order};
use crate::dialogue::entity_states::EntityStates;
use crate::dialogue::lookup::{ExpertLookup, TargetLookup};
use crate::dialogue::register::batch::{RegisterBatch, RegisterUpdate};
use crate::model::dialogue::Dialogue;
use crate::model::entity::{InvalidReference, ReferenceLink};
use crate::model::ids::{EntityId, EntityKind, EventActor, JUDGE_SLUG};
use crate::model::lifecycle::EntityStatus;
use crate::model::limits::ITEMS_PER_ROUND_MAX;
use crate::model::validation_error::{ErrorCode, ErrorItem, ValidationError};

/// Checks that the dialogue is open, that the round is its next one, and that the items fit.
pub(crate) fn check_batch(batch: &RegisterBatch, dialogue: &Dialogue) -> Vec<ValidationError> {
    let mut faults = Vec::new();
    if dialogue.status.is_closed() {
        faults.push(dialogue_closed(dialogue));
    }
    faults.extend(batch.round.and_then(|round| out_of_order(round, dialogue)));
    for kind in EntityKind::ALL {
        let items = batch.items.iter().filter(|item| item.kind() == *kind).count();
        if items > usize::from(ITEMS_PER_ROUND_MAX) {
            let section = kind.section_name();
            let message = format!(
                "a round takes at most {ITEMS_PER_ROUND_MAX} {section}, this one has {items}"
            );
            faults.push(
                ValidationError::new(ErrorCode::RoundCapacityExceeded, message)
                    .with_field(section)
                    .with_value(items)
                    .with_suggestion("merge similar items, or keep some for the next round"),
            );
        }
    }
    faults
}

/// Checks that a reference type is allowed between two entities.
pub(crate) fn check_reference(
    link: ReferenceLink,
    source_name: &str,
    item: &ErrorItem,
) -> Result<(), ValidationError> {
    let ReferenceLink { source, ref_type, target } = link;
    let context =
        json!({"source_id": source_name, "target_id": target, "target_type": target.kind});
    let complain = |code: ErrorCode, message: String| {
        ValidationError::new(code, message)
            .about_item(item)
            .with_field("ref_type")
            .with_value(ref_type.name())
            .with_context(context)
    };
    if source == target {
        let message = format!("'{source_name}' cannot reference itself");
        return Err(
            complain(ErrorCode::InvalidRefTarget, message).with_suggestion("point at another item")
        );
    }
    match ref_type.check_kinds(source.kind, target.kind) {
        Ok(()) => Ok(()),
        Err(InvalidReference::TensionOnly) => {
            let message = format!(
                "ref_type '{ref_type}' can only target Tensions (T), but target_type is '{}'",
                target.kind
            );
            Err(complain(ErrorCode::InvalidRefTarget, message).with_options(["T"]).with_suggestion(
                format!(
                    "Use 'support' or 'oppose' for {} targets, or change target to a Tension ID",
                    target.kind.title_case()
                ),
            ))
        }
        Err(InvalidReference::SameKindOnly) => {
            let message = format!(
                "ref_type 'refine' requires same source and target type (got {}→{})",
                source.kind, target.kind
            );
            Err(complain(ErrorCode::RefineTypeMismatch, message)
                .with_options([source.kind])
                .with_suggestion(format!(
                    "Use 'support' or 'depend' across types, or refine a {}",
                    source.kind.title_case()
                )))
        }
    }
}

/// An update with resolved ids and actors.
#[derive(Debug)]
pub(crate) struct CheckedUpdate {
    pub id: EntityId,
    pub status: EntityStatus,
    pub actors: Vec<EventActor>,
    pub via: Option<EntityId>,
    pub reason: Option<String>,
}

pub(crate) fn check_update(
    update: &RegisterUpdate,
    lookup: &TargetLookup<'_>,
    roll: &ExpertLookup<'_>,
    board: &EntityStates,
    faults: &mut Vec<ValidationError>,
) -> Option<CheckedUpdate> {
    let item = update.error_item();
    let before = faults.len();
    let actors = roll.find_actors(&update.by, &item, faults);
    let id = lookup.find_target(&update.id, (&item, "id"), faults);
    let via = update.via.as_ref().map(|via| lookup.find_target(via, (&item, "via"), faults));
    if faults.len() > before {
        return None;
    }
    let (id, via) = (id?, via.flatten());
    if via == Some(id) {
        let fault = ValidationError::new(
            ErrorCode::InvalidRefTarget,
            format!("'{id}' cannot become itself"),
        );
        faults.push(fault.about_item(&item).with_field("via").with_value(id.to_string()));
        return None;
    }
    if update.status == EntityStatus::Resolved
        && let Err(fault) = check_may_resolve(id, &actors, board)
    {
        faults.push(fault.about_item(&item).with_field("by"));
        return None;
    }
    Some(CheckedUpdate { id, status: update.status, actors, via, reason: update.reason.clone() })
}

/// Only contributors of a tension or the Judge may resolve it.
pub(crate) fn check_may_resolve(
    id: EntityId,
    actors: &[EventActor],
    board: &EntityStates,
) -> Result<(), ValidationError> {
    let may = |actor: &EventActor| match actor {
        EventActor::Judge => true,
        EventActor::Expert(expert) => board.is_contributor(id, expert),
    };
    if actors.iter().any(may) {
        return Ok(());
    }
    let contributors: Vec<&str> =
        board.contributors_of(id).iter().map(|slug| slug.as_str()).collect();
    let names: Vec<String> = actors.iter().map(ToString::to_string).collect();
    let message = format!(
        "{} cannot resolve {id}: only its contributors ({}) or the judge can",
        names.join(", "),
        contributors.join(", ")
    );
    Err(ValidationError::new(ErrorCode::NotAuthorized, message)
        .with_value(names)
        .with_options(contributors.into_iter().chain([JUDGE_SLUG]))
        .with_suggestion("propose 'addressed' instead, or let a contributor or the judge confirm"))
}
