//! Parses numbers: digits, and number words up to twenty.

use super::question::Sentence;

/// A larger number is a figure in the text, not a format constraint.
const NUMBER_MAX: usize = 10_000;

const SMALL: &str = "zero one two three four five six seven eight nine ten eleven twelve thirteen \
                     fourteen fifteen sixteen seventeen eighteen nineteen twenty";

/// A number and the position after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Number {
    pub(super) value: usize,
    pub(super) end: usize,
}

/// Parses the number at a position. Zero is no valid count.
pub(super) fn number(sentence: &Sentence, at: usize) -> Option<Number> {
    let found = special(sentence, at).or_else(|| plain(sentence, at))?;
    (1..=NUMBER_MAX).contains(&found.value).then_some(found)
}

/// Parses `a single line` and `single line`.
fn special(sentence: &Sentence, at: usize) -> Option<Number> {
    let found =
        ["a single", "one single", "single"].into_iter().find(|words| sentence.reads(at, words))?;
    Some(Number { value: 1, end: at + found.split(' ').count() })
}

fn plain(sentence: &Sentence, at: usize) -> Option<Number> {
    let word = sentence.word(at);
    let value = if word.starts_with(|letter: char| letter.is_ascii_digit()) {
        word.replace(',', "").parse().ok()?
    } else {
        SMALL.split(' ').position(|name| name == word)?
    };
    Some(Number { value, end: at + 1 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::conclusion::format::question::sentences;

    #[test]
    fn numbers_are_read_as_they_are_written() {
        for (text, value, end) in [
            ("5 lines", 5, 1),
            ("1,000 words", 1_000, 1),
            ("seventeen lines", 17, 1),
            ("twenty lines", 20, 1),
            ("a single line", 1, 2),
            ("single line", 1, 1),
            ("twenty-line text", 20, 1),
        ] {
            let found = number(&sentences(text)[0], 0);
            assert_eq!(found, Some(Number { value, end }), "{text}");
        }
        for text in [
            "0 lines",
            "1.5 lines",
            "3/5 lines",
            "a few lines",
            "99999 words",
            "v2 lines",
            "a dozen lines",
        ] {
            assert_eq!(number(&sentences(text)[0], 0), None, "{text}");
        }
    }
}
