//! Names of the review, and their search in a line of text.

use std::str::FromStr;

use serde::{Serialize, Serializer};

use crate::domain::hidden::is_invisible;

/// Default names: the name in the specification and the name of this program. They also match its
/// files (`council.yaml`, `council_log.jsonl`). The seats are not listed, because a host may have
/// its own skeptic or adjudicator.
pub const DEFAULT_REVIEW_NAMES: [&str; 2] = ["council", "plenary"];

/// Maximum length of a name.
const NAME_CHARS_MAX: usize = 100;

/// A name to search for, ignoring case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewName {
    spelled: String,
    folded: Vec<char>,
}

impl ReviewName {
    pub fn as_written(&self) -> &str {
        &self.spelled
    }

    /// Position of the name as a whole word, counted in visible characters. Invisible characters
    /// are ignored.
    pub(super) fn find_in(&self, line: &str) -> Option<usize> {
        let letters: Vec<char> = visible_chars(line).collect();
        let folded: Vec<char> = letters.iter().copied().map(fold_case).collect();
        let places = folded.windows(self.folded.len()).enumerate();
        places
            .filter(|(_, window)| *window == self.folded.as_slice())
            .find(|(start, window)| is_whole_word(&letters, *start, start + window.len()))
            .map(|(start, _)| start)
    }
}

impl FromStr for ReviewName {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let spelled = text.trim();
        if spelled.is_empty() || spelled.chars().any(is_invisible) {
            return Err("write a word that the gate is called by");
        }
        if spelled.chars().count() > NAME_CHARS_MAX {
            return Err("a name has a hundred characters at most");
        }
        Ok(Self { spelled: spelled.to_owned(), folded: spelled.chars().map(fold_case).collect() })
    }
}

impl Serialize for ReviewName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.spelled)
    }
}

/// The visible characters of a line, and whitespace.
pub(super) fn visible_chars(line: &str) -> impl Iterator<Item = char> {
    line.chars().filter(|letter| letter.is_whitespace() || !is_invisible(*letter))
}

fn fold_case(letter: char) -> char {
    letter.to_lowercase().next().unwrap_or(letter)
}

/// Whether the range is a whole word, optionally with a plural `s`. Parts of identifiers count as
/// words: `council_log`, `CouncilReview`, `toCouncil`.
fn is_whole_word(letters: &[char], start: usize, end: usize) -> bool {
    let at = |place: Option<usize>| place.and_then(|place| letters.get(place)).copied();
    let [before, first] = [start.checked_sub(1), Some(start)].map(at);
    let [last, after, further] = [end.checked_sub(1), Some(end), Some(end + 1)].map(at);
    let ends = is_word_boundary(last, after)
        || after.is_some_and(|letter| matches!(letter, 's' | 'S'))
            && is_word_boundary(after, further);
    is_word_boundary(before, first) && ends
}

/// Whether a word boundary is possible between two characters: if one of them has no case, or a
/// lower-case letter precedes a capital.
fn is_word_boundary(before: Option<char>, after: Option<char>) -> bool {
    let (Some(before), Some(after)) = (before, after) else { return true };
    let is_cased = |letter: char| letter.is_lowercase() || letter.is_uppercase();
    !is_cased(before) || !is_cased(after) || (before.is_lowercase() && after.is_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, line: &str, expected: bool) {
        let name: ReviewName = name.parse().unwrap();
        assert_eq!(name.find_in(line).is_some(), expected, "{} in {line:?}", name.as_written());
    }

    #[test]
    fn a_name_is_found_as_a_word_in_any_case() {
        for line in [
            "council",
            "Ask the Council.",
            "the COUNCIL's verdict",
            "two councils, one gate",
            "append to council_log.jsonl",
            "see `council.yaml`",
            "a council-approved text",
            "call CouncilReview() or sendToCouncil",
            "council2",
            "2council",
            "请council看",
            "the coun\u{200b}cil\u{ad}",
            "the\tcouncil\tdecides",
        ] {
            check("council", line, true);
        }
    }

    #[test]
    fn a_part_of_another_word_is_no_name() {
        for line in ["", "counsel", "councillor", "COUNCILLOR", "supercouncil", "councilsman"] {
            check("council", line, false);
        }
    }

    #[test]
    fn a_name_may_be_more_than_a_word() {
        check("the gate", "Past The Gate?", true);
        check("the gate", "the gatehouse", false);
        check("c++", "in C++11", true);
        check("СОВЕТ", "спроси совет.", true);
    }

    #[test]
    fn what_is_no_name_is_refused() {
        for text in ["", "  ", "a\nb", "a\u{200b}b", &"x".repeat(101)] {
            assert!(text.parse::<ReviewName>().is_err(), "{text:?}");
        }
        assert_eq!(" council ".parse::<ReviewName>().unwrap().as_written(), "council");
    }
}
