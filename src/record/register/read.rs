//! Takes a batch apart, field by field, and notes everything malformed in it.

use serde_json::{Map, Value};

use super::batch::{Batch, LooseRef, NewItem, NewMove, Update, item_type};
use crate::domain::ids::{EntityKind, LocalId};
use crate::domain::lifecycle::{self, Status};
use crate::domain::limits::{
    BATCH_ITEMS_MAX, LINE_CHARS_MAX, LIST_ITEMS_MAX, RAW_REPLY_CHARS_MAX, SCORE_MAX, TEXT_CHARS_MAX,
};
use crate::domain::reference::{MoveType, RefType};
use crate::domain::refusal::{Code, Fault, Item, Refusal};
use crate::domain::target::Target;
use crate::domain::words::Word;
use crate::record::faults::{not_an_id, read_dialogue_id, wrong_kind};
use crate::record::fields::{Fields, cut};
use crate::record::notes::Notes;

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

/// Reads a batch; `sha256` is the digest of its canonical JSON.
///
/// A batch with faults is still returned, so that the record can add what it
/// finds; only one that names no dialogue is refused here.
pub fn read(arguments: &Value, sha256: String) -> Result<Batch, Refusal> {
    let fields = Fields::of_arguments(arguments)?;
    let mut notes = Notes::default();
    let mut faulty = Vec::new();
    fields.expect_only(&FIELDS, &mut notes);
    let dialogue_id = read_dialogue_id(&fields, &mut notes);
    let round = fields.required_integer("round", 0..=i64::from(u16::MAX), &mut notes);
    let round = round.and_then(|round| u16::try_from(round).ok());
    let score = fields.required_integer("score", -SCORE_MAX..=SCORE_MAX, &mut notes);
    let title = fields.text("title", LINE_CHARS_MAX, &mut notes);
    let summary = fields.text("summary", TEXT_CHARS_MAX, &mut notes);
    let expert_scores = read_scores(&fields, &mut notes);
    let raw_content = read_raw_content(&fields, &mut notes);
    let kinds = EntityKind::ALL.iter();
    let items =
        kinds.flat_map(|kind| read_items(&fields, *kind, round, &mut faulty, &mut notes)).collect();
    let refs = read_refs(&fields, &mut notes);
    let updates = read_updates(&fields, &mut notes);
    let moves = read_moves(&fields, &mut notes);
    let converge = fields.texts("converge", LINE_CHARS_MAX, &mut notes).unwrap_or_default();
    let Some(dialogue_id) = dialogue_id else { return Err(Refusal::new(notes.faults)) };
    Ok(Batch {
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

fn read_scores(fields: &Fields<'_>, notes: &mut Notes) -> Vec<(String, i64)> {
    let Some(map) = fields.object("expert_scores", notes) else { return Vec::new() };
    let scores = Fields::new(map, Item::Source { item_type: "expert_scores", source_id: None });
    let read = map.keys().filter_map(|expert| {
        let score = scores.required_integer(expert, -SCORE_MAX..=SCORE_MAX, notes)?;
        Some((expert.clone(), score))
    });
    read.collect()
}

fn read_raw_content(fields: &Fields<'_>, notes: &mut Notes) -> Vec<(String, String)> {
    let Some(map) = fields.object("raw_content", notes) else { return Vec::new() };
    let replies = Fields::new(map, Item::Source { item_type: "raw_content", source_id: None });
    let read = map.keys().filter_map(|expert| {
        let reply = replies.text(expert, RAW_REPLY_CHARS_MAX, notes)?;
        Some((expert.clone(), reply))
    });
    read.collect()
}

fn read_items(
    fields: &Fields<'_>,
    kind: EntityKind,
    round: Option<u16>,
    faulty: &mut Vec<String>,
    notes: &mut Notes,
) -> Vec<NewItem> {
    let maps = fields.objects(kind.section(), BATCH_ITEMS_MAX, notes);
    let read = maps.into_iter().filter_map(|map| {
        let before = notes.faults.len();
        let item = read_item(map, kind, round, notes);
        if !notes.is_sound_since(before) {
            faulty.extend(meant_by(map));
        }
        item
    });
    read.collect()
}

/// How the rest of the batch may point at an item that could not be read.
fn meant_by(map: &Map<String, Value>) -> Vec<String> {
    let Some(named) = map.get("local_id").and_then(Value::as_str) else { return Vec::new() };
    let position = named.parse::<LocalId>().ok().map(|id| Target::Position(id.expert).to_string());
    [named.to_owned()].into_iter().chain(position).collect()
}

fn read_item(
    map: &Map<String, Value>,
    kind: EntityKind,
    round: Option<u16>,
    notes: &mut Notes,
) -> Option<NewItem> {
    let named = map.get("local_id").and_then(Value::as_str).map(cut);
    let item = Item::Local { item_type: kind.noun(), local_id: named.clone() };
    let fields = Fields::new(map, item);
    let text_field = kind.text_field();
    let mut known = vec!["local_id", "label", text_field, "contributors", "references"];
    if kind == EntityKind::Recommendation {
        known.push("parameters");
    }
    fields.expect_only(&known, notes);
    let local_id = fields
        .required_text("local_id", LINE_CHARS_MAX, notes)
        .and_then(|text| read_local_id(&fields, &text, kind, round, notes));
    let label = fields.required_text("label", LINE_CHARS_MAX, notes);
    let text = fields.required_text(text_field, TEXT_CHARS_MAX, notes);
    let contributors = fields.texts("contributors", LINE_CHARS_MAX, notes);
    let parameters = match kind {
        EntityKind::Recommendation => fields.structured("parameters", notes),
        EntityKind::Perspective
        | EntityKind::Tension
        | EntityKind::Evidence
        | EntityKind::Claim => None,
    };
    let references = read_references(&fields, named.as_deref(), notes);
    let local_id = local_id?;
    // An item without contributors is its author's own.
    let contributors = contributors
        .filter(|contributors| !contributors.is_empty())
        .unwrap_or_else(|| vec![local_id.expert.to_string()]);
    Some(NewItem { local_id, label: label?, text: text?, contributors, parameters, references })
}

fn read_local_id(
    fields: &Fields<'_>,
    text: &str,
    kind: EntityKind,
    round: Option<u16>,
    notes: &mut Notes,
) -> Option<LocalId> {
    let complain = |code: Code, message: String| {
        Fault::new(code, message).about(fields.item()).field("local_id").value(text)
    };
    let letter = kind.name();
    let fault = match text.parse::<LocalId>() {
        Err(_) => {
            let message = format!(
                "local_id '{}' is not a local id: EXPERT-{letter}{{round:02}}{{seq:02}}, as in MUFFIN-{letter}0101",
                cut(text)
            );
            let fault = complain(Code::InvalidLocalId, message);
            match text.to_ascii_uppercase().parse::<LocalId>() {
                Ok(id) => fault.suggest(format!("write '{id}'")),
                Err(_) => fault,
            }
        }
        Ok(id) if id.kind != kind => {
            let fault = wrong_kind("local_id", kind, text).about(fields.item());
            fault.suggest(format!(
                "move the item to '{}', or give it an id with '{letter}'",
                id.kind.section()
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
            complain(Code::InvalidLocalId, message).suggest(format!("write '{meant}'"))
        }
        Ok(id) => return Some(id),
    };
    notes.fault(fault);
    None
}

fn read_references(
    fields: &Fields<'_>,
    source_id: Option<&str>,
    notes: &mut Notes,
) -> Vec<(RefType, Target)> {
    let maps = fields.objects("references", LIST_ITEMS_MAX, notes);
    let read = maps.into_iter().filter_map(|map| {
        let item = Item::Source { item_type: "reference", source_id: source_id.map(str::to_owned) };
        let reference = Fields::new(map, item);
        reference.expect_only(&["type", "target"], notes);
        let ref_type = read_ref_type(&reference, "type", notes);
        let target = read_target(&reference, "target", notes);
        Some((ref_type?, target?))
    });
    read.collect()
}

fn read_ref_type(fields: &Fields<'_>, name: &str, notes: &mut Notes) -> Option<RefType> {
    let text = fields.required_text(name, LINE_CHARS_MAX, notes)?;
    let ref_type = RefType::named(&text);
    if ref_type.is_none() {
        // The seed's template says `ref_type`, whatever the field is called.
        let fault = fields.not_an_option("ref_type", &text, &RefType::options());
        notes.fault(Fault { code: Code::InvalidRefType, field: Some(name.to_owned()), ..fault });
    }
    ref_type
}

/// A target as an item points at it.
fn read_target(fields: &Fields<'_>, name: &str, notes: &mut Notes) -> Option<Target> {
    let text = fields.required_text(name, LINE_CHARS_MAX, notes)?;
    parse_target(fields, name, &text, notes)
}

fn parse_target(fields: &Fields<'_>, name: &str, text: &str, notes: &mut Notes) -> Option<Target> {
    let target = text.parse().ok();
    if target.is_none() {
        notes.fault(not_an_id(name, text).about(fields.item()));
    }
    target
}

fn read_refs(fields: &Fields<'_>, notes: &mut Notes) -> Vec<LooseRef> {
    let maps = fields.objects("refs", BATCH_ITEMS_MAX, notes);
    let read = maps.into_iter().filter_map(|map| read_ref(map, notes));
    read.collect()
}

fn read_ref(map: &Map<String, Value>, notes: &mut Notes) -> Option<LooseRef> {
    let source_id = map.get("source_id").and_then(Value::as_str).map(cut);
    let fields = Fields::new(map, Item::Source { item_type: "reference", source_id });
    let known = ["source_type", "source_id", "ref_type", "target_type", "target_id"];
    fields.expect_only(&known, notes);
    let before = notes.faults.len();
    let source_type = read_entity_type(&fields, "source_type", notes);
    let target_type = read_entity_type(&fields, "target_type", notes);
    let ref_type = read_ref_type(&fields, "ref_type", notes);
    let source = read_target(&fields, "source_id", notes);
    let target = read_target(&fields, "target_id", notes);
    let (source, target) = (source?, target?);
    if let Target::Position(_) = source {
        let fault =
            Fault::new(Code::InvalidDisplayId, "source_id must be an entity, not an expert");
        notes.fault(fault.about(fields.item()).field("source_id").value(source.to_string()));
        return None;
    }
    // Consistency is the second step: it is tried when the types themselves are sound.
    if notes.is_sound_since(before) {
        check_prefix(&fields, "source", source_type, &source, notes);
        check_prefix(&fields, "target", target_type, &target, notes);
    }
    notes.is_sound_since(before).then_some(LooseRef { source, ref_type: ref_type?, target })
}

fn read_entity_type(fields: &Fields<'_>, name: &str, notes: &mut Notes) -> Option<EntityKind> {
    let text = fields.text(name, LINE_CHARS_MAX, notes)?;
    let kind = EntityKind::named(&text);
    if kind.is_none() {
        let fault = fields.not_an_option(name, &text, &EntityKind::options());
        notes.fault(Fault { code: Code::InvalidEntityType, ..fault });
    }
    kind
}

fn check_prefix(
    fields: &Fields<'_>,
    side: &str,
    declared: Option<EntityKind>,
    id: &Target,
    notes: &mut Notes,
) {
    let Some(declared) = declared.filter(|declared| *declared != id.kind()) else { return };
    let message = format!(
        "{side}_type '{declared}' does not match {side}_id '{id}' (expected prefix '{declared}')"
    );
    notes.fault(
        Fault::new(Code::TypeIdMismatch, message)
            .about(fields.item())
            .field(format!("{side}_type"))
            .value(declared.name())
            .options([id.kind()])
            .suggest(format!("use '{}', or leave {side}_type out", id.kind())),
    );
}

fn read_updates(fields: &Fields<'_>, notes: &mut Notes) -> Vec<Update> {
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

/// A status of this kind's own lifecycle.
fn read_status(fields: &Fields<'_>, kind: EntityKind, notes: &mut Notes) -> Option<Status> {
    let text = fields.required_text("status", LINE_CHARS_MAX, notes)?;
    // The seed has two names for a perspective that went into another.
    let name = if kind == EntityKind::Perspective && text == "resolved" { "merged" } else { &text };
    let status = lifecycle::statuses(kind).iter().copied().find(|status| status.name() == name);
    if status.is_none() {
        let options: Vec<String> =
            lifecycle::statuses(kind).iter().map(ToString::to_string).collect();
        notes.fault(fields.not_an_option("status", &text, &options));
    }
    status
}

fn read_moves(fields: &Fields<'_>, notes: &mut Notes) -> Vec<NewMove> {
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

/// Each move needs its own: a target, two, a topic, or nothing.
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
