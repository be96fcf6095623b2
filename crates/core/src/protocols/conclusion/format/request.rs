//! Decides whether a count in a question is a request about the answer.

use crate::protocols::conclusion::format::command::{CommandVerb, find_command, skip_fillers};
use crate::protocols::conclusion::format::constraint::FormatUnit;
use crate::protocols::conclusion::format::phrase::{CountForm, CountPhrase, parse_number};
use crate::protocols::conclusion::format::question::{
    PunctuationMark, QuestionSentence, SentenceEnd,
};
use crate::protocols::conclusion::format::vocabulary::{
    ANSWER_NOUNS, ANSWER_OBJECTS, ANSWERING, ARTEFACTS, CONDENSING, DETERMINERS, FOLLOWING,
    FORM_LEADS, GIVING, HEADS, IN_WHAT, INNER_VERBS, JOINING, JUDGED, LEADS, LIMITING, MINE,
    NAMING, OF_WHAT, QUESTION_STARTS, RECIPIENTS, SHARING, WHOLE,
};

/// Words after a number that continues an earlier count.
const CONTINUATION_WORDS: [&str; 8] = ["of", "for", "on", "against", "about", "more", "with", ""];

/// A count with its context.
pub(crate) struct CountContext<'a> {
    pub(crate) text: &'a [QuestionSentence],
    /// Index of the sentence in the text.
    pub(crate) at: usize,
    pub(crate) sentence: &'a QuestionSentence,
    /// Every count of the sentence.
    pub(crate) phrases: &'a [CountPhrase],
    pub(crate) phrase: &'a CountPhrase,
}

impl<'a> CountContext<'a> {
    /// Returns true if the count is a request about the whole answer.
    pub(crate) fn is_request(&self) -> bool {
        !self.sentence.is_mention
            && !self.is_of_other_text()
            && !self.is_per_item()
            && !self.is_judged()
            && self.is_about_answer()
            && (self.is_commanded()
                || self.is_forbidden()
                || self.is_declared()
                || self.is_labelled()
                || self.is_wanted()
                || self.is_asked()
                || self.opens_question()
                || self.is_set_off()
                || self.is_fragment_request())
    }

    /// Returns true if the count continues a request in the same sentence: `one sentence, then
    /// three bullets`.
    pub(crate) fn continues_request(&self, last: &CountPhrase) -> bool {
        let Self { sentence, phrase, .. } = self;
        let is_joint = |place: usize| {
            JOINING.contains_word(sentence.word_at(place))
                || sentence.mark_at(place) == Some(PunctuationMark::Comma)
        };
        let is_joined = last.end < phrase.start && (last.end..phrase.start).all(is_joint);
        is_joined && !self.is_per_item() && !self.is_judged()
    }

    /// The preposition before the count: `in`, `with`, `using`.
    pub(crate) fn lead_word(&self) -> &'a str {
        let word = self.sentence.word_before(self.phrase.start);
        let is_within = self.sentence.word_at(self.phrase.start) == "within";
        match word {
            _ if is_within => "in",
            word if LEADS.contains_word(word) => word,
            _ => "",
        }
    }

    /// Start of the count, including its preposition.
    pub(crate) fn start_with_lead(&self) -> usize {
        let is_led = LEADS.contains_word(self.sentence.word_before(self.phrase.start));
        self.phrase.start - usize::from(is_led)
    }

    pub(crate) fn is_of_other_text(&self) -> bool {
        let Self { sentence, phrase, .. } = self;
        let before = sentence.word_before(phrase.start);
        let before_lead = sentence.word_before(self.start_with_lead());
        let is_hidden = matches!(
            sentence.mark_before(phrase.start),
            Some(PunctuationMark::Hyphen | PunctuationMark::Placeholder)
        );
        // `not in 5 lines`, `or in 10 lines`.
        let is_excluded = match before_lead {
            // `Explain why not in 5 lines`.
            "not" => {
                let at = self.start_with_lead().saturating_sub(2);
                !["why", "or"].contains(&sentence.word_at(at))
            }
            word => ["or", "than", "instead", "rather"].contains(&word),
        };
        is_hidden || DETERMINERS.contains_word(before) || is_excluded
    }

    /// Returns true if the count applies to each of several items, or to a part of another count.
    pub(crate) fn is_per_item(&self) -> bool {
        let Self { sentence, phrases, phrase, .. } = self;
        let shares = |place: &usize| SHARING.contains_word(sentence.word_at(*place));
        // `Per our rules, …` divides nothing.
        if (1..phrase.start).any(|place| shares(&place))
            || SHARING.contains_word(sentence.word_at(0))
        {
            return sentence.word_at(0) != "per" || (1..phrase.start).any(|place| shares(&place));
        }
        let next = phrases.iter().find(|other| other.start >= phrase.end);
        let end = next.map_or(sentence.tokens.len(), |next| next.start);
        let clause = (phrase.end..end).take_while(|place| {
            !matches!(
                sentence.mark_at(*place),
                Some(PunctuationMark::Comma | PunctuationMark::Semicolon | PunctuationMark::Open)
            )
        });
        let is_divided = clause.into_iter().any(|place| shares(&place));
        is_divided || self.is_nested()
    }

    /// `3 bullets of at most 10 words`.
    pub(crate) fn is_nested(&self) -> bool {
        let Self { sentence, phrases, phrase, .. } = self;
        let outer = phrases.iter().rfind(|other| other.end <= phrase.start);
        outer.is_some_and(|outer| {
            outer.end + 1 == phrase.start
                && ["of", "with", "at"].contains(&sentence.word_at(outer.end))
        })
    }

    /// `300 words. Is that too long?`
    pub(crate) fn is_judged(&self) -> bool {
        let Some(next) = self.text.get(self.at + 1) else { return false };
        let is_about_it = ["that", "this", "it"].contains(&next.word_at(1));
        QUESTION_STARTS.contains_word(next.word_at(0))
            && is_about_it
            && JUDGED.contains_word(next.word_at(2))
    }

    /// Returns true if the text after a count leaves it a count of the answer. Lists what may
    /// follow, not what may not: `5 lines of code`, `3 bullets per slide` and `two words that
    /// rhyme` count something else.
    pub(crate) fn is_about_answer(&self) -> bool {
        let Self { sentence, phrases, phrase, .. } = self;
        let at = phrase.end;
        if self.is_continued() {
            return false;
        }
        match sentence.mark_at(at) {
            Some(PunctuationMark::Hyphen | PunctuationMark::Placeholder) => return false,
            Some(
                PunctuationMark::Comma
                | PunctuationMark::Semicolon
                | PunctuationMark::Colon
                | PunctuationMark::Dash
                | PunctuationMark::Open
                | PunctuationMark::Close,
            ) => return true,
            None if at >= sentence.tokens.len() => return true,
            None => {}
        }
        let next = sentence.word_at(at + 1);
        let begins_phrase = phrases.iter().any(|other| other.start == at + 1);
        match sentence.word_at(at) {
            "and" | "plus" => parse_number(sentence, at + 1).is_none() || begins_phrase,
            "with" | "of" | "at" if begins_phrase => true,
            // A summary is of something and for an audience.
            "of" | "for" | "to" | "that" | "from" if phrase.form == CountForm::Compound => true,
            "of" => {
                let names_parts = phrase.form == CountForm::Unnumbered;
                names_parts || (OF_WHAT.contains_word(next) && phrase.measure != FormatUnit::Words)
            }
            "in" => {
                let is_manner =
                    ["style", "voice", "tone", "manner"].contains(&sentence.word_at(at + 2));
                IN_WHAT.contains_word(next) || is_manner
            }
            "for" | "to" => phrase.measure != FormatUnit::Words,
            "that" => sentence.word_before(phrase.start) == "in",
            "from" => ["perspective", "point", "standpoint"].contains(&sentence.word_at(at + 2)),
            "like" => {
                ["a", "an", "i", "i'm", "you", "you're"].contains(&next)
                    && sentence.word_at(phrase.start) != "a"
            }
            word => {
                // `In 5 lines explain why`.
                let is_command = HEADS.contains_word(word) && phrase.start <= 1;
                FOLLOWING.contains_word(word) || is_command
            }
        }
    }

    /// `3 bullets of pros and 3 of cons` asks for six.
    pub(crate) fn is_continued(&self) -> bool {
        let Self { sentence, phrases, phrase, .. } = self;
        let is_more = |place: &usize| {
            let is_joint = ["and", "plus"].contains(&sentence.word_at(*place));
            let next = parse_number(sentence, place + 1).map(|next| sentence.word_at(next.end));
            let is_counted = phrases.iter().any(|other| other.start == place + 1);
            is_joint && !is_counted && next.is_some_and(|word| CONTINUATION_WORDS.contains(&word))
        };
        (phrase.end..sentence.tokens.len()).any(|place| is_more(&place))
    }

    /// `Explain it in 5 lines`, `give me 5 lines`, `keep it under 50 words`.
    pub(crate) fn is_commanded(&self) -> bool {
        let Some(head) = find_command(self.sentence, self.phrase) else { return false };
        let is_doubted = self.sentence.end == SentenceEnd::Question && !head.is_polite;
        if LIMITING.contains_word(head.verb) {
            return !is_doubted && self.is_limit(head);
        }
        (!is_doubted && self.is_object(head)) || self.is_led(head) || self.is_added(head)
    }

    /// `Do not write more than 100 words`: the count starts with the command.
    pub(crate) fn is_forbidden(&self) -> bool {
        let Self { sentence, phrase, .. } = self;
        let is_denial = ["do", "don't", "never"].contains(&sentence.word_at(phrase.start));
        let begins = skip_fillers(sentence, 0) == phrase.start
            || sentence.mark_before(phrase.start).is_some()
            || sentence.word_before(phrase.start) == "and";
        is_denial && begins && sentence.end != SentenceEnd::Question
    }

    pub(crate) fn is_limit(&self, head: CommandVerb<'_>) -> bool {
        let object = || self.sentence.words_in(head.after..self.phrase.start);
        let is_yours = object().any(|word| word == "your");
        let is_answer = |word: &str| {
            ANSWER_OBJECTS.contains_word(word)
                || MINE.contains_word(word)
                || (is_yours && ANSWER_NOUNS.contains_word(word))
        };
        let is_subject =
            object().any(|word| word == "the") && !object().any(|word| MINE.contains_word(word));
        object().all(is_answer) && !is_subject
    }

    pub(crate) fn is_object(&self, head: CommandVerb<'_>) -> bool {
        let Self { sentence, phrase, .. } = self;
        let is_bare = |place: usize| RECIPIENTS.contains_word(sentence.word_at(place));
        GIVING.contains_word(head.verb)
            && (head.after..phrase.start).all(is_bare)
            && !LEADS.contains_word(sentence.word_before(phrase.start))
            && (head.verb != "list" || phrase.measure == FormatUnit::Bullets)
            && (phrase.form == CountForm::Compound
                || !["for", "to"].contains(&sentence.word_at(phrase.end)))
    }

    pub(crate) fn is_led(&self, head: CommandVerb<'_>) -> bool {
        let Self { sentence, phrase, .. } = self;
        let (from, verb) = (self.start_with_lead(), head.verb);
        if from < head.after || self.belongs_to_another(head) {
            return false;
        }
        let is_of_answer = ANSWER_NOUNS.contains_word(sentence.word_before(from));
        match self.lead_word() {
            lead if FORM_LEADS.contains_word(lead) => true,
            "with" if is_of_answer => GIVING.contains_word(verb) || WHOLE.contains_word(verb),
            "with" => ["answer", "reply", "respond"].contains(&verb),
            "of" => is_of_answer && GIVING.contains_word(verb),
            "to" | "into" => CONDENSING.contains_word(verb) || verb.starts_with("summari"),
            _ if !phrase.is_bounded => false,
            _ => {
                (is_of_answer && GIVING.contains_word(verb))
                    || (from == head.after && WHOLE.contains_word(verb))
                    || (ANSWERING.contains_word(verb) && self.ends_clause())
            }
        }
    }

    /// Returns true if another phrase between the verb and the count owns it: `how to write it in 5
    /// lines`, `write a function in 5 lines`, `suggest names in two words`.
    pub(crate) fn belongs_to_another(&self, head: CommandVerb<'_>) -> bool {
        let Self { sentence, phrase, .. } = self;
        let between = || sentence.words_in(head.after..self.start_with_lead());
        let makes = GIVING.contains_word(head.verb) || head.verb == "show";
        between().any(|word| INNER_VERBS.contains_word(word))
            || (makes && between().any(|word| ARTEFACTS.contains_word(word)))
            || (NAMING.contains_word(head.verb) && phrase.measure == FormatUnit::Words)
    }

    pub(crate) fn ends_clause(&self) -> bool {
        let end = self.phrase.end;
        end >= self.sentence.tokens.len() || self.sentence.mark_at(end).is_some()
    }
}

impl QuestionSentence {
    /// A few words, such as `Thanks!`, or another separate count.
    pub(crate) fn is_short(&self) -> bool {
        self.words_in(0..self.tokens.len()).count() <= 3 && self.end == SentenceEnd::Stop
    }
}
