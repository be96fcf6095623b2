//! The transcript of a dialogue: by round and seat what each said, raw and as a tree to draw.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::model::ask::AskPurpose;
use crate::model::dialogue::ProtocolKind;
use crate::model::ids::{EntityId, ExpertSlug};
use crate::model::record::DialogueRecord;
use crate::model::run_state::RunState;
use crate::protocols::council::answers::SeatLetters;
use crate::protocols::protocol::Protocols;
use crate::report::calls::{CallDocument, CallStatus};
use crate::report::dialogue_facts::RoundContributions;
use crate::report::markdown_tree::{MarkdownBlock, parse_markdown};

/// Everything that was said, in order.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TranscriptDocument {
    pub rounds: Vec<TranscriptRound>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct TranscriptRound {
    pub round: u8,
    pub title: String,
    pub entries: Vec<TranscriptEntry>,
}

/// What a seat said in a round.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TranscriptEntry {
    /// The number of the call; none for a reply that a Judge registered.
    pub call: Option<u32>,
    pub seat: ExpertSlug,
    pub purpose: String,
    pub status: CallStatus,
    pub raw: Option<String>,
    /// The parsed document, or the Markdown of the reply.
    pub blocks: Vec<MarkdownBlock>,
    /// The stance of an opinion, or the verdict of a judgement.
    pub stance: Option<String>,
    /// The Judge's score.
    pub score: Option<i64>,
    /// What the record has from this entry.
    pub entities: Vec<EntityId>,
}

/// The purpose of replies that a Judge registered.
const EXPERT_PURPOSE: &str = "expert";

/// Builds the transcript from the record and the calls of its run.
pub fn transcript_document(
    record: &DialogueRecord,
    calls: &[CallDocument],
    run: Option<&RunState>,
    protocols: &Protocols,
) -> TranscriptDocument {
    // Only a council knows its seats by letters.
    let council = run.filter(|run| run.opening.protocol == ProtocolKind::Council);
    let letters = council.map(|run| SeatLetters::from_plan(&run.plan)).unwrap_or_default();
    let mut rounds: BTreeMap<u8, TranscriptRound> = BTreeMap::new();
    for held in &record.rounds {
        let title = held.title.clone().unwrap_or_default();
        let entries = registered_entries(record, calls, held.round);
        rounds.insert(held.round, TranscriptRound { round: held.round, title, entries });
    }
    for call in calls {
        let title = protocols.ask_rules(call.purpose, call.round).map(|rules| rules.title);
        let round = rounds.entry(call.round).or_insert_with(|| TranscriptRound {
            round: call.round,
            title: title.unwrap_or_default().to_owned(),
            entries: Vec::new(),
        });
        round.entries.push(call_entry(record, call, &letters));
    }
    TranscriptDocument { rounds: rounds.into_values().collect() }
}

fn call_entry(
    record: &DialogueRecord,
    call: &CallDocument,
    letters: &SeatLetters,
) -> TranscriptEntry {
    let document = call.parse.as_ref().and_then(|parse| parse.get("document"));
    let stance = ["stance", "verdict", "final_verdict"]
        .iter()
        .find_map(|name| document.and_then(|document| document.get(name)).and_then(Value::as_str));
    // An expert writes Markdown; the parsed document only counts what it contains.
    let document_shown = document.filter(|_| call.purpose != AskPurpose::Contribution);
    let blocks = match (document_shown, &call.raw) {
        (Some(document), _) => document_blocks(&name_seats(document, letters)),
        (None, Some(raw)) => parse_markdown(raw),
        (None, None) => Vec::new(),
    };
    let is_used = call.parse.is_some();
    TranscriptEntry {
        call: Some(call.call),
        seat: call.seat.clone(),
        purpose: call.purpose.name().to_owned(),
        status: call.status,
        raw: call.raw.clone(),
        blocks,
        stance: stance.map(str::to_owned),
        score: score_of(record, &call.seat, call.round).filter(|_| is_used),
        entities: if is_used { entities_of(record, &call.seat, call.round) } else { Vec::new() },
    }
}

/// Replies that a Judge registered, of experts whom no call of ours asked.
fn registered_entries(
    record: &DialogueRecord,
    calls: &[CallDocument],
    round: u8,
) -> Vec<TranscriptEntry> {
    let contributions = RoundContributions::from_record(record);
    let is_called =
        |slug: &ExpertSlug| calls.iter().any(|call| call.round == round && call.seat == *slug);
    let experts = record.experts.iter().filter(|expert| !is_called(&expert.profile.expert_slug));
    let entry = |expert: &crate::model::record::Expert| {
        let slug = &expert.profile.expert_slug;
        let raw = expert.replies.get(&round);
        let has_part = raw.is_some() || !contributions.by_expert(round, slug).is_empty();
        has_part.then(|| TranscriptEntry {
            call: None,
            seat: slug.clone(),
            purpose: EXPERT_PURPOSE.to_owned(),
            status: CallStatus::Replied,
            raw: raw.cloned(),
            blocks: raw.map(|raw| parse_markdown(raw)).unwrap_or_default(),
            stance: None,
            score: expert.scores.get(&round).copied(),
            entities: entities_of(record, slug, round),
        })
    };
    experts.filter_map(entry).collect()
}

fn score_of(record: &DialogueRecord, seat: &ExpertSlug, round: u8) -> Option<i64> {
    record.find_expert(seat).and_then(|expert| expert.scores.get(&round).copied())
}

fn entities_of(record: &DialogueRecord, seat: &ExpertSlug, round: u8) -> Vec<EntityId> {
    let own = record.all_entities().filter(|entity| entity.id.round == round);
    own.filter(|entity| entity.contributors.contains(seat)).map(|entity| entity.id).collect()
}

/// Level of the headings of a document's fields.
const FIELD_HEADING: u8 = 4;

/// A document in which the seat stands beside its letter: `C (skeptic)`.
fn name_seats(document: &Value, letters: &SeatLetters) -> Value {
    match document {
        Value::String(text) => match letters.seat_of(text) {
            Some(seat) => Value::String(format!("{text} ({seat})")),
            None => document.clone(),
        },
        Value::Array(items) => items.iter().map(|item| name_seats(item, letters)).collect(),
        Value::Object(fields) => {
            let named =
                fields.iter().map(|(name, value)| (name.clone(), name_seats(value, letters)));
            Value::Object(named.collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => document.clone(),
    }
}

/// A parsed document, field by field. Its texts may be Markdown.
fn document_blocks(document: &Value) -> Vec<MarkdownBlock> {
    let Value::Object(fields) = document else { return value_blocks(document) };
    let mut blocks = Vec::new();
    for (name, value) in fields {
        let content = value_blocks(value);
        if !content.is_empty() {
            blocks.push(MarkdownBlock::from_heading(FIELD_HEADING, &field_title(name)));
            blocks.extend(content);
        }
    }
    blocks
}

fn value_blocks(value: &Value) -> Vec<MarkdownBlock> {
    match value {
        Value::Null => Vec::new(),
        Value::Bool(is_so) => vec![MarkdownBlock::from_text(if *is_so { "yes" } else { "no" })],
        Value::Number(number) => vec![MarkdownBlock::from_text(&number.to_string())],
        Value::String(text) => parse_markdown(text),
        Value::Array(list) => {
            let items: Vec<Vec<MarkdownBlock>> =
                list.iter().map(value_blocks).filter(|item| !item.is_empty()).collect();
            let is_empty = items.is_empty();
            let list = MarkdownBlock::List { ordered: false, start: 1, items };
            if is_empty { Vec::new() } else { vec![list] }
        }
        Value::Object(fields) => {
            fields.iter().flat_map(|(name, value)| labelled_blocks(name, value)).collect()
        }
    }
}

/// `Severity: high`, or the label above a longer value.
fn labelled_blocks(name: &str, value: &Value) -> Vec<MarkdownBlock> {
    let title = field_title(name);
    let short = match value {
        Value::Null => return Vec::new(),
        Value::String(text) if !text.contains('\n') => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(is_so) => Some(if *is_so { "yes" } else { "no" }.to_owned()),
        Value::String(_) | Value::Array(_) | Value::Object(_) => None,
    };
    match short {
        Some(text) if text.is_empty() => Vec::new(),
        Some(text) => vec![MarkdownBlock::from_text(&format!("{title}: {text}"))],
        None => {
            let content = value_blocks(value);
            if content.is_empty() {
                return Vec::new();
            }
            let mut blocks = vec![MarkdownBlock::from_text(&format!("{title}:"))];
            blocks.extend(content);
            blocks
        }
    }
}

/// `key_considerations` is `Key considerations`.
fn field_title(name: &str) -> String {
    let words = name.replace('_', " ");
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_document_is_drawn_field_by_field() {
        let document = json!({
            "summary": "Yes, *now*.", "risks": [{ "description": "Cost.", "severity": "high" }],
            "questions": [], "rating": 7, "would_block": false, "location": null,
        });
        let blocks = serde_json::to_value(document_blocks(&document)).unwrap();
        let headings: Vec<&str> = blocks
            .as_array()
            .unwrap()
            .iter()
            .filter(|block| block["type"] == "heading")
            .map(|block| block["spans"][0]["text"].as_str().unwrap())
            .collect();
        assert_eq!(headings, ["Summary", "Risks", "Rating", "Would block"]);
        assert!(blocks.to_string().contains("Severity: high"), "{blocks}");
    }
}
