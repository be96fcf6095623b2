//! Resolves a locus to lines.
//!
//! Models name a place by its line, or they quote words from it with other quotation marks, in
//! another case, with other line breaks or with an ellipsis. The resolver does not guess: words
//! that are not in the text have no lines.

use std::ops::Range;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde::Serialize;

use crate::model::text::is_invisible;
use crate::protocols::review::types::ReviewConcern;

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
    let numbered = parse_whole(locus);
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

/// What a deliberator writes for a concern about the whole text.
const WHOLE_TEXT: &str = "whole text";

/// Returns true if a concern quotes words that are not in the text, or names a line after its end.
pub fn lacks_quote(concern: &ReviewConcern, text: &str) -> bool {
    lacks_place(&concern.locus, text) || misquotes(&concern.issue, text)
}

/// `whole text` quotes nothing; a passage too short to search for counts if it occurs at all.
fn lacks_place(locus: &str, text: &str) -> bool {
    let locus = locus.trim();
    let bare = locus.trim_matches(is_quote_mark);
    if bare.eq_ignore_ascii_case(WHOLE_TEXT)
        || count_letters(locus) < LETTERS_MIN && !names_lines(locus)
    {
        return false;
    }
    let page = QuoteSearch::new(text);
    if page.occurs(locus) || page.occurs(bare) {
        return false;
    }
    let count = text.lines().count();
    let numbered = parse_whole(locus).map(|mention| mention.lines);
    let mut mentions = numbered.into_iter().chain(find_mentions(locus)).peekable();
    let names_lines = mentions.peek().is_some();
    let is_beyond = mentions.any(|lines| check_range(lines, count).is_none());
    let mut passages = quoted_passages(locus).peekable();
    let is_bare = passages.peek().is_none() && !names_lines;
    is_beyond || is_bare || passages.any(|words| !page.occurs(words))
}

/// Quotations of fewer words in the text of a concern may be a term, or a better wording.
const QUOTED_WORDS_MIN: usize = 4;

fn misquotes(issue: &str, text: &str) -> bool {
    let is_long = |words: &&str| words.split_whitespace().count() >= QUOTED_WORDS_MIN;
    let mut passages = quoted_passages(issue).filter(is_long).peekable();
    if passages.peek().is_none() {
        return false;
    }
    let page = QuoteSearch::new(text);
    passages.any(|words| !page.occurs(words))
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

fn count_letters(words: &str) -> usize {
    words.chars().filter(|letter| letter.is_alphanumeric()).count()
}

/// Line numbers that a locus names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct LineMention {
    /// True if the locus says `line`, `L` or a file, so that it cannot mean anything else.
    is_named: bool,
    lines: LineRange,
}

/// `12`, `12:5`, `12-14` or `12 to line 14`.
const NUMBERS: &str = r"(?<start>\d+)(?:[:c]\d+)?(?:\s*(?:-|–|—|\.\.|to|through)\s*(?:lines?\s*|l)?(?<end>\d+)(?:[:c]\d+)?)?";

/// A locus that consists of line numbers only, perhaps after a path: `L12`, `(lines 3-4)`,
/// `posts/launch.md:12:5`.
static WHOLE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let wrapping = r#"[\s()\[\]"'`.,]*"#;
    let name = r"(?<name>[^\s:]*\.[^\s:]*:|lines?\s*|l)?";
    Regex::new(&format!("(?i)^{wrapping}{name}{NUMBERS}{wrapping}$")).ok()
});

/// Lines that are named within other text.
static WITHIN: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(&format!(r"(?i)\b(?<name>lines?\s*|l){NUMBERS}\b")).ok());

/// Parses a locus that consists of line numbers only.
fn parse_whole(locus: &str) -> Option<LineMention> {
    WHOLE.as_ref()?.captures(locus).and_then(|found| read_mention(&found))
}

/// Finds lines that are named within other text.
fn find_mentions(locus: &str) -> impl Iterator<Item = LineRange> {
    let found = WITHIN.iter().flat_map(move |pattern| pattern.captures_iter(locus));
    found.filter_map(|found| Some(read_mention(&found)?.lines))
}

fn read_mention(found: &Captures<'_>) -> Option<LineMention> {
    let number = |name: &str| Some(found.name(name)?.as_str().parse::<usize>());
    let start = number("start")?.ok()?;
    let end = number("end").unwrap_or(Ok(start)).ok()?;
    Some(LineMention { is_named: found.name("name").is_some(), lines: LineRange { start, end } })
}

/// Shorter quotations must match whole words.
const LOOSE_LETTERS_MIN: usize = 12;

/// Quotations with fewer letters are ignored.
const LETTERS_MIN: usize = 3;

const ELLIPSIS: &str = "...";

#[derive(Debug)]
struct QuoteSearch<'a> {
    text: &'a str,
    folded: FoldedText,
}

impl<'a> QuoteSearch<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, folded: FoldedText::from_text(text) }
    }

    fn occurs(&self, words: &str) -> bool {
        let words = words.trim();
        !words.is_empty()
            && (self.text.contains(words) || self.find_any(std::iter::once(words)).is_some())
    }

    /// Searches all candidates: first exactly, then with folding.
    fn find_any<'w>(&self, all: impl Iterator<Item = &'w str> + Clone) -> Option<LineRange> {
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
            // Neither Markdown emphasis nor the mark that a prompt puts before a line is part of
            // the words.
            '*' | '_' | '`' | '\\' => {}
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
