//! Parses the arguments of `round_register` and collects all errors.

use serde_json::Value;

use super::items::read_items;
use super::moves::read_moves;
use super::references::read_refs;
use super::updates::read_updates;
use crate::domain::ids::EntityKind;
use crate::domain::limits::{LINE_CHARS_MAX, RAW_REPLY_CHARS_MAX, SCORE_MAX, TEXT_CHARS_MAX};
use crate::domain::refusal::{ErrorItem, ValidationErrors};
use crate::record::faults::read_dialogue_id;
use crate::record::fields::RequestFields;
use crate::record::notes::Diagnostics;
use crate::record::register::batch::RegisterBatch;

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
