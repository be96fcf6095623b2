//! Compares two texts word by word, to show what a revision changed.

use similar::{Algorithm, DiffTag, capture_diff_slices};

/// Longer texts are compared by the reader as a whole, so every word counts as changed. It bounds
/// the time of a comparison.
const WORDS_MAX: usize = 5_000;

/// The lines of a text; each word with a flag that tells whether it changed.
pub(crate) type MarkedLines<'a> = Vec<Vec<(&'a str, bool)>>;

/// Compares the old and the new lines word by word, across line breaks.
pub(crate) fn compare_words<'a>(
    old: &'a [String],
    new: &'a [String],
) -> (MarkedLines<'a>, MarkedLines<'a>) {
    let (gone, come) = changed_flags(&split_words(old), &split_words(new));
    (mark_words(old, &gone), mark_words(new, &come))
}

fn split_words(lines: &[String]) -> Vec<&str> {
    lines.iter().flat_map(|line| line.split_whitespace()).collect()
}

fn mark_words<'a>(lines: &'a [String], changed: &[bool]) -> MarkedLines<'a> {
    let mut changed = changed.iter().copied();
    let mut mark = |line: &'a String| line.split_whitespace().zip(changed.by_ref()).collect();
    lines.iter().map(&mut mark).collect()
}

/// For each word of both texts, whether it changed.
fn changed_flags(old: &[&str], new: &[&str]) -> (Vec<bool>, Vec<bool>) {
    let mut flags = (vec![true; old.len()], vec![true; new.len()]);
    if old.len().max(new.len()) > WORDS_MAX {
        return flags;
    }
    let same = capture_diff_slices(Algorithm::Myers, old, new);
    for part in same.iter().filter(|part| part.tag() == DiffTag::Equal) {
        for (side, range) in [(&mut flags.0, part.old_range()), (&mut flags.1, part.new_range())] {
            side.iter_mut().take(range.end).skip(range.start).for_each(|word| *word = false);
        }
    }
    flags
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Changed words of both texts, in brackets. A slash ends a line.
    fn bracketed(old: &str, new: &str) -> (String, String) {
        let lines = |text: &str| text.split('/').map(str::to_owned).collect::<Vec<_>>();
        let (old, new) = (lines(old), lines(new));
        let (from, to) = compare_words(&old, &new);
        let word = |(word, is_changed): &(&str, bool)| match is_changed {
            true => format!("[{word}]"),
            false => (*word).to_owned(),
        };
        let line = |line: &Vec<(&str, bool)>| line.iter().map(word).collect::<Vec<_>>().join(" ");
        let text = |text: &MarkedLines<'_>| text.iter().map(line).collect::<Vec<_>>().join("/");
        (text(&from), text(&to))
    }

    #[test]
    fn what_both_texts_have_in_order_is_not_marked() {
        let cases = [
            ("a b c", "a b c", "a b c", "a b c"),
            ("a b c", "a x c", "a [b] c", "a [x] c"),
            ("a b", "a b c", "a b", "a b [c]"),
            ("b a", "a", "[b] a", "a"),
            ("", "a b", "", "[a] [b]"),
            (
                "one two three four",
                "zero two four five",
                "[one] two [three] four",
                "[zero] two four [five]",
            ),
            ("a a a", "a a", "a a [a]", "a a"),
            ("x y", "p q", "[x] [y]", "[p] [q]"),
            ("a b/c d", "a/b x/d", "a b/[c] d", "a/b [x]/d"),
            ("a//b", "a b/c", "a//b", "a b/[c]"),
        ];
        for (old, new, from, to) in cases {
            assert_eq!(bracketed(old, new), (from.to_owned(), to.to_owned()), "{old} -> {new}");
        }
    }

    #[test]
    fn texts_too_long_to_compare_are_marked_whole() {
        let old = vec!["a"; 6_000];
        let new = vec!["a"; 6_000];
        let (from, to) = changed_flags(&old, &new);
        assert!(from.iter().chain(&to).all(|changed| *changed));
    }
}
