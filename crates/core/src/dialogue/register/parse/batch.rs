//! Parses the arguments of `round_register` and collects all errors.

use serde_json::{Map, Value};

use crate::dialogue::diagnostics::{Diagnostics, read_dialogue_id, wrong_kind};
use crate::dialogue::register::batch::{RegisterBatch, RegisterMove, RegisterUpdate, item_type};
use crate::dialogue::register::parse::items::{parse_target, read_items, read_refs, read_target};
use crate::dialogue::request_fields::{RequestFields, truncate_echo};
use crate::model::entity::MoveType;
use crate::model::ids::{EntityKind, EntityTarget};
use crate::model::lifecycle::{EntityStatus, allowed_statuses};
use crate::model::limits::{
    BATCH_ITEMS_MAX, LINE_CHARS_MAX, RAW_REPLY_CHARS_MAX, SCORE_MAX, TEXT_CHARS_MAX,
};
use crate::model::validation_error::{ErrorCode, ErrorItem, ValidationError, ValidationErrors};

const FIELDS: [&str; 17] = [
    "dialogue_id",
    "round",
    "score",
    "title",
    "summary",
    "expert_scores",
    "raw_content",
    "perspectives",
    "recommendations",
    "tensions",
    "evidence",
    "claims",
    "refs",
    "moves",
    "tension_updates",
    "updates",
    "converge",
];

/// Parses a batch; `sha256` is the digest of its canonical JSON.
///
/// A batch with errors is still returned, so that `decide_registration` can add its own errors.
/// Only a batch without a dialogue id fails here.
pub fn parse_batch(arguments: &Value, sha256: String) -> Result<RegisterBatch, ValidationErrors> {
    let fields = RequestFields::from_arguments(arguments)?;
    let mut notes = Diagnostics::default();
    let mut faulty = Vec::new();
    fields.check_unknown_fields(&FIELDS, &mut notes);
    let dialogue_id = read_dialogue_id(&fields, &mut notes);
    let round = fields.require_integer("round", 0..=i64::from(u16::MAX), &mut notes);
    let round = round.and_then(|round| u16::try_from(round).ok());
    let score = fields.require_integer("score", -SCORE_MAX..=SCORE_MAX, &mut notes);
    let title = fields.read_text("title", LINE_CHARS_MAX, &mut notes);
    let summary = fields.read_text("summary", TEXT_CHARS_MAX, &mut notes);
    let expert_scores = read_scores(&fields, &mut notes);
    let raw_content = read_raw_content(&fields, &mut notes);
    let kinds = EntityKind::ALL.iter();
    let items =
        kinds.flat_map(|kind| read_items(&fields, *kind, round, &mut faulty, &mut notes)).collect();
    let refs = read_refs(&fields, &mut notes);
    let updates = read_updates(&fields, &mut notes);
    let moves = read_moves(&fields, &mut notes);
    let converge = fields.read_texts("converge", LINE_CHARS_MAX, &mut notes).unwrap_or_default();
    let Some(dialogue_id) = dialogue_id else { return Err(ValidationErrors::new(notes.errors)) };
    Ok(RegisterBatch {
        dialogue_id,
        sha256,
        round,
        score: score.unwrap_or(0),
        title,
        summary,
        expert_scores,
        raw_content,
        items,
        faulty,
        refs,
        updates,
        moves,
        converge,
        notes,
    })
}

fn read_scores(fields: &RequestFields<'_>, notes: &mut Diagnostics) -> Vec<(String, i64)> {
    let Some(map) = fields.read_object("expert_scores", notes) else { return Vec::new() };
    let scores =
        RequestFields::new(map, ErrorItem::Source { item_type: "expert_scores", source_id: None });
    let read = map.keys().filter_map(|expert| {
        let score = scores.require_integer(expert, -SCORE_MAX..=SCORE_MAX, notes)?;
        Some((expert.clone(), score))
    });
    read.collect()
}

fn read_raw_content(fields: &RequestFields<'_>, notes: &mut Diagnostics) -> Vec<(String, String)> {
    let Some(map) = fields.read_object("raw_content", notes) else { return Vec::new() };
    let replies =
        RequestFields::new(map, ErrorItem::Source { item_type: "raw_content", source_id: None });
    let read = map.keys().filter_map(|expert| {
        let reply = replies.read_text(expert, RAW_REPLY_CHARS_MAX, notes)?;
        Some((expert.clone(), reply))
    });
    read.collect()
}

pub(crate) fn read_moves(fields: &RequestFields<'_>, notes: &mut Diagnostics) -> Vec<RegisterMove> {
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

pub(crate) fn read_updates(
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
    let status = allowed_statuses(kind).iter().copied().find(|status| status.name() == name);
    if status.is_none() {
        let options: Vec<String> = allowed_statuses(kind).iter().map(ToString::to_string).collect();
        notes.add_error(fields.invalid_option_error("status", &text, &options));
    }
    status
}
