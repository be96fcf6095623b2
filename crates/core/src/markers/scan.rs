//! Finds the markers of a reply in their order, with their positions.

use std::collections::BTreeSet;

use crate::markers::extraction::MarkerDeviation;
use crate::markers::grammar::{BracketContent, BracketParser};
use crate::markers::reply_text::{BracketSpan, ProseLine, ReplyText};
use crate::model::ids::ExpertSlug;

/// A marker, or a text that was meant as one, with its place. Offsets are bytes in the whole text.
#[derive(Debug)]
pub(crate) struct FoundMarker<'a> {
    pub content: BracketContent<'a>,
    pub deviations: BTreeSet<MarkerDeviation>,
    pub written: &'a str,
    pub line: usize,
    /// Only bullets and punctuation stand before it on its line.
    pub begins_line: bool,
    /// Start of the line if it begins one, else the same as `open`.
    pub start: usize,
    /// The marker with the emphasis and backticks around it.
    pub open: usize,
    pub end: usize,
}

impl FoundMarker<'_> {
    /// A mention stays part of the text around it.
    pub(crate) fn is_mention(&self) -> bool {
        matches!(self.content, BracketContent::Entity { label: None, .. })
    }
}

/// Finds all markers of a reply of expert `own`.
pub(crate) fn find_markers<'a>(reply: &ReplyText<'a>, own: &ExpertSlug) -> Vec<FoundMarker<'a>> {
    let mut markers = Vec::new();
    for line in reply.prose_lines() {
        let before = markers.len();
        // A bracket inside a marker belongs to it.
        let mut covered = line.range.start;
        for bracket in reply.find_brackets(&line) {
            if bracket.open < covered {
                continue;
            }
            if let Some(marker) = find_marker(reply, own, &line, &bracket) {
                covered = marker.end;
                markers.push(marker);
            }
        }
        if markers.get(before).is_none_or(|first| !first.begins_line)
            && let Some(marker) = find_without_brackets(reply, own, &line)
        {
            markers.insert(before, marker);
        }
    }
    markers
}

fn find_marker<'a>(
    reply: &ReplyText<'a>,
    own: &ExpertSlug,
    line: &ProseLine,
    bracket: &BracketSpan,
) -> Option<FoundMarker<'a>> {
    let inside = bracket.open + 1;
    let rest = reply.text.get(inside..line.range.end)?;
    let (close, mut end) = match bracket.close {
        Some(close) => (close, close + 1),
        // The next bracket is parsed on its own.
        None => (inside + rest.split('[').next()?.len(), inside),
    };
    let mut parser = BracketParser { own, deviations: BTreeSet::new() };
    let content = parser.parse(reply.text.get(inside..close)?)?;
    let written = reply.text.get(bracket.open..end.max(close))?;
    let mut open = bracket.open;
    if let Some(code) = &bracket.code {
        (open, end) = (code.start, code.end);
        parser.deviations.insert(MarkerDeviation::InlineCode);
    }
    let problem = if bracket.close.is_none() {
        Some("its bracket is not closed on the same line")
    } else if reply.text.get(..open)?.ends_with('\\') {
        Some("a backslash precedes its bracket")
    } else if bracket.code.is_some() && !line.is_code_only {
        // The sentence may be about the marker.
        Some("it is inline code within a sentence")
    } else {
        None
    };
    if let Some(problem) = problem {
        return reject_marker(line, written, (open, end), &content, problem);
    }
    let around = |open: usize, end: usize| {
        let before = reply.text.get(..open)?.chars().next_back()?;
        let after = reply.text.get(end..)?.chars().next()?;
        (before == after && matches!(before, '*' | '_')).then_some(())
    };
    while around(open, end).is_some() {
        (open, end) = (open - 1, end + 1);
        parser.deviations.insert(MarkerDeviation::Emphasis);
    }
    let marker = place_marker(line, written, (open, end), content);
    Some(FoundMarker { deviations: parser.deviations, ..marker })
}

/// Reports a marker that is not read. A mention is prose.
fn reject_marker<'a>(
    line: &ProseLine,
    written: &'a str,
    place: (usize, usize),
    content: &BracketContent<'_>,
    problem: &str,
) -> Option<FoundMarker<'a>> {
    let is_entity = match content {
        BracketContent::Entity { label: None, .. } => return None,
        BracketContent::Entity { .. } => true,
        BracketContent::Unreadable { is_entity, .. } => *is_entity,
        BracketContent::Reference { .. }
        | BracketContent::Move { .. }
        | BracketContent::Verdict { .. } => false,
    };
    let content = BracketContent::Unreadable { reason: problem.to_owned(), is_entity };
    Some(place_marker(line, written, place, content))
}

/// Reports `RE:SUPPORT P0001` or `MUFFIN-P0101: label` at the start of a line.
fn find_without_brackets<'a>(
    reply: &ReplyText<'a>,
    own: &ExpertSlug,
    line: &ProseLine,
) -> Option<FoundMarker<'a>> {
    let written = reply.text.get(line.range.clone())?.trim();
    let words = written.trim_matches(|sign: char| !sign.is_alphanumeric());
    let own_head = format!("{}-", own.as_str().to_ascii_uppercase());
    let heads = ["RE:", "MOVE:", &own_head];
    if written.starts_with('[') || !heads.iter().any(|head| words.starts_with(head)) {
        return None;
    }
    let content = BracketParser { own, deviations: BTreeSet::new() }.parse(words)?;
    if matches!(content, BracketContent::Unreadable { .. }) {
        return None;
    }
    let start = line.range.start;
    reject_marker(line, written, (start, start), &content, "it has no square brackets")
}

fn place_marker<'a>(
    line: &ProseLine,
    written: &'a str,
    (open, end): (usize, usize),
    content: BracketContent<'a>,
) -> FoundMarker<'a> {
    let begins_line = open <= line.first_word;
    let start = if begins_line { line.range.start } else { open };
    let deviations = BTreeSet::new();
    FoundMarker { content, deviations, written, line: line.number, begins_line, start, open, end }
}
