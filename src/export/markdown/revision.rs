//! A revised field before and after, with the changed words marked.

use super::escape::escape_inline;
use crate::domain::conclusion::{Conclusion, ConclusionField};
use crate::export::conclusion::{MarkedLines, changed_words, field_name, field_text};
use crate::export::safe_text;

pub(super) fn field_change(
    original: &Conclusion,
    mended: &Conclusion,
    field: ConclusionField,
) -> Vec<String> {
    let (old, new) = (field_lines(original, field), field_lines(mended, field));
    let (gone, come) = changed_words(&old, &new);
    vec![
        format!("**{}**, before:", field_name(field)),
        quote_marked(&gone, "~~"),
        "after:".to_owned(),
        quote_marked(&come, "**"),
    ]
}

/// Escaped before the comparison, so that a mark never separates a character from its escape.
fn field_lines(conclusion: &Conclusion, field: ConclusionField) -> Vec<String> {
    let text = field_text(conclusion, field);
    safe_text::safe_lines(&text).iter().map(|line| escape_inline(line)).collect()
}

fn quote_marked(lines: &MarkedLines<'_>, mark: &str) -> String {
    if lines.is_empty() {
        return "> (nothing)".to_owned();
    }
    let set =
        lines.iter().map(|words| format!("> {}", mark_runs(words, mark)).trim_end().to_owned());
    // Two spaces keep a line break.
    set.collect::<Vec<_>>().join("  \n")
}

/// Adjacent changed words share one pair of marks.
fn mark_runs(words: &[(&str, bool)], mark: &str) -> String {
    let alike = |one: &(&str, bool), other: &(&str, bool)| one.1 == other.1;
    let runs = words.chunk_by(alike).map(|run| {
        let text = run.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(" ");
        let is_changed = run.first().is_some_and(|(_, is_changed)| *is_changed);
        if is_changed { format!("{mark}{text}{mark}") } else { text }
    });
    runs.collect::<Vec<_>>().join(" ")
}
