//! Searches quoted words in a text, exactly or with the changes people make when quoting.

use std::ops::Range;

use super::resolve::{Lines, letters};
use crate::domain::hidden::is_hidden;

/// Shorter quotations must match whole words.
const LOOSE_LETTERS_MIN: usize = 12;

/// Quotations with fewer letters are ignored.
const LETTERS_MIN: usize = 3;

const ELLIPSIS: &str = "...";

#[derive(Debug)]
pub(super) struct Page<'a> {
    text: &'a str,
    folded: Folded,
}

impl<'a> Page<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        Self { text, folded: Folded::of(text) }
    }

    /// Searches all candidates: first exactly, then with folding.
    pub(super) fn find<'w>(&self, all: impl Iterator<Item = &'w str> + Clone) -> Option<Lines> {
        let words = all.map(str::trim).filter(|words| letters(words) >= LETTERS_MIN);
        let exactly = words.clone().find_map(|words| self.exactly(words));
        exactly.or_else(|| words.clone().find_map(|words| self.folded(words)))
    }

    /// Searches the words letter by letter.
    fn exactly(&self, words: &str) -> Option<Lines> {
        let Range { start, end } = find(self.text, words, 0)?;
        let line = |at: usize| self.text.get(..at).map(|before| before.matches('\n').count() + 1);
        Some(Lines { start: line(start)?, end: line(end)? })
    }

    /// Searches the words ignoring case, white space and punctuation style. With an ellipsis, the
    /// range goes from the first part to the last.
    fn folded(&self, words: &str) -> Option<Lines> {
        let words = Folded::of(words).text;
        let whole = |words: &str| self.folded.lines(&find(&self.folded.text, words, 0)?);
        let bare = words.trim_matches(|letter: char| !letter.is_alphanumeric());
        whole(words.trim()).or_else(|| whole(bare)).or_else(|| self.with_gaps(&words))
    }

    fn with_gaps(&self, words: &str) -> Option<Lines> {
        let is_edge = |letter: char| !letter.is_alphanumeric();
        let parts = words.split(ELLIPSIS).map(|part| part.trim_matches(is_edge));
        let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
        let is_enough = parts.iter().map(|part| letters(part)).sum::<usize>() >= LOOSE_LETTERS_MIN;
        if parts.len() < 2 || !is_enough {
            return None;
        }
        let mut found: Option<Range<usize>> = None;
        for part in parts {
            let from = found.as_ref().map_or(0, |found| found.end);
            let next = find(&self.folded.text, part, from)?;
            found = Some(found.map_or(next.clone(), |found| found.start..next.end));
        }
        self.folded.lines(&found?)
    }
}

/// A text without the features people change when quoting, with the line of each byte.
#[derive(Debug, Default)]
struct Folded {
    text: String,
    line_of: Vec<usize>,
}

impl Folded {
    fn of(text: &str) -> Self {
        let mut folded = Self::default();
        for (place, line) in text.split('\n').enumerate() {
            line.chars().for_each(|letter| folded.push(letter, place + 1));
            folded.push(' ', place + 1);
        }
        folded
    }

    fn push(&mut self, letter: char, line: usize) {
        match letter {
            letter if letter.is_whitespace() => self.once(' ', line),
            // Markdown emphasis is not part of the words.
            '*' | '_' | '`' => {}
            '“' | '”' | '„' | '‟' | '«' | '»' | '″' => self.put('"', line),
            '‘' | '’' | '‚' | '‛' | '′' => self.put('\'', line),
            '-' | '‐' | '‑' | '‒' | '–' | '—' | '―' | '−' => self.once('-', line),
            '…' => ELLIPSIS.chars().for_each(|dot| self.put(dot, line)),
            letter if is_hidden(letter) => {}
            letter => letter.to_lowercase().for_each(|letter| self.put(letter, line)),
        }
    }

    /// Keeps one of a run of equal characters.
    fn once(&mut self, letter: char, line: usize) {
        if !self.text.ends_with(letter) {
            self.put(letter, line);
        }
    }

    fn put(&mut self, letter: char, line: usize) {
        self.text.push(letter);
        self.line_of.resize(self.text.len(), line);
    }

    fn lines(&self, range: &Range<usize>) -> Option<Lines> {
        let start = self.line_of.get(range.start)?;
        let end = self.line_of.get(range.end.checked_sub(1)?)?;
        Some(Lines { start: *start, end: *end })
    }
}

/// Finds the first occurrence of the words at or after a position.
fn find(text: &str, words: &str, from: usize) -> Option<Range<usize>> {
    let is_loose = letters(words) >= LOOSE_LETTERS_MIN;
    let rest = text.get(from..).filter(|_| letters(words) > 0)?;
    rest.match_indices(words).find_map(|(at, found)| {
        let place = from + at..from + at + found.len();
        (is_loose || is_whole(text, &place)).then_some(place)
    })
}

/// Returns true if the match neither starts nor ends inside a word.
fn is_whole(text: &str, place: &Range<usize>) -> bool {
    let is_part = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
    let splits = |before: Option<char>, after: Option<char>| is_part(before) && is_part(after);
    let around = |at: usize| {
        let (before, after) = text.split_at_checked(at).unwrap_or_default();
        splits(before.chars().next_back(), after.chars().next())
    };
    !around(place.start) && !around(place.end)
}
