//! Parses the arguments of `round_register` and collects all errors.

use serde_json::{Map, Value};

use crate::dialogue::diagnostics::{not_an_id, read_dialogue_id, wrong_kind};
use crate::dialogue::register::batch::{
    RegisterBatch, RegisterItem, RegisterMove, RegisterReference, RegisterUpdate, item_type,
};
use crate::dialogue::request_fields::{RequestFields, truncate_echo};
use crate::model::entity::{MoveType, ReferenceType};
use crate::model::ids::{EntityKind, EntityTarget, LocalId};
use crate::model::lifecycle::{EntityStatus, allowed_statuses};
use crate::model::limits::{
    BATCH_ITEMS_MAX, LINE_CHARS_MAX, LIST_ITEMS_MAX, RAW_REPLY_CHARS_MAX, SCORE_MAX, TEXT_CHARS_MAX,
};
use crate::model::string_enum::StringEnum;
use crate::model::validation_error::{ErrorCode, ErrorItem, ValidationError, ValidationErrors};
use crate::protocols::alignment::types::ScoreComponents;

const FIELDS: [&str; 19] = [
    "dialogue_id",
    // The caller has taken its content out.
    "batch",
    "round",
    "score",
    "title",
    "summary",
    "expert_scores",
    "score_components",
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
    let mut faulty = Vec::new();
    fields.check_unknown_fields(&FIELDS);
    let dialogue_id = read_dialogue_id(&fields);
    let round = fields.require_integer("round", 0..=i64::from(u16::MAX));
    let round = round.and_then(|round| u16::try_from(round).ok());
    let score = fields.require_integer("score", -SCORE_MAX..=SCORE_MAX);
    let title = fields.read_text("title", LINE_CHARS_MAX);
    let summary = fields.read_text("summary", TEXT_CHARS_MAX);
    let expert_scores = read_scores(&fields);
    let score_components = read_components(&fields);
    let raw_content = read_raw_content(&fields);
    let kinds = EntityKind::ALL.iter();
    let items = kinds.flat_map(|kind| read_items(&fields, *kind, round, &mut faulty)).collect();
    let refs = read_refs(&fields);
    let updates = read_updates(&fields);
    let moves = read_moves(&fields);
    let converge = fields.read_texts("converge", LINE_CHARS_MAX).unwrap_or_default();
    let Some(dialogue_id) = dialogue_id else {
        return Err(ValidationErrors::new(fields.take_notes().errors));
    };
    Ok(RegisterBatch {
        dialogue_id,
        sha256,
        round,
        score: score.unwrap_or(0),
        title,
        summary,
        expert_scores,
        score_components,
        raw_content,
        items,
        faulty,
        refs,
        updates,
        moves,
        converge,
        notes: fields.take_notes(),
    })
}

fn read_scores(fields: &RequestFields<'_>) -> Vec<(String, i64)> {
    let Some(map) = fields.read_object("expert_scores") else { return Vec::new() };
    let scores =
        fields.nested(map, ErrorItem::Source { item_type: "expert_scores", source_id: None });
    let read = map.keys().filter_map(|expert| {
        let score = scores.require_integer(expert, -SCORE_MAX..=SCORE_MAX)?;
        Some((expert.clone(), score))
    });
    read.collect()
}

fn read_components(fields: &RequestFields<'_>) -> Vec<(String, ScoreComponents)> {
    let Some(map) = fields.read_object("score_components") else { return Vec::new() };
    let read = map.iter().filter_map(|(expert, parts)| {
        let item =
            ErrorItem::Source { item_type: "score_components", source_id: Some(expert.clone()) };
        let Some(parts) = parts.as_object() else {
            let message = format!("the components of '{}' are no object", truncate_echo(expert));
            let fault = ValidationError::new(ErrorCode::InvalidType, message);
            fields.add_error(fault.about_item(&item).with_field("score_components"));
            return None;
        };
        let parts = fields.nested(parts, item);
        parts.check_unknown_fields(&ScoreComponents::TYPED_FIELDS);
        let part = |name: &str| {
            let number = parts.require_integer(name, 0..=SCORE_MAX)?;
            u32::try_from(number).ok()
        };
        let numbers = ScoreComponents::TYPED_FIELDS.map(part);
        let [wisdom, consistency, truth, relationships] = numbers;
        let (wisdom, consistency) = (wisdom?, consistency?);
        let (truth, relationships) = (truth?, relationships?);
        let components = ScoreComponents::new(wisdom, consistency, truth, relationships);
        Some((expert.clone(), components))
    });
    read.collect()
}

fn read_raw_content(fields: &RequestFields<'_>) -> Vec<(String, String)> {
    let Some(map) = fields.read_object("raw_content") else { return Vec::new() };
    let replies =
        fields.nested(map, ErrorItem::Source { item_type: "raw_content", source_id: None });
    let read = map.keys().filter_map(|expert| {
        let reply = replies.read_text(expert, RAW_REPLY_CHARS_MAX)?;
        Some((expert.clone(), reply))
    });
    read.collect()
}

fn read_moves(fields: &RequestFields<'_>) -> Vec<RegisterMove> {
    let maps = fields.read_objects("moves", BATCH_ITEMS_MAX);
    maps.into_iter().filter_map(|map| read_move(fields, map)).collect()
}

fn read_move(parent: &RequestFields<'_>, map: &Map<String, Value>) -> Option<RegisterMove> {
    let source_id = map.get("expert").and_then(Value::as_str).map(truncate_echo);
    let fields = parent.nested(map, ErrorItem::Source { item_type: "move", source_id });
    fields.check_unknown_fields(&["expert", "type", "target", "targets", "context"]);
    let before = fields.error_count();
    let expert = fields.require_text("expert", LINE_CHARS_MAX);
    let move_type = fields.require_enum::<MoveType>("type");
    let context = fields.read_text("context", TEXT_CHARS_MAX);
    let mut targets = Vec::new();
    for name in ["target", "targets"] {
        for text in fields.read_texts(name, LINE_CHARS_MAX).unwrap_or_default() {
            targets.extend(parse_target(&fields, name, &text));
        }
    }
    let move_type = move_type?;
    if fields.error_count() == before {
        check_move(&fields, move_type, &targets, context.as_deref());
    }
    (fields.error_count() == before).then_some(RegisterMove {
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
) {
    let needed = move_type.targets_min();
    if targets.len() < needed {
        let plural = if needed == 1 { "target" } else { "targets" };
        let fault = fields.missing_field("targets");
        fields.add_error(ValidationError {
            message: format!("move '{move_type}' needs {needed} {plural}, got {}", targets.len()),
            ..fault
        });
    }
    if move_type == MoveType::Request && context.is_none_or(|topic| topic.trim().is_empty()) {
        let fault = fields.missing_field("context");
        fields.add_error(fault.with_suggestion("write the topic of the request into 'context'"));
    }
    if move_type == MoveType::Converge && !targets.is_empty() {
        fields.add_error(
            ValidationError::new(ErrorCode::InvalidType, "move 'converge' takes no targets")
                .about_item(fields.item())
                .with_field("targets")
                .with_suggestion("leave the targets out; say why in 'context'"),
        );
    }
}

fn read_updates(fields: &RequestFields<'_>) -> Vec<RegisterUpdate> {
    let mut updates = Vec::new();
    for (section, listed_as) in [("tension_updates", "tension_update"), ("updates", "update")] {
        for map in fields.read_objects(section, BATCH_ITEMS_MAX) {
            updates.extend(read_update(fields, map, listed_as));
        }
    }
    updates
}

fn read_update(
    parent: &RequestFields<'_>,
    map: &Map<String, Value>,
    listed_as: &'static str,
) -> Option<RegisterUpdate> {
    let source_id = map.get("id").and_then(Value::as_str).map(truncate_echo);
    let fields = parent.nested(map, ErrorItem::Source { item_type: listed_as, source_id });
    fields.check_unknown_fields(&["id", "status", "by", "via", "reason"]);
    let id = read_target(&fields, "id");
    let by = fields.read_texts("by", LINE_CHARS_MAX);
    if by.as_ref().map_or(!fields.has("by"), Vec::is_empty) {
        fields.add_error(fields.missing_field("by"));
    }
    let via = fields
        .read_text("via", LINE_CHARS_MAX)
        .and_then(|text| parse_target(&fields, "via", &text));
    let reason = fields.read_text("reason", TEXT_CHARS_MAX);
    let id = id?;
    if item_type(id.entity_kind()) != listed_as {
        fields.add_error(misplaced_update(&fields, &id));
        return None;
    }
    let status = read_status(&fields, id.entity_kind());
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
fn read_status(fields: &RequestFields<'_>, kind: EntityKind) -> Option<EntityStatus> {
    let text = fields.require_text("status", LINE_CHARS_MAX)?;
    // The specification has two names for a merged perspective.
    let name = if kind == EntityKind::Perspective && text == "resolved" { "merged" } else { &text };
    let status = allowed_statuses(kind).iter().copied().find(|status| status.name() == name);
    if status.is_none() {
        let options: Vec<String> = allowed_statuses(kind).iter().map(ToString::to_string).collect();
        fields.add_error(fields.invalid_option_error("status", &text, &options));
    }
    status
}

fn read_items(
    fields: &RequestFields<'_>,
    kind: EntityKind,
    round: Option<u16>,
    faulty: &mut Vec<String>,
) -> Vec<RegisterItem> {
    let maps = fields.read_objects(kind.section_name(), BATCH_ITEMS_MAX);
    let read = maps.into_iter().filter_map(|map| {
        let before = fields.error_count();
        let item = read_item(fields, map, kind, round);
        if fields.error_count() > before {
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
    parent: &RequestFields<'_>,
    map: &Map<String, Value>,
    kind: EntityKind,
    round: Option<u16>,
) -> Option<RegisterItem> {
    let named = map.get("local_id").and_then(Value::as_str).map(truncate_echo);
    let item = ErrorItem::Local { item_type: kind.type_name(), local_id: named.clone() };
    let fields = parent.nested(map, item);
    let text_field = kind.text_field();
    let mut known = vec!["local_id", "label", text_field, "contributors", "references"];
    if kind == EntityKind::Recommendation {
        known.push("parameters");
    }
    fields.check_unknown_fields(&known);
    let local_id = fields
        .require_text("local_id", LINE_CHARS_MAX)
        .and_then(|text| read_local_id(&fields, &text, kind, round));
    let label = fields.require_text("label", LINE_CHARS_MAX);
    let text = fields.require_text(text_field, TEXT_CHARS_MAX);
    let contributors = fields.read_texts("contributors", LINE_CHARS_MAX);
    let parameters = match kind {
        EntityKind::Recommendation => fields.read_json("parameters"),
        EntityKind::Perspective
        | EntityKind::Tension
        | EntityKind::Evidence
        | EntityKind::Claim => None,
    };
    let references = read_references(&fields, named.as_deref());
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
    fields.add_error(fault);
    None
}

fn read_references(
    fields: &RequestFields<'_>,
    source_id: Option<&str>,
) -> Vec<(ReferenceType, EntityTarget)> {
    let maps = fields.read_objects("references", LIST_ITEMS_MAX);
    let read = maps.into_iter().filter_map(|map| {
        let item =
            ErrorItem::Source { item_type: "reference", source_id: source_id.map(str::to_owned) };
        let reference = fields.nested(map, item);
        reference.check_unknown_fields(&["type", "target"]);
        let ref_type = read_ref_type(&reference, "type");
        let target = read_target(&reference, "target");
        Some((ref_type?, target?))
    });
    read.collect()
}

fn read_ref_type(fields: &RequestFields<'_>, name: &str) -> Option<ReferenceType> {
    let text = fields.require_text(name, LINE_CHARS_MAX)?;
    let ref_type = ReferenceType::named(&text);
    if ref_type.is_none() {
        // The specified message says `ref_type` for every field name.
        let fault = fields.invalid_option_error("ref_type", &text, &ReferenceType::options());
        fields.add_error(ValidationError {
            code: ErrorCode::InvalidRefType,
            field: Some(name.to_owned()),
            ..fault
        });
    }
    ref_type
}

/// Reads the target of a reference.
fn read_target(fields: &RequestFields<'_>, name: &str) -> Option<EntityTarget> {
    let text = fields.require_text(name, LINE_CHARS_MAX)?;
    parse_target(fields, name, &text)
}

fn parse_target(fields: &RequestFields<'_>, name: &str, text: &str) -> Option<EntityTarget> {
    let target = text.parse().ok();
    if target.is_none() {
        fields.add_error(not_an_id(name, text).about_item(fields.item()));
    }
    target
}

fn read_refs(fields: &RequestFields<'_>) -> Vec<RegisterReference> {
    let maps = fields.read_objects("refs", BATCH_ITEMS_MAX);
    maps.into_iter().filter_map(|map| read_ref(fields, map)).collect()
}

fn read_ref(parent: &RequestFields<'_>, map: &Map<String, Value>) -> Option<RegisterReference> {
    let source_id = map.get("source_id").and_then(Value::as_str).map(truncate_echo);
    let fields = parent.nested(map, ErrorItem::Source { item_type: "reference", source_id });
    let known = ["source_type", "source_id", "ref_type", "target_type", "target_id"];
    fields.check_unknown_fields(&known);
    let before = fields.error_count();
    let source_type = read_entity_type(&fields, "source_type");
    let target_type = read_entity_type(&fields, "target_type");
    let ref_type = read_ref_type(&fields, "ref_type");
    let source = read_target(&fields, "source_id");
    let target = read_target(&fields, "target_id");
    let (source, target) = (source?, target?);
    if let EntityTarget::Position(_) = source {
        let fault = ValidationError::new(
            ErrorCode::InvalidDisplayId,
            "source_id must be an entity, not an expert",
        );
        fields.add_error(
            fault.about_item(fields.item()).with_field("source_id").with_value(source.to_string()),
        );
        return None;
    }
    // Check consistency only if the fields themselves are valid.
    if fields.error_count() == before {
        check_prefix(&fields, "source", source_type, &source);
        check_prefix(&fields, "target", target_type, &target);
    }
    (fields.error_count() == before).then_some(RegisterReference {
        source,
        ref_type: ref_type?,
        target,
    })
}

fn read_entity_type(fields: &RequestFields<'_>, name: &str) -> Option<EntityKind> {
    let text = fields.read_text(name, LINE_CHARS_MAX)?;
    let kind = EntityKind::named(&text);
    if kind.is_none() {
        let fault = fields.invalid_option_error(name, &text, &EntityKind::options());
        fields.add_error(ValidationError { code: ErrorCode::InvalidEntityType, ..fault });
    }
    kind
}

fn check_prefix(
    fields: &RequestFields<'_>,
    side: &str,
    declared: Option<EntityKind>,
    id: &EntityTarget,
) {
    let Some(declared) = declared.filter(|declared| *declared != id.entity_kind()) else { return };
    let message = format!(
        "{side}_type '{declared}' does not match {side}_id '{id}' (expected prefix '{declared}')"
    );
    fields.add_error(
        ValidationError::new(ErrorCode::TypeIdMismatch, message)
            .about_item(fields.item())
            .with_field(format!("{side}_type"))
            .with_value(declared.name())
            .with_options([id.entity_kind()])
            .with_suggestion(format!("use '{}', or leave {side}_type out", id.entity_kind())),
    );
}
