//! Parses perspectives, recommendations, tensions, evidence and claims.

use serde_json::{Map, Value};

use crate::dialogue::diagnostics::{Diagnostics, not_an_id, wrong_kind};
use crate::dialogue::register::batch::{RegisterItem, RegisterReference};
use crate::dialogue::request_fields::{RequestFields, truncate_echo};
use crate::model::entity::ReferenceType;
use crate::model::ids::{EntityKind, EntityTarget, LocalId};
use crate::model::limits::{BATCH_ITEMS_MAX, LINE_CHARS_MAX, LIST_ITEMS_MAX, TEXT_CHARS_MAX};
use crate::model::string_enum::StringEnum;
use crate::model::validation_error::{ErrorCode, ErrorItem, ValidationError};

pub(crate) fn read_items(
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

pub(crate) fn read_references(
    fields: &RequestFields<'_>,
    source_id: Option<&str>,
    notes: &mut Diagnostics,
) -> Vec<(ReferenceType, EntityTarget)> {
    let maps = fields.read_objects("references", LIST_ITEMS_MAX, notes);
    let read = maps.into_iter().filter_map(|map| {
        let item =
            ErrorItem::Source { item_type: "reference", source_id: source_id.map(str::to_owned) };
        let reference = RequestFields::new(map, item);
        reference.check_unknown_fields(&["type", "target"], notes);
        let ref_type = read_ref_type(&reference, "type", notes);
        let target = read_target(&reference, "target", notes);
        Some((ref_type?, target?))
    });
    read.collect()
}

fn read_ref_type(
    fields: &RequestFields<'_>,
    name: &str,
    notes: &mut Diagnostics,
) -> Option<ReferenceType> {
    let text = fields.require_text(name, LINE_CHARS_MAX, notes)?;
    let ref_type = ReferenceType::named(&text);
    if ref_type.is_none() {
        // The specified message says `ref_type` for every field name.
        let fault = fields.invalid_option_error("ref_type", &text, &ReferenceType::options());
        notes.add_error(ValidationError {
            code: ErrorCode::InvalidRefType,
            field: Some(name.to_owned()),
            ..fault
        });
    }
    ref_type
}

/// Reads the target of a reference.
pub(crate) fn read_target(
    fields: &RequestFields<'_>,
    name: &str,
    notes: &mut Diagnostics,
) -> Option<EntityTarget> {
    let text = fields.require_text(name, LINE_CHARS_MAX, notes)?;
    parse_target(fields, name, &text, notes)
}

pub(crate) fn parse_target(
    fields: &RequestFields<'_>,
    name: &str,
    text: &str,
    notes: &mut Diagnostics,
) -> Option<EntityTarget> {
    let target = text.parse().ok();
    if target.is_none() {
        notes.add_error(not_an_id(name, text).about_item(fields.item()));
    }
    target
}

pub(crate) fn read_refs(
    fields: &RequestFields<'_>,
    notes: &mut Diagnostics,
) -> Vec<RegisterReference> {
    let maps = fields.read_objects("refs", BATCH_ITEMS_MAX, notes);
    let read = maps.into_iter().filter_map(|map| read_ref(map, notes));
    read.collect()
}

fn read_ref(map: &Map<String, Value>, notes: &mut Diagnostics) -> Option<RegisterReference> {
    let source_id = map.get("source_id").and_then(Value::as_str).map(truncate_echo);
    let fields = RequestFields::new(map, ErrorItem::Source { item_type: "reference", source_id });
    let known = ["source_type", "source_id", "ref_type", "target_type", "target_id"];
    fields.check_unknown_fields(&known, notes);
    let before = notes.errors.len();
    let source_type = read_entity_type(&fields, "source_type", notes);
    let target_type = read_entity_type(&fields, "target_type", notes);
    let ref_type = read_ref_type(&fields, "ref_type", notes);
    let source = read_target(&fields, "source_id", notes);
    let target = read_target(&fields, "target_id", notes);
    let (source, target) = (source?, target?);
    if let EntityTarget::Position(_) = source {
        let fault = ValidationError::new(
            ErrorCode::InvalidDisplayId,
            "source_id must be an entity, not an expert",
        );
        notes.add_error(
            fault.about_item(fields.item()).with_field("source_id").with_value(source.to_string()),
        );
        return None;
    }
    // Check consistency only if the fields themselves are valid.
    if notes.has_no_errors_since(before) {
        check_prefix(&fields, "source", source_type, &source, notes);
        check_prefix(&fields, "target", target_type, &target, notes);
    }
    notes.has_no_errors_since(before).then_some(RegisterReference {
        source,
        ref_type: ref_type?,
        target,
    })
}

fn read_entity_type(
    fields: &RequestFields<'_>,
    name: &str,
    notes: &mut Diagnostics,
) -> Option<EntityKind> {
    let text = fields.read_text(name, LINE_CHARS_MAX, notes)?;
    let kind = EntityKind::named(&text);
    if kind.is_none() {
        let fault = fields.invalid_option_error(name, &text, &EntityKind::options());
        notes.add_error(ValidationError { code: ErrorCode::InvalidEntityType, ..fault });
    }
    kind
}

fn check_prefix(
    fields: &RequestFields<'_>,
    side: &str,
    declared: Option<EntityKind>,
    id: &EntityTarget,
    notes: &mut Diagnostics,
) {
    let Some(declared) = declared.filter(|declared| *declared != id.entity_kind()) else { return };
    let message = format!(
        "{side}_type '{declared}' does not match {side}_id '{id}' (expected prefix '{declared}')"
    );
    notes.add_error(
        ValidationError::new(ErrorCode::TypeIdMismatch, message)
            .about_item(fields.item())
            .with_field(format!("{side}_type"))
            .with_value(declared.name())
            .with_options([id.entity_kind()])
            .with_suggestion(format!("use '{}', or leave {side}_type out", id.entity_kind())),
    );
}
