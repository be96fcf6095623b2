//! Detects that a reply ends before its document does.
//!
//! The JSON parser reports brackets that it had to close itself. That is not enough: a complete
//! object may be inside or before an unclosed object, or inside unclosed thinking. Then the model
//! was cut off and its last text is missing.

use std::ops::Range;

use serde_json::Value;

use super::candidates::find_unclosed_objects;
use super::reply::{WRAPPER_KEYS, field_names};

/// Whether an unclosed object surrounds or follows the document.
pub(super) fn is_cut_around(text: &str, document: &Range<usize>, schema: &Value) -> bool {
    find_unclosed_objects(text).into_iter().any(|open| {
        // With wrong quotes, a brace inside the document may seem unclosed.
        if document.contains(&open.start) {
            return false;
        }
        let before = text.get(open.start..document.start.max(open.start));
        let after = text.get(document.end.max(open.start)..open.end);
        begins_object(text.get(open).unwrap_or_default())
            || [before, after].into_iter().flatten().any(|piece| {
                has_fields(piece, schema) || WRAPPER_KEYS.iter().any(|name| has_key(piece, name))
            })
    })
}

/// Whether a key or nothing follows the open brace. Prose may contain a brace, too.
fn begins_object(open: &str) -> bool {
    let inside = open.trim_start_matches('{').trim_start();
    inside.is_empty() || inside.starts_with(is_quote)
}

/// Returns the text between these ranges.
pub(super) fn text_between(text: &str, mut places: Vec<Range<usize>>) -> Vec<&str> {
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

/// Whether one of the schema's fields occurs as a key, in quotes or behind a brace. Prose may
/// mention a field without being a document.
pub(super) fn has_fields(text: &str, schema: &Value) -> bool {
    field_names(schema).any(|name| has_key(text, name))
}

fn has_key(text: &str, name: &str) -> bool {
    let brace = text.find('{').unwrap_or(text.len());
    text.match_indices(name).any(|(place, name)| {
        let before = text.get(..place).and_then(|before| before.chars().next_back());
        let after = text.get(place + name.len()..).unwrap_or_default();
        let behind = after.trim_start_matches(|c: char| c.is_whitespace() || is_quote(c));
        let is_part = before.is_some_and(|c| c.is_alphanumeric() || c == '_');
        let is_quoted = before.is_some_and(is_quote) || after.starts_with(is_quote);
        !is_part && behind.starts_with(':') && (is_quoted || place > brace)
    })
}

/// Characters that can surround a key, also in a document quoted inside a string.
fn is_quote(letter: char) -> bool {
    matches!(letter, '"' | '\'' | '\\' | '“' | '”' | '‘' | '’')
}
