//! Splits a question into sentences of words and marks, in lower case, without quotations.

use crate::protocols::conclusion::format::count::strip_bullet;
use crate::protocols::conclusion::format::quotations::{QUOTATION_PLACEHOLDER, remove_quotations};
use crate::protocols::conclusion::format::vocabulary::{
    MENTIONS, NEVER_LAST, QUESTION_STARTS, SAYING, SELDOM_LAST, is_label,
};

/// A longer sentence is ignored.
const SENTENCE_TOKENS_MAX: usize = 400;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum QuestionToken {
    Word(String),
    Mark(PunctuationMark),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PunctuationMark {
    /// Between two parts of one word.
    Hyphen,
    Comma,
    Semicolon,
    Colon,
    Dash,
    Open,
    Close,
    /// Position of a removed quotation.
    Placeholder,
}

/// How a sentence ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SentenceEnd {
    Question,
    Stop,
    /// The sentences after it contain what it announces.
    Colon,
}

/// Position of a sentence in the layout of the question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SentencePlace {
    Prose,
    /// An item of a list.
    Item,
    /// An item of a list under a heading such as `Format:`.
    LabelledItem,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct QuestionSentence {
    pub(crate) tokens: Vec<QuestionToken>,
    pub(crate) end: SentenceEnd,
    pub(crate) place: SentencePlace,
    /// The sentence is text that the question is about, for example after `our policy says:`.
    pub(crate) is_mention: bool,
}

impl QuestionSentence {
    /// The word at a position; empty if there is none.
    pub(crate) fn word_at(&self, at: usize) -> &str {
        match self.tokens.get(at) {
            Some(QuestionToken::Word(word)) => word,
            Some(QuestionToken::Mark(_)) | None => "",
        }
    }

    /// The word before a position.
    pub(crate) fn word_before(&self, at: usize) -> &str {
        at.checked_sub(1).map_or("", |before| self.word_at(before))
    }

    pub(crate) fn mark_at(&self, at: usize) -> Option<PunctuationMark> {
        match self.tokens.get(at)? {
            QuestionToken::Word(_) => None,
            QuestionToken::Mark(mark) => Some(*mark),
        }
    }

    pub(crate) fn mark_before(&self, at: usize) -> Option<PunctuationMark> {
        self.mark_at(at.checked_sub(1)?)
    }

    pub(crate) fn words_in(&self, places: std::ops::Range<usize>) -> impl Iterator<Item = &str> {
        self.tokens.get(places).unwrap_or_default().iter().filter_map(|token| match token {
            QuestionToken::Word(word) => Some(word.as_str()),
            QuestionToken::Mark(_) => None,
        })
    }

    /// Returns true if these words follow one another from this position on.
    pub(crate) fn matches_words(&self, at: usize, words: &str) -> bool {
        words.split(' ').enumerate().all(|(offset, word)| self.word_at(at + offset) == word)
    }
}

/// Splits a question into sentences.
pub(crate) fn split_sentences(question: &str) -> Vec<QuestionSentence> {
    let question = remove_quotations(question).replace(['’', 'ʼ'], "'");
    let mut splitter = SentenceSplitter::default();
    for line in question.lines() {
        splitter.read_line(line);
    }
    splitter.finish_sentence(SentenceEnd::Stop);
    splitter.done
}

/// Meaning of the last announcement for the lines below it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum AnnouncedText {
    #[default]
    Nothing,
    Format,
    Mention,
}

#[derive(Default)]
struct SentenceSplitter {
    done: Vec<QuestionSentence>,
    tokens: Vec<QuestionToken>,
    announced: AnnouncedText,
    /// True after an announcement that ends a paragraph; it then applies to the next one.
    is_after_colon: bool,
    in_item: bool,
    /// True if the last sentence outside a list names texts; the items below it are those texts.
    is_about_texts: bool,
}

impl SentenceSplitter {
    fn read_line(&mut self, line: &str) {
        let text = line.trim();
        if text.is_empty() {
            self.finish_sentence(SentenceEnd::Stop);
            if !self.is_after_colon {
                self.announced = AnnouncedText::Nothing;
            }
            return;
        }
        let text = text.trim_start_matches('#').trim_start();
        let item = strip_bullet(text);
        let begins = item.is_some() || text.starts_with(|letter: char| letter.is_uppercase());
        if begins {
            self.finish_sentence(SentenceEnd::Stop);
        }
        if self.tokens.is_empty() {
            self.in_item = item.is_some();
            if self.in_item && self.announced == AnnouncedText::Nothing && self.is_about_texts {
                self.announced = AnnouncedText::Mention;
            }
        }
        self.read_text(item.unwrap_or(text));
    }

    fn read_text(&mut self, text: &str) {
        let letters: Vec<char> = text.chars().collect();
        let mut word = String::new();
        for (at, letter) in letters.iter().enumerate() {
            let before = at.checked_sub(1).and_then(|before| letters.get(before)).copied();
            let next = letters.get(at + 1).copied();
            match classify_char(*letter, before, next) {
                CharRole::Letter => word.extend(letter.to_lowercase()),
                CharRole::Nothing => {}
                CharRole::Space => self.push_word(&mut word),
                CharRole::Alone => {
                    self.push_word(&mut word);
                    self.tokens.push(QuestionToken::Word(letter.to_string()));
                }
                CharRole::Mark(PunctuationMark::Colon) => {
                    self.push_word(&mut word);
                    self.handle_colon();
                }
                CharRole::Mark(mark) => {
                    self.push_word(&mut word);
                    self.tokens.push(QuestionToken::Mark(mark));
                }
                CharRole::Point => {
                    let goes_on = is_abbreviated(&word, letters.get(at + 1..).unwrap_or_default());
                    self.push_word(&mut word);
                    if !goes_on {
                        self.finish_sentence(SentenceEnd::Stop);
                    }
                }
                CharRole::End(end) => {
                    self.push_word(&mut word);
                    self.finish_sentence(end);
                }
            }
        }
        self.push_word(&mut word);
    }

    fn push_word(&mut self, word: &mut String) {
        let plain = word.trim_matches(['\'', '_']);
        if !plain.is_empty() {
            self.tokens.push(QuestionToken::Word(plain.to_owned()));
            self.is_after_colon = false;
        }
        word.clear();
    }

    /// A colon splits a sentence if it announces text that the question is about.
    fn handle_colon(&mut self) {
        match self.classify_announcement() {
            AnnouncedText::Mention => {
                self.finish_sentence(SentenceEnd::Colon);
                (self.announced, self.is_after_colon) = (AnnouncedText::Mention, true);
            }
            announced @ (AnnouncedText::Format | AnnouncedText::Nothing) => {
                self.tokens.push(QuestionToken::Mark(PunctuationMark::Colon));
                if self.announced != AnnouncedText::Mention {
                    self.announced = announced;
                }
                self.is_after_colon = true;
            }
        }
    }

    fn classify_announcement(&self) -> AnnouncedText {
        let words: Vec<&str> = self.tokens.iter().filter_map(as_word).collect();
        // `Our rule is:`.
        let is_verb = |word: &&&str| ["is", "are", "was", "were"].contains(*word);
        let Some(last) = words.iter().rev().find(|word| !is_verb(word)) else {
            return AnnouncedText::Nothing;
        };
        let is_question = words.first().is_some_and(|first| QUESTION_STARTS.contains_word(first));
        let names_text = words.iter().any(|word| MENTIONS.contains_word(word));
        // `Rules:` alone are rules for the answer, `our rules:` are not, and `A:` names a choice.
        let is_mention = SAYING.contains_word(last)
            || (words.len() > 1 && MENTIONS.contains_word(last))
            || (names_text && (is_question || words.contains(&"this")))
            || (last.len() == 1 && *last != "q");
        if is_mention {
            AnnouncedText::Mention
        } else if is_label(words.iter().copied()) {
            AnnouncedText::Format
        } else {
            AnnouncedText::Nothing
        }
    }

    fn finish_sentence(&mut self, end: SentenceEnd) {
        let mut tokens = std::mem::take(&mut self.tokens);
        let end = if tokens.last() == Some(&QuestionToken::Mark(PunctuationMark::Colon)) {
            tokens.pop();
            SentenceEnd::Colon
        } else {
            end
        };
        if tokens.is_empty() {
            return;
        }
        if tokens.len() > SENTENCE_TOKENS_MAX {
            tokens.clear();
        }
        if !self.in_item {
            let mut words = tokens.iter().filter_map(as_word);
            self.is_about_texts = words.any(|word| MENTIONS.contains_word(word));
        }
        let place = match (self.in_item, self.announced) {
            (false, _) => SentencePlace::Prose,
            (true, AnnouncedText::Format) => SentencePlace::LabelledItem,
            (true, AnnouncedText::Nothing | AnnouncedText::Mention) => SentencePlace::Item,
        };
        let is_mention = self.announced == AnnouncedText::Mention;
        self.done.push(QuestionSentence { tokens, end, place, is_mention });
    }
}

fn as_word(token: &QuestionToken) -> Option<&str> {
    match token {
        QuestionToken::Word(word) => Some(word),
        QuestionToken::Mark(_) => None,
    }
}

/// Role of a character in its sentence.
enum CharRole {
    Letter,
    Space,
    /// A word of its own, such as `~`.
    Alone,
    Mark(PunctuationMark),
    Point,
    End(SentenceEnd),
    Nothing,
}

fn classify_char(letter: char, before: Option<char>, next: Option<char>) -> CharRole {
    let is_inside = |place: Option<char>| place.is_some_and(char::is_alphanumeric);
    let is_glued = is_inside(before) && is_inside(next);
    match letter {
        // Emphasis.
        '*' => CharRole::Nothing,
        '~' | '<' | '>' | '≤' | '≥' | '=' => CharRole::Alone,
        ',' if is_glued => CharRole::Letter,
        ',' => CharRole::Mark(PunctuationMark::Comma),
        // `tl;dr`.
        ';' if is_glued => CharRole::Letter,
        ';' => CharRole::Mark(PunctuationMark::Semicolon),
        ':' if is_glued => CharRole::Letter,
        ':' => CharRole::Mark(PunctuationMark::Colon),
        '(' | '[' => CharRole::Mark(PunctuationMark::Open),
        ')' | ']' => CharRole::Mark(PunctuationMark::Close),
        '-' | '‑' if is_glued => CharRole::Mark(PunctuationMark::Hyphen),
        // `3–5`.
        '–' if is_glued && before.is_some_and(|digit| digit.is_ascii_digit()) => {
            CharRole::Mark(PunctuationMark::Hyphen)
        }
        '-' | '‑' | '–' | '—' | '―' => CharRole::Mark(PunctuationMark::Dash),
        QUOTATION_PLACEHOLDER => CharRole::Mark(PunctuationMark::Placeholder),
        '.' if is_inside(next) => CharRole::Letter,
        '.' | '…' => CharRole::Point,
        '!' | '。' | '！' => CharRole::End(SentenceEnd::Stop),
        '?' | '？' => CharRole::End(SentenceEnd::Question),
        space if space.is_whitespace() => CharRole::Space,
        _ => CharRole::Letter,
    }
}

/// Returns true if a point after a word is part of an abbreviation, such as `max. 50`.
fn is_abbreviated(word: &str, after: &[char]) -> bool {
    let next = after.iter().find(|letter| !letter.is_whitespace());
    let goes_on = next.is_some_and(|letter| !letter.is_uppercase());
    goes_on && (NEVER_LAST.contains_word(word) || SELDOM_LAST.contains_word(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sentences as text, with signs for marks.
    fn told(question: &str) -> Vec<String> {
        let sign = |token: &QuestionToken| match token {
            QuestionToken::Word(word) => word.clone(),
            QuestionToken::Mark(mark) => match mark {
                PunctuationMark::Hyphen => "^",
                PunctuationMark::Comma => ",",
                PunctuationMark::Semicolon => ";",
                PunctuationMark::Colon => ":",
                PunctuationMark::Dash => "/",
                PunctuationMark::Open => "(",
                PunctuationMark::Close => ")",
                PunctuationMark::Placeholder => "_",
            }
            .to_owned(),
        };
        let told = |sentence: QuestionSentence| {
            let words: Vec<String> = sentence.tokens.iter().map(sign).collect();
            let end = match sentence.end {
                SentenceEnd::Question => "?",
                SentenceEnd::Stop => ".",
                SentenceEnd::Colon => ":",
            };
            let place = match sentence.place {
                SentencePlace::Prose => "",
                SentencePlace::Item => "- ",
                SentencePlace::LabelledItem => "+ ",
            };
            let mention = if sentence.is_mention { " (mention)" } else { "" };
            format!("{place}{}{end}{mention}", words.join(" "))
        };
        split_sentences(question).into_iter().map(told).collect()
    }

    #[track_caller]
    fn check(question: &str, expected: &[&str]) {
        assert_eq!(told(question), expected, "{question}");
    }

    #[test]
    fn a_question_is_taken_apart() {
        check("Ship it? In 5 lines.", &["ship it?", "in 5 lines."]);
        check("Don’t we - (max. 50 words)", &["don't we / ( max 50 words )."]);
        check("a 5-line, **3–5** bullet—ed", &["a 5 ^ line , 3 ^ 5 bullet / ed."]);
        check("e.g. v1.5 in foo.rs. Then ~100", &["e.g v1.5 in foo.rs.", "then ~ 100."]);
        check("Answer in\nexactly 5 lines\nPlease", &["answer in exactly 5 lines.", "please."]);
        check("Is 'x y' it?", &["is _ it?"]);
        check("5 lines max. Should we?", &["5 lines max.", "should we?"]);
    }

    #[test]
    fn lists_and_what_they_stand_under() {
        check("Format:\n- 5 lines\n- no jargon", &["format:", "+ 5 lines.", "+ no jargon."]);
        check("Options:\n1. 5 lines\n2. none", &["options:", "- 5 lines.", "- none."]);
        check("Format: 5 lines", &["format : 5 lines."]);
    }

    #[test]
    fn what_is_announced_as_text_is_text() {
        check(
            "Our policy says: write 5 lines. Is it good?\n\nTell us.",
            &["our policy says:", "write 5 lines. (mention)", "is it good? (mention)", "tell us."],
        );
        check(
            "Here is my draft:\n\nWrite 5 lines.\n\nIs it good?",
            &["here is my draft:", "write 5 lines. (mention)", "is it good?"],
        );
        check("Rules: answer in 5 lines.", &["rules : answer in 5 lines."]);
    }
}
