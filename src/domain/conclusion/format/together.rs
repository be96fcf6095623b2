//! Wishes that can be held against one text together.
//!
//! `One sentence, then three bullets` is a wish for two parts: neither count is that of the
//! whole, but for the bullets. What cannot be told apart for sure is left out.

use super::head::{command, past_fillers};
use super::phrase::{Form, Phrase, phrases};
use super::question::Sentence;
use super::request::Setting;
use super::vocabulary::{JOINTS, PART_MARKS, PRODUCING, WHOLE};
use super::wish::{Amount, Measure, Wish};

/// A limit of fewer words than these for each of several pieces may be meant of each.
const WORDS_PER_PIECE_MIN: usize = 15;

/// Whoever seems to ask for more forms than these asks for none: it is a text about forms.
const REQUESTS_MAX: usize = 32;

/// A request, and where it stands.
#[derive(Clone, Copy)]
struct Asked {
    sentence: usize,
    phrase: Phrase,
}

impl Asked {
    fn wish(&self) -> Wish {
        Wish { measure: self.phrase.measure, amount: self.phrase.amount }
    }

    fn is_of(&self, measure: Measure) -> bool {
        self.phrase.measure == measure
    }

    fn is_numbered(&self) -> bool {
        self.phrase.form != Form::Unnumbered
    }

    fn place(&self) -> (usize, usize) {
        (self.sentence, self.phrase.start)
    }
}

/// What is asked of the whole answer.
pub(super) fn together(text: &[Sentence]) -> Vec<Wish> {
    let asked = requests(text);
    if asked.len() > REQUESTS_MAX {
        return Vec::new();
    }
    let whole = asked.iter().filter(|one| !is_followed_by_more(text, one)).filter(|one| {
        let others = || asked.iter().filter(|other| other.place() != one.place());
        !others().any(|other| contradicts(one, other) || makes_a_part(text, one, other))
    });
    let mut wishes: Vec<Wish> = Vec::new();
    for wish in whole.map(Asked::wish) {
        if !wishes.contains(&wish) {
            wishes.push(wish);
        }
    }
    wishes
}

fn requests(text: &[Sentence]) -> Vec<Asked> {
    let mut asked: Vec<Asked> = Vec::new();
    for (at, sentence) in text.iter().enumerate() {
        let phrases = phrases(sentence);
        for phrase in &phrases {
            let setting = Setting { text, at, sentence, phrases: &phrases, phrase };
            let last = asked.last().filter(|last| last.sentence == at);
            let goes_on = || last.is_some_and(|last| setting.goes_on_from(&last.phrase));
            if setting.is_request() || goes_on() {
                asked.push(Asked { sentence: at, phrase: *phrase });
            }
        }
    }
    asked
}

/// `A one-line verdict, then explain it`: the line is not all there is to be. A limit may be
/// meant of all of it, and a list stays what it is.
fn is_followed_by_more(text: &[Sentence], one: &Asked) -> bool {
    if one.is_of(Measure::Bullets) || matches!(one.phrase.amount, Amount::AtMost(_)) {
        return false;
    }
    let Some(sentence) = text.get(one.sentence) else { return false };
    let after = one.phrase.end..sentence.tokens.len();
    let is_more = |place: usize| {
        ["then", "and", "plus", "before"].contains(&sentence.word(place))
            && PRODUCING.has(sentence.word(past_fillers(sentence, place)))
    };
    let is_single = one.phrase.amount == Amount::Exactly(1);
    let is_whole = command(sentence, 0).is_some_and(|head| WHOLE.has(head.verb));
    let asks_for_more = |other: &Sentence, is_later: bool| {
        let is_command = PRODUCING.has(other.word(past_fillers(other, 0)));
        let is_part = PART_MARKS.has(other.word(0)) && is_later;
        let has_count = !phrases(other).is_empty() && !is_part;
        is_command && !other.is_mention && !has_count && (is_part || (is_single && !is_whole))
    };
    let before = text.get(..one.sentence).unwrap_or_default();
    let behind = text.get(one.sentence + 1..).unwrap_or_default();
    after.into_iter().any(is_more)
        || before.iter().any(|other| asks_for_more(other, false))
        || behind.iter().any(|other| asks_for_more(other, true))
}

/// Two counts of the same thing that cannot both be that of the whole: `3 bullets for and 3
/// bullets against`, or different ones.
fn contradicts(one: &Asked, other: &Asked) -> bool {
    if !one.is_of(other.phrase.measure) || !one.is_numbered() || !other.is_numbered() {
        return false;
    }
    let is_list = one.sentence == other.sentence
        && matches!(
            (one.phrase.amount, other.phrase.amount),
            (Amount::Exactly(_) | Amount::About(_), Amount::Exactly(_) | Amount::About(_))
        );
    is_list || !one.phrase.amount.agrees_with(other.phrase.amount)
}

/// Whether another wish makes this one a wish for a part of the answer.
fn makes_a_part(text: &[Sentence], one: &Asked, other: &Asked) -> bool {
    if one.is_of(other.phrase.measure) || one.is_of(Measure::Bullets) {
        return false;
    }
    is_joined(text, one, other) || is_beside_bullets(one, other) || is_for_each(one, other)
}

/// `One sentence and three bullets`, but not `three lines and at most 50 words`.
fn is_joined(text: &[Sentence], one: &Asked, other: &Asked) -> bool {
    if one.sentence != other.sentence {
        return false;
    }
    let (first, second) = if one.place() < other.place() { (one, other) } else { (other, one) };
    let is_limit = second.is_of(Measure::Words)
        && matches!(second.phrase.amount, Amount::AtMost(_))
        && first.phrase.end + 1 >= second.phrase.start.saturating_sub(1);
    let between = first.phrase.end..second.phrase.start;
    let is_joint = text
        .get(one.sentence)
        .is_some_and(|sentence| sentence.words(between).any(|word| JOINTS.has(word)));
    is_joint && !is_limit
}

/// A list with its number is a part, when a sentence of its own asks for it.
fn is_beside_bullets(one: &Asked, other: &Asked) -> bool {
    let is_limit = matches!(one.phrase.amount, Amount::AtMost(_)) && one.is_of(Measure::Words);
    other.is_of(Measure::Bullets)
        && other.is_numbered()
        && (one.sentence != other.sentence && !is_limit)
}

/// `3 bullets, one sentence`: each of the three has one, or there would be no room for them.
fn is_for_each(one: &Asked, other: &Asked) -> bool {
    let Some(most) = one.phrase.amount.most() else { return false };
    let pieces = other.phrase.amount.least();
    match one.phrase.measure {
        Measure::Words => {
            !other.is_of(Measure::Words) && pieces > 1 && most < pieces * WORDS_PER_PIECE_MIN
        }
        Measure::Sentences | Measure::Lines => other.is_of(Measure::Bullets) && most < pieces,
        Measure::Bullets => false,
    }
}
