//! Compares two texts word by word, to show what a revision changed.

/// Limit for the comparison table. Longer texts are compared by the reader as a whole, so every
/// word counts as changed.
const CELLS_MAX: usize = 1_000_000;

/// The lines of a text; each word with a flag that tells whether it changed.
pub(crate) type MarkedLines<'a> = Vec<Vec<(&'a str, bool)>>;

/// Compares the old and the new lines word by word, across line breaks.
pub(crate) fn changed_words<'a>(
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
    let head = old.iter().zip(new).take_while(|(one, other)| one == other).count();
    let rest = old.len().min(new.len()) - head;
    let tail = old.iter().rev().zip(new.iter().rev());
    let tail = tail.take(rest).take_while(|(one, other)| one == other).count();
    let middle = |words: &[&str]| head..words.len() - tail;
    let (olds, news) = (old.get(middle(old)), new.get(middle(new)));
    let kept = common_subsequence(olds.unwrap_or_default(), news.unwrap_or_default());
    let mut flags = (vec![false; old.len()], vec![false; new.len()]);
    flags.0.iter_mut().take(old.len() - tail).skip(head).for_each(|word| *word = true);
    flags.1.iter_mut().take(new.len() - tail).skip(head).for_each(|word| *word = true);
    for (one, other) in kept {
        flags.0.iter_mut().skip(head + one).take(1).for_each(|word| *word = false);
        flags.1.iter_mut().skip(head + other).take(1).for_each(|word| *word = false);
    }
    flags
}

/// The longest common subsequence, as positions in both texts.
fn common_subsequence(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
    if old.len().saturating_mul(new.len()) > CELLS_MAX {
        return Vec::new();
    }
    let lengths = subsequence_lengths(old, new);
    let length = |one: usize, other: usize| {
        lengths.get(one).and_then(|row| row.get(other)).copied().unwrap_or(0)
    };
    let (mut one, mut other) = (0, 0);
    let mut kept = Vec::new();
    while let (Some(from), Some(to)) = (old.get(one), new.get(other)) {
        if from == to {
            kept.push((one, other));
            one += 1;
            other += 1;
        } else if length(one + 1, other) >= length(one, other + 1) {
            one += 1;
        } else {
            other += 1;
        }
    }
    kept
}

/// Lengths of the longest common subsequence of every pair of suffixes.
fn subsequence_lengths(old: &[&str], new: &[&str]) -> Vec<Vec<u32>> {
    let mut rows = vec![vec![0; new.len() + 1]];
    for from in old.iter().rev() {
        let below = rows.last().cloned().unwrap_or_default();
        let mut row: Vec<u32> = vec![0];
        let pairs = new.iter().zip(below.iter().zip(below.iter().skip(1)));
        for (to, (straight, diagonal)) in pairs.rev() {
            let before = row.last().copied().unwrap_or(0);
            row.push(if from == to { diagonal + 1 } else { before.max(*straight) });
        }
        row.reverse();
        rows.push(row);
    }
    rows.reverse();
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Changed words of both texts, in brackets. A slash ends a line.
    fn bracketed(old: &str, new: &str) -> (String, String) {
        let lines = |text: &str| text.split('/').map(str::to_owned).collect::<Vec<_>>();
        let (old, new) = (lines(old), lines(new));
        let (from, to) = changed_words(&old, &new);
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
        let old = vec!["a"; 2_000];
        let new = vec!["b"; 2_000];
        let (from, to) = changed_flags(&old, &new);
        assert!(from.iter().chain(&to).all(|changed| *changed));
    }
}
