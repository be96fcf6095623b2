//! Parses explicit status updates.

use serde_json::{Map, Value};

use super::references::{parse_target, read_target};
use crate::domain::ids::EntityKind;
use crate::domain::lifecycle::{self, Status};
use crate::domain::limits::{BATCH_ITEMS_MAX, LINE_CHARS_MAX, TEXT_CHARS_MAX};
use crate::domain::refusal::{Code, Fault, Item};
use crate::domain::target::Target;
use crate::record::faults::wrong_kind;
use crate::record::fields::{Fields, cut};
use crate::record::notes::Notes;
use crate::record::register::batch::{Update, item_type};

pub(super) fn read_updates(fields: &Fields<'_>, notes: &mut Notes) -> Vec<Update> {
    let mut updates = Vec::new();
    for (section, listed_as) in [("tension_updates", "tension_update"), ("updates", "update")] {
        for map in fields.objects(section, BATCH_ITEMS_MAX, notes) {
            updates.extend(read_update(map, listed_as, notes));
        }
    }
    updates
}

fn read_update(
    map: &Map<String, Value>,
    listed_as: &'static str,
    notes: &mut Notes,
) -> Option<Update> {
    let source_id = map.get("id").and_then(Value::as_str).map(cut);
    let fields = Fields::new(map, Item::Source { item_type: listed_as, source_id });
    fields.expect_only(&["id", "status", "by", "via", "reason"], notes);
    let id = read_target(&fields, "id", notes);
    let by = fields.texts("by", LINE_CHARS_MAX, notes);
    if by.as_ref().map_or(!fields.has("by"), Vec::is_empty) {
        notes.fault(fields.missing("by"));
    }
    let via = fields
        .text("via", LINE_CHARS_MAX, notes)
        .and_then(|text| parse_target(&fields, "via", &text, notes));
    let reason = fields.text("reason", TEXT_CHARS_MAX, notes);
    let id = id?;
    if item_type(id.kind()) != listed_as {
        notes.fault(misplaced_update(&fields, &id));
        return None;
    }
    let status = read_status(&fields, id.kind(), notes);
    Some(Update { id, status: status?, by: by?, via, reason })
}

fn misplaced_update(fields: &Fields<'_>, id: &Target) -> Fault {
    let id_text = id.to_string();
    let fault = match id.kind() {
        EntityKind::Tension => Fault::new(Code::TypeIdMismatch, format!("'{id}' is a Tension"))
            .field("id")
            .value(id_text)
            .suggest("move the item to 'tension_updates'"),
        EntityKind::Perspective
        | EntityKind::Recommendation
        | EntityKind::Evidence
        | EntityKind::Claim => {
            wrong_kind("id", EntityKind::Tension, &id_text).suggest("move the item to 'updates'")
        }
    };
    fault.about(fields.item())
}

/// Reads a status of the lifecycle of this entity kind.
fn read_status(fields: &Fields<'_>, kind: EntityKind, notes: &mut Notes) -> Option<Status> {
    let text = fields.required_text("status", LINE_CHARS_MAX, notes)?;
    // The specification has two names for a merged perspective.
    let name = if kind == EntityKind::Perspective && text == "resolved" { "merged" } else { &text };
    let status = lifecycle::statuses(kind).iter().copied().find(|status| status.name() == name);
    if status.is_none() {
        let options: Vec<String> =
            lifecycle::statuses(kind).iter().map(ToString::to_string).collect();
        notes.fault(fields.not_an_option("status", &text, &options));
    }
    status
}
