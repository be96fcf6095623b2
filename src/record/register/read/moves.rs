//! Parses the moves of experts.

use serde_json::{Map, Value};

use super::references::parse_target;
use crate::domain::limits::{BATCH_ITEMS_MAX, LINE_CHARS_MAX, TEXT_CHARS_MAX};
use crate::domain::reference::MoveType;
use crate::domain::refusal::{Code, Fault, Item};
use crate::domain::target::Target;
use crate::record::fields::{Fields, cut};
use crate::record::notes::Notes;
use crate::record::register::batch::NewMove;

pub(super) fn read_moves(fields: &Fields<'_>, notes: &mut Notes) -> Vec<NewMove> {
    let maps = fields.objects("moves", BATCH_ITEMS_MAX, notes);
    let read = maps.into_iter().filter_map(|map| read_move(map, notes));
    read.collect()
}

fn read_move(map: &Map<String, Value>, notes: &mut Notes) -> Option<NewMove> {
    let source_id = map.get("expert").and_then(Value::as_str).map(cut);
    let fields = Fields::new(map, Item::Source { item_type: "move", source_id });
    fields.expect_only(&["expert", "type", "target", "targets", "context"], notes);
    let before = notes.faults.len();
    let expert = fields.required_text("expert", LINE_CHARS_MAX, notes);
    let move_type = fields.required_word::<MoveType>("type", notes);
    let context = fields.text("context", TEXT_CHARS_MAX, notes);
    let mut targets = Vec::new();
    for name in ["target", "targets"] {
        for text in fields.texts(name, LINE_CHARS_MAX, notes).unwrap_or_default() {
            targets.extend(parse_target(&fields, name, &text, notes));
        }
    }
    let move_type = move_type?;
    if notes.is_sound_since(before) {
        check_move(&fields, move_type, &targets, context.as_deref(), notes);
    }
    notes.is_sound_since(before).then_some(NewMove { expert: expert?, move_type, targets, context })
}

/// Checks that a move has the targets and context that its type requires.
fn check_move(
    fields: &Fields<'_>,
    move_type: MoveType,
    targets: &[Target],
    context: Option<&str>,
    notes: &mut Notes,
) {
    let needed = move_type.targets_min();
    if targets.len() < needed {
        let plural = if needed == 1 { "target" } else { "targets" };
        let fault = fields.missing("targets");
        notes.fault(Fault {
            message: format!("move '{move_type}' needs {needed} {plural}, got {}", targets.len()),
            ..fault
        });
    }
    if move_type == MoveType::Request && context.is_none_or(|topic| topic.trim().is_empty()) {
        let fault = fields.missing("context");
        notes.fault(fault.suggest("say in 'context' what the panel is asked for"));
    }
    if move_type == MoveType::Converge && !targets.is_empty() {
        notes.fault(
            Fault::new(Code::InvalidType, "move 'converge' takes no targets")
                .about(fields.item())
                .field("targets")
                .suggest("leave the targets out; say why in 'context'"),
        );
    }
}
