//! Decides whether a count in a question is a request about the answer.

use crate::protocols::conclusion::format::command::{
    CommandVerb, find_command, is_asking, parse_command, skip_fillers,
};
use crate::protocols::conclusion::format::constraint::FormatUnit;
use crate::protocols::conclusion::format::phrase::{CountForm, CountPhrase, parse_number};
use crate::protocols::conclusion::format::question::{
    PunctuationMark, QuestionSentence, SentenceEnd, SentencePlace,
};
use crate::protocols::conclusion::format::vocabulary::{
    ADDING, ADJECTIVES, ANSWER_NOUNS, ANSWER_OBJECTS, ANSWERING, ARTEFACTS, CONDENSING,
    DETERMINERS, FOLLOWING, FORM_LEADS, FRAGMENT_WORDS, GIVING, HEADS, IN_WHAT, INNER_VERBS,
    JOINING, JUDGED, LEADS, LIMIT_NOUNS, LIMITING, MINE, NAMING, OBLIGATIONS, OF_WHAT,
    QUESTION_STARTS, RECIPIENTS, SHARING, WANTING, WHOLE, is_label,
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
    fn lead_word(&self) -> &'a str {
        let word = self.sentence.word_before(self.phrase.start);
        let is_within = self.sentence.word_at(self.phrase.start) == "within";
        match word {
            _ if is_within => "in",
            word if LEADS.contains_word(word) => word,
            _ => "",
        }
    }

    /// Start of the count, including its preposition.
    fn start_with_lead(&self) -> usize {
        let is_led = LEADS.contains_word(self.sentence.word_before(self.phrase.start));
        self.phrase.start - usize::from(is_led)
    }

    fn is_of_other_text(&self) -> bool {
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
    fn is_per_item(&self) -> bool {
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
    fn is_nested(&self) -> bool {
        let Self { sentence, phrases, phrase, .. } = self;
        let outer = phrases.iter().rfind(|other| other.end <= phrase.start);
        outer.is_some_and(|outer| {
            outer.end + 1 == phrase.start
                && ["of", "with", "at"].contains(&sentence.word_at(outer.end))
        })
    }

    /// `300 words. Is that too long?`
    fn is_judged(&self) -> bool {
        let Some(next) = self.text.get(self.at + 1) else { return false };
        let is_about_it = ["that", "this", "it"].contains(&next.word_at(1));
        QUESTION_STARTS.contains_word(next.word_at(0))
            && is_about_it
            && JUDGED.contains_word(next.word_at(2))
    }

    /// Returns true if the text after a count leaves it a count of the answer. Lists what may
    /// follow, not what may not: `5 lines of code`, `3 bullets per slide` and `two words that
    /// rhyme` count something else.
    fn is_about_answer(&self) -> bool {
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
    fn is_continued(&self) -> bool {
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
    fn is_commanded(&self) -> bool {
        let Some(head) = find_command(self.sentence, self.phrase) else { return false };
        let is_doubted = self.sentence.end == SentenceEnd::Question && !head.is_polite;
        if LIMITING.contains_word(head.verb) {
            return !is_doubted && self.is_limit(head);
        }
        (!is_doubted && self.is_object(head)) || self.is_led(head) || self.is_added(head)
    }

    /// `Do not write more than 100 words`: the count starts with the command.
    fn is_forbidden(&self) -> bool {
        let Self { sentence, phrase, .. } = self;
        let is_denial = ["do", "don't", "never"].contains(&sentence.word_at(phrase.start));
        let begins = skip_fillers(sentence, 0) == phrase.start
            || sentence.mark_before(phrase.start).is_some()
            || sentence.word_before(phrase.start) == "and";
        is_denial && begins && sentence.end != SentenceEnd::Question
    }

    fn is_limit(&self, head: CommandVerb<'_>) -> bool {
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

    fn is_object(&self, head: CommandVerb<'_>) -> bool {
        let Self { sentence, phrase, .. } = self;
        let is_bare = |place: usize| RECIPIENTS.contains_word(sentence.word_at(place));
        GIVING.contains_word(head.verb)
            && (head.after..phrase.start).all(is_bare)
            && !LEADS.contains_word(sentence.word_before(phrase.start))
            && (head.verb != "list" || phrase.measure == FormatUnit::Bullets)
            && (phrase.form == CountForm::Compound
                || !["for", "to"].contains(&sentence.word_at(phrase.end)))
    }

    fn is_led(&self, head: CommandVerb<'_>) -> bool {
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
    fn belongs_to_another(&self, head: CommandVerb<'_>) -> bool {
        let Self { sentence, phrase, .. } = self;
        let between = || sentence.words_in(head.after..self.start_with_lead());
        let makes = GIVING.contains_word(head.verb) || head.verb == "show";
        between().any(|word| INNER_VERBS.contains_word(word))
            || (makes && between().any(|word| ARTEFACTS.contains_word(word)))
            || (NAMING.contains_word(head.verb) && phrase.measure == FormatUnit::Words)
    }

    fn ends_clause(&self) -> bool {
        let end = self.phrase.end;
        end >= self.sentence.tokens.len() || self.sentence.mark_at(end).is_some()
    }

    /// After a comma, in brackets or the like: `Explain it, 5 lines`.
    fn is_added(&self, head: CommandVerb<'_>) -> bool {
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
    fn is_whole_clause(&self) -> bool {
        (self.phrase.end..self.clause_end()).all(|place| self.is_of_fragment(place))
    }

    fn clause_end(&self) -> usize {
        let mut places = self.phrase.end..self.sentence.tokens.len();
        let is_end = |place: &usize| {
            self.sentence.mark_at(*place).is_some_and(|mark| mark != PunctuationMark::Hyphen)
        };
        places.find(is_end).unwrap_or(self.sentence.tokens.len())
    }

    fn is_last_clause(&self) -> bool {
        let rest = self.clause_end()..self.sentence.tokens.len();
        rest.clone()
            .all(|place| self.is_of_fragment(place) || self.sentence.mark_at(place).is_some())
    }

    fn is_of_fragment(&self, place: usize) -> bool {
        let is_counted =
            self.phrases.iter().any(|phrase| (phrase.start..phrase.end).contains(&place));
        let word = self.sentence.word_at(place);
        let leads = LEADS.contains_word(word)
            && self.phrases.iter().any(|phrase| phrase.start == place + 1);
        is_counted || leads || FRAGMENT_WORDS.contains_word(word)
    }

    /// `Your answer must have 5 lines`, `summary in 5 lines`.
    fn is_declared(&self) -> bool {
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
    fn is_labelled(&self) -> bool {
        let Self { sentence, .. } = self;
        let from = self.start_with_lead();
        let words: Vec<&str> = sentence.words_in(0..from).collect();
        sentence.mark_before(from) == Some(PunctuationMark::Colon) && is_label(words.into_iter())
    }

    /// `I want a summary in 5 lines`.
    fn is_wanted(&self) -> bool {
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
    fn is_asked(&self) -> bool {
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
    fn is_exact_of_no_text(&self, before: std::ops::Range<usize>) -> bool {
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
    fn opens_question(&self) -> bool {
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
    fn is_set_off(&self) -> bool {
        let Self { sentence, phrase, .. } = self;
        let marks = [sentence.mark_before(self.start_with_lead()), sentence.mark_at(phrase.end)];
        marks == [Some(PunctuationMark::Comma); 2]
            && phrase.is_bounded
            && ["in", "using", "with"].contains(&self.lead_word())
    }

    /// `Should we ship? 5 lines.`
    fn is_fragment_request(&self) -> bool {
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
    fn rest_is_about_form(&self) -> bool {
        let rest = self.clause_end()..self.sentence.tokens.len();
        rest.clone().all(|place| {
            self.sentence.mark_at(place) != Some(PunctuationMark::Comma)
                || ADDING.contains_word(self.sentence.word_at(place + 1))
                || self.is_of_fragment(place + 1)
        })
    }

    /// Returns true if a separate count is where people write a format: after the question, at the
    /// very end, or, if explicit, before the question.
    fn is_in_place(&self, is_plain: bool) -> bool {
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

impl QuestionSentence {
    /// A few words, such as `Thanks!`, or another separate count.
    fn is_short(&self) -> bool {
        self.words_in(0..self.tokens.len()).count() <= 3 && self.end == SentenceEnd::Stop
    }
}
