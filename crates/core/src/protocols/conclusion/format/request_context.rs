//! Second part of [`CountContext`]: what the words around a number say.

use crate::protocols::conclusion::format::command::{
    CommandVerb, is_asking, parse_command, skip_fillers,
};
use crate::protocols::conclusion::format::phrase::CountForm;
use crate::protocols::conclusion::format::question::{
    PunctuationMark, QuestionSentence, SentenceEnd, SentencePlace,
};
use crate::protocols::conclusion::format::request::CountContext;
use crate::protocols::conclusion::format::vocabulary::{
    ADDING, ADJECTIVES, ANSWER_NOUNS, ANSWER_OBJECTS, ARTEFACTS, FORM_LEADS, FRAGMENT_WORDS, HEADS,
    INNER_VERBS, LEADS, LIMIT_NOUNS, MINE, OBLIGATIONS, QUESTION_STARTS, WANTING, is_label,
};

impl<'a> CountContext<'a> {
    /// After a comma, in brackets or the like: `Explain it, 5 lines`.
    pub(crate) fn is_added(&self, head: CommandVerb<'_>) -> bool {
        let Self { sentence, .. } = self;
        let from = self.start_with_lead();
        if from <= head.after && from == self.phrase.start && sentence.mark_before(from).is_none() {
            return false;
        }
        let is_rule =
            from.checked_sub(2).is_some_and(|at| LIMIT_NOUNS.contains_word(sentence.word_at(at)));
        let is_apart = match sentence.mark_before(from) {
            Some(
                PunctuationMark::Comma
                | PunctuationMark::Dash
                | PunctuationMark::Open
                | PunctuationMark::Semicolon,
            ) => true,
            Some(PunctuationMark::Colon) => {
                let is_own =
                    |word: &str| ANSWER_OBJECTS.contains_word(word) || MINE.contains_word(word);
                sentence.words_in(head.after..from).all(is_own)
            }
            Some(
                PunctuationMark::Close | PunctuationMark::Hyphen | PunctuationMark::Placeholder,
            )
            | None => false,
        };
        is_apart
            && !is_rule
            && self.is_whole_clause()
            && (self.is_last_clause() || self.lead_word() == "in")
    }

    /// Returns true if nothing else comes between the count and the next mark.
    pub(crate) fn is_whole_clause(&self) -> bool {
        (self.phrase.end..self.clause_end()).all(|place| self.is_of_fragment(place))
    }

    pub(crate) fn clause_end(&self) -> usize {
        let mut places = self.phrase.end..self.sentence.tokens.len();
        let is_end = |place: &usize| {
            self.sentence.mark_at(*place).is_some_and(|mark| mark != PunctuationMark::Hyphen)
        };
        places.find(is_end).unwrap_or(self.sentence.tokens.len())
    }

    pub(crate) fn is_last_clause(&self) -> bool {
        let rest = self.clause_end()..self.sentence.tokens.len();
        rest.clone()
            .all(|place| self.is_of_fragment(place) || self.sentence.mark_at(place).is_some())
    }

    pub(crate) fn is_of_fragment(&self, place: usize) -> bool {
        let is_counted =
            self.phrases.iter().any(|phrase| (phrase.start..phrase.end).contains(&place));
        let word = self.sentence.word_at(place);
        let leads = LEADS.contains_word(word)
            && self.phrases.iter().any(|phrase| phrase.start == place + 1);
        is_counted || leads || FRAGMENT_WORDS.contains_word(word)
    }

    /// `Your answer must have 5 lines`, `summary in 5 lines`.
    pub(crate) fn is_declared(&self) -> bool {
        let Self { sentence, phrase, .. } = self;
        let start = skip_fillers(sentence, 0);
        let mut noun = start;
        while ["your", "the", "a", "an"].contains(&sentence.word_at(noun))
            || ADJECTIVES.contains_word(sentence.word_at(noun))
        {
            noun += 1;
        }
        let is_ours = match sentence.word_at(start) {
            "the" => MINE.contains_word(sentence.word_at(noun)),
            _ => ANSWER_NOUNS.contains_word(sentence.word_at(noun)),
        };
        let is_about = |place: usize| {
            OBLIGATIONS.contains_word(sentence.word_at(place))
                || ADJECTIVES.contains_word(sentence.word_at(place))
        };
        let from = noun + 1;
        let is_parted = matches!(
            sentence.mark_at(from),
            Some(PunctuationMark::Comma | PunctuationMark::Colon | PunctuationMark::Open)
        );
        let from = from + usize::from(is_parted);
        sentence.end != SentenceEnd::Question
            && is_ours
            && from <= phrase.start
            && (from..phrase.start).all(is_about)
            && (from < phrase.start || is_parted || phrase.is_bounded)
    }

    /// `Format: 5 lines`.
    pub(crate) fn is_labelled(&self) -> bool {
        let Self { sentence, .. } = self;
        let from = self.start_with_lead();
        let words: Vec<&str> = sentence.words_in(0..from).collect();
        sentence.mark_before(from) == Some(PunctuationMark::Colon) && is_label(words.into_iter())
    }

    /// `I want a summary in 5 lines`.
    pub(crate) fn is_wanted(&self) -> bool {
        let Self { sentence, phrase, .. } = self;
        let start = skip_fillers(sentence, 0);
        let Some(after) = WANTING.match_end(sentence, start) else { return false };
        if after > phrase.start || sentence.end == SentenceEnd::Question {
            return false;
        }
        let object = || sentence.words_in(after..phrase.start);
        let is_plain = |place: usize| {
            let word = sentence.word_at(place);
            ANSWER_NOUNS.contains_word(word)
                || ADJECTIVES.contains_word(word)
                || OBLIGATIONS.contains_word(word)
                || ["an", "the", "your", "it", "this", "just", "please"].contains(&word)
        };
        let names_it = object().any(|word| ANSWER_NOUNS.contains_word(word) || word == "it")
            || phrase.form == CountForm::Compound;
        let is_direct = object().count() == 0 && self.ends_clause();
        (after..phrase.start).all(is_plain) && (names_it || is_direct)
    }

    /// `Should we ship, in 5 lines?`, `what is it in 5 lines?`
    pub(crate) fn is_asked(&self) -> bool {
        let Self { sentence, .. } = self;
        if !is_asking(sentence) {
            return false;
        }
        let from = self.start_with_lead();
        let is_form = FORM_LEADS.contains_word(self.lead_word());
        let is_apart = matches!(
            sentence.mark_before(from),
            Some(PunctuationMark::Comma | PunctuationMark::Dash | PunctuationMark::Open)
        );
        if is_apart && self.is_whole_clause() && self.is_last_clause() {
            let is_dash = sentence.mark_before(from) == Some(PunctuationMark::Dash);
            return is_form || (is_dash && sentence.end != SentenceEnd::Question);
        }
        let start = skip_fillers(sentence, 0);
        let is_plain =
            ["what is", "what are"].iter().any(|words| sentence.matches_words(start, words))
                || sentence.word_at(start) == "what's";
        let is_single = (start..from).all(|place| {
            !sentence.word_at(place).is_empty()
                && !INNER_VERBS.contains_word(sentence.word_at(place))
        });
        let is_at_end = is_single && self.is_whole_clause() && self.is_last_clause();
        is_at_end && is_form && (is_plain || self.is_exact_of_no_text(start..from))
    }

    /// `Should we ship in exactly 5 lines?`: the question names nothing that has lines.
    pub(crate) fn is_exact_of_no_text(&self, before: std::ops::Range<usize>) -> bool {
        let Self { sentence, phrase, .. } = self;
        let starts = ["should", "is", "are", "which", "why", "what", "who", "do", "does", "will"];
        let has_lines = |word: &str| {
            ARTEFACTS.contains_word(word)
                || ANSWER_NOUNS.contains_word(word)
                || HEADS.contains_word(word)
                || word == "be"
        };
        starts.contains(&sentence.word_at(before.start))
            && ["exactly", "precisely"].contains(&sentence.word_at(phrase.start))
            && self.lead_word() == "in"
            && !sentence.words_in(before).any(has_lines)
    }

    /// `In 5 lines: should we ship?`
    pub(crate) fn opens_question(&self) -> bool {
        let Self { sentence, phrase, .. } = self;
        if skip_fillers(sentence, 0) != self.start_with_lead() {
            return false;
        }
        let is_led = ["in", "using"].contains(&self.lead_word());
        let after = skip_fillers(sentence, phrase.end);
        let mark = sentence.mark_at(after);
        let next = match mark {
            Some(PunctuationMark::Comma | PunctuationMark::Colon | PunctuationMark::Dash) => {
                skip_fillers(sentence, after + 1)
            }
            Some(_) => return false,
            None => after,
        };
        let (word, second) = (sentence.word_at(next), sentence.word_at(next + 1));
        let is_about_it = ["that", "this", "it"].contains(&second);
        let is_question = QUESTION_STARTS.contains_word(word) && !is_about_it;
        let is_command = HEADS.contains_word(word) || parse_command(sentence, next).is_some();
        match mark {
            Some(PunctuationMark::Colon) => {
                (is_led || phrase.is_bounded || is_question) && (is_question || is_command)
            }
            Some(_) => is_led && (is_question || is_command),
            None => is_led && (is_command || ["what", "why", "how", "whether"].contains(&word)),
        }
    }

    /// `As a pirate, in exactly 5 lines, tell me …`
    pub(crate) fn is_set_off(&self) -> bool {
        let Self { sentence, phrase, .. } = self;
        let marks = [sentence.mark_before(self.start_with_lead()), sentence.mark_at(phrase.end)];
        marks == [Some(PunctuationMark::Comma); 2]
            && phrase.is_bounded
            && ["in", "using", "with"].contains(&self.lead_word())
    }

    /// `Should we ship? 5 lines.`
    pub(crate) fn is_fragment_request(&self) -> bool {
        let Self { sentence, phrase, .. } = self;
        let start = skip_fillers(sentence, 0);
        let is_fragment = self.phrases.first().is_some_and(|first| {
            (start..first.start).all(|place| {
                LEADS.contains_word(sentence.word_at(place)) && place + 1 == first.start
            })
        });
        let in_front = self.phrases.first().is_some_and(|first| first.start == phrase.start);
        let is_clause = in_front || sentence.mark_before(self.start_with_lead()).is_some();
        if !is_fragment
            || !is_clause
            || !self.is_whole_clause()
            || sentence.end == SentenceEnd::Question
        {
            return false;
        }
        let is_polite = sentence.words_in(0..sentence.tokens.len()).any(|word| word == "please");
        let is_plain = self.lead_word().is_empty() && !phrase.is_bounded && !is_polite;
        if !self.rest_is_about_form() {
            return false;
        }
        match sentence.place {
            SentencePlace::LabelledItem => true,
            SentencePlace::Item => false,
            SentencePlace::Prose => self.is_in_place(is_plain),
        }
    }

    /// Returns true if the rest continues the format: `5 lines, no jargon`.
    pub(crate) fn rest_is_about_form(&self) -> bool {
        let rest = self.clause_end()..self.sentence.tokens.len();
        rest.clone().all(|place| {
            self.sentence.mark_at(place) != Some(PunctuationMark::Comma)
                || ADDING.contains_word(self.sentence.word_at(place + 1))
                || self.is_of_fragment(place + 1)
        })
    }

    /// Returns true if a separate count is where people write a format: after the question, at the
    /// very end, or, if explicit, before the question.
    pub(crate) fn is_in_place(&self, is_plain: bool) -> bool {
        let before = self.at.checked_sub(1).and_then(|at| self.text.get(at));
        let after = self.text.get(self.at + 1);
        match (before, after) {
            (Some(before), _) if is_asking(before) || before.is_short() => true,
            (Some(_), after) => !is_plain && after.is_none_or(QuestionSentence::is_short),
            (None, Some(after)) => !is_plain && is_asking(after),
            (None, None) => false,
        }
    }
}
