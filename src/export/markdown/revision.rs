//! A revised field before and after, with the changed words marked.

use super::escape::inline;
use crate::domain::conclusion::{Conclusion, Field};
use crate::export::conclusion::{Marked, changed_words, field_name, field_text};
use crate::export::safe_text;

pub(super) fn blocks(original: &Conclusion, mended: &Conclusion, field: Field) -> Vec<String> {
    let (old, new) = (lines(original, field), lines(mended, field));
    let (gone, come) = changed_words(&old, &new);
    vec![
        format!("**{}**, before:", field_name(field)),
        quoted(&gone, "~~"),
        "after:".to_owned(),
        quoted(&come, "**"),
    ]
}

/// Escaped before the comparison, so that a mark never separates a character from its escape.
fn lines(conclusion: &Conclusion, field: Field) -> Vec<String> {
    let text = field_text(conclusion, field);
    safe_text::lines(&text).iter().map(|line| inline(line)).collect()
}

fn quoted(lines: &Marked<'_>, mark: &str) -> String {
    if lines.is_empty() {
        return "> (nothing)".to_owned();
    }
    let set = lines.iter().map(|words| format!("> {}", marked(words, mark)).trim_end().to_owned());
    // Two spaces keep a line break.
    set.collect::<Vec<_>>().join("  \n")
}

/// Adjacent changed words share one pair of marks.
fn marked(words: &[(&str, bool)], mark: &str) -> String {
    let alike = |one: &(&str, bool), other: &(&str, bool)| one.1 == other.1;
    let runs = words.chunk_by(alike).map(|run| {
        let text = run.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(" ");
        let is_changed = run.first().is_some_and(|(_, is_changed)| *is_changed);
        if is_changed { format!("{mark}{text}{mark}") } else { text }
    });
    runs.collect::<Vec<_>>().join(" ")
}
