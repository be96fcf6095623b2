//! Finds the command in a clause.

use super::phrase::Phrase;
use super::question::{End, Mark, Sentence};
use super::vocabulary::{
    ANSWERING, FILLERS, HEADS, PART_MARKS, PREAMBLES, QUESTION_STARTS, SUBORDINATE, WHOLE,
};

/// Maximum length of a form of address, and of a heading.
const VOCATIVE_WORDS_MAX: usize = 2;
const HEADING_WORDS_MAX: usize = 3;

/// The verb of a clause that gives a command.
#[derive(Debug, Clone, Copy)]
pub(super) struct Head<'a> {
    pub(super) verb: &'a str,
    /// The position after the verb.
    pub(super) after: usize,
    /// True for `Could you …`, where a question mark does not make it a question.
    pub(super) is_polite: bool,
}

/// Finds the command that a count can belong to: that of the nearest clause before it.
pub(super) fn head<'a>(sentence: &'a Sentence, phrase: &Phrase) -> Option<Head<'a>> {
    let first = command(sentence, 0);
    let places = (1..phrase.start).rev();
    let later = places.filter_map(|place| later_command(sentence, place, first, phrase));
    later.chain(first).find(|head| head.after <= phrase.start)
}

/// Returns the command at the start of a clause, if there is one.
pub(super) fn command(sentence: &Sentence, at: usize) -> Option<Head<'_>> {
    let Opened { at, is_polite, is_part } = opened(sentence, at);
    let verb = sentence.word(at);
    let is_command = HEADS.has(verb) && (!is_part || WHOLE.has(verb));
    is_command.then_some(Head { verb, after: at + 1, is_polite })
}

/// Returns true if the sentence is a question or a command.
pub(super) fn is_asking(sentence: &Sentence) -> bool {
    let start = opened(sentence, 0).at;
    sentence.end == End::Question
        || QUESTION_STARTS.has(sentence.word(start))
        || HEADS.has(sentence.word(start))
}

/// Skips the fillers at the start of a clause.
pub(super) fn past_fillers(sentence: &Sentence, at: usize) -> usize {
    let mut place = at;
    let is_filler = |word: &str| FILLERS.has(word) || PART_MARKS.has(word);
    while is_filler(sentence.word(place)) || sentence.mark(place) == Some(Mark::Open) {
        place += 1;
        // `Please, …`
        place += usize::from(sentence.mark(place) == Some(Mark::Comma));
    }
    place
}

struct Opened {
    at: usize,
    is_polite: bool,
    is_part: bool,
}

fn opened(sentence: &Sentence, at: usize) -> Opened {
    let begun = past_fillers(sentence, at);
    let mut place = begun;
    let mut is_polite = false;
    if let Some(end) = PREAMBLES.end(sentence, place) {
        is_polite = true;
        place = past_fillers(sentence, end);
    }
    let is_part = sentence.words(at..place).any(|word| PART_MARKS.has(word));
    Opened { at: place, is_polite, is_part }
}

/// Returns a command that starts within a sentence.
fn later_command<'a>(
    sentence: &'a Sentence,
    place: usize,
    first: Option<Head<'a>>,
    phrase: &Phrase,
) -> Option<Head<'a>> {
    let words_before = || sentence.words(0..place).count();
    let is_answering = |head: &Head<'_>| ANSWERING.has(head.verb) || head.is_polite;
    match sentence.mark_before(place) {
        Some(Mark::Semicolon | Mark::Dash | Mark::Open | Mark::Close) => command(sentence, place),
        Some(Mark::Colon) => {
            let is_heading = words_before() <= HEADING_WORDS_MAX;
            command(sentence, place).filter(|head| is_heading || is_answering(head))
        }
        Some(Mark::Comma) => {
            let start = sentence.word(past_fillers(sentence, 0));
            let is_free =
                first.is_some() || SUBORDINATE.has(start) || words_before() <= VOCATIVE_WORDS_MAX;
            // After other text it may be one of several actions of a third party.
            let is_last = !(phrase.end..sentence.tokens.len())
                .any(|place| sentence.mark(place) == Some(Mark::Comma));
            command(sentence, place).filter(|head| is_free || (is_last && is_answering(head)))
        }
        Some(Mark::Hyphen | Mark::Hole) => None,
        None => {
            let is_joined = ["and", "then", "but"].contains(&sentence.word_before(place));
            // Starts at the conjunction, so that `and then` is recognised.
            (is_joined && first.is_some()).then(|| command(sentence, place - 1)).flatten()
        }
    }
}
