//! Parses line numbers: `L12`, `lines 12-14`, `12:5`, `post.md:12`.

use super::resolve::LineRange;

/// Line numbers at the start of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LineMention {
    /// True if the text says `line` or `L`, so that it cannot mean anything else.
    pub is_named: bool,
    pub lines: LineRange,
}

/// Names of a line, longest first. `l` needs a number directly after it.
const LINE_NAMES: [&str; 3] = ["lines", "line", "l"];

const RANGE_JOINERS: [&str; 6] = ["-", "–", "—", "..", "to", "through"];

/// Parses a locus that consists of line numbers only.
pub(super) fn parse_whole(locus: &str) -> Option<LineMention> {
    let is_wrapping = |letter: char| letter.is_whitespace() || "()[]\"'`.,".contains(letter);
    let text = locus.trim_matches(is_wrapping).to_ascii_lowercase();
    let (mention, rest) = parse_start(&text)?;
    rest.is_empty().then_some(mention)
}

/// Parses `post.md:12` and `posts/launch.md:12:5`.
pub(super) fn parse_file_mention(locus: &str) -> Option<LineMention> {
    let (path, numbers) = locus.split_once(':')?;
    let is_path = path.contains('.') && !path.contains(char::is_whitespace);
    let mention = parse_whole(numbers).filter(|_| is_path)?;
    Some(LineMention { is_named: true, ..mention })
}

/// Finds lines that are named within other text.
pub(super) fn find_mentions(locus: &str) -> impl Iterator<Item = LineRange> {
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
