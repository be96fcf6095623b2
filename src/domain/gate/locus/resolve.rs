//! Resolves a locus to lines.
//!
//! Models name a place by its line, or they quote words from it with other quotation marks, in
//! another case, with other line breaks or with an ellipsis. The resolver does not guess: words
//! that are not in the text have no lines.

use serde::Serialize;

use super::mention::{Mention, mentioned, of_file, whole};
use super::page::Page;

/// Lines of a text, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Lines {
    pub start: usize,
    pub end: usize,
}

/// A locus with more quoted passages than this names no place.
const PASSAGES_MAX: usize = 8;

/// Returns the lines that a locus means. For repeated words, those of the first occurrence.
pub fn resolve(locus: &str, text: &str) -> Option<Lines> {
    let (locus, count) = (locus.trim(), text.lines().count());
    let numbered = whole(locus).or_else(|| of_file(locus));
    if let Some(Mention { is_named: true, lines }) = numbered {
        return within(lines, count);
    }
    let page = Page::of(text);
    let by_number = || numbered.and_then(|mention| within(mention.lines, count));
    let by_mention = || mentioned(locus).find_map(|lines| within(lines, count));
    let all_of_it = [locus, locus.trim_matches(is_mark)];
    let words = page.find(all_of_it.into_iter());
    words.or_else(by_number).or_else(|| page.find(passages(locus))).or_else(by_mention)
}

/// Returns true if the locus is only a line number.
pub fn names_lines(locus: &str) -> bool {
    whole(locus).is_some()
}

fn within(lines: Lines, count: usize) -> Option<Lines> {
    (1 <= lines.start && lines.start <= lines.end && lines.end <= count).then_some(lines)
}

/// The passages that a locus quotes, longest first.
fn passages(locus: &str) -> impl Iterator<Item = &str> + Clone {
    let mut quoted: Vec<&str> = quoted(locus).take(PASSAGES_MAX).collect();
    quoted.sort_by_key(|part| std::cmp::Reverse(part.len()));
    quoted.into_iter()
}

/// The spans between quotation marks.
fn quoted(locus: &str) -> impl Iterator<Item = &str> {
    locus.char_indices().filter_map(move |(at, mark)| {
        let (before, rest) = locus.split_at_checked(at)?;
        let inside = rest.get(mark.len_utf8()..)?;
        // A mark after a letter is an apostrophe.
        let is_within = before.chars().next_back().is_some_and(char::is_alphanumeric);
        let end = inside.find(closing(mark).filter(|_| !is_within)?)?;
        inside.get(..end)
    })
}

fn closing(opening: char) -> Option<&'static [char]> {
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

fn is_mark(letter: char) -> bool {
    closing(letter).is_some() || matches!(letter, '”' | '’' | '»')
}

pub(super) fn letters(words: &str) -> usize {
    words.chars().filter(|letter| letter.is_alphanumeric()).count()
}
