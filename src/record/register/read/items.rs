//! Parses perspectives, recommendations, tensions, evidence and claims.

use serde_json::{Map, Value};

use super::references::read_references;
use crate::domain::ids::{EntityKind, LocalId};
use crate::domain::limits::{BATCH_ITEMS_MAX, LINE_CHARS_MAX, TEXT_CHARS_MAX};
use crate::domain::refusal::{Code, Fault, Item};
use crate::domain::target::Target;
use crate::record::faults::wrong_kind;
use crate::record::fields::{Fields, cut};
use crate::record::notes::Notes;
use crate::record::register::batch::NewItem;

pub(super) fn read_items(
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

/// The targets by which other items may refer to an item with errors.
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
    // An item without contributors belongs to the author in its local id.
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
