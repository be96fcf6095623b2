//! Finds the command in a clause.

use crate::protocols::conclusion::format::phrase::CountPhrase;
use crate::protocols::conclusion::format::question::{
    PunctuationMark, QuestionSentence, SentenceEnd,
};
use crate::protocols::conclusion::format::vocabulary::{
    ANSWERING, FILLERS, HEADS, PART_MARKS, PREAMBLES, QUESTION_STARTS, SUBORDINATE, WHOLE,
};

/// Maximum length of a form of address, and of a heading.
const VOCATIVE_WORDS_MAX: usize = 2;
const HEADING_WORDS_MAX: usize = 3;

/// The verb of a clause that gives a command.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CommandVerb<'a> {
    pub(crate) verb: &'a str,
    /// The position after the verb.
    pub(crate) after: usize,
    /// True for `Could you …`, where a question mark does not make it a question.
    pub(crate) is_polite: bool,
}

/// Finds the command that a count can belong to: that of the nearest clause before it.
pub(crate) fn find_command<'a>(
    sentence: &'a QuestionSentence,
    phrase: &CountPhrase,
) -> Option<CommandVerb<'a>> {
    let first = parse_command(sentence, 0);
    let places = (1..phrase.start).rev();
    let later = places.filter_map(|place| parse_later_command(sentence, place, first, phrase));
    later.chain(first).find(|head| head.after <= phrase.start)
}

/// Returns the command at the start of a clause, if there is one.
pub(crate) fn parse_command(sentence: &QuestionSentence, at: usize) -> Option<CommandVerb<'_>> {
    let ClauseOpening { at, is_polite, is_part } = parse_opening(sentence, at);
    let verb = sentence.word_at(at);
    let is_command = HEADS.contains_word(verb) && (!is_part || WHOLE.contains_word(verb));
    is_command.then_some(CommandVerb { verb, after: at + 1, is_polite })
}

/// Returns true if the sentence is a question or a command.
pub(crate) fn is_asking(sentence: &QuestionSentence) -> bool {
    let start = parse_opening(sentence, 0).at;
    sentence.end == SentenceEnd::Question
        || QUESTION_STARTS.contains_word(sentence.word_at(start))
        || HEADS.contains_word(sentence.word_at(start))
}

/// Skips the fillers at the start of a clause.
pub(crate) fn skip_fillers(sentence: &QuestionSentence, at: usize) -> usize {
    let mut place = at;
    let is_filler = |word: &str| FILLERS.contains_word(word) || PART_MARKS.contains_word(word);
    while is_filler(sentence.word_at(place))
        || sentence.mark_at(place) == Some(PunctuationMark::Open)
    {
        place += 1;
        // `Please, …`
        place += usize::from(sentence.mark_at(place) == Some(PunctuationMark::Comma));
    }
    place
}

struct ClauseOpening {
    at: usize,
    is_polite: bool,
    is_part: bool,
}

fn parse_opening(sentence: &QuestionSentence, at: usize) -> ClauseOpening {
    let begun = skip_fillers(sentence, at);
    let mut place = begun;
    let mut is_polite = false;
    if let Some(end) = PREAMBLES.match_end(sentence, place) {
        is_polite = true;
        place = skip_fillers(sentence, end);
    }
    let is_part = sentence.words_in(at..place).any(|word| PART_MARKS.contains_word(word));
    ClauseOpening { at: place, is_polite, is_part }
}

/// Returns a command that starts within a sentence.
fn parse_later_command<'a>(
    sentence: &'a QuestionSentence,
    place: usize,
    first: Option<CommandVerb<'a>>,
    phrase: &CountPhrase,
) -> Option<CommandVerb<'a>> {
    let words_before = || sentence.words_in(0..place).count();
    let is_answering =
        |head: &CommandVerb<'_>| ANSWERING.contains_word(head.verb) || head.is_polite;
    match sentence.mark_before(place) {
        Some(
            PunctuationMark::Semicolon
            | PunctuationMark::Dash
            | PunctuationMark::Open
            | PunctuationMark::Close,
        ) => parse_command(sentence, place),
        Some(PunctuationMark::Colon) => {
            let is_heading = words_before() <= HEADING_WORDS_MAX;
            parse_command(sentence, place).filter(|head| is_heading || is_answering(head))
        }
        Some(PunctuationMark::Comma) => {
            let start = sentence.word_at(skip_fillers(sentence, 0));
            let is_free = first.is_some()
                || SUBORDINATE.contains_word(start)
                || words_before() <= VOCATIVE_WORDS_MAX;
            // After other text it may be one of several actions of a third party.
            let is_last = !(phrase.end..sentence.tokens.len())
                .any(|place| sentence.mark_at(place) == Some(PunctuationMark::Comma));
            parse_command(sentence, place).filter(|head| is_free || (is_last && is_answering(head)))
        }
        Some(PunctuationMark::Hyphen | PunctuationMark::Placeholder) => None,
        None => {
            let is_joined = ["and", "then", "but"].contains(&sentence.word_before(place));
            // Starts at the conjunction, so that `and then` is recognised.
            (is_joined && first.is_some()).then(|| parse_command(sentence, place - 1)).flatten()
        }
    }
}
