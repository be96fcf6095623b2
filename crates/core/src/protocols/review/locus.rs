//! Resolves a locus to lines.
//!
//! Models name a place by its line, or they quote words from it with other quotation marks, in
//! another case, with other line breaks or with an ellipsis. The resolver does not guess: words
//! that are not in the text have no lines.

use std::ops::Range;

use serde::Serialize;

use crate::model::text::is_invisible;

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

pub(crate) fn count_letters(words: &str) -> usize {
    words.chars().filter(|letter| letter.is_alphanumeric()).count()
}

/// Line numbers at the start of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LineMention {
    /// True if the text says `line` or `L`, so that it cannot mean anything else.
    pub is_named: bool,
    pub lines: LineRange,
}

/// Names of a line, longest first. `l` needs a number directly after it.
const LINE_NAMES: [&str; 3] = ["lines", "line", "l"];

const RANGE_JOINERS: [&str; 6] = ["-", "–", "—", "..", "to", "through"];

/// Parses a locus that consists of line numbers only.
pub(crate) fn parse_whole(locus: &str) -> Option<LineMention> {
    let is_wrapping = |letter: char| letter.is_whitespace() || "()[]\"'`.,".contains(letter);
    let text = locus.trim_matches(is_wrapping).to_ascii_lowercase();
    let (mention, rest) = parse_start(&text)?;
    rest.is_empty().then_some(mention)
}

/// Parses `post.md:12` and `posts/launch.md:12:5`.
pub(crate) fn parse_file_mention(locus: &str) -> Option<LineMention> {
    let (path, numbers) = locus.split_once(':')?;
    let is_path = path.contains('.') && !path.contains(char::is_whitespace);
    let mention = parse_whole(numbers).filter(|_| is_path)?;
    Some(LineMention { is_named: true, ..mention })
}

/// Finds lines that are named within other text.
pub(crate) fn find_mentions(locus: &str) -> impl Iterator<Item = LineRange> {
    let text = locus.to_ascii_lowercase();
    let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    starts.into_iter().filter_map(move |at| {
        let (before, rest) = text.split_at_checked(at)?;
        let begins = !before.chars().next_back().is_some_and(char::is_alphanumeric);
        let (mention, _) = parse_start(rest)?;
        (begins && mention.is_named).then_some(mention.lines)
    })
}

/// Parses line numbers, and returns the rest of the text.
fn parse_start(text: &str) -> Option<(LineMention, &str)> {
    let (start, rest) = parse_line_number(text)?;
    let is_named = text.starts_with(|letter: char| letter.is_ascii_alphabetic());
    let (end, rest) = parse_range_end(rest).unwrap_or((start, rest));
    let goes_on = rest.starts_with(|letter: char| letter.is_alphanumeric());
    (!goes_on).then_some((LineMention { is_named, lines: LineRange { start, end } }, rest))
}

/// Parses the end of a range.
fn parse_range_end(text: &str) -> Option<(usize, &str)> {
    let text = text.trim_start();
    let rest = RANGE_JOINERS.iter().find_map(|word| text.strip_prefix(word))?;
    parse_line_number(rest.trim_start())
}

/// Parses a line number, with an optional column.
fn parse_line_number(text: &str) -> Option<(usize, &str)> {
    let named = LINE_NAMES.iter().find_map(|name| {
        let rest = text.strip_prefix(name)?;
        Some(if *name == "l" { rest } else { rest.trim_start() })
    });
    let (line, rest) = parse_number(named.unwrap_or(text))?;
    let column = rest.strip_prefix([':', 'c']).and_then(parse_number);
    Some((line, column.map_or(rest, |(_, rest)| rest)))
}

fn parse_number(text: &str) -> Option<(usize, &str)> {
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at_checked(end)?;
    Some((digits.parse().ok()?, rest))
}

/// Shorter quotations must match whole words.
const LOOSE_LETTERS_MIN: usize = 12;

/// Quotations with fewer letters are ignored.
const LETTERS_MIN: usize = 3;

const ELLIPSIS: &str = "...";

#[derive(Debug)]
pub(crate) struct QuoteSearch<'a> {
    text: &'a str,
    folded: FoldedText,
}

impl<'a> QuoteSearch<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, folded: FoldedText::from_text(text) }
    }

    /// Searches all candidates: first exactly, then with folding.
    pub(crate) fn find_any<'w>(
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
