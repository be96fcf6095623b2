//! Finds counts in a sentence: `at most 3 short bullets`, `a 5-line summary`, `one or two
//! sentences`.
//!
//! The `request` module decides whether a count is a request.

use super::number::{Number, number};
use super::question::{Mark, Sentence};
use super::vocabulary::{ADJECTIVES, ANSWER_NOUNS, NEGATIONS, TO_EXCEED};
use super::wish::{Amount, Measure};

/// From this number of words on, a bare count is approximate unless it says `exactly`.
const WORDS_ABOUT_FROM: usize = 20;

/// Maximum number of words between `not` and `more than`.
const NEGATION_WORDS_MAX: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// `5 lines`.
    Plain,
    /// `a 5-line summary`: names what has this form.
    Compound,
    /// `bullet points`, without a number.
    Unnumbered,
}

/// A count with all words that belong to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Phrase {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) measure: Measure,
    pub(super) amount: Amount,
    pub(super) form: Form,
    /// True if it says `exactly`, `at most` or the like.
    pub(super) is_bounded: bool,
}

/// How a number bounds the count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bound {
    Exactly,
    AtMost,
    Below,
    AtLeast,
    Above,
    About,
    /// Gives no bound by itself: `a total of`.
    Plain,
}

const BEFORE: [(Bound, &str); 7] = [
    (Bound::Exactly, "no more and no less than|exactly|precisely|strictly|only|just"),
    (
        Bound::AtMost,
        "at most|at max|at maximum|no more than|no longer than|no greater than|a maximum length of|\
         a maximum of|a max of|maximum of|max of|a limit of|maximum|max|up to|within|< =|≤",
    ),
    (Bound::Below, "under|below|less than|fewer than|shorter than|<"),
    (
        Bound::AtLeast,
        "at least|no fewer than|not fewer than|no less than|not less than|a minimum of|a min of|\
         minimum of|minimum|min|> =|≥",
    ),
    (Bound::Above, "more than|longer than|over|>"),
    (Bound::About, "about|around|approximately|approx|roughly|circa|ca|some|nearly|~"),
    (Bound::Plain, "a total of|a length of"),
];

const AFTER: [(Bound, &str); 4] = [
    (Bound::AtMost, "or less|or fewer|or under|or shorter|at most|at max|maximum|max|tops"),
    (Bound::AtLeast, "or more|at least|minimum|min"),
    (Bound::About, "or so|approximately|approx|roughly"),
    (Bound::Exactly, "exactly|precisely|only"),
];

/// Finds the longest matching wording and its number of words: `no more than` is not `more than`.
fn bound(rows: &[(Bound, &str)], holds: impl Fn(&str, usize) -> bool) -> Option<(Bound, usize)> {
    let wordings = rows.iter().flat_map(|(bound, wordings)| {
        wordings.split('|').map(|words| (*bound, words, words.split(' ').count()))
    });
    let found = wordings.filter(|(_, words, count)| holds(words, *count));
    found.max_by_key(|(_, _, count)| *count).map(|(bound, _, count)| (bound, count))
}

/// Finds the counts of a sentence, in order.
pub(super) fn phrases(sentence: &Sentence) -> Vec<Phrase> {
    let mut found: Vec<Phrase> = Vec::new();
    let mut at = 0;
    while at < sentence.tokens.len() {
        let from = found.last().map_or(0, |last| last.end);
        match numbered(sentence, from, at).or_else(|| unnumbered(sentence, from, at)) {
            Some(phrase) => {
                at = phrase.end;
                found.push(phrase);
            }
            None => at += 1,
        }
    }
    found
}

fn numbered(sentence: &Sentence, from: usize, at: usize) -> Option<Phrase> {
    let (least, most, end) = range(sentence, at)?;
    let named = measure(sentence, least, most, end)?;
    let Named { measure, form, mut end } = named;
    let (before, mut start) = bound_before(sentence, from, at)?;
    if form == Form::Compound && ["a", "an"].contains(&sentence.word_before(start)) {
        start -= 1;
    }
    let after = bound(&AFTER, |words, _| sentence.reads(end, words));
    end += after.map_or(0, |(_, count)| count);
    let bound = before.or(after.map(|(bound, _)| bound));
    let amount = if least < most {
        Amount::Between(least, most)
    } else {
        amount(measure, least, bound.unwrap_or(Bound::Plain))?
    };
    let is_bounded = bound.is_some_and(|bound| bound != Bound::Plain);
    Some(Phrase { start, end, measure, amount, form, is_bounded })
}

fn amount(measure: Measure, number: usize, bound: Bound) -> Option<Amount> {
    Some(match bound {
        Bound::Exactly => Amount::Exactly(number),
        Bound::AtMost => Amount::AtMost(number),
        Bound::Below => Amount::AtMost(number.checked_sub(1).filter(|most| *most > 0)?),
        Bound::AtLeast => Amount::AtLeast(number),
        Bound::Above => Amount::AtLeast(number + 1),
        Bound::About => Amount::About(number),
        Bound::Plain if measure == Measure::Words && number >= WORDS_ABOUT_FROM => {
            Amount::About(number)
        }
        Bound::Plain => Amount::Exactly(number),
    })
}

/// Parses a minimum and a maximum: `5`, `3-5`, `three to five`, `one or two`, `between 3 and 5`.
fn range(sentence: &Sentence, at: usize) -> Option<(usize, usize, usize)> {
    let joined = match sentence.word(at) {
        "between" => Some("and"),
        "from" => Some("to"),
        _ => None,
    };
    if let Some(joint) = joined {
        let least = number(sentence, at + 1)?;
        let most = number(sentence, least.end + 1)?;
        let holds = sentence.word(least.end) == joint && least.value < most.value;
        return holds.then_some((least.value, most.value, most.end));
    }
    // Only in `a sentence` does the article count as a number.
    let is_counting = ["in", "than", "most"].contains(&sentence.word_before(at));
    if is_counting && sentence.reads(at, "a sentence") {
        return Some((1, 1, at + 1));
    }
    let Number { value: least, end } = number(sentence, at)?;
    let most = second(sentence, end).filter(|most| least < most.value);
    Some(most.map_or((least, least, end), |most| (least, most.value, most.end)))
}

/// Parses the second number of a range, after its joining word.
fn second(sentence: &Sentence, at: usize) -> Option<Number> {
    let past_hyphen =
        |place: usize| place + usize::from(sentence.mark(place) == Some(Mark::Hyphen));
    let is_dash = matches!(sentence.mark(at), Some(Mark::Hyphen | Mark::Dash));
    let place = past_hyphen(at);
    match sentence.word(place) {
        "to" | "or" => number(sentence, past_hyphen(place + 1)),
        _ if is_dash => number(sentence, at + 1),
        _ => None,
    }
}

struct Named {
    measure: Measure,
    form: Form,
    end: usize,
}

/// Parses the unit after the number.
fn measure(sentence: &Sentence, least: usize, most: usize, at: usize) -> Option<Named> {
    let mut place = at;
    let mut is_joined = false;
    loop {
        let is_hyphen = sentence.mark(place) == Some(Mark::Hyphen);
        if !is_hyphen && !ADJECTIVES.has(sentence.word(place)) {
            break;
        }
        is_joined |= is_hyphen;
        place += 1;
    }
    if is_joined && ["liner", "liners"].contains(&sentence.word(place)) {
        return (least == 1).then_some(Named {
            measure: Measure::Lines,
            form: Form::Compound,
            end: place + 1,
        });
    }
    let (measure, is_plural, end) = measure_word(sentence, place)?;
    if let Some(end) = (!is_plural).then(|| end_of_noun(sentence, end)).flatten() {
        return Some(Named { measure, form: Form::Compound, end });
    }
    let agrees = if is_plural { most > 1 || !sentence.reads(at - 1, "one") } else { most == 1 };
    (agrees && !is_joined).then_some(Named { measure, form: Form::Plain, end })
}

/// Parses a unit: which one, whether it is a plural, and the position after it.
fn measure_word(sentence: &Sentence, at: usize) -> Option<(Measure, bool, usize)> {
    let word = sentence.word(at);
    let (measure, is_plural) = match word {
        "line" => (Measure::Lines, false),
        "lines" => (Measure::Lines, true),
        "sentence" => (Measure::Sentences, false),
        "sentences" => (Measure::Sentences, true),
        "word" => (Measure::Words, false),
        "words" => (Measure::Words, true),
        "bulletpoint" => (Measure::Bullets, false),
        "bullets" | "bulletpoints" => (Measure::Bullets, true),
        "bullet" | "bulleted" => {
            let next = at + 1 + usize::from(sentence.mark(at + 1) == Some(Mark::Hyphen));
            return match sentence.word(next) {
                "point" | "item" => Some((Measure::Bullets, false, next + 1)),
                "points" | "items" => Some((Measure::Bullets, true, next + 1)),
                _ => (word == "bullet").then_some((Measure::Bullets, false, at + 1)),
            };
        }
        _ => return None,
    };
    Some((measure, is_plural, at + 1))
}

/// Returns the position after the noun that has this form: `final answer`, `summary`.
fn end_of_noun(sentence: &Sentence, at: usize) -> Option<usize> {
    let mut place = at + usize::from(sentence.mark(at) == Some(Mark::Hyphen));
    while ADJECTIVES.has(sentence.word(place)) {
        place += 1;
    }
    ANSWER_NOUNS.has(sentence.word(place)).then_some(place + 1)
}

/// Parses the bound before a number, and where it starts. `None` if the wording makes no sense.
fn bound_before(sentence: &Sentence, from: usize, at: usize) -> Option<(Option<Bound>, usize)> {
    if TO_EXCEED.has(sentence.word_before(at)) {
        return negation(sentence, from, at - 1).map(|start| (Some(Bound::AtMost), start));
    }
    let stands = |words: &str, count| from + count <= at && sentence.reads(at - count, words);
    let Some((found, count)) = bound(&BEFORE, stands) else { return Some((None, at)) };
    let start = at - count;
    // `do not write more than`.
    let denied = (found == Bound::Above).then(|| negation(sentence, from, start)).flatten();
    Some(denied.map_or((Some(found), start), |start| (Some(Bound::AtMost), start)))
}

/// Finds a negation shortly before a position.
fn negation(sentence: &Sentence, from: usize, at: usize) -> Option<usize> {
    let first = at.saturating_sub(NEGATION_WORDS_MAX).max(from);
    let place = (first..at).rev().find(|place| NEGATIONS.has(sentence.word(*place)))?;
    // A comma ends the negation.
    let is_whole = (place..at).all(|place| !sentence.word(place).is_empty());
    let is_do = place > from && sentence.word_before(place) == "do";
    is_whole.then_some(if is_do { place - 1 } else { place })
}

/// Finds bullets without a number.
fn unnumbered(sentence: &Sentence, from: usize, at: usize) -> Option<Phrase> {
    let end = bulleted_list(sentence, at).or_else(|| match measure_word(sentence, at) {
        Some((Measure::Bullets, true, end)) => Some(end),
        _ => None,
    })?;
    let mut start = at;
    while start > from && ADJECTIVES.has(sentence.word_before(start)) {
        start -= 1;
    }
    if start > from && sentence.word_before(start) == "a" {
        start -= 1;
    }
    let (measure, amount) = (Measure::Bullets, Amount::AtLeast(1));
    Some(Phrase { start, end, measure, amount, form: Form::Unnumbered, is_bounded: false })
}

/// Returns the position after `bulleted list`, `bullet-point list` and `bullet form`.
fn bulleted_list(sentence: &Sentence, at: usize) -> Option<usize> {
    if !["bullet", "bulleted"].contains(&sentence.word(at)) {
        return None;
    }
    let mut place = at + 1;
    while sentence.mark(place) == Some(Mark::Hyphen)
        || ["point", "points"].contains(&sentence.word(place))
    {
        place += 1;
    }
    ["list", "form", "format", "style"].contains(&sentence.word(place)).then_some(place + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::conclusion::format::question::sentences;
    use crate::domain::conclusion::format::wish::Wish;

    /// The counts of a text, each with its words.
    fn told(text: &str) -> Vec<String> {
        let told = |sentence: &Sentence| {
            let told = |phrase: Phrase| {
                let Phrase { measure, amount, .. } = phrase;
                let words: Vec<&str> = sentence.words(phrase.start..phrase.end).collect();
                format!("{} = {}", words.join(" "), Wish { measure, amount })
            };
            phrases(sentence).into_iter().map(told).collect::<Vec<_>>()
        };
        sentences(text).iter().flat_map(told).collect()
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
