//! Parses line numbers: `L12`, `lines 12-14`, `12:5`, `post.md:12`.

use super::resolve::Lines;

/// Line numbers at the start of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mention {
    /// True if the text says `line` or `L`, so that it cannot mean anything else.
    pub is_named: bool,
    pub lines: Lines,
}

/// Names of a line, longest first. `l` needs a number directly after it.
const NAMES: [&str; 3] = ["lines", "line", "l"];

const BETWEEN: [&str; 6] = ["-", "–", "—", "..", "to", "through"];

/// Parses a locus that consists of line numbers only.
pub(super) fn whole(locus: &str) -> Option<Mention> {
    let is_wrapping = |letter: char| letter.is_whitespace() || "()[]\"'`.,".contains(letter);
    let text = locus.trim_matches(is_wrapping).to_ascii_lowercase();
    let (mention, rest) = at_start(&text)?;
    rest.is_empty().then_some(mention)
}

/// Parses `post.md:12` and `posts/launch.md:12:5`.
pub(super) fn of_file(locus: &str) -> Option<Mention> {
    let (path, numbers) = locus.split_once(':')?;
    let is_path = path.contains('.') && !path.contains(char::is_whitespace);
    let mention = whole(numbers).filter(|_| is_path)?;
    Some(Mention { is_named: true, ..mention })
}

/// Finds lines that are named within other text.
pub(super) fn mentioned(locus: &str) -> impl Iterator<Item = Lines> {
    let text = locus.to_ascii_lowercase();
    let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    starts.into_iter().filter_map(move |at| {
        let (before, rest) = text.split_at_checked(at)?;
        let begins = !before.chars().next_back().is_some_and(char::is_alphanumeric);
        let (mention, _) = at_start(rest)?;
        (begins && mention.is_named).then_some(mention.lines)
    })
}

/// Parses line numbers, and returns the rest of the text.
fn at_start(text: &str) -> Option<(Mention, &str)> {
    let (start, rest) = place(text)?;
    let is_named = text.starts_with(|letter: char| letter.is_ascii_alphabetic());
    let (end, rest) = last(rest).unwrap_or((start, rest));
    let goes_on = rest.starts_with(|letter: char| letter.is_alphanumeric());
    (!goes_on).then_some((Mention { is_named, lines: Lines { start, end } }, rest))
}

/// Parses the end of a range.
fn last(text: &str) -> Option<(usize, &str)> {
    let text = text.trim_start();
    let rest = BETWEEN.iter().find_map(|word| text.strip_prefix(word))?;
    place(rest.trim_start())
}

/// Parses a line number, with an optional column.
fn place(text: &str) -> Option<(usize, &str)> {
    let named = NAMES.iter().find_map(|name| {
        let rest = text.strip_prefix(name)?;
        Some(if *name == "l" { rest } else { rest.trim_start() })
    });
    let (line, rest) = number(named.unwrap_or(text))?;
    let column = rest.strip_prefix([':', 'c']).and_then(number);
    Some((line, column.map_or(rest, |(_, rest)| rest)))
}

fn number(text: &str) -> Option<(usize, &str)> {
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at_checked(end)?;
    Some((digits.parse().ok()?, rest))
}
