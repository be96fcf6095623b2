//! A reply that decides, and so must hold one document and no second.
//!
//! Whoever judges a text may quote it, and the text may hold a document of its own that was
//! put there to be taken for the judge's. One that stands in the text is a quotation; of two
//! others it cannot be told which is meant. Then none is taken, and the model is asked again.

use std::ops::Range;

use serde_json::Value;

use super::candidates::places;
use super::reading::{Normalised, Read, Unreadable};
use super::reply::{
    Attempt, Found, Manner, attempt, names, not_blank, only_thinking, trimmed, unreadable,
};
use super::think::without_closed_thinking;

/// Finds the one object in a reply of which a document can be made; `documents` is what a
/// fault calls several of them.
pub(super) fn read_rigidly<T: PartialEq>(
    reply: &str,
    schema: &Value,
    documents: &str,
    make: impl Fn(Value) -> Result<T, String>,
) -> Normalised<T> {
    read_of_artifact(reply, "", schema, documents, make)
}

/// The same, of a reply about an artifact: what stands in that is no document of the reply's.
pub(super) fn read_of_artifact<T: PartialEq>(
    reply: &str,
    artifact: &str,
    schema: &Value,
    documents: &str,
    make: impl Fn(Value) -> Result<T, String>,
) -> Normalised<T> {
    not_blank(reply)?;
    let said = without_closed_thinking(reply);
    let text = said.text.as_str();
    let open = said.open.unwrap_or(text.len());
    if trimmed(text.get(..open).unwrap_or_default()).is_empty() {
        return Err(only_thinking());
    }
    let mut best: Option<Attempt> = None;
    let mut only: Option<Read<T>> = None;
    // What was looked at and is accounted for.
    let mut spent: Vec<Range<usize>> = Vec::new();
    let mut is_quoted = false;
    for place in places(text) {
        let candidate = text.get(place.clone()).unwrap_or_default();
        match attempt(candidate, schema, Manner::Rigid, &make) {
            Ok(Found { read, bytes }) => {
                if only.as_ref().is_some_and(|only| only.document != read.document) {
                    let reason = format!("the reply holds two {documents} that differ");
                    return Err(Unreadable::new(reason));
                }
                only.get_or_insert(read);
                is_quoted |= stands_in(candidate.get(..bytes).unwrap_or(candidate), artifact);
                spent.push(place.start..place.start + bytes);
            }
            Err(failed) => {
                if failed.is_echo {
                    spent.push(place);
                }
                failed.keep_nearer(&mut best);
            }
        }
    }
    let Some(only) = only else { return Err(unreadable(trimmed(text), best)) };
    if is_quoted {
        let reason = "what the reply holds stands word for word in the artifact: a quotation";
        return Err(Unreadable::new(reason));
    }
    let after = text.get(open..).unwrap_or_default();
    if has_fields(after, schema) {
        return Err(Unreadable::new("the reply thinks aloud without an end"));
    }
    if gaps(text, spent).into_iter().any(|gap| has_fields(gap, schema)) {
        let reason = format!("the reply holds two {documents}, one of which cannot be read");
        return Err(Unreadable::new(reason));
    }
    Ok(only)
}

/// Whether a document stands in the text, however it is broken into lines or escaped there.
fn stands_in(document: &str, text: &str) -> bool {
    let is_said = |letter: &char| !letter.is_whitespace() && *letter != '\\';
    let bare = |text: &str| -> String { text.chars().filter(is_said).collect() };
    bare(text).contains(&bare(document))
}

/// The text around these places.
fn gaps(text: &str, mut places: Vec<Range<usize>>) -> Vec<&str> {
    places.sort_by_key(|place| place.start);
    let mut gaps = Vec::new();
    let mut from = 0;
    for place in places {
        gaps.extend(text.get(from..place.start));
        from = from.max(place.end);
    }
    gaps.extend(text.get(from..));
    gaps
}

/// Whether one of our fields stands in the text as a key, in quotes or behind a brace. Prose
/// may name a field.
fn has_fields(text: &str, schema: &Value) -> bool {
    let brace = text.find('{').unwrap_or(text.len());
    names(schema).any(|name| {
        text.match_indices(name).any(|(place, name)| {
            let before = text.get(..place).and_then(|before| before.chars().next_back());
            let after = text.get(place + name.len()..).unwrap_or_default();
            let behind = after.trim_start_matches(|c: char| c.is_whitespace() || is_quote(c));
            let is_part = before.is_some_and(|c| c.is_alphanumeric() || c == '_');
            let is_quoted = before.is_some_and(is_quote) || after.starts_with(is_quote);
            !is_part && behind.starts_with(':') && (is_quoted || place > brace)
        })
    })
}

/// What may stand around a key, also where a document is quoted within a string.
fn is_quote(letter: char) -> bool {
    matches!(letter, '"' | '\'' | '\\' | '“' | '”' | '‘' | '’')
}
