//! Escapes lines of foreign text that imitate our prompt: its headings, and the lines that open
//! an entity. They cannot leave their fence; the backslash shows a reader that they are not ours.

use crate::prompting::confusables::skeleton_char;

/// How the headings of a prompt begin, in lower case.
const HEADINGS: [&str; 17] = [
    "dialogue:",
    "background",
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
    "active tensions",
    "instructions",
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
