//! Wraps text to a given display width.
//!
//! Wide characters count two columns, combining marks none. Text is escaped first, because an
//! escape is wider than the character that it replaces.

use std::borrow::Cow;

use anstyle::Style;
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};
use unicode_width::UnicodeWidthStr;

use crate::model::ids::DialogueId;
use crate::report::page::{HARD_SPACE, RichText};
use crate::report::safe_text::{safe_line, safe_lines};
use crate::report::terminal::layout::{StyledLine, span_style};

/// Deeper indentation is reduced to this, to leave width for the text.
const INDENT_MAX: usize = 8;

const ITEM_JOINER: &str = " · ";
const ELLIPSIS: &str = " …";

/// Wraps a heading or label; returns at least one line.
pub fn wrap_line(text: &str, width: usize) -> Vec<String> {
    wrap_words(&join_words(&safe_line(text)), width)
}

/// Breaks the lines of a finished text that are wider than the screen. It may have styles. Lines
/// keep their indent; a command or an id is never broken.
pub fn wrap_screen(text: &str, width: usize) -> String {
    let wrap = |line: &str| {
        if textwrap::core::display_width(line) <= width || is_command_line(line) {
            return line.to_owned();
        }
        let words = line.trim_start_matches(' ');
        let joined = join_commands(words);
        let widest = joined.split(' ').map(textwrap::core::display_width).max().unwrap_or(0);
        let indent = (line.len() - words.len()).min(INDENT_MAX);
        let lead = " ".repeat(indent.min(width.saturating_sub(widest)));
        let options = word_options(words, width).break_words(false);
        let options = options.initial_indent(&lead).subsequent_indent(&lead);
        textwrap::wrap(&joined, options).join("\n").replace(COMMAND_SPACE, " ")
    };
    text.split('\n').map(wrap).collect::<Vec<_>>().join("\n")
}

/// Whether a line is a command, perhaps in colour: a reader copies it.
fn is_command_line(line: &str) -> bool {
    let line = line.trim_start();
    let plain = line.strip_prefix("\u{1b}[").and_then(|styled| styled.split_once('m'));
    plain.map_or(line, |(_, plain)| plain).starts_with("plenary ")
}

/// Wraps a longer text: keeps its line breaks, merges blank lines, and indents list items under
/// their first word.
pub fn wrap_text(text: &str, width: usize) -> Vec<String> {
    wrap_hanging(text, width, 0)
}

/// The same with continuation lines that are indented by `hang`, so that the author's own line
/// breaks remain visible.
pub(crate) fn wrap_hanging(text: &str, width: usize, hang: usize) -> Vec<String> {
    let mut set: Vec<String> = Vec::new();
    for line in safe_lines(text) {
        let is_gap = line.trim().is_empty();
        if is_gap && set.last().is_none_or(String::is_empty) {
            continue;
        }
        set.extend(if is_gap { vec![String::new()] } else { hang_line(&line, width, hang) });
    }
    if set.last().is_some_and(String::is_empty) {
        set.pop();
    }
    set
}

/// Wraps short items joined with ` · `; no line ends with a joiner.
pub(crate) fn wrap_items(items: &[RichText], base: Style, width: usize) -> Vec<StyledLine> {
    let mut lines: Vec<StyledLine> = Vec::new();
    for item in items {
        let mut parts = wrap_rich(item, base, width).into_iter();
        let Some(first) = parts.next() else { continue };
        match lines.last_mut() {
            Some(line) if line.width() + ITEM_JOINER.width() + first.width() <= width => {
                *line = std::mem::take(line).push_styled(ITEM_JOINER, base).append_line(first);
            }
            Some(_) | None => lines.push(first),
        }
        lines.extend(parts);
    }
    lines
}

/// Wraps a text with tones; `base` is the style of its plain parts.
pub(crate) fn wrap_rich(text: &RichText, base: Style, width: usize) -> Vec<StyledLine> {
    let (flat, ends) = flatten_spans(text, base);
    let mut lines = Vec::new();
    let mut place = 0;
    for words in wrap_words(flat.trim_end(), width) {
        let rest = flat.get(place..).unwrap_or_default();
        place += rest.len() - rest.trim_start().len();
        let end = place + words.len();
        let mut line = StyledLine::blank();
        for (span_end, style) in &ends {
            let part = flat.get(place..end.min(*span_end)).unwrap_or_default();
            if !part.is_empty() {
                line = line.push_styled(&part.replace(HARD_SPACE, " "), *style);
                place += part.len();
            }
        }
        lines.push(line);
    }
    lines
}

/// The spans as one safe text with single spaces, and where each ends.
fn flatten_spans(text: &RichText, base: Style) -> (String, Vec<(usize, Style)>) {
    let mut flat = String::new();
    let mut ends = Vec::new();
    for span in &text.spans {
        for letter in safe_line(&span.text).chars() {
            if !letter.is_whitespace() || HARD_SPACE.contains(letter) {
                flat.push(letter);
            } else if !flat.is_empty() && !flat.ends_with(' ') {
                flat.push(' ');
            }
        }
        ends.push((flat.len(), span_style(span, base)));
    }
    (flat, ends)
}

/// The text on one line, cut to `width`.
pub(crate) fn fit_rich(text: &RichText, base: Style, width: usize) -> StyledLine {
    text.spans.iter().fold(StyledLine::blank(), |line, span| {
        if line.width() >= width {
            return line;
        }
        let fits = line.width() + safe_line(&span.text).width() <= width;
        match fits {
            true => line.push_styled(&span.text, span_style(span, base)),
            false => line.push_fitted(&span.text, span_style(span, base), width),
        }
    })
}

/// The width of a text on one line.
pub(crate) fn rich_width(text: &RichText) -> usize {
    text.spans.iter().map(|span| safe_line(&span.text).width()).sum()
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
            let options =
                word_options(text, width - 1).word_separator(WordSeparator::Custom(whole));
            let kept = textwrap::wrap(text, options).into_iter().next().unwrap_or_default();
            kept.trim_end().to_owned() + "…"
        }
    }
}

/// A text as one word, so that it is cut at the width and not before.
fn whole(text: &str) -> Box<dyn Iterator<Item = textwrap::core::Word<'_>> + '_> {
    Box::new(std::iter::once(textwrap::core::Word::from(text)))
}

/// Wraps one line; continuation lines are indented under its first word.
fn hang_line(line: &str, width: usize, hang: usize) -> Vec<String> {
    let words = line.trim_start();
    let indent = (line.len() - words.len()).min(INDENT_MAX);
    let marker = marker_width(words);
    let lead = " ".repeat(indent);
    let (head, rest) = words.split_at_checked(marker).unwrap_or(("", words));
    let hang = if marker > 0 { marker } else { hang };
    let room = width.saturating_sub(indent + hang.max(marker));
    let set = wrap_words(&join_words(rest), room).into_iter().enumerate();
    set.map(|(place, text)| {
        let start = if place == 0 { head.to_owned() } else { " ".repeat(hang) };
        format!("{lead}{start}{text}")
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

fn join_words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Stands for a space inside a command while lines are broken.
const COMMAND_SPACE: &str = "\u{202f}";

/// Begins a command that a reader copies; a backtick ends it.
const COMMAND_START: &str = "`plenary ";

/// A command that is wider than the line keeps its line for itself, unbroken.
fn wrap_words(text: &str, width: usize) -> Vec<String> {
    let joined = join_commands(text);
    let is_wide = |word: &str| {
        word.contains(COMMAND_SPACE) && word.width() > width || is_long_id(word, width)
    };
    let has_wide = joined.split(' ').any(is_wide);
    let options = word_options(text, width).break_words(!has_wide);
    let lines = textwrap::wrap(&joined, options).into_iter();
    lines.map(|line| line.replace(COMMAND_SPACE, " ")).collect()
}

/// The text with its commands as single words.
fn join_commands(text: &str) -> Cow<'_, str> {
    if !text.contains(COMMAND_START) {
        return Cow::Borrowed(text);
    }
    let mut joined = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, command)) = rest.split_once(COMMAND_START) {
        let (command, after) = command.split_once('`').unwrap_or((command, ""));
        let is_closed = command.len() < rest.len() - before.len() - COMMAND_START.len();
        let end = if is_closed { "`" } else { "" };
        let whole = format!("{COMMAND_START}{command}{end}").replace(' ', COMMAND_SPACE);
        joined.push_str(before);
        joined.push_str(&whole);
        rest = after;
    }
    joined.push_str(rest);
    Cow::Owned(joined)
}

/// Whether a word is the id of a dialogue that does not fit on a line.
fn is_long_id(word: &str, width: usize) -> bool {
    let id = word.parse::<DialogueId>().ok();
    word.width() > width && id.is_some_and(|id| id.hex_digits().is_some())
}

/// Scripts with wide letters break between letters, other text only at spaces: a reader copies
/// names and commands.
fn word_options<'a>(text: &str, width: usize) -> Options<'a> {
    let is_narrow = textwrap::core::display_width(text) <= text.chars().count();
    let separator = match is_narrow {
        true => WordSeparator::AsciiSpace,
        false => WordSeparator::UnicodeBreakProperties,
    };
    Options::new(width.max(1))
        .word_separator(separator)
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::terminal::layout::PLAIN;

    #[test]
    fn a_screen_breaks_at_words_and_keeps_indents_styles_commands_and_ids() {
        let check = |text: &str, expected: &str| assert_eq!(wrap_screen(text, 24), expected);
        check("short\n  and short", "short\n  and short");
        check("  a line that is wider than it", "  a line that is wider\n  than it");
        check("run `plenary show tea` to see it", "run `plenary show tea`\nto see it");
        check("\u{1b}[1mbold words\u{1b}[0m of 24 col.", "\u{1b}[1mbold words\u{1b}[0m of 24 col.");
        check("  plenary resume tea-or-coffee-1a2b3c4d", "  plenary resume tea-or-coffee-1a2b3c4d");
        let green = "  \u{1b}[32mplenary resume tea-or-coffee-1a2b3c4d\u{1b}[0m";
        check(green, green);
        let id = "tea-or-coffee-1a2b3c4d/1";
        check(&format!("    {id}  rehearsal"), &format!("{id}\nrehearsal"));
    }

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
    fn commands_and_ids_are_never_broken() {
        check(
            "`plenary show tea-1a2b3c4d` shows it",
            20,
            &["`plenary show tea-1a2b3c4d`", "shows it"],
        );
        check("now try `plenary list` once", 16, &["now try", "`plenary list`", "once"]);
        check("see tea-or-coffee-1a2b3c4d now", 10, &["see", "tea-or-coffee-1a2b3c4d", "now"]);
        check("an open `plenary show x", 12, &["an open", "`plenary show x"]);
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
        let items = ["by Muffin", "round 2", "vote 4-1"].map(RichText::from);
        let wrapped = |width| -> Vec<String> {
            wrap_items(&items, PLAIN, width).iter().map(ToString::to_string).collect()
        };
        assert_eq!(wrapped(20), ["by Muffin · round 2", "vote 4-1"]);
        assert_eq!(wrapped(6), ["by", "Muffin", "round", "2", "vote", "4-1"]);
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
