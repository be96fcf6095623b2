//! What may stand behind a count that is asked for.
//!
//! It is a list of what may, not of what may not: `5 lines of code`, `3 bullets per slide`,
//! `two words that rhyme` are all somebody else's.

use super::number::number;
use super::phrase::{Form, Phrase};
use super::question::{Mark, Sentence};
use super::vocabulary::{FOLLOWING, HEADS, IN_WHAT, OF_WHAT};
use super::wish::Measure;

/// What stands behind a number that goes on counting the same thing.
const MORE_OF: [&str; 8] = ["of", "for", "on", "against", "about", "more", "with", ""];

/// Whether what follows a count leaves it the answer's.
pub(super) fn is_left_alone(sentence: &Sentence, phrase: &Phrase, phrases: &[Phrase]) -> bool {
    let at = phrase.end;
    if is_continued(sentence, at, phrases) {
        return false;
    }
    match sentence.mark(at) {
        Some(Mark::Hyphen | Mark::Hole) => return false,
        Some(
            Mark::Comma | Mark::Semicolon | Mark::Colon | Mark::Dash | Mark::Open | Mark::Close,
        ) => return true,
        None if at >= sentence.tokens.len() => return true,
        None => {}
    }
    let next = sentence.word(at + 1);
    let begins_phrase = phrases.iter().any(|other| other.start == at + 1);
    match sentence.word(at) {
        "and" | "plus" => number(sentence, at + 1).is_none() || begins_phrase,
        "with" | "of" | "at" if begins_phrase => true,
        // A summary is of something and for somebody.
        "of" | "for" | "to" | "that" | "from" if phrase.form == Form::Compound => true,
        "of" => {
            let names_parts = phrase.form == Form::Unnumbered;
            names_parts || (OF_WHAT.has(next) && phrase.measure != Measure::Words)
        }
        "in" => {
            let is_manner = ["style", "voice", "tone", "manner"].contains(&sentence.word(at + 2));
            IN_WHAT.has(next) || is_manner
        }
        "for" | "to" => phrase.measure != Measure::Words,
        "that" => sentence.word_before(phrase.start) == "in",
        "from" => ["perspective", "point", "standpoint"].contains(&sentence.word(at + 2)),
        "like" => {
            ["a", "an", "i", "i'm", "you", "you're"].contains(&next)
                && phrase.is_numbered_by_more_than_an_article(sentence)
        }
        word => {
            // `In 5 lines explain why`.
            let is_command = HEADS.has(word) && phrase.start <= 1;
            FOLLOWING.has(word) || is_command
        }
    }
}

/// `3 bullets of pros and 3 of cons`: there are six.
fn is_continued(sentence: &Sentence, at: usize, phrases: &[Phrase]) -> bool {
    let is_more = |place: &usize| {
        let is_joint = ["and", "plus"].contains(&sentence.word(*place));
        let next = number(sentence, place + 1).map(|next| sentence.word(next.end));
        let is_counted = phrases.iter().any(|other| other.start == place + 1);
        is_joint && !is_counted && next.is_some_and(|word| MORE_OF.contains(&word))
    };
    (at..sentence.tokens.len()).any(|place| is_more(&place))
}

impl Phrase {
    fn is_numbered_by_more_than_an_article(&self, sentence: &Sentence) -> bool {
        self.form != Form::Plain || sentence.word(self.start) != "a"
    }
}
