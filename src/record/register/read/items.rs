//! Parses perspectives, recommendations, tensions, evidence and claims.

use serde_json::{Map, Value};

use super::references::read_references;
use crate::domain::ids::{EntityKind, LocalId};
use crate::domain::limits::{BATCH_ITEMS_MAX, LINE_CHARS_MAX, TEXT_CHARS_MAX};
use crate::domain::refusal::{ErrorCode, ErrorItem, ValidationError};
use crate::domain::target::EntityTarget;
use crate::record::faults::wrong_kind;
use crate::record::fields::{RequestFields, truncate_echo};
use crate::record::notes::Diagnostics;
use crate::record::register::batch::RegisterItem;

pub(super) fn read_items(
    fields: &RequestFields<'_>,
    kind: EntityKind,
    round: Option<u16>,
    faulty: &mut Vec<String>,
    notes: &mut Diagnostics,
) -> Vec<RegisterItem> {
    let maps = fields.read_objects(kind.section_name(), BATCH_ITEMS_MAX, notes);
    let read = maps.into_iter().filter_map(|map| {
        let before = notes.errors.len();
        let item = read_item(map, kind, round, notes);
        if !notes.has_no_errors_since(before) {
            faulty.extend(targets_of_item(map));
        }
        item
    });
    read.collect()
}

/// The targets by which other items may refer to an item with errors.
fn targets_of_item(map: &Map<String, Value>) -> Vec<String> {
    let Some(named) = map.get("local_id").and_then(Value::as_str) else { return Vec::new() };
    let position =
        named.parse::<LocalId>().ok().map(|id| EntityTarget::Position(id.expert).to_string());
    [named.to_owned()].into_iter().chain(position).collect()
}

fn read_item(
    map: &Map<String, Value>,
    kind: EntityKind,
    round: Option<u16>,
    notes: &mut Diagnostics,
) -> Option<RegisterItem> {
    let named = map.get("local_id").and_then(Value::as_str).map(truncate_echo);
    let item = ErrorItem::Local { item_type: kind.type_name(), local_id: named.clone() };
    let fields = RequestFields::new(map, item);
    let text_field = kind.text_field();
    let mut known = vec!["local_id", "label", text_field, "contributors", "references"];
    if kind == EntityKind::Recommendation {
        known.push("parameters");
    }
    fields.check_unknown_fields(&known, notes);
    let local_id = fields
        .require_text("local_id", LINE_CHARS_MAX, notes)
        .and_then(|text| read_local_id(&fields, &text, kind, round, notes));
    let label = fields.require_text("label", LINE_CHARS_MAX, notes);
    let text = fields.require_text(text_field, TEXT_CHARS_MAX, notes);
    let contributors = fields.read_texts("contributors", LINE_CHARS_MAX, notes);
    let parameters = match kind {
        EntityKind::Recommendation => fields.read_json("parameters", notes),
        EntityKind::Perspective
        | EntityKind::Tension
        | EntityKind::Evidence
        | EntityKind::Claim => None,
    };
    let references = read_references(&fields, named.as_deref(), notes);
    let local_id = local_id?;
    // An item without contributors belongs to the author in its local id.
    let contributors = contributors
        .filter(|contributors| !contributors.is_empty())
        .unwrap_or_else(|| vec![local_id.expert.to_string()]);
    Some(RegisterItem {
        local_id,
        label: label?,
        text: text?,
        contributors,
        parameters,
        references,
    })
}

fn read_local_id(
    fields: &RequestFields<'_>,
    text: &str,
    kind: EntityKind,
    round: Option<u16>,
    notes: &mut Diagnostics,
) -> Option<LocalId> {
    let complain = |code: ErrorCode, message: String| {
        ValidationError::new(code, message)
            .about_item(fields.item())
            .with_field("local_id")
            .with_value(text)
    };
    let letter = kind.name();
    let fault = match text.parse::<LocalId>() {
        Err(_) => {
            let message = format!(
                "local_id '{}' is not a local id: EXPERT-{letter}{{round:02}}{{seq:02}}, as in MUFFIN-{letter}0101",
                truncate_echo(text)
            );
            let fault = complain(ErrorCode::InvalidLocalId, message);
            match text.to_ascii_uppercase().parse::<LocalId>() {
                Ok(id) => fault.with_suggestion(format!("write '{id}'")),
                Err(_) => fault,
            }
        }
        Ok(id) if id.kind != kind => {
            let fault = wrong_kind("local_id", kind, text).about_item(fields.item());
            fault.with_suggestion(format!(
                "move the item to '{}', or give it an id with '{letter}'",
                id.kind.section_name()
            ))
        }
        Ok(id) if round.is_some_and(|round| round != u16::from(id.round)) => {
            let message = format!(
                "local_id '{text}' is of round {}, but this is round {}",
                id.round,
                round.unwrap_or_default()
            );
            let round = round.and_then(|round| u8::try_from(round).ok()).unwrap_or(id.round);
            let meant = LocalId { round, ..id };
            complain(ErrorCode::InvalidLocalId, message).with_suggestion(format!("write '{meant}'"))
        }
        Ok(id) => return Some(id),
    };
    notes.add_error(fault);
    None
}
