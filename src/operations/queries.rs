//! Queries over the store: list, resolve citations, find similar dialogues, count.

use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::arguments::read;
use super::project::Project;
use crate::domain::catalogue::{Citation, ListQuery, Summary, TopExpert};
use crate::domain::ids::{DialogueId, EntityId};
use crate::domain::limits::{LINE_CHARS_MAX, PAGE_MAX, TEXT_CHARS_MAX};
use crate::domain::refusal::{Code, Fault};
use crate::domain::words::words;
use crate::error::Error;
use crate::record::similar::{self as rules, CANDIDATES, Similar};
use crate::record::{Fields, Notes, Warning, no_dialogue, target_not_found};

/// A screenful.
const PAGE_DEFAULT: usize = 50;

#[derive(Debug, Serialize)]
pub struct Listed {
    pub status: &'static str,
    pub dialogues: Vec<Summary>,
    /// Pass this as `after` to get the next page.
    pub next: Option<DialogueId>,
    /// Unknown fields of the request.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

const FIELDS: [&str; 5] = ["op", "status", "protocol", "limit", "after"];

pub fn list(project: &Project, arguments: &Value) -> Result<Listed, Error> {
    let ((query, after), warnings) = read(arguments, &FIELDS, |fields, notes| {
        let after = fields.text("after", LINE_CHARS_MAX, notes);
        let query = ListQuery {
            status: fields.word("status", notes),
            protocol: fields.word("protocol", notes),
            limit: read_limit(fields, PAGE_DEFAULT, notes),
            after: after.as_deref().and_then(|id| id.parse().ok()),
        };
        Some((query, after))
    })?;
    if let Some(after) = after {
        let known = match &query.after {
            Some(id) => project.store.dialogue(id)?.is_some(),
            None => false,
        };
        if !known {
            return Err(Fault { field: Some("after".to_owned()), ..no_dialogue(&after) }.into());
        }
    }
    // One more than asked for tells whether there is a next page.
    let limit = query.limit;
    let mut dialogues = project.store.list(&ListQuery { limit: limit + 1, ..query })?;
    let more = dialogues.len() > limit;
    dialogues.truncate(limit);
    let next = dialogues.last().filter(|_| more).map(|last| last.dialogue_id.clone());
    Ok(Listed { status: "success", dialogues, next, warnings })
}

pub(super) fn read_limit(fields: &Fields<'_>, default: usize, notes: &mut Notes) -> usize {
    let limit = fields.integer("limit", 1..=PAGE_MAX as i64, notes);
    limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(default)
}

words! {
    /// What is looked for.
    pub enum SearchOp {
        Cite = "cite",
        Similar = "similar",
        Stats = "stats",
        List = "list",
    }
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Found {
    Cited(Cited),
    Similar(Matched),
    Stats(Box<Statistics>),
    Listed(Listed),
}

pub fn search(project: &Project, arguments: &Value) -> Result<Found, Error> {
    let fields = Fields::of_arguments(arguments)?;
    let mut notes = Notes::default();
    let op = fields.required_word("op", &mut notes);
    Ok(match notes.settle(op)?.0 {
        SearchOp::Cite => Found::Cited(cite(project, arguments)?),
        SearchOp::Similar => Found::Similar(similar(project, arguments)?),
        SearchOp::Stats => Found::Stats(Box::new(stats(project, arguments)?)),
        SearchOp::List => Found::Listed(list(project, arguments)?),
    })
}

const RESULTS_DEFAULT: usize = 10;

#[derive(Debug, Serialize)]
pub struct Matched {
    pub status: &'static str,
    pub results: Vec<Similar>,
    /// Unknown fields of the request.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

pub fn similar(project: &Project, arguments: &Value) -> Result<Matched, Error> {
    let known = ["op", "query", "limit"];
    let ((query, limit), warnings) = read(arguments, &known, |fields, notes| {
        let limit = read_limit(fields, RESULTS_DEFAULT, notes);
        Some((fields.required_text("query", TEXT_CHARS_MAX, notes)?, limit))
    })?;
    let words = rules::words(&query);
    let hits = project.store.search(&words, CANDIDATES.max(limit))?;
    Ok(Matched { status: "success", results: rules::rank(&words, hits, limit), warnings })
}

#[derive(Debug, Serialize)]
pub struct Cited {
    pub status: &'static str,
    pub citations: Vec<Citation>,
    pub errors: Vec<Uncited>,
    /// Unknown fields of the request.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

/// An id that could not be expanded, and why.
#[derive(Debug)]
pub struct Uncited {
    pub id: String,
    pub fault: Fault,
}

impl Serialize for Uncited {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut document = json!({ "id": self.id });
        if let (Value::Object(map), Value::Object(fault)) = (&mut document, self.fault.document()) {
            map.extend(fault.into_iter().filter(|(key, _)| key != "item_type"));
        }
        document.serialize(serializer)
    }
}

/// Resolves ids; errors of bad ids are returned beside the good ones.
pub fn cite(project: &Project, arguments: &Value) -> Result<Cited, Error> {
    let known = ["op", "dialogue_id", "ids"];
    let ((dialogue, ids), warnings) = read(arguments, &known, |fields, notes| {
        let dialogue = fields.text("dialogue_id", LINE_CHARS_MAX, notes);
        let ids = fields.texts("ids", LINE_CHARS_MAX, notes).unwrap_or_default();
        if ids.is_empty() && notes.faults.is_empty() {
            let fault = fields.missing("ids");
            notes.fault(fault.suggest("name ids such as P0101 or my-dialogue/P0101"));
        }
        Some((dialogue, ids))
    })?;
    let mut cited =
        Cited { status: "success", citations: Vec::new(), errors: Vec::new(), warnings };
    for id in ids {
        match expand_id(project, dialogue.as_deref(), &id)? {
            Ok(citation) => cited.citations.push(citation),
            Err(fault) => cited.errors.push(Uncited { id, fault }),
        }
    }
    Ok(cited)
}

fn expand_id(
    project: &Project,
    dialogue: Option<&str>,
    text: &str,
) -> Result<Result<Citation, Fault>, Error> {
    let (dialogue, id) = match parse_address(dialogue, text) {
        Ok(address) => address,
        Err(fault) => return Ok(Err(fault)),
    };
    if let Some(citation) = project.store.cite(&dialogue, id)? {
        return Ok(Ok(citation));
    }
    Ok(Err(match project.store.dialogue(&dialogue)? {
        Some(_) => target_not_found(&id.to_string(), &dialogue),
        None => no_dialogue(dialogue.as_str()),
    }))
}

/// `my-dialogue/P0101`, or `P0101` where the dialogue is known.
fn parse_address(dialogue: Option<&str>, text: &str) -> Result<(DialogueId, EntityId), Fault> {
    let (dialogue, display) = match text.split_once('/') {
        Some((dialogue, display)) => (Some(dialogue), display),
        None => (dialogue, text),
    };
    let id = display.parse().map_err(|_| {
        Fault::new(Code::InvalidDisplayId, format!("'{text}' is not an id"))
            .suggest("ids look like P0101 or my-dialogue/P0101")
    })?;
    let dialogue = dialogue.ok_or_else(|| {
        let message = format!("'{text}' does not say which dialogue it belongs to");
        Fault::new(Code::MissingField, message)
            .field("dialogue_id")
            .suggest(format!("write 'my-dialogue/{text}', or name the dialogue"))
    })?;
    Ok((dialogue.parse().map_err(|_| no_dialogue(dialogue))?, id))
}

const TOP_EXPERTS: usize = 10;

#[derive(Debug, Serialize)]
pub struct Statistics {
    pub status: &'static str,
    pub dialogues: usize,
    pub by_status: Map<String, Value>,
    pub by_protocol: Map<String, Value>,
    pub by_terminal_state: Map<String, Value>,
    pub entities: Map<String, Value>,
    pub averages: Map<String, Value>,
    pub top_experts: Vec<TopExpert>,
    /// Unknown fields of the request.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

pub fn stats(project: &Project, arguments: &Value) -> Result<Statistics, Error> {
    let ((), warnings) = read(arguments, &["op"], |_, _| Some(()))?;
    let stats = project.store.stats(TOP_EXPERTS)?;
    let average = |sum: f64| {
        let mean = sum / stats.dialogues.max(1) as f64;
        json!((mean * 100.0).round() / 100.0)
    };
    let sums = [
        ("rounds", stats.rounds as f64),
        ("experts", stats.experts as f64),
        ("total_alignment", stats.total_alignment as f64),
    ];
    let of_kinds = stats.entities.iter().map(|(kind, count)| (kind.section(), *count as f64));
    let averages =
        sums.into_iter().chain(of_kinds).map(|(name, sum)| (name.to_owned(), average(sum)));
    Ok(Statistics {
        status: "success",
        dialogues: stats.dialogues,
        averages: averages.collect(),
        by_status: counts_by_name(
            stats.by_status.iter().map(|(word, count)| (word.name(), *count)),
        ),
        by_protocol: counts_by_name(
            stats.by_protocol.iter().map(|(word, count)| (word.name(), *count)),
        ),
        by_terminal_state: counts_by_name(
            stats.by_terminal_state.iter().map(|(word, count)| (word.name(), *count)),
        ),
        entities: counts_by_name(
            stats.entities.iter().map(|(kind, count)| (kind.section(), *count)),
        ),
        top_experts: stats.top_experts,
        warnings,
    })
}

fn counts_by_name<'a>(counts: impl Iterator<Item = (&'a str, usize)>) -> Map<String, Value> {
    counts.map(|(name, count)| (name.to_owned(), json!(count))).collect()
}
