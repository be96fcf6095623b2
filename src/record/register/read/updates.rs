//! Parses explicit status updates.

use serde_json::{Map, Value};

use super::references::{parse_target, read_target};
use crate::domain::ids::EntityKind;
use crate::domain::lifecycle::{self, EntityStatus};
use crate::domain::limits::{BATCH_ITEMS_MAX, LINE_CHARS_MAX, TEXT_CHARS_MAX};
use crate::domain::refusal::{ErrorCode, ErrorItem, ValidationError};
use crate::domain::target::EntityTarget;
use crate::record::faults::wrong_kind;
use crate::record::fields::{RequestFields, truncate_echo};
use crate::record::notes::Diagnostics;
use crate::record::register::batch::{RegisterUpdate, item_type};

pub(super) fn read_updates(
    fields: &RequestFields<'_>,
    notes: &mut Diagnostics,
) -> Vec<RegisterUpdate> {
    let mut updates = Vec::new();
    for (section, listed_as) in [("tension_updates", "tension_update"), ("updates", "update")] {
        for map in fields.read_objects(section, BATCH_ITEMS_MAX, notes) {
            updates.extend(read_update(map, listed_as, notes));
        }
    }
    updates
}

fn read_update(
    map: &Map<String, Value>,
    listed_as: &'static str,
    notes: &mut Diagnostics,
) -> Option<RegisterUpdate> {
    let source_id = map.get("id").and_then(Value::as_str).map(truncate_echo);
    let fields = RequestFields::new(map, ErrorItem::Source { item_type: listed_as, source_id });
    fields.check_unknown_fields(&["id", "status", "by", "via", "reason"], notes);
    let id = read_target(&fields, "id", notes);
    let by = fields.read_texts("by", LINE_CHARS_MAX, notes);
    if by.as_ref().map_or(!fields.has("by"), Vec::is_empty) {
        notes.add_error(fields.missing_field("by"));
    }
    let via = fields
        .read_text("via", LINE_CHARS_MAX, notes)
        .and_then(|text| parse_target(&fields, "via", &text, notes));
    let reason = fields.read_text("reason", TEXT_CHARS_MAX, notes);
    let id = id?;
    if item_type(id.entity_kind()) != listed_as {
        notes.add_error(misplaced_update(&fields, &id));
        return None;
    }
    let status = read_status(&fields, id.entity_kind(), notes);
    Some(RegisterUpdate { id, status: status?, by: by?, via, reason })
}

fn misplaced_update(fields: &RequestFields<'_>, id: &EntityTarget) -> ValidationError {
    let id_text = id.to_string();
    let fault = match id.entity_kind() {
        EntityKind::Tension => {
            ValidationError::new(ErrorCode::TypeIdMismatch, format!("'{id}' is a Tension"))
                .with_field("id")
                .with_value(id_text)
                .with_suggestion("move the item to 'tension_updates'")
        }
        EntityKind::Perspective
        | EntityKind::Recommendation
        | EntityKind::Evidence
        | EntityKind::Claim => wrong_kind("id", EntityKind::Tension, &id_text)
            .with_suggestion("move the item to 'updates'"),
    };
    fault.about_item(fields.item())
}

/// Reads a status of the lifecycle of this entity kind.
fn read_status(
    fields: &RequestFields<'_>,
    kind: EntityKind,
    notes: &mut Diagnostics,
) -> Option<EntityStatus> {
    let text = fields.require_text("status", LINE_CHARS_MAX, notes)?;
    // The specification has two names for a merged perspective.
    let name = if kind == EntityKind::Perspective && text == "resolved" { "merged" } else { &text };
    let status =
        lifecycle::allowed_statuses(kind).iter().copied().find(|status| status.name() == name);
    if status.is_none() {
        let options: Vec<String> =
            lifecycle::allowed_statuses(kind).iter().map(ToString::to_string).collect();
        notes.add_error(fields.invalid_option_error("status", &text, &options));
    }
    status
}
