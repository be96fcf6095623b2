//! Numbers as people write them: digits, words, a dozen.

use super::clauses::{Mark, Sentence};

/// More than this is no wish for a form, but a figure.
const NUMBER_MAX: usize = 10_000;

const SMALL: [&str; 21] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
];

const TENS: [&str; 10] =
    ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];

/// A number and the place behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Number {
    pub(super) value: usize,
    pub(super) end: usize,
}

/// The number that begins at a place. None is zero: nobody wants nothing.
pub(super) fn number(sentence: &Sentence, at: usize) -> Option<Number> {
    let mut found = special(sentence, at).or_else(|| plain(sentence, at))?;
    // `two (2)`.
    let repeated = plain(sentence, found.end + 1).filter(|again| again.value == found.value);
    if let Some(again) = repeated
        && sentence.mark(found.end) == Some(Mark::Open)
        && sentence.mark(again.end) == Some(Mark::Close)
    {
        found.end = again.end + 1;
    }
    (1..=NUMBER_MAX).contains(&found.value).then_some(found)
}

fn special(sentence: &Sentence, at: usize) -> Option<Number> {
    let known = [
        ("half a dozen", 6),
        ("a dozen", 12),
        ("one dozen", 12),
        ("two dozen", 24),
        ("a hundred", 100),
        ("a single", 1),
        ("one single", 1),
    ];
    let found = known.iter().find(|(words, _)| sentence.reads(at, words));
    let alone = (sentence.word(at) == "single").then_some(Number { value: 1, end: at + 1 });
    found
        .map(|(words, value)| Number { value: *value, end: at + words.split(' ').count() })
        .or(alone)
}

fn plain(sentence: &Sentence, at: usize) -> Option<Number> {
    let word = sentence.word(at);
    if word.bytes().next().is_some_and(|byte| byte.is_ascii_digit()) {
        let value = word.replace(',', "").parse().ok()?;
        return Some(Number { value, end: at + 1 });
    }
    let small = SMALL.iter().position(|name| *name == word);
    let tens = TENS.iter().position(|name| *name == word && !name.is_empty());
    let Number { value, end } = match (tens, small) {
        (Some(tens), _) => with_ones(sentence, tens * 10, at + 1),
        (None, Some(value)) => Number { value, end: at + 1 },
        (None, None) => return None,
    };
    if sentence.word(end) == "hundred" {
        return Some(Number { value: value * 100, end: end + 1 });
    }
    Some(Number { value, end })
}

/// `twenty-five` and `twenty five`.
fn with_ones(sentence: &Sentence, tens: usize, at: usize) -> Number {
    let place = if sentence.mark(at) == Some(Mark::Hyphen) { at + 1 } else { at };
    let ones = SMALL.iter().position(|name| *name == sentence.word(place));
    match ones.filter(|ones| (1..10).contains(ones)) {
        Some(ones) => Number { value: tens + ones, end: place + 1 },
        None => Number { value: tens, end: at },
    }
}

#[cfg(test)]
mod tests {
    use super::super::clauses::sentences;
    use super::*;

    #[test]
    fn numbers_are_read_as_they_are_written() {
        for (text, value, end) in [
            ("5 lines", 5, 1),
            ("1,000 words", 1_000, 1),
            ("seventeen lines", 17, 1),
            ("twenty lines", 20, 1),
            ("twenty-five words", 25, 3),
            ("thirty two words", 32, 2),
            ("fifty words", 50, 1),
            ("two hundred words", 200, 2),
            ("a hundred words", 100, 2),
            ("a dozen lines", 12, 2),
            ("half a dozen lines", 6, 3),
            ("a single line", 1, 2),
            ("single line", 1, 1),
            ("twenty-line text", 20, 1),
            ("two (2) lines", 2, 4),
        ] {
            let found = number(&sentences(text)[0], 0);
            assert_eq!(found, Some(Number { value, end }), "{text}");
        }
        for text in ["0 lines", "1.5 lines", "3/5 lines", "a few lines", "99999 words", "v2 lines"]
        {
            assert_eq!(number(&sentences(text)[0], 0), None, "{text}");
        }
    }
}
