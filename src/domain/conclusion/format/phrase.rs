//! Counts in a sentence: `at most 3 short bullets`, `a 5-line summary`, `one or two sentences`.
//!
//! Whether anybody asks for them is decided elsewhere.

use super::clauses::{Mark, Sentence};
use super::number::{Number, number};
use super::vocabulary::{ADJECTIVES, ANSWER_NOUNS, NEGATIONS, TO_EXCEED};
use super::wish::{Amount, Measure};

/// From this number of words on nobody means each single one, unless they say `exactly`.
const WORDS_ABOUT_FROM: usize = 20;

/// Between `not` and `more than` stand a few words.
const NEGATION_WORDS_MAX: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// `5 lines`.
    Plain,
    /// `a 5-line summary`: it says what of.
    Compound,
    /// `bullet points`, without a number.
    Unnumbered,
}

/// A count, with all the words that belong to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Phrase {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) measure: Measure,
    pub(super) amount: Amount,
    pub(super) form: Form,
    /// Whether it says `exactly`, `at most` or the like.
    pub(super) is_bounded: bool,
}

/// How a number is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bound {
    Exactly,
    AtMost,
    Below,
    AtLeast,
    Above,
    About,
    /// Says nothing by itself: `a total of`.
    Plain,
}

/// Longer ones first, where one ends like another.
const BEFORE: [(&str, Bound); 64] = [
    ("no more and no less than", Bound::Exactly),
    ("exactly", Bound::Exactly),
    ("precisely", Bound::Exactly),
    ("strictly", Bound::Exactly),
    ("only", Bound::Exactly),
    ("just", Bound::Exactly),
    ("a maximum length of", Bound::AtMost),
    ("a maximum of", Bound::AtMost),
    ("a max of", Bound::AtMost),
    ("maximum of", Bound::AtMost),
    ("max of", Bound::AtMost),
    ("a limit of", Bound::AtMost),
    ("at most", Bound::AtMost),
    ("at max", Bound::AtMost),
    ("at maximum", Bound::AtMost),
    ("no more than", Bound::AtMost),
    ("not more than", Bound::AtMost),
    ("no longer than", Bound::AtMost),
    ("not longer than", Bound::AtMost),
    ("no greater than", Bound::AtMost),
    ("not exceeding", Bound::AtMost),
    ("without exceeding", Bound::AtMost),
    ("not over", Bound::AtMost),
    ("not above", Bound::AtMost),
    ("maximum", Bound::AtMost),
    ("max", Bound::AtMost),
    ("up to", Bound::AtMost),
    ("within", Bound::AtMost),
    ("< =", Bound::AtMost),
    ("≤", Bound::AtMost),
    ("a minimum of", Bound::AtLeast),
    ("a min of", Bound::AtLeast),
    ("minimum of", Bound::AtLeast),
    ("at least", Bound::AtLeast),
    ("no fewer than", Bound::AtLeast),
    ("not fewer than", Bound::AtLeast),
    ("no less than", Bound::AtLeast),
    ("not less than", Bound::AtLeast),
    ("<", Bound::Below),
    ("under", Bound::Below),
    ("below", Bound::Below),
    ("less than", Bound::Below),
    ("fewer than", Bound::Below),
    ("shorter than", Bound::Below),
    ("minimum", Bound::AtLeast),
    ("min", Bound::AtLeast),
    ("> =", Bound::AtLeast),
    ("≥", Bound::AtLeast),
    (">", Bound::Above),
    ("more than", Bound::Above),
    ("longer than", Bound::Above),
    ("over", Bound::Above),
    ("approximately", Bound::About),
    ("approx", Bound::About),
    ("roughly", Bound::About),
    ("about", Bound::About),
    ("around", Bound::About),
    ("circa", Bound::About),
    ("ca", Bound::About),
    ("some", Bound::About),
    ("nearly", Bound::About),
    ("~", Bound::About),
    ("a total of", Bound::Plain),
    ("a length of", Bound::Plain),
];

const AFTER: [(&str, Bound); 20] = [
    ("or less", Bound::AtMost),
    ("or fewer", Bound::AtMost),
    ("or under", Bound::AtMost),
    ("or shorter", Bound::AtMost),
    ("at most", Bound::AtMost),
    ("at max", Bound::AtMost),
    ("maximum", Bound::AtMost),
    ("max", Bound::AtMost),
    ("tops", Bound::AtMost),
    ("or more", Bound::AtLeast),
    ("at least", Bound::AtLeast),
    ("minimum", Bound::AtLeast),
    ("min", Bound::AtLeast),
    ("or so", Bound::About),
    ("approximately", Bound::About),
    ("approx", Bound::About),
    ("roughly", Bound::About),
    ("exactly", Bound::Exactly),
    ("precisely", Bound::Exactly),
    ("only", Bound::Exactly),
];

/// The counts of a sentence, in order.
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
    let after = AFTER.iter().find(|(words, _)| sentence.reads(end, words));
    if let Some((words, _)) = after {
        end += words.split(' ').count();
    }
    let bound = before.or(after.map(|(_, bound)| *bound));
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

/// The least and the most of `5`, `3-5`, `three to five`, `one or two`, `between 3 and 5`.
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
    // In `a sentence` alone the article counts.
    let is_counting = ["in", "than", "most"].contains(&sentence.word_before(at));
    if is_counting && sentence.reads(at, "a sentence") {
        return Some((1, 1, at + 1));
    }
    let Number { value: least, end } = number(sentence, at)?;
    let most = second(sentence, end).filter(|most| least < most.value);
    Some(most.map_or((least, least, end), |most| (least, most.value, most.end)))
}

/// The second number of a range, behind its joint.
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

/// What is counted, behind the number.
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

/// The measure that is named at a place, whether in the plural, and the place behind it.
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

/// The place behind the noun that says what has this form: `final answer`, `summary`.
fn end_of_noun(sentence: &Sentence, at: usize) -> Option<usize> {
    let mut place = at + usize::from(sentence.mark(at) == Some(Mark::Hyphen));
    while ADJECTIVES.has(sentence.word(place)) {
        place += 1;
    }
    ANSWER_NOUNS.has(sentence.word(place)).then_some(place + 1)
}

/// The words before a number that say how it is meant, and where they begin. Nothing at all,
/// where they make no sense.
fn bound_before(sentence: &Sentence, from: usize, at: usize) -> Option<(Option<Bound>, usize)> {
    if TO_EXCEED.has(sentence.word_before(at)) {
        return negation(sentence, from, at - 1).map(|start| (Some(Bound::AtMost), start));
    }
    let found = BEFORE.iter().find_map(|(words, bound)| {
        let start = at.checked_sub(words.split(' ').count()).filter(|start| *start >= from)?;
        sentence.reads(start, words).then_some((*bound, start))
    });
    match found {
        // `do not write more than`.
        Some((Bound::Above, start)) => Some(match negation(sentence, from, start) {
            Some(start) => (Some(Bound::AtMost), start),
            None => (Some(Bound::Above), start),
        }),
        Some((bound, start)) => Some((Some(bound), start)),
        None => Some((None, at)),
    }
}

/// Where a negation begins that stands shortly before a place.
fn negation(sentence: &Sentence, from: usize, at: usize) -> Option<usize> {
    let first = at.saturating_sub(NEGATION_WORDS_MAX).max(from);
    let place = (first..at).rev().find(|place| NEGATIONS.has(sentence.word(*place)))?;
    // Words alone: what a comma parts is not negated.
    let is_whole = (place..at).all(|place| !sentence.word(place).is_empty());
    let is_do = place > from && sentence.word_before(place) == "do";
    is_whole.then_some(if is_do { place - 1 } else { place })
}

/// Bullets of any number.
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

/// The place behind `bulleted list`, `bullet-point list` and `bullet form`.
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
    use super::super::clauses::sentences;
    use super::super::wish::Wish;
    use super::*;

    /// The counts of a text, each with the words that belong to it.
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
