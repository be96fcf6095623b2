//! Parses references, inside items and beside them, and their targets.

use serde_json::{Map, Value};

use crate::domain::ids::EntityKind;
use crate::domain::limits::{BATCH_ITEMS_MAX, LINE_CHARS_MAX, LIST_ITEMS_MAX};
use crate::domain::reference::RefType;
use crate::domain::refusal::{Code, Fault, Item};
use crate::domain::target::Target;
use crate::domain::words::Word;
use crate::record::faults::not_an_id;
use crate::record::fields::{Fields, cut};
use crate::record::notes::Notes;
use crate::record::register::batch::LooseRef;

pub(super) fn read_references(
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
        // The specified message says `ref_type` for every field name.
        let fault = fields.not_an_option("ref_type", &text, &RefType::options());
        notes.fault(Fault { code: Code::InvalidRefType, field: Some(name.to_owned()), ..fault });
    }
    ref_type
}

/// Reads the target of a reference.
pub(super) fn read_target(fields: &Fields<'_>, name: &str, notes: &mut Notes) -> Option<Target> {
    let text = fields.required_text(name, LINE_CHARS_MAX, notes)?;
    parse_target(fields, name, &text, notes)
}

pub(super) fn parse_target(
    fields: &Fields<'_>,
    name: &str,
    text: &str,
    notes: &mut Notes,
) -> Option<Target> {
    let target = text.parse().ok();
    if target.is_none() {
        notes.fault(not_an_id(name, text).about(fields.item()));
    }
    target
}

pub(super) fn read_refs(fields: &Fields<'_>, notes: &mut Notes) -> Vec<LooseRef> {
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
    // Check consistency only if the fields themselves are valid.
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
