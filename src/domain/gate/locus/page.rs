//! Searches quoted words in a text, exactly or with the changes people make when quoting.

use std::ops::Range;

use super::resolve::{LineRange, count_letters};
use crate::domain::hidden::is_invisible;

/// Shorter quotations must match whole words.
const LOOSE_LETTERS_MIN: usize = 12;

/// Quotations with fewer letters are ignored.
const LETTERS_MIN: usize = 3;

const ELLIPSIS: &str = "...";

#[derive(Debug)]
pub(super) struct QuoteSearch<'a> {
    text: &'a str,
    folded: FoldedText,
}

impl<'a> QuoteSearch<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, folded: FoldedText::from_text(text) }
    }

    /// Searches all candidates: first exactly, then with folding.
    pub(super) fn find_any<'w>(
        &self,
        all: impl Iterator<Item = &'w str> + Clone,
    ) -> Option<LineRange> {
        let words = all.map(str::trim).filter(|words| count_letters(words) >= LETTERS_MIN);
        let exactly = words.clone().find_map(|words| self.find_exact(words));
        exactly.or_else(|| words.clone().find_map(|words| self.find_folded(words)))
    }

    /// Searches the words letter by letter.
    fn find_exact(&self, words: &str) -> Option<LineRange> {
        let Range { start, end } = find_words(self.text, words, 0)?;
        let line = |at: usize| self.text.get(..at).map(|before| before.matches('\n').count() + 1);
        Some(LineRange { start: line(start)?, end: line(end)? })
    }

    /// Searches the words ignoring case, white space and punctuation style. With an ellipsis, the
    /// range goes from the first part to the last.
    fn find_folded(&self, words: &str) -> Option<LineRange> {
        let words = FoldedText::from_text(words).text;
        let whole = |words: &str| self.folded.line_range(&find_words(&self.folded.text, words, 0)?);
        let bare = words.trim_matches(|letter: char| !letter.is_alphanumeric());
        whole(words.trim()).or_else(|| whole(bare)).or_else(|| self.find_with_gaps(&words))
    }

    fn find_with_gaps(&self, words: &str) -> Option<LineRange> {
        let is_edge = |letter: char| !letter.is_alphanumeric();
        let parts = words.split(ELLIPSIS).map(|part| part.trim_matches(is_edge));
        let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
        let is_enough =
            parts.iter().map(|part| count_letters(part)).sum::<usize>() >= LOOSE_LETTERS_MIN;
        if parts.len() < 2 || !is_enough {
            return None;
        }
        let mut found: Option<Range<usize>> = None;
        for part in parts {
            let from = found.as_ref().map_or(0, |found| found.end);
            let next = find_words(&self.folded.text, part, from)?;
            found = Some(found.map_or(next.clone(), |found| found.start..next.end));
        }
        self.folded.line_range(&found?)
    }
}

/// A text without the features people change when quoting, with the line of each byte.
#[derive(Debug, Default)]
struct FoldedText {
    text: String,
    line_of: Vec<usize>,
}

impl FoldedText {
    fn from_text(text: &str) -> Self {
        let mut folded = Self::default();
        for (place, line) in text.split('\n').enumerate() {
            line.chars().for_each(|letter| folded.push_folded(letter, place + 1));
            folded.push_folded(' ', place + 1);
        }
        folded
    }

    fn push_folded(&mut self, letter: char, line: usize) {
        match letter {
            letter if letter.is_whitespace() => self.push_once(' ', line),
            // Markdown emphasis is not part of the words.
            '*' | '_' | '`' => {}
            '“' | '”' | '„' | '‟' | '«' | '»' | '″' => self.push_char('"', line),
            '‘' | '’' | '‚' | '‛' | '′' => self.push_char('\'', line),
            '-' | '‐' | '‑' | '‒' | '–' | '—' | '―' | '−' => {
                self.push_once('-', line)
            }
            '…' => ELLIPSIS.chars().for_each(|dot| self.push_char(dot, line)),
            letter if is_invisible(letter) => {}
            letter => letter.to_lowercase().for_each(|letter| self.push_char(letter, line)),
        }
    }

    /// Keeps one of a run of equal characters.
    fn push_once(&mut self, letter: char, line: usize) {
        if !self.text.ends_with(letter) {
            self.push_char(letter, line);
        }
    }

    fn push_char(&mut self, letter: char, line: usize) {
        self.text.push(letter);
        self.line_of.resize(self.text.len(), line);
    }

    fn line_range(&self, range: &Range<usize>) -> Option<LineRange> {
        let start = self.line_of.get(range.start)?;
        let end = self.line_of.get(range.end.checked_sub(1)?)?;
        Some(LineRange { start: *start, end: *end })
    }
}

/// Finds the first occurrence of the words at or after a position.
fn find_words(text: &str, words: &str, from: usize) -> Option<Range<usize>> {
    let is_loose = count_letters(words) >= LOOSE_LETTERS_MIN;
    let rest = text.get(from..).filter(|_| count_letters(words) > 0)?;
    rest.match_indices(words).find_map(|(at, found)| {
        let place = from + at..from + at + found.len();
        (is_loose || is_whole_word(text, &place)).then_some(place)
    })
}

/// Returns true if the match neither starts nor ends inside a word.
fn is_whole_word(text: &str, place: &Range<usize>) -> bool {
    let is_part = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
    let splits = |before: Option<char>, after: Option<char>| is_part(before) && is_part(after);
    let around = |at: usize| {
        let (before, after) = text.split_at_checked(at).unwrap_or_default();
        splits(before.chars().next_back(), after.chars().next())
    };
    !around(place.start) && !around(place.end)
}
