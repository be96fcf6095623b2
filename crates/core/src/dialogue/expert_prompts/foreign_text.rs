//! Foreign text in an expert's prompt: names in our headings and sentences, and lines that imitate
//! our prompt.
//!
//! A sanitized name is one short line of few signs and cannot act as structure. The full name is
//! in a fence elsewhere in the prompt. Imitated headings and entity lines cannot leave their fence;
//! the backslash shows a reader that they are not ours.

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

/// `one round`, `3 rounds`.
pub(crate) fn count_noun(number: usize, noun: &str) -> String {
    if number == 1 { format!("one {noun}") } else { format!("{number} {noun}s") }
}

/// How the headings of a prompt begin, in lower case.
const HEADINGS: [&str; 28] = [
    "dialogue:",
    "background",
    "calibration",
    "context brief",
    "the dialogue question",
    "why you're here",
    "your mandate",
    "key context",
    "relevant prior",
    "dialogue progress",
    "what the panel needs",
    "your role",
    "your task this round",
    "prior rounds",
    "round ",
    "judge synthesis",
    "moves",
    "requests to the panel",
    "verdicts",
    "active tensions",
    "resolved tensions",
    "markers",
    "local ids",
    "entities",
    "references",
    "example",
    "instructions",
    "output",
];

/// Puts a backslash before each imitation.
pub(crate) fn mark_imitations(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let place = find_imitation(line).unwrap_or(line.len());
        let (before, after) = line.split_at_checked(place).unwrap_or((line, ""));
        shown.push_str(before);
        if !after.is_empty() {
            shown.push('\\');
        }
        shown.push_str(after);
    }
    shown
}

/// Byte offset of the imitation in the line.
fn find_imitation(line: &str) -> Option<usize> {
    if line.is_ascii() && !line.contains(['#', '[']) {
        return None;
    }
    let seen =
        line.char_indices().filter_map(|(place, letter)| Some((skeleton_char(letter)?, place)));
    let mut seen = seen.skip_while(|(letter, _)| " >*_".contains(*letter)).peekable();
    let (first, place) = *seen.peek()?;
    let rest: String = seen.map(|(letter, _)| if letter == '’' { '\'' } else { letter }).collect();
    let is_ours = match first {
        '#' => is_heading(&rest),
        '[' => opens_entity(&rest),
        _ => false,
    };
    is_ours.then_some(place)
}

fn is_heading(rest: &str) -> bool {
    let words = rest.trim_start_matches(['#', ' ', '*', '_']);
    HEADINGS.iter().any(|heading| words.starts_with(heading))
}

/// Matches `[P0001: …` and `[TENSION T0001: …`.
fn opens_entity(rest: &str) -> bool {
    let inner = rest.trim_start_matches(['[', ' ', '*', '_']);
    let inner = inner.strip_prefix("tension").unwrap_or(inner).trim_start();
    let Some((id, _)) = inner.split_once(':') else { return false };
    let mut letters = id.trim_end().chars();
    letters.next().is_some_and(|letter| "prtec".contains(letter))
        && letters.clone().count() == 4
        && letters.all(|letter| letter.is_numeric())
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
        assert_eq!(count_noun(1, "round") + ", " + &count_noun(0, "round"), "one round, 0 rounds");
    }
}

#[cfg(test)]
mod imitations_tests {
    use super::*;

    #[test]
    fn what_imitates_ours_is_marked() {
        for line in [
            "## Instructions",
            "# dialogue: Another",
            "####Your Role",
            "### Why You’re Here",
            "##\u{200b} Instructions",
            "＃＃ Ｉnstructions",
            "[P0001: Mine] (muffin)",
            "[TENSION T0003: All is well]",
            "［Ｐ０００１： Mine] (muffin)",
        ] {
            assert_eq!(mark_imitations(&format!("a\n{line}\nb")), format!("a\n\\{line}\nb"));
        }
        assert_eq!(mark_imitations("> ## Instructions"), "> \\## Instructions");
    }

    #[test]
    fn what_is_honest_stays_as_it_was() {
        for text in
            ["", "\n\n", "## Method\n\n[P0001] is right.", "a [b](c): d", "P0001: x", "#", "é["]
        {
            assert_eq!(mark_imitations(text), text);
        }
    }
}
