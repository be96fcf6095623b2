//! Parses the text of a reply into a document of one type, leniently. `strict.rs` shares its steps.

use std::ops::Range;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::model::ask::CUT_OFF_REASON;
use crate::model::limits::RAW_REPLY_CHARS_MAX;
use crate::model::run_state::{ParseOutcome, ReplyDocument};
use crate::parsing::candidates::{
    find_candidates, has_fields, is_cut_around, strip_closed_thinking, strip_thinking,
};
use crate::parsing::coerce::coerce_value;
use crate::parsing::json::{ParsedJson, parse_json};
use crate::parsing::plain_text::is_refusal;

/// Keys under which some models wrap the document.
pub(crate) const WRAPPER_KEYS: [&str; 17] = [
    "opinion",
    "review",
    "report",
    "conclusion",
    "revision",
    "judgement",
    "judgment",
    "adjudication",
    "result",
    "response",
    "output",
    "answer",
    "data",
    "arguments",
    "parameters",
    "json",
    "properties",
];

/// How to treat a reply that deviates from its schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leniency {
    /// Coerce unambiguous values and drop unknown fields.
    Lenient,
    /// Reject unknown fields and truncated documents.
    Strict,
}

/// Parses a reply by its schema; `check` validates what a schema cannot express, and may normalise.
pub(crate) fn parse_document<T: DeserializeOwned>(
    reply: &str,
    schema: &Value,
    check: impl Fn(&mut T) -> Result<(), String>,
) -> ParseResult<T> {
    let make = |value| {
        let fitted = coerce_value(value, schema)?;
        let mut document: T =
            serde_path_to_error::deserialize(fitted).map_err(|error| error.to_string())?;
        check(&mut document)?;
        Ok(document)
    };
    let message = visible_text(reply)?;
    let mut nearest: Option<FailedCandidate> = None;
    let mut cut: Option<ParsedReply<T>> = None;
    for place in find_candidates(&message) {
        let candidate = message.get(place.clone()).unwrap_or_default();
        match try_candidate(candidate, schema, Leniency::Lenient, &make) {
            Ok(FoundDocument { mut read, bytes }) if !read.truncated => {
                let document = place.start..place.start + bytes;
                read.truncated = is_cut(reply, &message, &document, schema);
                return Ok(read);
            }
            // Another candidate may be complete: a brace inside a string can look like its end.
            Ok(FoundDocument { read, .. }) => cut = cut.or(Some(read)),
            Err(failed) => failed.keep_closest(&mut nearest),
        }
    }
    cut.ok_or_else(|| unreadable_error(&message, nearest))
}

/// Whether the model was cut off although this document is complete: while it wrote another one, or
/// while it was still thinking.
fn is_cut(reply: &str, message: &str, document: &Range<usize>, schema: &Value) -> bool {
    let is_thinking = || {
        let whole = strip_closed_thinking(reply);
        let thought = whole.open.and_then(|open| whole.text.get(open..));
        thought.is_some_and(|thought| has_fields(thought, schema))
    };
    is_cut_around(message, document, schema) || is_thinking()
}

/// Returns the reply without thinking and surrounding blanks.
pub(crate) fn visible_text(reply: &str) -> Result<String, UnreadableReply> {
    check_length(reply)?;
    let message = trim_blanks(&strip_thinking(reply)).to_owned();
    if message.is_empty() { Err(only_thinking_error()) } else { Ok(message) }
}

pub(crate) fn only_thinking_error() -> UnreadableReply {
    UnreadableReply::new("the reply contains only thinking and no answer")
}

/// Rejects a reply that is empty or too long.
pub(crate) fn check_length(reply: &str) -> Result<(), UnreadableReply> {
    if reply.len() > RAW_REPLY_CHARS_MAX && reply.chars().nth(RAW_REPLY_CHARS_MAX).is_some() {
        return Err(UnreadableReply::new(format!(
            "the reply has over {RAW_REPLY_CHARS_MAX} characters"
        )));
    }
    if trim_blanks(reply).is_empty() {
        return Err(UnreadableReply::new("the reply is empty"));
    }
    Ok(())
}

/// Returns the refusal error if the text is a refusal, else an error with this reason.
pub(crate) fn refusal_or_error(message: &str, reason: String) -> UnreadableReply {
    if is_refusal(message) { refusal_error() } else { UnreadableReply::new(reason) }
}

pub(crate) fn refusal_error() -> UnreadableReply {
    UnreadableReply { reason: "the model declined to answer".to_owned(), refusal: true }
}

/// Also trims a byte order mark.
pub(crate) fn trim_blanks(text: &str) -> &str {
    text.trim_matches(|letter: char| letter.is_whitespace() || letter == '\u{feff}')
}

/// A candidate that is not the document, with the reason and how close it came.
pub(crate) struct FailedCandidate {
    known_fields: usize,
    bytes: usize,
    reason: String,
    /// The candidate repeats the schema without values.
    pub(crate) is_echo: bool,
}

impl FailedCandidate {
    /// The error to report is that of the candidate most likely meant as the document.
    fn is_closer_than(&self, other: &Self) -> bool {
        (self.known_fields, self.bytes) > (other.known_fields, other.bytes)
    }

    pub(crate) fn keep_closest(self, best: &mut Option<Self>) {
        if best.as_ref().is_none_or(|best| self.is_closer_than(best)) {
            *best = Some(self);
        }
    }
}

/// A candidate that gave a document, and the bytes the document took up.
pub(crate) struct FoundDocument<T> {
    pub(crate) read: ParsedReply<T>,
    pub(crate) bytes: usize,
}

pub(crate) fn try_candidate<T>(
    candidate: &str,
    schema: &Value,
    manner: Leniency,
    make: &impl Fn(Value) -> Result<T, String>,
) -> Result<FoundDocument<T>, FailedCandidate> {
    let bytes = candidate.len();
    let parsed = parse_json(candidate).map_err(|reason| FailedCandidate {
        // A candidate that contains our field names was meant as the document, even if unparsable.
        known_fields: field_names(schema).filter(|name| candidate.contains(*name)).count(),
        bytes,
        reason,
        is_echo: false,
    })?;
    let ParsedJson { value, repaired, cut_off, bytes: taken } = parsed;
    let value = unwrap_value(value, schema, manner);
    let known_fields = count_known_fields(&value, schema);
    let fail = |reason: String| {
        let reason = if cut_off { format!("{reason} ({CUT_OFF_REASON})") } else { reason };
        FailedCandidate { known_fields, bytes, reason, is_echo: false }
    };
    if is_schema(&value) {
        let is_filled = |name| value.get(name).is_some_and(|field| !is_field_schema(field));
        let is_echo = taken == bytes && !cut_off && !field_names(schema).any(is_filled);
        let failed = fail("the reply repeats the schema without values".to_owned());
        return Err(FailedCandidate { is_echo, ..failed });
    }
    let document = make(value).map_err(&fail)?;
    if cut_off && manner == Leniency::Strict {
        return Err(fail("the object is not closed".to_owned()));
    }
    Ok(FoundDocument { read: ParsedReply { document, repaired, truncated: cut_off }, bytes: taken })
}

pub(crate) fn field_names(schema: &Value) -> impl Iterator<Item = &str> {
    let fields = schema.get("properties").and_then(Value::as_object);
    fields.into_iter().flat_map(|fields| fields.keys().map(String::as_str))
}

fn count_known_fields(value: &Value, schema: &Value) -> usize {
    field_names(schema).filter(|name| value.get(*name).is_some()).count()
}

/// Returns the value inside a wrapper key if the value itself has none of the fields.
fn unwrap_value(value: Value, schema: &Value, manner: Leniency) -> Value {
    let is_alone = value.as_object().is_some_and(|fields| fields.len() == 1);
    if count_known_fields(&value, schema) > 0 || (manner == Leniency::Strict && !is_alone) {
        return value;
    }
    let inner = WRAPPER_KEYS.iter().filter_map(|name| value.get(*name)).find(|inner| {
        let is_filled = |name: &str| inner.get(name).is_some_and(|field| !is_field_schema(field));
        field_names(schema).any(is_filled)
    });
    inner.cloned().unwrap_or(value)
}

/// Whether the value is a schema, not a document.
fn is_schema(value: &Value) -> bool {
    let fields = value.get("properties").and_then(Value::as_object);
    fields.is_some_and(|fields| fields.values().any(is_field_schema))
        || value
            .as_object()
            .is_some_and(|fields| !fields.is_empty() && fields.values().all(is_field_schema))
}

fn is_field_schema(field: &Value) -> bool {
    let named = field.get("type").or_else(|| field.get("$ref"));
    let is_kind = |kind: &Value| {
        ["string", "array", "object", "integer", "number", "boolean"]
            .iter()
            .any(|name| kind == name)
            || kind.is_array()
    };
    field.get("$ref").is_some() || named.is_some_and(is_kind)
}

pub(crate) fn unreadable_error(message: &str, best: Option<FailedCandidate>) -> UnreadableReply {
    let is_about_us = best.as_ref().is_some_and(|attempt| attempt.known_fields > 0);
    if !is_about_us && is_refusal(message) {
        return refusal_error();
    }
    match best {
        Some(attempt) => UnreadableReply::new(attempt.reason),
        None => UnreadableReply::new("the reply contains no JSON object"),
    }
}

pub type ParseResult<T> = Result<ParsedReply<T>, UnreadableReply>;

/// A document parsed from a reply.
#[derive(Debug, Clone, PartialEq)]
pub struct ParsedReply<T> {
    pub document: T,
    /// Whether the JSON needed repairs.
    pub repaired: bool,
    /// Whether the reply ends before the document does, so that the end may be missing.
    pub truncated: bool,
}

/// The reply has no readable document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct UnreadableReply {
    /// Names the path and the error; quotes at most a few plain characters of the reply.
    pub reason: String,
    /// The model refused to answer.
    pub refusal: bool,
}

impl UnreadableReply {
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), refusal: false }
    }
}

/// Converts the result to the form kept in the run state; `document` wraps the parsed value in its
/// variant.
pub fn to_parse_outcome<T>(
    normalised: ParseResult<T>,
    document: impl FnOnce(T) -> ReplyDocument,
) -> ParseOutcome {
    match normalised {
        Ok(ParsedReply { document: found, repaired, truncated }) => {
            ParseOutcome::Parsed { document: document(found), repaired, truncated }
        }
        Err(UnreadableReply { reason, refusal }) => ParseOutcome::Unreadable { reason, refusal },
    }
}

/// A reply that cannot be used, for this reason.
pub fn unreadable(reason: &str) -> ParseOutcome {
    ParseOutcome::Unreadable { reason: reason.to_owned(), refusal: false }
}
