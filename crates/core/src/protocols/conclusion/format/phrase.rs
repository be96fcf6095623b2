//! Finds counts in a sentence: `at most 3 short bullets`, `a 5-line summary`, `one or two
//! sentences`.
//!
//! The `request` module decides whether a count is a request.

use crate::protocols::conclusion::format::constraint::{FormatAmount, FormatUnit};
use crate::protocols::conclusion::format::question::{PunctuationMark, QuestionSentence};
use crate::protocols::conclusion::format::vocabulary::{
    ADJECTIVES, ANSWER_NOUNS, NEGATIONS, TO_EXCEED,
};

/// From this number of words on, a bare count is approximate unless it says `exactly`.
const WORDS_ABOUT_FROM: usize = 20;

/// Maximum number of words between `not` and `more than`.
const NEGATION_WORDS_MAX: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CountForm {
    /// `5 lines`.
    Plain,
    /// `a 5-line summary`: names what has this form.
    Compound,
    /// `bullet points`, without a number.
    Unnumbered,
}

/// A count with all words that belong to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CountPhrase {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) measure: FormatUnit,
    pub(crate) amount: FormatAmount,
    pub(crate) form: CountForm,
    /// True if it says `exactly`, `at most` or the like.
    pub(crate) is_bounded: bool,
}

/// How a number bounds the count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BoundKind {
    Exactly,
    AtMost,
    Below,
    AtLeast,
    Above,
    About,
    /// Gives no bound by itself: `a total of`.
    Plain,
}

const BOUNDS_BEFORE: [(BoundKind, &str); 7] = [
    (BoundKind::Exactly, "no more and no less than|exactly|precisely|strictly|only|just"),
    (
        BoundKind::AtMost,
        "at most|at max|at maximum|no more than|no longer than|no greater than|a maximum length of|\
         a maximum of|a max of|maximum of|max of|a limit of|maximum|max|up to|within|< =|≤",
    ),
    (BoundKind::Below, "under|below|less than|fewer than|shorter than|<"),
    (
        BoundKind::AtLeast,
        "at least|no fewer than|not fewer than|no less than|not less than|a minimum of|a min of|\
         minimum of|minimum|min|> =|≥",
    ),
    (BoundKind::Above, "more than|longer than|over|>"),
    (BoundKind::About, "about|around|approximately|approx|roughly|circa|ca|some|nearly|~"),
    (BoundKind::Plain, "a total of|a length of"),
];

const BOUNDS_AFTER: [(BoundKind, &str); 4] = [
    (BoundKind::AtMost, "or less|or fewer|or under|or shorter|at most|at max|maximum|max|tops"),
    (BoundKind::AtLeast, "or more|at least|minimum|min"),
    (BoundKind::About, "or so|approximately|approx|roughly"),
    (BoundKind::Exactly, "exactly|precisely|only"),
];

/// Finds the longest matching wording and its number of words: `no more than` is not `more than`.
fn find_bound(
    rows: &[(BoundKind, &str)],
    holds: impl Fn(&str, usize) -> bool,
) -> Option<(BoundKind, usize)> {
    let wordings = rows.iter().flat_map(|(bound, wordings)| {
        wordings.split('|').map(|words| (*bound, words, words.split(' ').count()))
    });
    let found = wordings.filter(|(_, words, count)| holds(words, *count));
    found.max_by_key(|(_, _, count)| *count).map(|(bound, _, count)| (bound, count))
}

/// Finds the counts of a sentence, in order.
pub(crate) fn find_phrases(sentence: &QuestionSentence) -> Vec<CountPhrase> {
    let mut found: Vec<CountPhrase> = Vec::new();
    let mut at = 0;
    while at < sentence.tokens.len() {
        let from = found.last().map_or(0, |last| last.end);
        match parse_numbered(sentence, from, at).or_else(|| parse_unnumbered(sentence, from, at)) {
            Some(phrase) => {
                at = phrase.end;
                found.push(phrase);
            }
            None => at += 1,
        }
    }
    found
}

fn parse_numbered(sentence: &QuestionSentence, from: usize, at: usize) -> Option<CountPhrase> {
    let (least, most, end) = parse_range(sentence, at)?;
    let named = parse_unit(sentence, least, most, end)?;
    let UnitMatch { measure, form, mut end } = named;
    let (before, mut start) = parse_bound_before(sentence, from, at)?;
    if form == CountForm::Compound && ["a", "an"].contains(&sentence.word_before(start)) {
        start -= 1;
    }
    let after = find_bound(&BOUNDS_AFTER, |words, _| sentence.matches_words(end, words));
    end += after.map_or(0, |(_, count)| count);
    let bound = before.or(after.map(|(bound, _)| bound));
    let amount = if least < most {
        FormatAmount::Between(least, most)
    } else {
        to_amount(measure, least, bound.unwrap_or(BoundKind::Plain))?
    };
    let is_bounded = bound.is_some_and(|bound| bound != BoundKind::Plain);
    Some(CountPhrase { start, end, measure, amount, form, is_bounded })
}

fn to_amount(measure: FormatUnit, number: usize, bound: BoundKind) -> Option<FormatAmount> {
    Some(match bound {
        BoundKind::Exactly => FormatAmount::Exactly(number),
        BoundKind::AtMost => FormatAmount::AtMost(number),
        BoundKind::Below => FormatAmount::AtMost(number.checked_sub(1).filter(|most| *most > 0)?),
        BoundKind::AtLeast => FormatAmount::AtLeast(number),
        BoundKind::Above => FormatAmount::AtLeast(number + 1),
        BoundKind::About => FormatAmount::About(number),
        BoundKind::Plain if measure == FormatUnit::Words && number >= WORDS_ABOUT_FROM => {
            FormatAmount::About(number)
        }
        BoundKind::Plain => FormatAmount::Exactly(number),
    })
}

/// Parses a minimum and a maximum: `5`, `3-5`, `three to five`, `one or two`, `between 3 and 5`.
fn parse_range(sentence: &QuestionSentence, at: usize) -> Option<(usize, usize, usize)> {
    let joined = match sentence.word_at(at) {
        "between" => Some("and"),
        "from" => Some("to"),
        _ => None,
    };
    if let Some(joint) = joined {
        let least = parse_number(sentence, at + 1)?;
        let most = parse_number(sentence, least.end + 1)?;
        let holds = sentence.word_at(least.end) == joint && least.value < most.value;
        return holds.then_some((least.value, most.value, most.end));
    }
    // Only in `a sentence` does the article count as a number.
    let is_counting = ["in", "than", "most"].contains(&sentence.word_before(at));
    if is_counting && sentence.matches_words(at, "a sentence") {
        return Some((1, 1, at + 1));
    }
    let NumberToken { value: least, end } = parse_number(sentence, at)?;
    let most = parse_range_end(sentence, end).filter(|most| least < most.value);
    Some(most.map_or((least, least, end), |most| (least, most.value, most.end)))
}

/// Parses the second number of a range, after its joining word.
fn parse_range_end(sentence: &QuestionSentence, at: usize) -> Option<NumberToken> {
    let past_hyphen = |place: usize| {
        place + usize::from(sentence.mark_at(place) == Some(PunctuationMark::Hyphen))
    };
    let is_dash =
        matches!(sentence.mark_at(at), Some(PunctuationMark::Hyphen | PunctuationMark::Dash));
    let place = past_hyphen(at);
    match sentence.word_at(place) {
        "to" | "or" => parse_number(sentence, past_hyphen(place + 1)),
        _ if is_dash => parse_number(sentence, at + 1),
        _ => None,
    }
}

struct UnitMatch {
    measure: FormatUnit,
    form: CountForm,
    end: usize,
}

/// Parses the unit after the number.
fn parse_unit(
    sentence: &QuestionSentence,
    least: usize,
    most: usize,
    at: usize,
) -> Option<UnitMatch> {
    let mut place = at;
    let mut is_joined = false;
    loop {
        let is_hyphen = sentence.mark_at(place) == Some(PunctuationMark::Hyphen);
        if !is_hyphen && !ADJECTIVES.contains_word(sentence.word_at(place)) {
            break;
        }
        is_joined |= is_hyphen;
        place += 1;
    }
    if is_joined && ["liner", "liners"].contains(&sentence.word_at(place)) {
        return (least == 1).then_some(UnitMatch {
            measure: FormatUnit::Lines,
            form: CountForm::Compound,
            end: place + 1,
        });
    }
    let (measure, is_plural, end) = parse_unit_word(sentence, place)?;
    if let Some(end) = (!is_plural).then(|| parse_answer_noun(sentence, end)).flatten() {
        return Some(UnitMatch { measure, form: CountForm::Compound, end });
    }
    let agrees =
        if is_plural { most > 1 || !sentence.matches_words(at - 1, "one") } else { most == 1 };
    (agrees && !is_joined).then_some(UnitMatch { measure, form: CountForm::Plain, end })
}

/// Parses a unit: which one, whether it is a plural, and the position after it.
fn parse_unit_word(sentence: &QuestionSentence, at: usize) -> Option<(FormatUnit, bool, usize)> {
    let word = sentence.word_at(at);
    let (measure, is_plural) = match word {
        "line" => (FormatUnit::Lines, false),
        "lines" => (FormatUnit::Lines, true),
        "sentence" => (FormatUnit::Sentences, false),
        "sentences" => (FormatUnit::Sentences, true),
        "word" => (FormatUnit::Words, false),
        "words" => (FormatUnit::Words, true),
        "bulletpoint" => (FormatUnit::Bullets, false),
        "bullets" | "bulletpoints" => (FormatUnit::Bullets, true),
        "bullet" | "bulleted" => {
            let next =
                at + 1 + usize::from(sentence.mark_at(at + 1) == Some(PunctuationMark::Hyphen));
            return match sentence.word_at(next) {
                "point" | "item" => Some((FormatUnit::Bullets, false, next + 1)),
                "points" | "items" => Some((FormatUnit::Bullets, true, next + 1)),
                _ => (word == "bullet").then_some((FormatUnit::Bullets, false, at + 1)),
            };
        }
        _ => return None,
    };
    Some((measure, is_plural, at + 1))
}

/// Returns the position after the noun that has this form: `final answer`, `summary`.
fn parse_answer_noun(sentence: &QuestionSentence, at: usize) -> Option<usize> {
    let mut place = at + usize::from(sentence.mark_at(at) == Some(PunctuationMark::Hyphen));
    while ADJECTIVES.contains_word(sentence.word_at(place)) {
        place += 1;
    }
    ANSWER_NOUNS.contains_word(sentence.word_at(place)).then_some(place + 1)
}

/// Parses the bound before a number, and where it starts. `None` if the wording makes no sense.
fn parse_bound_before(
    sentence: &QuestionSentence,
    from: usize,
    at: usize,
) -> Option<(Option<BoundKind>, usize)> {
    if TO_EXCEED.contains_word(sentence.word_before(at)) {
        return find_negation(sentence, from, at - 1).map(|start| (Some(BoundKind::AtMost), start));
    }
    let stands =
        |words: &str, count| from + count <= at && sentence.matches_words(at - count, words);
    let Some((found, count)) = find_bound(&BOUNDS_BEFORE, stands) else { return Some((None, at)) };
    let start = at - count;
    // `do not write more than`.
    let denied =
        (found == BoundKind::Above).then(|| find_negation(sentence, from, start)).flatten();
    Some(denied.map_or((Some(found), start), |start| (Some(BoundKind::AtMost), start)))
}

/// Finds a negation shortly before a position.
fn find_negation(sentence: &QuestionSentence, from: usize, at: usize) -> Option<usize> {
    let first = at.saturating_sub(NEGATION_WORDS_MAX).max(from);
    let place =
        (first..at).rev().find(|place| NEGATIONS.contains_word(sentence.word_at(*place)))?;
    // A comma ends the negation.
    let is_whole = (place..at).all(|place| !sentence.word_at(place).is_empty());
    let is_do = place > from && sentence.word_before(place) == "do";
    is_whole.then_some(if is_do { place - 1 } else { place })
}

/// Finds bullets without a number.
fn parse_unnumbered(sentence: &QuestionSentence, from: usize, at: usize) -> Option<CountPhrase> {
    let end =
        parse_bulleted_list(sentence, at).or_else(|| match parse_unit_word(sentence, at) {
            Some((FormatUnit::Bullets, true, end)) => Some(end),
            _ => None,
        })?;
    let mut start = at;
    while start > from && ADJECTIVES.contains_word(sentence.word_before(start)) {
        start -= 1;
    }
    if start > from && sentence.word_before(start) == "a" {
        start -= 1;
    }
    let (measure, amount) = (FormatUnit::Bullets, FormatAmount::AtLeast(1));
    Some(CountPhrase {
        start,
        end,
        measure,
        amount,
        form: CountForm::Unnumbered,
        is_bounded: false,
    })
}

/// Returns the position after `bulleted list`, `bullet-point list` and `bullet form`.
fn parse_bulleted_list(sentence: &QuestionSentence, at: usize) -> Option<usize> {
    if !["bullet", "bulleted"].contains(&sentence.word_at(at)) {
        return None;
    }
    let mut place = at + 1;
    while sentence.mark_at(place) == Some(PunctuationMark::Hyphen)
        || ["point", "points"].contains(&sentence.word_at(place))
    {
        place += 1;
    }
    ["list", "form", "format", "style"].contains(&sentence.word_at(place)).then_some(place + 1)
}

/// A larger number is a figure in the text, not a format constraint.
const NUMBER_MAX: usize = 10_000;

const SMALL: &str = "zero one two three four five six seven eight nine ten eleven twelve thirteen \
                     fourteen fifteen sixteen seventeen eighteen nineteen twenty";

/// A number and the position after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NumberToken {
    pub(crate) value: usize,
    pub(crate) end: usize,
}

/// Parses the number at a position. Zero is no valid count.
pub(crate) fn parse_number(sentence: &QuestionSentence, at: usize) -> Option<NumberToken> {
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
    use crate::protocols::conclusion::format::constraint::FormatConstraint;
    use crate::protocols::conclusion::format::question::split_sentences;

    /// The counts of a text, each with its words.
    fn told(text: &str) -> Vec<String> {
        let told = |sentence: &QuestionSentence| {
            let told = |phrase: CountPhrase| {
                let CountPhrase { measure, amount, .. } = phrase;
                let words: Vec<&str> = sentence.words_in(phrase.start..phrase.end).collect();
                format!("{} = {}", words.join(" "), FormatConstraint { measure, amount })
            };
            find_phrases(sentence).into_iter().map(told).collect::<Vec<_>>()
        };
        split_sentences(text).iter().flat_map(told).collect()
    }

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(told(text), expected, "{text}");
    }

    #[test]
    fn counts_are_read_with_what_bounds_them() {
        check("in exactly 5 lines", &["exactly 5 lines = exactly 5 lines"]);
        check("five short lines", &["five short lines = exactly 5 lines"]);
        check(
            "no more than three bullet-points",
            &["no more than three bullet points = at most 3 bullets"],
        );
        check("under 50 words", &["under 50 words = at most 49 words"]);
        check("more than 3 bullets", &["more than 3 bullets = at least 4 bullets"]);
        check(
            "do not write more than 3 lines",
            &["do not write more than 3 lines = at most 3 lines"],
        );
        check("must not exceed 3 lines", &["not exceed 3 lines = at most 3 lines"]);
        check("exceed 3 lines", &[]);
        check("between 3 and 5 bullets", &["between 3 and 5 bullets = 3 to 5 bullets"]);
        check("3-5 bullets", &["3 5 bullets = 3 to 5 bullets"]);
        check("one or two sentences", &["one or two sentences = 1 to 2 sentences"]);
        check("one-to-two sentences", &["one to two sentences = 1 to 2 sentences"]);
        check("~100 words", &["~ 100 words = about 100 words"]);
        check("100 words or less", &["100 words or less = at most 100 words"]);
        check("100 words", &["100 words = about 100 words"]);
        check("exactly 100 words", &["exactly 100 words = exactly 100 words"]);
        check("5 words", &["5 words = exactly 5 words"]);
        check(
            "max. 3 lines, 50 words",
            &["max 3 lines = at most 3 lines", "50 words = about 50 words"],
        );
    }

    #[test]
    fn compounds_say_what_of() {
        check("a 5-line summary", &["a 5 line summary = exactly 5 lines"]);
        check("a 5 line summary", &["a 5 line summary = exactly 5 lines"]);
        check("one-sentence final answer", &["one sentence final answer = exactly 1 sentence"]);
        check("a one-liner", &["a one liner = exactly 1 line"]);
        check("a 3-5-bullet list", &["a 3 5 bullet list = 3 to 5 bullets"]);
        check("a 5-line function", &[]);
        check("5 line", &[]);
        check("one lines up", &[]);
    }

    #[test]
    fn bullets_need_no_number() {
        check("in bullet points", &["bullet points = at least 1 bullet"]);
        check("as a bulleted list", &["a bulleted list = at least 1 bullet"]);
        check("as a short bullet-point list", &["a short bullet point list = at least 1 bullet"]);
        check("in bullet form", &["bullet form = at least 1 bullet"]);
        check("dodge a bullet", &[]);
    }
}

#[cfg(test)]
mod number_tests {
    use super::*;
    use crate::protocols::conclusion::format::question::split_sentences;

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
