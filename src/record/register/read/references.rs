//! Parses references, inside items and beside them, and their targets.

use serde_json::{Map, Value};

use crate::domain::ids::EntityKind;
use crate::domain::limits::{BATCH_ITEMS_MAX, LINE_CHARS_MAX, LIST_ITEMS_MAX};
use crate::domain::reference::ReferenceType;
use crate::domain::refusal::{ErrorCode, ErrorItem, ValidationError};
use crate::domain::target::EntityTarget;
use crate::domain::words::StringEnum;
use crate::record::faults::not_an_id;
use crate::record::fields::{RequestFields, truncate_echo};
use crate::record::notes::Diagnostics;
use crate::record::register::batch::RegisterReference;

pub(super) fn read_references(
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
pub(super) fn read_target(
    fields: &RequestFields<'_>,
    name: &str,
    notes: &mut Diagnostics,
) -> Option<EntityTarget> {
    let text = fields.require_text(name, LINE_CHARS_MAX, notes)?;
    parse_target(fields, name, &text, notes)
}

pub(super) fn parse_target(
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

pub(super) fn read_refs(
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
