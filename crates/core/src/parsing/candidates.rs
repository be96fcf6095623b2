//! Finds the places of a reply that could contain the JSON document, after its thinking blocks are
//! stripped, because they may contain drafts of the answer.
//!
//! Fenced blocks come before other objects, and later ones before earlier ones, because a model's
//! last version is its final one. Each character is visited a bounded number of times, so a reply
//! full of braces costs no more than any other.

use std::ops::Range;

use serde_json::Value;

use crate::parsing::json::parse_json;
use crate::parsing::reply::{WRAPPER_KEYS, field_names};

/// Maximum number of candidates; the last objects of the reply are tried.
const CANDIDATES_MAX: usize = 24;

/// Maximum number of unclosed objects. Each is scanned to the end of the reply once.
const OPEN_ENDED_MAX: usize = 4;

/// Returns the candidate ranges, most likely first.
pub(crate) fn find_candidates(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let blocks = find_fenced_blocks(text);
    for block in blocks.iter().rev() {
        let inside = text.get(block.clone()).unwrap_or_default();
        let moved =
            find_objects(inside).into_iter().map(|o| o.start + block.start..o.end + block.start);
        add_ranges(&mut found, moved);
    }
    add_ranges(&mut found, find_objects(text));
    // With wrong quotes, braces cannot be paired. Then everything from first to last brace is one
    // candidate.
    if let (Some(first), Some(last)) = (text.find('{'), text.rfind('}')) {
        add_ranges(&mut found, (first < last).then_some(first..last + 1));
    }
    found
}

fn add_ranges(found: &mut Vec<Range<usize>>, places: impl IntoIterator<Item = Range<usize>>) {
    for place in places {
        if found.len() < CANDIDATES_MAX && !found.contains(&place) {
            found.push(place);
        }
    }
}

/// Returns the content of blocks fenced by backticks or tildes; an unclosed block extends to the
/// end.
fn find_fenced_blocks(text: &str) -> Vec<Range<usize>> {
    let mut blocks = Vec::new();
    let mut open: Option<(char, usize)> = None;
    let mut place = 0;
    for line in text.split_inclusive('\n') {
        let mark = fence_mark(line);
        match (open, mark) {
            (None, Some(mark)) => open = Some((mark, place + line.len())),
            (Some((opened, start)), Some(mark)) if opened == mark => {
                blocks.push(start..place);
                open = None;
            }
            (None, None) | (Some(_), _) => {}
        }
        place += line.len();
    }
    blocks.extend(open.map(|(_, start)| start..text.len()));
    let first_kept = blocks.len().saturating_sub(CANDIDATES_MAX);
    blocks.split_off(first_kept)
}

fn fence_mark(line: &str) -> Option<char> {
    let line = line.trim_start();
    ['`', '~'].into_iter().find(|mark| line.chars().take(3).filter(|c| c == mark).count() == 3)
}

/// Whether the text has an object that is JSON as it stands.
pub(crate) fn contains_sound_json(text: &str) -> bool {
    let is_sound = |place: Range<usize>| {
        let parsed = text.get(place).and_then(|candidate| parse_json(candidate).ok());
        parsed.is_some_and(|parsed| parsed.value.is_object() && !parsed.repaired && !parsed.cut_off)
    };
    find_candidates(text).into_iter().any(is_sound)
}

/// Returns the objects that the text opens and never closes.
pub(crate) fn find_unclosed_objects(text: &str) -> Vec<Range<usize>> {
    pair_braces(text).open_ended
}

/// Returns the top-level objects, last first; unclosed ones come after the closed ones.
fn find_objects(text: &str) -> Vec<Range<usize>> {
    let ObjectRanges { closed, open_ended } = pair_braces(text);
    closed.into_iter().rev().take(CANDIDATES_MAX / 2).chain(open_ended).collect()
}

/// Objects of a text, closed and unclosed, each list in text order.
struct ObjectRanges {
    closed: Vec<Range<usize>>,
    open_ended: Vec<Range<usize>>,
}

fn pair_braces(text: &str) -> ObjectRanges {
    let mut closed = Vec::new();
    let mut open_ended = Vec::new();
    let mut from = 0;
    while let Some(start) = text.get(from..).and_then(|rest| rest.find('{')).map(|at| from + at) {
        match end_of_object(text, start) {
            Some(end) => {
                closed.push(start..end);
                from = end;
            }
            None => {
                open_ended.push(start..text.len());
                from = start + 1;
                if open_ended.len() == OPEN_ENDED_MAX {
                    break;
                }
            }
        }
    }
    ObjectRanges { closed, open_ended }
}

/// Returns the end of the object that begins at `start`, if it is closed.
fn end_of_object(text: &str, start: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut escaped = false;
    for (place, byte) in text.bytes().enumerate().skip(start) {
        if in_string {
            in_string = escaped || byte != b'"';
            escaped = byte == b'\\' && !escaped;
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'{' => depth += 1,
            b'}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(place + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// Whether an unclosed object surrounds or follows the document.
pub(crate) fn is_cut_around(text: &str, document: &Range<usize>, schema: &Value) -> bool {
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
pub(crate) fn text_between(text: &str, mut places: Vec<Range<usize>>) -> Vec<&str> {
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
pub(crate) fn has_fields(text: &str, schema: &Value) -> bool {
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

const THINKING_TAGS: [&str; 4] = ["think", "thinking", "reasoning", "thought"];

/// Returns the reply without its thinking.
///
/// An unclosed block removes the rest of the reply only if the reply begins with it. A closing tag
/// without an opening one ends thinking that the chat template opened before the reply.
pub(crate) fn strip_thinking(reply: &str) -> String {
    let VisibleText { text, open } = strip_closed_thinking(reply);
    let before = open.and_then(|open| text.get(..open));
    match before {
        Some(before) if before.trim().is_empty() => String::new(),
        // An unclosed tag in the middle is ordinary text about tags.
        Some(_) | None => strip_orphan_close(text),
    }
}

/// A reply without its closed thinking blocks.
pub(crate) struct VisibleText {
    pub(crate) text: String,
    /// Start of an unclosed thinking block.
    pub(crate) open: Option<usize>,
}

/// Removes closed thinking blocks only; a lone tag may be a quotation.
pub(crate) fn strip_closed_thinking(reply: &str) -> VisibleText {
    let lower = reply.to_ascii_lowercase();
    let mut kept = String::with_capacity(reply.len());
    let mut from = 0;
    while let Some((open, tag, inside)) = find_opening(&lower, from) {
        kept.push_str(reply.get(from..open).unwrap_or_default());
        match find_closing(&lower, tag, inside) {
            Some(end) => from = end,
            None => {
                let begins = kept.len();
                kept.push_str(reply.get(open..).unwrap_or_default());
                return VisibleText { text: kept, open: Some(begins) };
            }
        }
    }
    kept.push_str(reply.get(from..).unwrap_or_default());
    VisibleText { text: kept, open: None }
}

/// Returns the start of the next block, its tag, and the start of its content. A tag inside a
/// document is text, so a block must open at the start of the reply or of a line.
fn find_opening(lower: &str, from: usize) -> Option<(usize, &'static str, usize)> {
    let mut place = from;
    for line in lower.get(from..)?.split_inclusive('\n') {
        let start = line.trim_start();
        let open = place + (line.len() - start.len());
        let tag = THINKING_TAGS.into_iter().find(|tag| {
            let after = start.strip_prefix('<').and_then(|rest| rest.strip_prefix(tag));
            after.is_some_and(|after| after.starts_with('>'))
        });
        if let Some(tag) = tag {
            return Some((open, tag, open + tag.len() + "<>".len()));
        }
        place += line.len();
    }
    None
}

fn find_closing(lower: &str, tag: &str, inside: usize) -> Option<usize> {
    let close = format!("</{tag}>");
    lower.get(inside..)?.find(&close).map(|place| inside + place + close.len())
}

fn strip_orphan_close(text: String) -> String {
    let lower = text.to_ascii_lowercase();
    let end = THINKING_TAGS.into_iter().filter_map(|tag| {
        let close = format!("</{tag}>");
        let place = lower.rfind(&close)?;
        let before = lower.get(..place)?;
        // Inside an open JSON string the tag is text of a document.
        (!before.contains(&format!("<{tag}>")) && is_outside_string(before))
            .then(|| place + close.len())
    });
    match end.max() {
        Some(end) => text.get(end..).unwrap_or_default().to_owned(),
        None => text,
    }
}

/// Whether no JSON string is open on the line before a closing tag.
fn is_outside_string(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default();
    line.matches('"').count().is_multiple_of(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidates(text: &str) -> Vec<&str> {
        find_candidates(text).into_iter().filter_map(|place| text.get(place)).collect()
    }

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(candidates(text), expected);
    }

    #[test]
    fn fenced_blocks_come_first_and_the_last_before_the_first() {
        check("no object", &[]);
        check(r#"{"a":1} and {"b":2}"#, &[r#"{"b":2}"#, r#"{"a":1}"#, r#"{"a":1} and {"b":2}"#]);
        check(
            "{1}\n```json\n{2}\n```\n~~~\n{3}\n~~~\n",
            &["{3}", "{2}", "{1}", "{1}\n```json\n{2}\n```\n~~~\n{3}"],
        );
        check("```\n{1", &["{1"]);
    }

    #[test]
    fn braces_and_quotes_inside_strings_do_not_count() {
        check(r#"{"a":"}\"{"}"#, &[r#"{"a":"}\"{"}"#]);
    }

    #[test]
    fn an_object_that_never_ends_is_tried_after_those_that_do() {
        check(r#"{"a": {"b":1}"#, &[r#"{"b":1}"#, r#"{"a": {"b":1}"#]);
    }

    #[test]
    fn a_reply_of_braces_gives_a_bounded_number() {
        assert_eq!(candidates(&"{".repeat(100_000)).len(), OPEN_ENDED_MAX);
        assert!(candidates(&"{}".repeat(100_000)).len() <= CANDIDATES_MAX);
        assert!(candidates(&"```\n{}\n".repeat(10_000)).len() <= CANDIDATES_MAX);
    }
}

#[cfg(test)]
mod thinking_tests {
    use super::*;

    #[track_caller]
    fn check(reply: &str, expected: &str) {
        assert_eq!(strip_thinking(reply), expected);
    }

    #[test]
    fn thinking_is_dropped() {
        check("<think>{\"a\":1}</think>{\"b\":2}", "{\"b\":2}");
        check("<Thinking>\nhm\n</Thinking>\nanswer", "\nanswer");
        check("<reasoning>x</reasoning><think>y</think>z", "z");
        check("before\n<think>x</think>\nafter", "before\n\nafter");
    }

    #[test]
    fn thinking_that_never_ends_is_all_there_is() {
        check("<think>on and on {\"a\":1}", "");
        check("answer\n<think>on and on", "answer\n<think>on and on");
    }

    #[test]
    fn thinking_that_never_began_ends_at_its_tag() {
        check("so I think {\"a\":1}\n</think>\n{\"b\":2}", "\n{\"b\":2}");
    }

    #[test]
    fn tags_inside_a_document_are_text() {
        let document = r#"{"summary":"drop <think>x</think> and </think> first"}"#;
        check(document, document);
    }
}
