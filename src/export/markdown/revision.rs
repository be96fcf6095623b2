//! A field before and after, with the words that differ marked.

use super::escape::inline;
use crate::domain::conclusion::{Conclusion, Field};
use crate::export::conclusion::{changed_words, field_name, field_text};
use crate::export::safe_text;

pub(super) fn blocks(original: &Conclusion, mended: &Conclusion, field: Field) -> Vec<String> {
    let (old, new) = (lines(original, field), lines(mended, field));
    let (gone, come) = changed_words(&words(&old), &words(&new));
    vec![
        format!("**{}**, before:", field_name(field)),
        quoted(&old, &gone, "~~"),
        "after:".to_owned(),
        quoted(&new, &come, "**"),
    ]
}

/// Escaped before they are compared, so that a mark never falls between a letter and its escape.
fn lines(conclusion: &Conclusion, field: Field) -> Vec<String> {
    let text = field_text(conclusion, field);
    safe_text::lines(&text).iter().map(|line| inline(line)).collect()
}

fn words(lines: &[String]) -> Vec<&str> {
    lines.iter().flat_map(|line| line.split_whitespace()).collect()
}

fn quoted(lines: &[String], changed: &[bool], mark: &str) -> String {
    let mut changed = changed.iter().copied();
    let mut set = |line: &String| {
        let words = line.split_whitespace();
        let words: Vec<(&str, bool)> =
            words.map(|word| (word, changed.next().unwrap_or(true))).collect();
        format!("> {}", marked(&words, mark)).trim_end().to_owned()
    };
    let set: Vec<String> = lines.iter().map(&mut set).collect();
    let is_empty = set.is_empty();
    // Two spaces keep a line break.
    if is_empty { "> (nothing)".to_owned() } else { set.join("  \n") }
}

/// Words that changed and stand together share their marks.
fn marked(words: &[(&str, bool)], mark: &str) -> String {
    let alike = |one: &(&str, bool), other: &(&str, bool)| one.1 == other.1;
    let runs = words.chunk_by(alike).map(|run| {
        let text = run.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(" ");
        let is_changed = run.first().is_some_and(|(_, is_changed)| *is_changed);
        if is_changed { format!("{mark}{text}{mark}") } else { text }
    });
    runs.collect::<Vec<_>>().join(" ")
}
