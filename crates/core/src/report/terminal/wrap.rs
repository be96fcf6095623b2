//! Wraps text to a given display width.
//!
//! Wide characters count two columns, combining marks none. Text is escaped first, because an
//! escape is wider than the character that it replaces.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::report::safe_text::{safe_line, safe_lines};

/// Deeper indentation is reduced to this, to leave width for the text.
const INDENT_MAX: usize = 8;

const ITEM_JOINER: &str = " · ";
const ELLIPSIS: &str = " …";

/// Wide punctuation that must not begin a line.
const CLOSING_PUNCTUATION: &str = "、。，．！？：；）」』】〉》";

/// Wraps a heading or label; returns at least one line.
pub fn wrap_line(text: &str, width: usize) -> Vec<String> {
    let lines = fill_lines(&split_pieces(&safe_line(text)), width);
    if lines.is_empty() { vec![String::new()] } else { lines }
}

/// Wraps a longer text: keeps its line breaks, merges blank lines, and indents list items under
/// their first word.
pub fn wrap_text(text: &str, width: usize) -> Vec<String> {
    let mut set: Vec<String> = Vec::new();
    for line in safe_lines(text) {
        let is_gap = line.trim().is_empty();
        if is_gap && set.last().is_none_or(String::is_empty) {
            continue;
        }
        set.extend(if is_gap { vec![String::new()] } else { hang_line(&line, width) });
    }
    if set.last().is_some_and(String::is_empty) {
        set.pop();
    }
    set
}

/// Wraps short items joined with ` · `; no line ends with a joiner.
pub(crate) fn wrap_items(items: &[String], width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for item in items.iter().map(|item| safe_line(item)) {
        match lines.last_mut() {
            Some(line) if line.width() + ITEM_JOINER.width() + item.width() <= width => {
                line.push_str(ITEM_JOINER);
                line.push_str(&item);
            }
            Some(_) | None => lines.extend(wrap_line(&item, width)),
        }
    }
    lines
}

/// Cuts a text to its first lines and ends it with an ellipsis.
pub fn cut_lines(mut lines: Vec<String>, lines_max: usize, width: usize) -> Vec<String> {
    if lines.len() <= lines_max {
        return lines;
    }
    lines.truncate(lines_max);
    if let Some(last) = lines.last_mut() {
        while last.width() + ELLIPSIS.width() > width && last.trim_start().contains(' ') {
            last.truncate(last.trim_end().rfind(' ').unwrap_or(0));
        }
        *last = fit_safe_text(&format!("{}{ELLIPSIS}", last.trim_end()), width);
    }
    lines
}

/// Cuts a text to `width` and ends it with an ellipsis.
pub fn fit_width(text: &str, width: usize) -> String {
    fit_safe_text(safe_line(text).trim(), width)
}

fn fit_safe_text(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    match width {
        0 => String::new(),
        1 => "…".to_owned(),
        _ => {
            let kept = break_apart(text, width - 1).into_iter().next().unwrap_or_default();
            kept.trim_end().to_owned() + "…"
        }
    }
}

/// Wraps one line; continuation lines are indented under its first word.
fn hang_line(line: &str, width: usize) -> Vec<String> {
    let words = line.trim_start();
    let indent = (line.len() - words.len()).min(INDENT_MAX);
    let marker = marker_width(words);
    let room = width.saturating_sub(indent + marker);
    let (head, rest) = words.split_at_checked(marker).unwrap_or(("", words));
    let set = fill_lines(&split_pieces(rest), room).into_iter().enumerate();
    set.map(|(place, text)| {
        let lead = if place == 0 { head.to_owned() } else { " ".repeat(marker) };
        format!("{}{lead}{text}", " ".repeat(indent))
    })
    .collect()
}

/// Width of a list marker and its space: `- `, `* `, `12. `.
fn marker_width(line: &str) -> usize {
    let Some((marker, _)) = line.split_once(' ') else { return 0 };
    let number = marker.strip_suffix(['.', ')']).unwrap_or_default();
    let is_number = (1..=3).contains(&number.len()) && number.bytes().all(|b| b.is_ascii_digit());
    if matches!(marker, "-" | "*" | "+") || is_number { marker.len() + 1 } else { 0 }
}

/// A piece that is not broken, and the space before it.
struct TextPiece<'a> {
    gap: usize,
    text: &'a str,
}

/// Splits a text into words, and words after each wide character.
fn split_pieces(text: &str) -> Vec<TextPiece<'_>> {
    text.split_whitespace()
        .flat_map(|word| split_word(word).into_iter().enumerate())
        .map(to_piece)
        .collect()
}

fn to_piece((place, text): (usize, &str)) -> TextPiece<'_> {
    TextPiece { gap: usize::from(place == 0), text }
}

fn split_word(word: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut wide_before = false;
    for (at, letter) in word.char_indices() {
        let width = letter.width().unwrap_or(0);
        let may_break =
            width > 0 && (wide_before || width > 1) && !CLOSING_PUNCTUATION.contains(letter);
        if may_break && at > start {
            parts.extend(word.get(start..at));
            start = at;
        }
        wide_before = if width == 0 { wide_before } else { width > 1 };
    }
    parts.extend(word.get(start..));
    parts
}

fn fill_lines(pieces: &[TextPiece<'_>], width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for TextPiece { gap, text } in pieces {
        let gap = if line.is_empty() { 0 } else { *gap };
        if line.width() + gap + text.width() <= width {
            line.push_str(" ".get(..gap).unwrap_or_default());
            line.push_str(text);
            continue;
        }
        if !line.is_empty() {
            lines.push(std::mem::take(&mut line));
        }
        let mut chunks = break_apart(text, width);
        line = chunks.pop().unwrap_or_default();
        lines.append(&mut chunks);
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

/// Breaks a word at the line width. Combining marks stay with their letter.
fn break_apart(word: &str, width: usize) -> Vec<String> {
    let mut chunks = vec![String::new()];
    let mut used = 0;
    for letter in word.chars() {
        let columns = letter.width().unwrap_or(0);
        if used + columns > width && used > 0 {
            chunks.push(String::new());
            used = 0;
        }
        used += columns;
        if let Some(chunk) = chunks.last_mut() {
            chunk.push(letter);
        }
    }
    chunks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, width: usize, expected: &[&str]) {
        assert_eq!(wrap_text(text, width), expected);
    }

    #[test]
    fn words_are_kept_whole_where_they_fit() {
        check("one two three four", 9, &["one two", "three", "four"]);
        check("a  tight\n\n\n\nfit\n", 7, &["a tight", "", "fit"]);
        check("", 7, &[]);
    }

    #[test]
    fn what_does_not_fit_is_broken() {
        check("unbreakable", 4, &["unbr", "eaka", "ble"]);
        check("a\u{301}\u{301}bcd", 2, &["a\u{301}\u{301}b", "cd"]);
    }

    #[test]
    fn wide_characters_break_between_but_not_before_a_stop() {
        check("日本語の文章。次", 6, &["日本語", "の文", "章。次"]);
        check("NVIDIA株を", 7, &["NVIDIA", "株を"]);
    }

    #[test]
    fn list_items_hang_under_their_first_word() {
        check(
            "- one two three\n  12. four five",
            12,
            &["- one two", "  three", "  12. four", "      five"],
        );
    }

    #[test]
    fn items_are_kept_whole_where_they_fit() {
        let items = ["by Muffin", "round 2", "vote 4-1"].map(str::to_owned);
        assert_eq!(wrap_items(&items, 20), ["by Muffin · round 2", "vote 4-1"]);
        assert_eq!(wrap_items(&items, 6), ["by", "Muffin", "round", "2", "vote", "4-1"]);
    }

    #[test]
    fn cut_text_says_so() {
        let lines = || ["one two", "three"].map(str::to_owned).to_vec();
        assert_eq!(cut_lines(lines(), 2, 7), ["one two", "three"]);
        assert_eq!(cut_lines(lines(), 1, 9), ["one two …"]);
        assert_eq!(cut_lines(lines(), 1, 8), ["one …"]);
        assert_eq!(cut_lines(lines(), 1, 3), ["on…"]);
        assert_eq!(fit_width("alignment", 9), "alignment");
        assert_eq!(fit_width("alignment", 6), "align…");
        assert_eq!(fit_width("日本語", 4), "日…");
        assert_eq!(fit_width("alignment", 1), "…");
    }
}
