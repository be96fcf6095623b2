//! Format constraints of a question (how many units of which kind), and their violations.

use std::fmt;

use crate::model::string_enum::words;
use crate::protocols::conclusion::format::command::{find_command, parse_command, skip_fillers};
use crate::protocols::conclusion::format::count::count_units;
use crate::protocols::conclusion::format::phrase::{CountPhrase, find_phrases};
use crate::protocols::conclusion::format::question::{QuestionSentence, split_sentences};
use crate::protocols::conclusion::format::request::CountContext;
use crate::protocols::conclusion::format::vocabulary::{LIMITING, PART_MARKS, PRODUCING, WHOLE};
use crate::protocols::conclusion::types::{AuditObjection, ConclusionField, ObjectionSource};

words! {
    /// The unit that is counted.
    pub enum FormatUnit {
        Lines = "lines",
        Bullets = "bullets",
        Sentences = "sentences",
        Words = "words",
    }
}

/// The allowed number of units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FormatAmount {
    Exactly(usize),
    AtLeast(usize),
    AtMost(usize),
    Between(usize, usize),
    /// Within a fifth of the number.
    About(usize),
}

/// One constraint on the format of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FormatConstraint {
    pub measure: FormatUnit,
    pub amount: FormatAmount,
}

impl FormatAmount {
    /// The smallest allowed number.
    pub fn min_count(self) -> usize {
        match self {
            Self::Exactly(number) | Self::AtLeast(number) | Self::Between(number, _) => number,
            // An empty answer satisfies no constraint.
            Self::AtMost(_) => 1,
            Self::About(number) => number.saturating_sub(amount_tolerance(number)).max(1),
        }
    }

    /// The largest allowed number; `None` if there is no maximum.
    pub fn max_count(self) -> Option<usize> {
        match self {
            Self::Exactly(number) | Self::AtMost(number) | Self::Between(_, number) => Some(number),
            Self::AtLeast(_) => None,
            Self::About(number) => Some(number.saturating_add(amount_tolerance(number))),
        }
    }

    pub fn is_met_by(self, count: usize) -> bool {
        count >= self.min_count() && self.max_count().is_none_or(|most| count <= most)
    }
}

/// A fifth, but at least 1.
fn amount_tolerance(number: usize) -> usize {
    (number / 5).max(1)
}

impl fmt::Display for FormatConstraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (told, last) = match self.amount {
            FormatAmount::Exactly(number) => (format!("exactly {number}"), number),
            FormatAmount::AtLeast(number) => (format!("at least {number}"), number),
            FormatAmount::AtMost(number) => (format!("at most {number}"), number),
            FormatAmount::Between(least, most) => (format!("{least} to {most}"), most),
            FormatAmount::About(number) => (format!("about {number}"), number),
        };
        let plural = self.measure.name();
        let singular = plural.strip_suffix('s').unwrap_or(plural);
        write!(f, "{told} {}", if last == 1 { singular } else { plural })
    }
}

/// A word limit below this, per piece, may apply to each piece rather than to the whole.
const WORDS_PER_PIECE_MIN: usize = 15;

/// A constraint and its position.
struct FormatRequest {
    sentence: usize,
    phrase: CountPhrase,
    wish: FormatConstraint,
}

/// Returns the constraints on the whole answer: one, or one with a word limit. With more than that,
/// the constraints may concern parts of the answer, so none is returned.
pub fn find_constraints(question: &str) -> Vec<FormatConstraint> {
    let text = split_sentences(question);
    let asked = find_requests(&text);
    match asked.as_slice() {
        [one] if !is_followed_by_more(&text, one) => vec![one.wish],
        [first, second] => {
            let (form, limit) =
                if is_word_limit(second) { (first, second) } else { (second, first) };
            let is_single = is_word_limit(limit)
                && form.wish.measure != FormatUnit::Words
                && !is_separate_part(&text, first, second)
                && !is_followed_by_more(&text, form);
            match is_single {
                true if fits_limit(form, limit) => vec![first.wish, second.wish],
                true => vec![form.wish],
                false => Vec::new(),
            }
        }
        _ => Vec::new(),
    }
}

/// Returns an objection for each violated constraint, with both counts.
pub fn find_violations(question: &str, recommendation: &str) -> Vec<AuditObjection> {
    let miss = |wish: FormatConstraint| {
        let counted = count_units(wish.measure, recommendation)?;
        let told = if counted == 0 { "none".to_owned() } else { counted.to_string() };
        (!wish.amount.is_met_by(counted)).then(|| AuditObjection {
            field: ConclusionField::Recommendation,
            objection: format!("asked for {wish}; the recommendation has {told}"),
            by: ObjectionSource::Count,
        })
    };
    find_constraints(question).into_iter().filter_map(miss).collect()
}

fn find_requests(text: &[QuestionSentence]) -> Vec<FormatRequest> {
    let mut asked: Vec<FormatRequest> = Vec::new();
    for (at, sentence) in text.iter().enumerate() {
        let phrases = find_phrases(sentence);
        for phrase in &phrases {
            let setting = CountContext { text, at, sentence, phrases: &phrases, phrase };
            let last = asked.last().filter(|last| last.sentence == at);
            let goes_on = || last.is_some_and(|last| setting.continues_request(&last.phrase));
            let wish = FormatConstraint {
                measure: phrase.measure,
                amount: bounded_amount(sentence, phrase),
            };
            // Repeats in another sentence count once: `In 5 lines. Exactly 5 lines!`. Repeats
            // within one sentence do not: `3 bullets for and 3 bullets against`.
            let is_repeated = asked.iter().any(|one| one.wish == wish && one.sentence != at);
            if !is_repeated && (setting.is_request() || goes_on()) {
                asked.push(FormatRequest { sentence: at, phrase: *phrase, wish });
            }
        }
    }
    asked
}

/// With `Limit it to 100 words` or `Limit: 3 lines`, a bare number is a maximum.
fn bounded_amount(sentence: &QuestionSentence, phrase: &CountPhrase) -> FormatAmount {
    let is_limited = find_command(sentence, phrase)
        .is_some_and(|head| LIMITING.contains_word(head.verb))
        || sentence.words_in(0..phrase.start).any(|word| word == "limit");
    match phrase.amount {
        FormatAmount::Exactly(number) | FormatAmount::About(number)
            if is_limited && !phrase.is_bounded =>
        {
            FormatAmount::AtMost(number)
        }
        FormatAmount::Exactly(_)
        | FormatAmount::About(_)
        | FormatAmount::AtLeast(_)
        | FormatAmount::AtMost(_)
        | FormatAmount::Between(..) => phrase.amount,
    }
}

fn is_word_limit(one: &FormatRequest) -> bool {
    one.wish.measure == FormatUnit::Words && matches!(one.wish.amount, FormatAmount::AtMost(_))
}

/// In `3 bullets, max 10 words` the limit applies to each bullet, because it is too small for all.
fn fits_limit(form: &FormatRequest, limit: &FormatRequest) -> bool {
    let pieces = form.wish.amount.min_count();
    let most = limit.wish.amount.max_count();
    pieces <= 1 || most.is_none_or(|most| most >= pieces.saturating_mul(WORDS_PER_PIECE_MIN))
}

/// `3 bullets, then at most 50 words` asks for two separate parts.
fn is_separate_part(
    text: &[QuestionSentence],
    first: &FormatRequest,
    second: &FormatRequest,
) -> bool {
    let between = first.phrase.end..second.phrase.start;
    let is_mark =
        |word: &str| PART_MARKS.contains_word(word) || ["followed", "plus"].contains(&word);
    let has_mark = |sentence: &QuestionSentence| {
        // `And at most 50 words of reasoning`.
        sentence.words_in(between).any(is_mark) || sentence.word_at(second.phrase.end) == "of"
    };
    first.sentence == second.sentence && text.get(first.sentence).is_some_and(has_mark)
}

/// In `A one-line verdict, then explain it` the line is only a part of the answer. A maximum may
/// still apply to the whole, and a list stays a list.
fn is_followed_by_more(text: &[QuestionSentence], one: &FormatRequest) -> bool {
    let Some(sentence) = text.get(one.sentence) else { return false };
    if one.wish.measure == FormatUnit::Bullets || matches!(one.wish.amount, FormatAmount::AtMost(_))
    {
        return false;
    }
    let goes_on = (one.phrase.end..sentence.tokens.len()).any(|place| {
        ["then", "and", "plus", "before"].contains(&sentence.word_at(place))
            && PRODUCING.contains_word(sentence.word_at(skip_fillers(sentence, place)))
    });
    let is_whole = parse_command(sentence, 0).is_some_and(|head| WHOLE.contains_word(head.verb));
    let may_be_part = one.wish.amount == FormatAmount::Exactly(1) && !is_whole;
    let asks_for_more = |(at, other): (usize, &QuestionSentence)| {
        let is_part = at > one.sentence && PART_MARKS.contains_word(other.word_at(0));
        let is_command =
            PRODUCING.contains_word(other.word_at(skip_fillers(other, 0))) && !other.is_mention;
        is_command && (is_part || (may_be_part && find_phrases(other).is_empty()))
    };
    goes_on || text.iter().enumerate().any(asks_for_more)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wish_says_what_it_asks_for() {
        let told = |measure, amount| FormatConstraint { measure, amount }.to_string();
        assert_eq!(told(FormatUnit::Lines, FormatAmount::Exactly(5)), "exactly 5 lines");
        assert_eq!(told(FormatUnit::Bullets, FormatAmount::AtLeast(1)), "at least 1 bullet");
        assert_eq!(told(FormatUnit::Sentences, FormatAmount::Between(1, 2)), "1 to 2 sentences");
        assert_eq!(told(FormatUnit::Words, FormatAmount::About(100)), "about 100 words");
    }

    #[test]
    fn about_is_a_fifth_more_or_less() {
        let about = FormatAmount::About(100);
        assert!(!about.is_met_by(79) && about.is_met_by(80));
        assert!(about.is_met_by(120) && !about.is_met_by(121));
        assert_eq!(
            (FormatAmount::About(3).min_count(), FormatAmount::About(3).max_count()),
            (2, Some(4))
        );
        assert_eq!(FormatAmount::About(1).min_count(), 1);
    }
}
