//! Suggestions for misspelled names.

/// Returns the most similar known name, unless none is similar.
pub(super) fn find_nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let far = (word.chars().count() / 3).max(2);
    let measured = known.iter().map(|candidate| (edit_distance(word, candidate), *candidate));
    let (steps, candidate) = measured.min_by_key(|(steps, _)| *steps)?;
    // Users often omit the end of a key: `max_output`, `api_key`.
    let is_start = word.len() >= 3 && candidate.starts_with(word);
    let start = known.iter().find(|candidate| word.len() >= 3 && candidate.starts_with(word));
    if steps <= far || is_start { Some(candidate) } else { start.copied() }
}

/// Sorts names by similarity, the most similar first.
pub fn nearest_first(word: &str, mut known: Vec<String>) -> Vec<String> {
    known.sort_by_cached_key(|candidate| (edit_distance(word, candidate), candidate.clone()));
    known
}

/// Number of letters to insert, delete, replace or swap with a neighbour.
fn edit_distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    let mut last = None;
    for (line, letter) in from.chars().enumerate() {
        let mut next = vec![line + 1];
        for (column, other) in to.iter().enumerate() {
            let at =
                |cells: &[usize], place: usize| cells.get(place).copied().unwrap_or(usize::MAX);
            let changed = at(&row, column) + usize::from(letter != *other);
            let mut steps = changed.min(at(&row, column + 1) + 1).min(at(&next, column) + 1);
            let swapped = column.checked_sub(1).is_some_and(|place| {
                last == Some(*other) && to.get(place).is_some_and(|previous| *previous == letter)
            });
            if swapped {
                steps = steps.min(at(&before, column.saturating_sub(1)).saturating_add(1));
            }
            next.push(steps);
        }
        before = std::mem::replace(&mut row, next);
        last = Some(letter);
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_that_was_meant_is_found() {
        let known = ["council", "budget", "quorum", "api_key_env", "max_output_tokens", "model"];
        let cases = [
            ("quorom", Some("quorum")),
            ("councli", Some("council")),
            ("Budget", Some("budget")),
            ("api_key", Some("api_key_env")),
            ("max_tokens", None),
            ("max_output", Some("max_output_tokens")),
            ("modell", Some("model")),
            ("", None),
            ("frobnicate", None),
        ];
        for (word, meant) in cases {
            assert_eq!(find_nearest(word, &known), meant, "word: {word}");
        }
    }

    #[test]
    fn neighbours_that_swapped_places_are_one_step() {
        let cases =
            [("ab", "ba", 1), ("kitten", "sitting", 3), ("", "abc", 3), ("same", "same", 0)];
        for (from, to, steps) in cases {
            assert_eq!(edit_distance(from, to), steps, "{from} → {to}");
        }
    }
}
