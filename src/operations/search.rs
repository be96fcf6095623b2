//! `search`: cite, similar, stats and list.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::workspace::Workspace;
use crate::domain::catalogue::{Citation, ListQuery, Summary, TopExpert};
use crate::domain::ids::{DialogueId, EntityId};
use crate::domain::limits::{CITATIONS_MAX, LINE_CHARS_MAX, PAGE_MAX, TEXT_CHARS_MAX};
use crate::domain::refusal::{Code, Fault, Item, Refusal};
use crate::error::Error;
use crate::record::similar::{self, CANDIDATES_MAX, Similar};
use crate::record::{Fields, no_dialogue};

/// A screenful.
const LIST_DEFAULT: usize = 50;
const SIMILAR_DEFAULT: usize = 10;
const TOP_EXPERTS: usize = 10;

#[derive(Debug, Serialize)]
pub struct Cited {
    pub status: &'static str,
    pub citations: Vec<Citation>,
    pub errors: Vec<Value>,
}

/// Expands ids to what they mean; bad ones come back as errors beside the good.
pub fn cite(workspace: &Workspace, arguments: &Value) -> Result<Cited, Error> {
    let fields = Fields::of_arguments(arguments)?;
    let mut faults = Vec::new();
    let dialogue = fields.text("dialogue_id", LINE_CHARS_MAX, &mut faults);
    let ids = fields.texts("ids", LINE_CHARS_MAX, &mut faults).unwrap_or_default();
    if ids.is_empty() && faults.is_empty() {
        faults.push(fields.missing("ids").suggest("name ids such as P0101 or my-dialogue/P0101"));
    }
    if ids.len() > CITATIONS_MAX {
        let message = format!("at most {CITATIONS_MAX} ids at once");
        faults.push(Fault::new(Code::FieldTooLong, message).field("ids"));
    }
    if !faults.is_empty() {
        return Err(Refusal::new(faults).into());
    }
    let mut cited = Cited { status: "success", citations: Vec::new(), errors: Vec::new() };
    for text in &ids {
        match expand(workspace, dialogue.as_deref(), text) {
            Ok(citation) => cited.citations.push(citation),
            Err(Error::Refused(refusal)) => {
                cited.errors.extend(refusal.faults.iter().map(|fault| error_of(text, fault)));
            }
            Err(other) => return Err(other),
        }
    }
    Ok(cited)
}

fn error_of(text: &str, fault: &Fault) -> Value {
    let mut document = json!({ "id": text });
    if let (Value::Object(map), Value::Object(own)) = (&mut document, fault.document()) {
        map.extend(own.into_iter().filter(|(key, _)| key != "item_type" && key != "source_id"));
    }
    document
}

fn expand(workspace: &Workspace, dialogue: Option<&str>, text: &str) -> Result<Citation, Error> {
    let (dialogue, display) = match text.split_once('/') {
        Some((dialogue, display)) => (Some(dialogue), display),
        None => (dialogue, text),
    };
    let item = Item::Source { item_type: "citation", source_id: Some(text.to_owned()) };
    let Ok(id) = display.parse::<EntityId>() else {
        let message = format!("'{text}' is not an id");
        return Err(Fault::new(Code::InvalidDisplayId, message)
            .about(&item)
            .suggest("ids look like P0101 or my-dialogue/P0101")
            .into());
    };
    let Some(dialogue) = dialogue else {
        let message = format!("'{text}' does not say which dialogue it belongs to");
        return Err(Fault::new(Code::MissingField, message)
            .about(&item)
            .field("dialogue_id")
            .suggest(format!("write 'my-dialogue/{text}', or name the dialogue"))
            .into());
    };
    let dialogue_id: DialogueId = dialogue.parse().map_err(|_| no_dialogue(dialogue))?;
    if let Some(citation) = workspace.store.cite(&dialogue_id, id)? {
        return Ok(citation);
    }
    if workspace.store.dialogue(&dialogue_id)?.is_none() {
        return Err(no_dialogue(dialogue).into());
    }
    let message = format!("target_id '{id}' not found in dialogue '{dialogue_id}'");
    Err(Fault::new(Code::TargetNotFound, message).about(&item).into())
}

#[derive(Debug, Serialize)]
pub struct Matched {
    pub status: &'static str,
    pub results: Vec<Similar>,
}

pub fn similar(workspace: &Workspace, arguments: &Value) -> Result<Matched, Error> {
    let fields = Fields::of_arguments(arguments)?;
    let mut faults = Vec::new();
    let query = fields.required_text("query", TEXT_CHARS_MAX, &mut faults);
    let limit = limit(&fields, SIMILAR_DEFAULT, &mut faults);
    let (Some(query), true) = (query, faults.is_empty()) else {
        return Err(Refusal::new(faults).into());
    };
    let words = similar::words(&query);
    let hits = workspace.store.search(&words, CANDIDATES_MAX)?;
    Ok(Matched { status: "success", results: similar::rank(&words, hits, limit) })
}

fn limit(fields: &Fields<'_>, default: usize, faults: &mut Vec<Fault>) -> usize {
    let limit = fields.integer("limit", 1..=PAGE_MAX as i64, faults);
    limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(default)
}

#[derive(Debug, Serialize)]
pub struct Statistics {
    pub status: &'static str,
    pub dialogues: u64,
    pub by_status: Map<String, Value>,
    pub by_protocol: Map<String, Value>,
    pub entities: Map<String, Value>,
    pub averages: Map<String, Value>,
    pub top_experts: Vec<TopExpert>,
}

pub fn stats(workspace: &Workspace) -> Result<Statistics, Error> {
    let stats = workspace.store.stats(TOP_EXPERTS)?;
    let average = |sum: f64| {
        let mean = sum / stats.dialogues.max(1) as f64;
        json!((mean * 100.0).round() / 100.0)
    };
    let mut averages = Map::new();
    averages.insert("rounds".to_owned(), average(stats.rounds as f64));
    averages.insert("experts".to_owned(), average(stats.experts as f64));
    averages.insert("total_alignment".to_owned(), average(stats.total_alignment as f64));
    for (kind, count) in &stats.entities {
        averages.insert(kind.section().to_owned(), average(*count as f64));
    }
    Ok(Statistics {
        status: "success",
        dialogues: stats.dialogues,
        by_status: stats
            .by_status
            .iter()
            .map(|(word, count)| (word.to_string(), json!(count)))
            .collect(),
        by_protocol: stats
            .by_protocol
            .iter()
            .map(|(word, count)| (word.to_string(), json!(count)))
            .collect(),
        entities: stats
            .entities
            .iter()
            .map(|(kind, count)| (kind.section().to_owned(), json!(count)))
            .collect(),
        averages,
        top_experts: stats.top_experts,
    })
}

#[derive(Debug, Serialize)]
pub struct Listed {
    pub status: &'static str,
    pub dialogues: Vec<Summary>,
    /// Give this as `after` to read on.
    pub next: Option<DialogueId>,
}

pub fn list(workspace: &Workspace, arguments: &Value) -> Result<Listed, Error> {
    let fields = Fields::of_arguments(arguments)?;
    let mut faults = Vec::new();
    let after = fields.text("after", LINE_CHARS_MAX, &mut faults);
    let query = ListQuery {
        status: fields.word("status", &mut faults),
        protocol: fields.word("protocol", &mut faults),
        limit: limit(&fields, LIST_DEFAULT, &mut faults),
        after: after.as_deref().and_then(|id| id.parse().ok()),
    };
    if !faults.is_empty() {
        return Err(Refusal::new(faults).into());
    }
    if let Some(after) = after {
        let known = match &query.after {
            Some(id) => workspace.store.dialogue(id)?.is_some(),
            None => false,
        };
        if !known {
            return Err(Fault { field: Some("after".to_owned()), ..no_dialogue(&after) }.into());
        }
    }
    // One more than asked for tells whether there is a next page.
    let mut dialogues =
        workspace.store.list(&ListQuery { limit: query.limit + 1, ..query.clone() })?;
    let more = dialogues.len() > query.limit;
    dialogues.truncate(query.limit);
    let next = dialogues.last().filter(|_| more).map(|last| last.dialogue_id.clone());
    Ok(Listed { status: "success", dialogues, next })
}
