//! Decides whether a count in a question is a request about the answer.

use super::head::{Head, command, head, is_asking, past_fillers};
use super::number::number;
use super::phrase::{Form, Phrase};
use super::question::{End, Mark, Place, Sentence};
use super::vocabulary::{
    ADDING, ADJECTIVES, ANSWER_NOUNS, ANSWER_OBJECTS, ANSWERING, ARTEFACTS, CONDENSING,
    DETERMINERS, FOLLOWING, FORM_LEADS, FRAGMENT_WORDS, GIVING, HEADS, IN_WHAT, INNER_VERBS,
    JOINING, JUDGED, LEADS, LIMIT_NOUNS, LIMITING, MINE, NAMING, OBLIGATIONS, OF_WHAT,
    QUESTION_STARTS, RECIPIENTS, SHARING, WANTING, WHOLE, is_label,
};
use super::wish::Measure;

/// Words after a number that continues an earlier count.
const MORE_OF: [&str; 8] = ["of", "for", "on", "against", "about", "more", "with", ""];

/// A count with its context.
pub(super) struct Setting<'a> {
    pub(super) text: &'a [Sentence],
    /// Index of the sentence in the text.
    pub(super) at: usize,
    pub(super) sentence: &'a Sentence,
    /// Every count of the sentence.
    pub(super) phrases: &'a [Phrase],
    pub(super) phrase: &'a Phrase,
}

impl<'a> Setting<'a> {
    /// Returns true if the count is a request about the whole answer.
    pub(super) fn is_request(&self) -> bool {
        !self.sentence.is_mention
            && !self.is_someone_elses()
            && !self.is_shared_out()
            && !self.is_judged()
            && self.is_left_alone()
            && (self.is_told()
                || self.is_forbidden()
                || self.is_declared()
                || self.is_labelled()
                || self.is_wanted()
                || self.is_asked()
                || self.opens()
                || self.is_set_off()
                || self.stands_alone())
    }

    /// Returns true if the count continues a request in the same sentence: `one sentence, then
    /// three bullets`.
    pub(super) fn goes_on_from(&self, last: &Phrase) -> bool {
        let Self { sentence, phrase, .. } = self;
        let is_joint = |place: usize| {
            JOINING.has(sentence.word(place)) || sentence.mark(place) == Some(Mark::Comma)
        };
        let is_joined = last.end < phrase.start && (last.end..phrase.start).all(is_joint);
        is_joined && !self.is_shared_out() && !self.is_judged()
    }

    /// The preposition before the count: `in`, `with`, `using`.
    fn lead(&self) -> &'a str {
        let word = self.sentence.word_before(self.phrase.start);
        let is_within = self.sentence.word(self.phrase.start) == "within";
        match word {
            _ if is_within => "in",
            word if LEADS.has(word) => word,
            _ => "",
        }
    }

    /// Start of the count, including its preposition.
    fn from(&self) -> usize {
        let is_led = LEADS.has(self.sentence.word_before(self.phrase.start));
        self.phrase.start - usize::from(is_led)
    }

    fn is_someone_elses(&self) -> bool {
        let Self { sentence, phrase, .. } = self;
        let before = sentence.word_before(phrase.start);
        let before_lead = sentence.word_before(self.from());
        let is_hidden =
            matches!(sentence.mark_before(phrase.start), Some(Mark::Hyphen | Mark::Hole));
        // `not in 5 lines`, `or in 10 lines`.
        let is_excluded = match before_lead {
            // `Explain why not in 5 lines`.
            "not" => {
                let at = self.from().saturating_sub(2);
                !["why", "or"].contains(&sentence.word(at))
            }
            word => ["or", "than", "instead", "rather"].contains(&word),
        };
        is_hidden || DETERMINERS.has(before) || is_excluded
    }

    /// Returns true if the count applies to each of several items, or to a part of another count.
    fn is_shared_out(&self) -> bool {
        let Self { sentence, phrases, phrase, .. } = self;
        let shares = |place: &usize| SHARING.has(sentence.word(*place));
        // `Per our rules, …` divides nothing.
        if (1..phrase.start).any(|place| shares(&place)) || SHARING.has(sentence.word(0)) {
            return sentence.word(0) != "per" || (1..phrase.start).any(|place| shares(&place));
        }
        let next = phrases.iter().find(|other| other.start >= phrase.end);
        let end = next.map_or(sentence.tokens.len(), |next| next.start);
        let clause = (phrase.end..end).take_while(|place| {
            !matches!(sentence.mark(*place), Some(Mark::Comma | Mark::Semicolon | Mark::Open))
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
                && ["of", "with", "at"].contains(&sentence.word(outer.end))
        })
    }

    /// `300 words. Is that too long?`
    fn is_judged(&self) -> bool {
        let Some(next) = self.text.get(self.at + 1) else { return false };
        let is_about_it = ["that", "this", "it"].contains(&next.word(1));
        QUESTION_STARTS.has(next.word(0)) && is_about_it && JUDGED.has(next.word(2))
    }

    /// Returns true if the text after a count leaves it a count of the answer. Lists what may
    /// follow, not what may not: `5 lines of code`, `3 bullets per slide` and `two words that
    /// rhyme` count something else.
    fn is_left_alone(&self) -> bool {
        let Self { sentence, phrases, phrase, .. } = self;
        let at = phrase.end;
        if self.is_continued() {
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
            // A summary is of something and for an audience.
            "of" | "for" | "to" | "that" | "from" if phrase.form == Form::Compound => true,
            "of" => {
                let names_parts = phrase.form == Form::Unnumbered;
                names_parts || (OF_WHAT.has(next) && phrase.measure != Measure::Words)
            }
            "in" => {
                let is_manner =
                    ["style", "voice", "tone", "manner"].contains(&sentence.word(at + 2));
                IN_WHAT.has(next) || is_manner
            }
            "for" | "to" => phrase.measure != Measure::Words,
            "that" => sentence.word_before(phrase.start) == "in",
            "from" => ["perspective", "point", "standpoint"].contains(&sentence.word(at + 2)),
            "like" => {
                ["a", "an", "i", "i'm", "you", "you're"].contains(&next)
                    && sentence.word(phrase.start) != "a"
            }
            word => {
                // `In 5 lines explain why`.
                let is_command = HEADS.has(word) && phrase.start <= 1;
                FOLLOWING.has(word) || is_command
            }
        }
    }

    /// `3 bullets of pros and 3 of cons` asks for six.
    fn is_continued(&self) -> bool {
        let Self { sentence, phrases, phrase, .. } = self;
        let is_more = |place: &usize| {
            let is_joint = ["and", "plus"].contains(&sentence.word(*place));
            let next = number(sentence, place + 1).map(|next| sentence.word(next.end));
            let is_counted = phrases.iter().any(|other| other.start == place + 1);
            is_joint && !is_counted && next.is_some_and(|word| MORE_OF.contains(&word))
        };
        (phrase.end..sentence.tokens.len()).any(|place| is_more(&place))
    }

    /// `Explain it in 5 lines`, `give me 5 lines`, `keep it under 50 words`.
    fn is_told(&self) -> bool {
        let Some(head) = head(self.sentence, self.phrase) else { return false };
        let is_doubted = self.sentence.end == End::Question && !head.is_polite;
        if LIMITING.has(head.verb) {
            return !is_doubted && self.is_limit(head);
        }
        (!is_doubted && self.is_object(head)) || self.is_led(head) || self.is_added(head)
    }

    /// `Do not write more than 100 words`: the count starts with the command.
    fn is_forbidden(&self) -> bool {
        let Self { sentence, phrase, .. } = self;
        let is_denial = ["do", "don't", "never"].contains(&sentence.word(phrase.start));
        let begins = past_fillers(sentence, 0) == phrase.start
            || sentence.mark_before(phrase.start).is_some()
            || sentence.word_before(phrase.start) == "and";
        is_denial && begins && sentence.end != End::Question
    }

    fn is_limit(&self, head: Head<'_>) -> bool {
        let object = || self.sentence.words(head.after..self.phrase.start);
        let is_yours = object().any(|word| word == "your");
        let is_answer = |word: &str| {
            ANSWER_OBJECTS.has(word) || MINE.has(word) || (is_yours && ANSWER_NOUNS.has(word))
        };
        let is_subject = object().any(|word| word == "the") && !object().any(|word| MINE.has(word));
        object().all(is_answer) && !is_subject
    }

    fn is_object(&self, head: Head<'_>) -> bool {
        let Self { sentence, phrase, .. } = self;
        let is_bare = |place: usize| RECIPIENTS.has(sentence.word(place));
        GIVING.has(head.verb)
            && (head.after..phrase.start).all(is_bare)
            && !LEADS.has(sentence.word_before(phrase.start))
            && (head.verb != "list" || phrase.measure == Measure::Bullets)
            && (phrase.form == Form::Compound
                || !["for", "to"].contains(&sentence.word(phrase.end)))
    }

    fn is_led(&self, head: Head<'_>) -> bool {
        let Self { sentence, phrase, .. } = self;
        let (from, verb) = (self.from(), head.verb);
        if from < head.after || self.belongs_to_another(head) {
            return false;
        }
        let is_of_answer = ANSWER_NOUNS.has(sentence.word_before(from));
        match self.lead() {
            lead if FORM_LEADS.has(lead) => true,
            "with" if is_of_answer => GIVING.has(verb) || WHOLE.has(verb),
            "with" => ["answer", "reply", "respond"].contains(&verb),
            "of" => is_of_answer && GIVING.has(verb),
            "to" | "into" => CONDENSING.has(verb) || verb.starts_with("summari"),
            _ if !phrase.is_bounded => false,
            _ => {
                (is_of_answer && GIVING.has(verb))
                    || (from == head.after && WHOLE.has(verb))
                    || (ANSWERING.has(verb) && self.ends_clause())
            }
        }
    }

    /// Returns true if another phrase between the verb and the count owns it: `how to write it in 5
    /// lines`, `write a function in 5 lines`, `suggest names in two words`.
    fn belongs_to_another(&self, head: Head<'_>) -> bool {
        let Self { sentence, phrase, .. } = self;
        let between = || sentence.words(head.after..self.from());
        let makes = GIVING.has(head.verb) || head.verb == "show";
        between().any(|word| INNER_VERBS.has(word))
            || (makes && between().any(|word| ARTEFACTS.has(word)))
            || (NAMING.has(head.verb) && phrase.measure == Measure::Words)
    }

    fn ends_clause(&self) -> bool {
        let end = self.phrase.end;
        end >= self.sentence.tokens.len() || self.sentence.mark(end).is_some()
    }

    /// After a comma, in brackets or the like: `Explain it, 5 lines`.
    fn is_added(&self, head: Head<'_>) -> bool {
        let Self { sentence, .. } = self;
        let from = self.from();
        if from <= head.after && from == self.phrase.start && sentence.mark_before(from).is_none() {
            return false;
        }
        let is_rule = from.checked_sub(2).is_some_and(|at| LIMIT_NOUNS.has(sentence.word(at)));
        let is_apart = match sentence.mark_before(from) {
            Some(Mark::Comma | Mark::Dash | Mark::Open | Mark::Semicolon) => true,
            Some(Mark::Colon) => {
                let is_own = |word: &str| ANSWER_OBJECTS.has(word) || MINE.has(word);
                sentence.words(head.after..from).all(is_own)
            }
            Some(Mark::Close | Mark::Hyphen | Mark::Hole) | None => false,
        };
        is_apart
            && !is_rule
            && self.is_whole_clause()
            && (self.is_last_clause() || self.lead() == "in")
    }

    /// Returns true if nothing else comes between the count and the next mark.
    fn is_whole_clause(&self) -> bool {
        (self.phrase.end..self.clause_end()).all(|place| self.is_of_fragment(place))
    }

    fn clause_end(&self) -> usize {
        let mut places = self.phrase.end..self.sentence.tokens.len();
        let is_end =
            |place: &usize| self.sentence.mark(*place).is_some_and(|mark| mark != Mark::Hyphen);
        places.find(is_end).unwrap_or(self.sentence.tokens.len())
    }

    fn is_last_clause(&self) -> bool {
        let rest = self.clause_end()..self.sentence.tokens.len();
        rest.clone().all(|place| self.is_of_fragment(place) || self.sentence.mark(place).is_some())
    }

    fn is_of_fragment(&self, place: usize) -> bool {
        let is_counted =
            self.phrases.iter().any(|phrase| (phrase.start..phrase.end).contains(&place));
        let word = self.sentence.word(place);
        let leads = LEADS.has(word) && self.phrases.iter().any(|phrase| phrase.start == place + 1);
        is_counted || leads || FRAGMENT_WORDS.has(word)
    }

    /// `Your answer must have 5 lines`, `summary in 5 lines`.
    fn is_declared(&self) -> bool {
        let Self { sentence, phrase, .. } = self;
        let start = past_fillers(sentence, 0);
        let mut noun = start;
        while ["your", "the", "a", "an"].contains(&sentence.word(noun))
            || ADJECTIVES.has(sentence.word(noun))
        {
            noun += 1;
        }
        let is_ours = match sentence.word(start) {
            "the" => MINE.has(sentence.word(noun)),
            _ => ANSWER_NOUNS.has(sentence.word(noun)),
        };
        let is_about = |place: usize| {
            OBLIGATIONS.has(sentence.word(place)) || ADJECTIVES.has(sentence.word(place))
        };
        let from = noun + 1;
        let is_parted = matches!(sentence.mark(from), Some(Mark::Comma | Mark::Colon | Mark::Open));
        let from = from + usize::from(is_parted);
        sentence.end != End::Question
            && is_ours
            && from <= phrase.start
            && (from..phrase.start).all(is_about)
            && (from < phrase.start || is_parted || phrase.is_bounded)
    }

    /// `Format: 5 lines`.
    fn is_labelled(&self) -> bool {
        let Self { sentence, .. } = self;
        let from = self.from();
        let words: Vec<&str> = sentence.words(0..from).collect();
        sentence.mark_before(from) == Some(Mark::Colon) && is_label(words.into_iter())
    }

    /// `I want a summary in 5 lines`.
    fn is_wanted(&self) -> bool {
        let Self { sentence, phrase, .. } = self;
        let start = past_fillers(sentence, 0);
        let Some(after) = WANTING.end(sentence, start) else { return false };
        if after > phrase.start || sentence.end == End::Question {
            return false;
        }
        let object = || sentence.words(after..phrase.start);
        let is_plain = |place: usize| {
            let word = sentence.word(place);
            ANSWER_NOUNS.has(word)
                || ADJECTIVES.has(word)
                || OBLIGATIONS.has(word)
                || ["an", "the", "your", "it", "this", "just", "please"].contains(&word)
        };
        let names_it = object().any(|word| ANSWER_NOUNS.has(word) || word == "it")
            || phrase.form == Form::Compound;
        let is_direct = object().count() == 0 && self.ends_clause();
        (after..phrase.start).all(is_plain) && (names_it || is_direct)
    }

    /// `Should we ship, in 5 lines?`, `what is it in 5 lines?`
    fn is_asked(&self) -> bool {
        let Self { sentence, .. } = self;
        if !is_asking(sentence) {
            return false;
        }
        let from = self.from();
        let is_form = FORM_LEADS.has(self.lead());
        let is_apart =
            matches!(sentence.mark_before(from), Some(Mark::Comma | Mark::Dash | Mark::Open));
        if is_apart && self.is_whole_clause() && self.is_last_clause() {
            let is_dash = sentence.mark_before(from) == Some(Mark::Dash);
            return is_form || (is_dash && sentence.end != End::Question);
        }
        let start = past_fillers(sentence, 0);
        let is_plain = ["what is", "what are"].iter().any(|words| sentence.reads(start, words))
            || sentence.word(start) == "what's";
        let is_single = (start..from).all(|place| {
            !sentence.word(place).is_empty() && !INNER_VERBS.has(sentence.word(place))
        });
        let is_at_end = is_single && self.is_whole_clause() && self.is_last_clause();
        is_at_end && is_form && (is_plain || self.is_exact_of_no_text(start..from))
    }

    /// `Should we ship in exactly 5 lines?`: the question names nothing that has lines.
    fn is_exact_of_no_text(&self, before: std::ops::Range<usize>) -> bool {
        let Self { sentence, phrase, .. } = self;
        let starts = ["should", "is", "are", "which", "why", "what", "who", "do", "does", "will"];
        let has_lines = |word: &str| {
            ARTEFACTS.has(word) || ANSWER_NOUNS.has(word) || HEADS.has(word) || word == "be"
        };
        starts.contains(&sentence.word(before.start))
            && ["exactly", "precisely"].contains(&sentence.word(phrase.start))
            && self.lead() == "in"
            && !sentence.words(before).any(has_lines)
    }

    /// `In 5 lines: should we ship?`
    fn opens(&self) -> bool {
        let Self { sentence, phrase, .. } = self;
        if past_fillers(sentence, 0) != self.from() {
            return false;
        }
        let is_led = ["in", "using"].contains(&self.lead());
        let after = past_fillers(sentence, phrase.end);
        let mark = sentence.mark(after);
        let next = match mark {
            Some(Mark::Comma | Mark::Colon | Mark::Dash) => past_fillers(sentence, after + 1),
            Some(_) => return false,
            None => after,
        };
        let (word, second) = (sentence.word(next), sentence.word(next + 1));
        let is_about_it = ["that", "this", "it"].contains(&second);
        let is_question = QUESTION_STARTS.has(word) && !is_about_it;
        let is_command = HEADS.has(word) || command(sentence, next).is_some();
        match mark {
            Some(Mark::Colon) => {
                (is_led || phrase.is_bounded || is_question) && (is_question || is_command)
            }
            Some(_) => is_led && (is_question || is_command),
            None => is_led && (is_command || ["what", "why", "how", "whether"].contains(&word)),
        }
    }

    /// `As a pirate, in exactly 5 lines, tell me …`
    fn is_set_off(&self) -> bool {
        let Self { sentence, phrase, .. } = self;
        let marks = [sentence.mark_before(self.from()), sentence.mark(phrase.end)];
        marks == [Some(Mark::Comma); 2]
            && phrase.is_bounded
            && ["in", "using", "with"].contains(&self.lead())
    }

    /// `Should we ship? 5 lines.`
    fn stands_alone(&self) -> bool {
        let Self { sentence, phrase, .. } = self;
        let start = past_fillers(sentence, 0);
        let is_fragment = self.phrases.first().is_some_and(|first| {
            (start..first.start)
                .all(|place| LEADS.has(sentence.word(place)) && place + 1 == first.start)
        });
        let in_front = self.phrases.first().is_some_and(|first| first.start == phrase.start);
        let is_clause = in_front || sentence.mark_before(self.from()).is_some();
        if !is_fragment || !is_clause || !self.is_whole_clause() || sentence.end == End::Question {
            return false;
        }
        let is_polite = sentence.words(0..sentence.tokens.len()).any(|word| word == "please");
        let is_plain = self.lead().is_empty() && !phrase.is_bounded && !is_polite;
        if !self.rest_is_about_form() {
            return false;
        }
        match sentence.place {
            Place::LabelledItem => true,
            Place::Item => false,
            Place::Prose => self.is_in_place(is_plain),
        }
    }

    /// Returns true if the rest continues the format: `5 lines, no jargon`.
    fn rest_is_about_form(&self) -> bool {
        let rest = self.clause_end()..self.sentence.tokens.len();
        rest.clone().all(|place| {
            self.sentence.mark(place) != Some(Mark::Comma)
                || ADDING.has(self.sentence.word(place + 1))
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
            (Some(_), after) => !is_plain && after.is_none_or(Sentence::is_short),
            (None, Some(after)) => !is_plain && is_asking(after),
            (None, None) => false,
        }
    }
}

impl Sentence {
    /// A few words, such as `Thanks!`, or another separate count.
    fn is_short(&self) -> bool {
        self.words(0..self.tokens.len()).count() <= 3 && self.end == End::Stop
    }
}
