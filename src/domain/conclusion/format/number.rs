//! Parses numbers: digits, and number words up to twenty.

use super::question::QuestionSentence;

/// A larger number is a figure in the text, not a format constraint.
const NUMBER_MAX: usize = 10_000;

const SMALL: &str = "zero one two three four five six seven eight nine ten eleven twelve thirteen \
                     fourteen fifteen sixteen seventeen eighteen nineteen twenty";

/// A number and the position after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NumberToken {
    pub(super) value: usize,
    pub(super) end: usize,
}

/// Parses the number at a position. Zero is no valid count.
pub(super) fn parse_number(sentence: &QuestionSentence, at: usize) -> Option<NumberToken> {
    let found = parse_single(sentence, at).or_else(|| parse_plain(sentence, at))?;
    (1..=NUMBER_MAX).contains(&found.value).then_some(found)
}

/// Parses `a single line` and `single line`.
fn parse_single(sentence: &QuestionSentence, at: usize) -> Option<NumberToken> {
    let found = ["a single", "one single", "single"]
        .into_iter()
        .find(|words| sentence.matches_words(at, words))?;
    Some(NumberToken { value: 1, end: at + found.split(' ').count() })
}

fn parse_plain(sentence: &QuestionSentence, at: usize) -> Option<NumberToken> {
    let word = sentence.word_at(at);
    let value = if word.starts_with(|letter: char| letter.is_ascii_digit()) {
        word.replace(',', "").parse().ok()?
    } else {
        SMALL.split(' ').position(|name| name == word)?
    };
    Some(NumberToken { value, end: at + 1 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::conclusion::format::question::split_sentences;

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
            let found = parse_number(&split_sentences(text)[0], 0);
            assert_eq!(found, Some(NumberToken { value, end }), "{text}");
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
            assert_eq!(parse_number(&split_sentences(text)[0], 0), None, "{text}");
        }
    }
}
