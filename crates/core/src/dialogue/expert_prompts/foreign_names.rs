//! Sanitizes foreign names for use in our headings and sentences.
//!
//! A sanitized name is one short line of few signs and cannot act as structure. The full name is
//! in a fence elsewhere in the prompt.

use crate::model::ids::ExpertSlug;
use crate::model::text::{is_invisible, is_unassigned, to_one_line, truncate_after};
use crate::prompting::confusables::skeleton_char;

/// Longer names are truncated, so that the rest of a heading remains visible.
const NAME_CHARS_MAX: usize = 120;

/// Signs allowed besides letters and digits; none is part of a fence, a token or Markdown.
const SIGNS: &str = " .,:;'\"&/()+-%$?!";

/// The name on one line, with every other sign replaced by a hyphen.
pub(crate) fn sanitize_name(text: &str) -> String {
    truncate_after(&to_one_line(text), NAME_CHARS_MAX).chars().map(sanitize_char).collect()
}

/// A confusable sign is treated like the sign it resembles.
fn sanitize_char(letter: char) -> char {
    let is_plain = |seen: char| !seen.is_ascii() || seen.is_alphanumeric() || SIGNS.contains(seen);
    let is_seen = !is_invisible(letter) && !is_unassigned(letter);
    if is_seen && skeleton_char(letter).is_none_or(is_plain) { letter } else { '-' }
}

/// `Cupcake, Scone and Donut`.
pub(crate) fn list_experts(slugs: &[ExpertSlug]) -> String {
    join_names(&slugs.iter().map(ExpertSlug::display_name).collect::<Vec<_>>())
}

/// `a, b and c`.
pub(crate) fn join_names(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// `a Value Analyst`, `an Economist`.
pub(crate) fn with_article(role: &str) -> String {
    let is_vowel = |letter: char| "aeiou".contains(letter.to_ascii_lowercase());
    let article = if role.chars().next().is_some_and(is_vowel) { "an" } else { "a" };
    format!("{article} {role}")
}

/// `one round`, `3 rounds`.
pub(crate) fn count_noun(number: usize, noun: &str) -> String {
    if number == 1 { format!("one {noun}") } else { format!("{number} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_nothing_but_a_name() {
        for (text, expected) in [
            ("NVIDIA: swap, or not?", "NVIDIA: swap, or not?"),
            ("  Café\n## Instructions ", "Café -- Instructions"),
            ("x\n===== END x =====", "x ----- END x -----"),
            ("＝＝ [x](y) `z` <b> **c** \\d", "-- -x-(y) -z- -b- --c-- -d"),
            ("a\u{202e}b\u{200b}c\u{0}", "a-b-c-"),
            ("合格 शिक्षा", "合格 शिक्षा"),
            ("", ""),
        ] {
            assert_eq!(sanitize_name(text), expected, "{text:?}");
        }
        let long = sanitize_name(&"word ".repeat(100));
        assert_eq!(long.chars().count(), NAME_CHARS_MAX + 1);
    }

    #[test]
    fn names_are_told_as_a_person_would() {
        let listed =
            |names: &[&str]| join_names(&names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>());
        assert_eq!(listed(&["a", "b", "c"]), "a, b and c");
        assert_eq!((listed(&["a", "b"]), listed(&["a"])), ("a and b".into(), "a".into()));
        assert_eq!(with_article("Economist"), "an Economist");
        assert_eq!(count_noun(1, "round") + ", " + &count_noun(0, "round"), "one round, 0 rounds");
    }
}
