//! Finds the format constraints of a question, and the ones that a text violates.

use super::count::count;
use super::head::{command, head, past_fillers};
use super::phrase::{Phrase, phrases};
use super::question::{Sentence, sentences};
use super::request::Setting;
use super::vocabulary::{LIMITING, PART_MARKS, PRODUCING, WHOLE};
use super::wish::{Amount, Measure, Wish};
use crate::domain::conclusion::audit::{Auditor, Objection};
use crate::domain::conclusion::text::Field;

/// A word limit below this, per piece, may apply to each piece rather than to the whole.
const WORDS_PER_PIECE_MIN: usize = 15;

/// A constraint and its position.
struct Asked {
    sentence: usize,
    phrase: Phrase,
    wish: Wish,
}

/// Returns the constraints on the whole answer: one, or one with a word limit. With more than that,
/// the constraints may concern parts of the answer, so none is returned.
pub fn wishes(question: &str) -> Vec<Wish> {
    let text = sentences(question);
    let asked = requests(&text);
    match asked.as_slice() {
        [one] if !is_followed_by_more(&text, one) => vec![one.wish],
        [first, second] => {
            let (form, limit) = if is_limit(second) { (first, second) } else { (second, first) };
            let is_single = is_limit(limit)
                && form.wish.measure != Measure::Words
                && !is_parted(&text, first, second)
                && !is_followed_by_more(&text, form);
            match is_single {
                true if has_room(form, limit) => vec![first.wish, second.wish],
                true => vec![form.wish],
                false => Vec::new(),
            }
        }
        _ => Vec::new(),
    }
}

/// Returns an objection for each violated constraint, with both counts.
pub fn miscounts(question: &str, recommendation: &str) -> Vec<Objection> {
    let miss = |wish: Wish| {
        let counted = count(wish.measure, recommendation)?;
        let told = if counted == 0 { "none".to_owned() } else { counted.to_string() };
        (!wish.amount.is_met_by(counted)).then(|| Objection {
            field: Field::Recommendation,
            objection: format!("asked for {wish}; the recommendation has {told}"),
            by: Auditor::Count,
        })
    };
    wishes(question).into_iter().filter_map(miss).collect()
}

fn requests(text: &[Sentence]) -> Vec<Asked> {
    let mut asked: Vec<Asked> = Vec::new();
    for (at, sentence) in text.iter().enumerate() {
        let phrases = phrases(sentence);
        for phrase in &phrases {
            let setting = Setting { text, at, sentence, phrases: &phrases, phrase };
            let last = asked.last().filter(|last| last.sentence == at);
            let goes_on = || last.is_some_and(|last| setting.goes_on_from(&last.phrase));
            let wish = Wish { measure: phrase.measure, amount: amount(sentence, phrase) };
            // Repeats in another sentence count once: `In 5 lines. Exactly 5 lines!`. Repeats
            // within one sentence do not: `3 bullets for and 3 bullets against`.
            let is_repeated = asked.iter().any(|one| one.wish == wish && one.sentence != at);
            if !is_repeated && (setting.is_request() || goes_on()) {
                asked.push(Asked { sentence: at, phrase: *phrase, wish });
            }
        }
    }
    asked
}

/// With `Limit it to 100 words` or `Limit: 3 lines`, a bare number is a maximum.
fn amount(sentence: &Sentence, phrase: &Phrase) -> Amount {
    let is_limited = head(sentence, phrase).is_some_and(|head| LIMITING.has(head.verb))
        || sentence.words(0..phrase.start).any(|word| word == "limit");
    match phrase.amount {
        Amount::Exactly(number) | Amount::About(number) if is_limited && !phrase.is_bounded => {
            Amount::AtMost(number)
        }
        Amount::Exactly(_)
        | Amount::About(_)
        | Amount::AtLeast(_)
        | Amount::AtMost(_)
        | Amount::Between(..) => phrase.amount,
    }
}

fn is_limit(one: &Asked) -> bool {
    one.wish.measure == Measure::Words && matches!(one.wish.amount, Amount::AtMost(_))
}

/// In `3 bullets, max 10 words` the limit applies to each bullet, because it is too small for all.
fn has_room(form: &Asked, limit: &Asked) -> bool {
    let pieces = form.wish.amount.least();
    let most = limit.wish.amount.most();
    pieces <= 1 || most.is_none_or(|most| most >= pieces.saturating_mul(WORDS_PER_PIECE_MIN))
}

/// `3 bullets, then at most 50 words` asks for two separate parts.
fn is_parted(text: &[Sentence], first: &Asked, second: &Asked) -> bool {
    let between = first.phrase.end..second.phrase.start;
    let is_mark = |word: &str| PART_MARKS.has(word) || ["followed", "plus"].contains(&word);
    let has_mark = |sentence: &Sentence| {
        // `And at most 50 words of reasoning`.
        sentence.words(between).any(is_mark) || sentence.word(second.phrase.end) == "of"
    };
    first.sentence == second.sentence && text.get(first.sentence).is_some_and(has_mark)
}

/// In `A one-line verdict, then explain it` the line is only a part of the answer. A maximum may
/// still apply to the whole, and a list stays a list.
fn is_followed_by_more(text: &[Sentence], one: &Asked) -> bool {
    let Some(sentence) = text.get(one.sentence) else { return false };
    if one.wish.measure == Measure::Bullets || matches!(one.wish.amount, Amount::AtMost(_)) {
        return false;
    }
    let goes_on = (one.phrase.end..sentence.tokens.len()).any(|place| {
        ["then", "and", "plus", "before"].contains(&sentence.word(place))
            && PRODUCING.has(sentence.word(past_fillers(sentence, place)))
    });
    let is_whole = command(sentence, 0).is_some_and(|head| WHOLE.has(head.verb));
    let may_be_part = one.wish.amount == Amount::Exactly(1) && !is_whole;
    let asks_for_more = |(at, other): (usize, &Sentence)| {
        let is_part = at > one.sentence && PART_MARKS.has(other.word(0));
        let is_command = PRODUCING.has(other.word(past_fillers(other, 0))) && !other.is_mention;
        is_command && (is_part || (may_be_part && phrases(other).is_empty()))
    };
    goes_on || text.iter().enumerate().any(asks_for_more)
}
