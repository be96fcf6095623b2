//! Resolves a locus to lines.
//!
//! Models name a place by its line, or they quote words from it with other quotation marks, in
//! another case, with other line breaks or with an ellipsis. The resolver does not guess: words
//! that are not in the text have no lines.

use serde::Serialize;

use super::mention::{LineMention, find_mentions, parse_file_mention, parse_whole};
use super::page::QuoteSearch;

/// Lines of a text, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct LineRange {
    pub start: usize,
    pub end: usize,
}

/// A locus with more quoted passages than this names no place.
const PASSAGES_MAX: usize = 8;

/// Returns the lines that a locus means. For repeated words, those of the first occurrence.
pub fn resolve_locus(locus: &str, text: &str) -> Option<LineRange> {
    let (locus, count) = (locus.trim(), text.lines().count());
    let numbered = parse_whole(locus).or_else(|| parse_file_mention(locus));
    if let Some(LineMention { is_named: true, lines }) = numbered {
        return check_range(lines, count);
    }
    let page = QuoteSearch::new(text);
    let by_number = || numbered.and_then(|mention| check_range(mention.lines, count));
    let by_mention = || find_mentions(locus).find_map(|lines| check_range(lines, count));
    let all_of_it = [locus, locus.trim_matches(is_quote_mark)];
    let words = page.find_any(all_of_it.into_iter());
    words.or_else(by_number).or_else(|| page.find_any(quoted_passages(locus))).or_else(by_mention)
}

/// Returns true if the locus is only a line number.
pub fn names_lines(locus: &str) -> bool {
    parse_whole(locus).is_some()
}

fn check_range(lines: LineRange, count: usize) -> Option<LineRange> {
    (1 <= lines.start && lines.start <= lines.end && lines.end <= count).then_some(lines)
}

/// The passages that a locus quotes, longest first.
fn quoted_passages(locus: &str) -> impl Iterator<Item = &str> + Clone {
    let mut quoted: Vec<&str> = quoted_spans(locus).take(PASSAGES_MAX).collect();
    quoted.sort_by_key(|part| std::cmp::Reverse(part.len()));
    quoted.into_iter()
}

/// The spans between quotation marks.
fn quoted_spans(locus: &str) -> impl Iterator<Item = &str> {
    locus.char_indices().filter_map(move |(at, mark)| {
        let (before, rest) = locus.split_at_checked(at)?;
        let inside = rest.get(mark.len_utf8()..)?;
        // A mark after a letter is an apostrophe.
        let is_within = before.chars().next_back().is_some_and(char::is_alphanumeric);
        let end = inside.find(closing_marks(mark).filter(|_| !is_within)?)?;
        inside.get(..end)
    })
}

fn closing_marks(opening: char) -> Option<&'static [char]> {
    match opening {
        '"' => Some(&['"']),
        '\'' => Some(&['\'']),
        '`' => Some(&['`']),
        '“' => Some(&['”', '"']),
        '„' => Some(&['“', '”', '"']),
        '‘' => Some(&['’', '\'']),
        '«' => Some(&['»']),
        _ => None,
    }
}

fn is_quote_mark(letter: char) -> bool {
    closing_marks(letter).is_some() || matches!(letter, '”' | '’' | '»')
}

pub(super) fn count_letters(words: &str) -> usize {
    words.chars().filter(|letter| letter.is_alphanumeric()).count()
}
