//! Parses the moves of experts.

use serde_json::{Map, Value};

use super::references::parse_target;
use crate::domain::limits::{BATCH_ITEMS_MAX, LINE_CHARS_MAX, TEXT_CHARS_MAX};
use crate::domain::reference::MoveType;
use crate::domain::refusal::{ErrorCode, ErrorItem, ValidationError};
use crate::domain::target::EntityTarget;
use crate::record::fields::{RequestFields, truncate_echo};
use crate::record::notes::Diagnostics;
use crate::record::register::batch::RegisterMove;

pub(super) fn read_moves(fields: &RequestFields<'_>, notes: &mut Diagnostics) -> Vec<RegisterMove> {
    let maps = fields.read_objects("moves", BATCH_ITEMS_MAX, notes);
    let read = maps.into_iter().filter_map(|map| read_move(map, notes));
    read.collect()
}

fn read_move(map: &Map<String, Value>, notes: &mut Diagnostics) -> Option<RegisterMove> {
    let source_id = map.get("expert").and_then(Value::as_str).map(truncate_echo);
    let fields = RequestFields::new(map, ErrorItem::Source { item_type: "move", source_id });
    fields.check_unknown_fields(&["expert", "type", "target", "targets", "context"], notes);
    let before = notes.errors.len();
    let expert = fields.require_text("expert", LINE_CHARS_MAX, notes);
    let move_type = fields.require_enum::<MoveType>("type", notes);
    let context = fields.read_text("context", TEXT_CHARS_MAX, notes);
    let mut targets = Vec::new();
    for name in ["target", "targets"] {
        for text in fields.read_texts(name, LINE_CHARS_MAX, notes).unwrap_or_default() {
            targets.extend(parse_target(&fields, name, &text, notes));
        }
    }
    let move_type = move_type?;
    if notes.has_no_errors_since(before) {
        check_move(&fields, move_type, &targets, context.as_deref(), notes);
    }
    notes.has_no_errors_since(before).then_some(RegisterMove {
        expert: expert?,
        move_type,
        targets,
        context,
    })
}

/// Checks that a move has the targets and context that its type requires.
fn check_move(
    fields: &RequestFields<'_>,
    move_type: MoveType,
    targets: &[EntityTarget],
    context: Option<&str>,
    notes: &mut Diagnostics,
) {
    let needed = move_type.targets_min();
    if targets.len() < needed {
        let plural = if needed == 1 { "target" } else { "targets" };
        let fault = fields.missing_field("targets");
        notes.add_error(ValidationError {
            message: format!("move '{move_type}' needs {needed} {plural}, got {}", targets.len()),
            ..fault
        });
    }
    if move_type == MoveType::Request && context.is_none_or(|topic| topic.trim().is_empty()) {
        let fault = fields.missing_field("context");
        notes.add_error(fault.with_suggestion("say in 'context' what the panel is asked for"));
    }
    if move_type == MoveType::Converge && !targets.is_empty() {
        notes.add_error(
            ValidationError::new(ErrorCode::InvalidType, "move 'converge' takes no targets")
                .about_item(fields.item())
                .with_field("targets")
                .with_suggestion("leave the targets out; say why in 'context'"),
        );
    }
}
