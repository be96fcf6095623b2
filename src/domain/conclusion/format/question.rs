//! Splits a question into sentences of words and marks, in lower case, without quotations.

use super::quotations::{HOLE, without_quotations};
use super::vocabulary::{MENTIONS, NEVER_LAST, QUESTION_STARTS, SAYING, SELDOM_LAST, is_label};

/// A longer sentence is ignored.
const SENTENCE_TOKENS_MAX: usize = 400;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    Word(String),
    Mark(Mark),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// Between two parts of one word.
    Hyphen,
    Comma,
    Semicolon,
    Colon,
    Dash,
    Open,
    Close,
    /// Position of a removed quotation.
    Hole,
}

/// How a sentence ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Question,
    Stop,
    /// The sentences after it contain what it announces.
    Colon,
}

/// Position of a sentence in the layout of the question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Prose,
    /// An item of a list.
    Item,
    /// An item of a list under a heading such as `Format:`.
    LabelledItem,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sentence {
    pub(super) tokens: Vec<Token>,
    pub(super) end: End,
    pub(super) place: Place,
    /// The sentence is text that the question is about, for example after `our policy says:`.
    pub(super) is_mention: bool,
}

impl Sentence {
    /// The word at a position; empty if there is none.
    pub(super) fn word(&self, at: usize) -> &str {
        match self.tokens.get(at) {
            Some(Token::Word(word)) => word,
            Some(Token::Mark(_)) | None => "",
        }
    }

    /// The word before a position.
    pub(super) fn word_before(&self, at: usize) -> &str {
        at.checked_sub(1).map_or("", |before| self.word(before))
    }

    pub(super) fn mark(&self, at: usize) -> Option<Mark> {
        match self.tokens.get(at)? {
            Token::Word(_) => None,
            Token::Mark(mark) => Some(*mark),
        }
    }

    pub(super) fn mark_before(&self, at: usize) -> Option<Mark> {
        self.mark(at.checked_sub(1)?)
    }

    pub(super) fn words(&self, places: std::ops::Range<usize>) -> impl Iterator<Item = &str> {
        self.tokens.get(places).unwrap_or_default().iter().filter_map(|token| match token {
            Token::Word(word) => Some(word.as_str()),
            Token::Mark(_) => None,
        })
    }

    /// Returns true if these words follow one another from this position on.
    pub(super) fn reads(&self, at: usize, words: &str) -> bool {
        words.split(' ').enumerate().all(|(offset, word)| self.word(at + offset) == word)
    }
}

/// Splits a question into sentences.
pub(super) fn sentences(question: &str) -> Vec<Sentence> {
    let question = without_quotations(question).replace(['’', 'ʼ'], "'");
    let mut splitter = Splitter::default();
    for line in question.lines() {
        splitter.line(line);
    }
    splitter.finish(End::Stop);
    splitter.done
}

/// Meaning of the last announcement for the lines below it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Announced {
    #[default]
    Nothing,
    Format,
    Mention,
}

#[derive(Default)]
struct Splitter {
    done: Vec<Sentence>,
    tokens: Vec<Token>,
    announced: Announced,
    /// True after an announcement that ends a paragraph; it then applies to the next one.
    is_after_colon: bool,
    in_item: bool,
    /// True if the last sentence outside a list names texts; the items below it are those texts.
    is_about_texts: bool,
}

impl Splitter {
    fn line(&mut self, line: &str) {
        let text = line.trim();
        if text.is_empty() {
            self.finish(End::Stop);
            if !self.is_after_colon {
                self.announced = Announced::Nothing;
            }
            return;
        }
        let text = text.trim_start_matches('#').trim_start();
        let item = super::count::after_bullet(text);
        let begins = item.is_some() || text.starts_with(|letter: char| letter.is_uppercase());
        if begins {
            self.finish(End::Stop);
        }
        if self.tokens.is_empty() {
            self.in_item = item.is_some();
            if self.in_item && self.announced == Announced::Nothing && self.is_about_texts {
                self.announced = Announced::Mention;
            }
        }
        self.read(item.unwrap_or(text));
    }

    fn read(&mut self, text: &str) {
        let letters: Vec<char> = text.chars().collect();
        let mut word = String::new();
        for (at, letter) in letters.iter().enumerate() {
            let before = at.checked_sub(1).and_then(|before| letters.get(before)).copied();
            let next = letters.get(at + 1).copied();
            match part(*letter, before, next) {
                Part::Letter => word.extend(letter.to_lowercase()),
                Part::Nothing => {}
                Part::Space => self.push(&mut word),
                Part::Alone => {
                    self.push(&mut word);
                    self.tokens.push(Token::Word(letter.to_string()));
                }
                Part::Mark(Mark::Colon) => {
                    self.push(&mut word);
                    self.colon();
                }
                Part::Mark(mark) => {
                    self.push(&mut word);
                    self.tokens.push(Token::Mark(mark));
                }
                Part::Point => {
                    let goes_on = is_abbreviated(&word, letters.get(at + 1..).unwrap_or_default());
                    self.push(&mut word);
                    if !goes_on {
                        self.finish(End::Stop);
                    }
                }
                Part::End(end) => {
                    self.push(&mut word);
                    self.finish(end);
                }
            }
        }
        self.push(&mut word);
    }

    fn push(&mut self, word: &mut String) {
        let plain = word.trim_matches(['\'', '_']);
        if !plain.is_empty() {
            self.tokens.push(Token::Word(plain.to_owned()));
            self.is_after_colon = false;
        }
        word.clear();
    }

    /// A colon splits a sentence if it announces text that the question is about.
    fn colon(&mut self) {
        match self.announcement() {
            Announced::Mention => {
                self.finish(End::Colon);
                (self.announced, self.is_after_colon) = (Announced::Mention, true);
            }
            announced @ (Announced::Format | Announced::Nothing) => {
                self.tokens.push(Token::Mark(Mark::Colon));
                if self.announced != Announced::Mention {
                    self.announced = announced;
                }
                self.is_after_colon = true;
            }
        }
    }

    fn announcement(&self) -> Announced {
        let words: Vec<&str> = self.tokens.iter().filter_map(plain_word).collect();
        // `Our rule is:`.
        let is_verb = |word: &&&str| ["is", "are", "was", "were"].contains(*word);
        let Some(last) = words.iter().rev().find(|word| !is_verb(word)) else {
            return Announced::Nothing;
        };
        let is_question = words.first().is_some_and(|first| QUESTION_STARTS.has(first));
        let names_text = words.iter().any(|word| MENTIONS.has(word));
        // `Rules:` alone are rules for the answer, `our rules:` are not, and `A:` names a choice.
        let is_mention = SAYING.has(last)
            || (words.len() > 1 && MENTIONS.has(last))
            || (names_text && (is_question || words.contains(&"this")))
            || (last.len() == 1 && *last != "q");
        if is_mention {
            Announced::Mention
        } else if is_label(words.iter().copied()) {
            Announced::Format
        } else {
            Announced::Nothing
        }
    }

    fn finish(&mut self, end: End) {
        let mut tokens = std::mem::take(&mut self.tokens);
        let end = if tokens.last() == Some(&Token::Mark(Mark::Colon)) {
            tokens.pop();
            End::Colon
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
            let mut words = tokens.iter().filter_map(plain_word);
            self.is_about_texts = words.any(|word| MENTIONS.has(word));
        }
        let place = match (self.in_item, self.announced) {
            (false, _) => Place::Prose,
            (true, Announced::Format) => Place::LabelledItem,
            (true, Announced::Nothing | Announced::Mention) => Place::Item,
        };
        let is_mention = self.announced == Announced::Mention;
        self.done.push(Sentence { tokens, end, place, is_mention });
    }
}

fn plain_word(token: &Token) -> Option<&str> {
    match token {
        Token::Word(word) => Some(word),
        Token::Mark(_) => None,
    }
}

/// Role of a character in its sentence.
enum Part {
    Letter,
    Space,
    /// A word of its own, such as `~`.
    Alone,
    Mark(Mark),
    Point,
    End(End),
    Nothing,
}

fn part(letter: char, before: Option<char>, next: Option<char>) -> Part {
    let is_inside = |place: Option<char>| place.is_some_and(char::is_alphanumeric);
    let is_glued = is_inside(before) && is_inside(next);
    match letter {
        // Emphasis.
        '*' => Part::Nothing,
        '~' | '<' | '>' | '≤' | '≥' | '=' => Part::Alone,
        ',' if is_glued => Part::Letter,
        ',' => Part::Mark(Mark::Comma),
        // `tl;dr`.
        ';' if is_glued => Part::Letter,
        ';' => Part::Mark(Mark::Semicolon),
        ':' if is_glued => Part::Letter,
        ':' => Part::Mark(Mark::Colon),
        '(' | '[' => Part::Mark(Mark::Open),
        ')' | ']' => Part::Mark(Mark::Close),
        '-' | '‑' if is_glued => Part::Mark(Mark::Hyphen),
        // `3–5`.
        '–' if is_glued && before.is_some_and(|digit| digit.is_ascii_digit()) => {
            Part::Mark(Mark::Hyphen)
        }
        '-' | '‑' | '–' | '—' | '―' => Part::Mark(Mark::Dash),
        HOLE => Part::Mark(Mark::Hole),
        '.' if is_inside(next) => Part::Letter,
        '.' | '…' => Part::Point,
        '!' | '。' | '！' => Part::End(End::Stop),
        '?' | '？' => Part::End(End::Question),
        space if space.is_whitespace() => Part::Space,
        _ => Part::Letter,
    }
}

/// Returns true if a point after a word is part of an abbreviation, such as `max. 50`.
fn is_abbreviated(word: &str, after: &[char]) -> bool {
    let next = after.iter().find(|letter| !letter.is_whitespace());
    let goes_on = next.is_some_and(|letter| !letter.is_uppercase());
    goes_on && (NEVER_LAST.has(word) || SELDOM_LAST.has(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sentences as text, with signs for marks.
    fn told(question: &str) -> Vec<String> {
        let sign = |token: &Token| match token {
            Token::Word(word) => word.clone(),
            Token::Mark(mark) => match mark {
                Mark::Hyphen => "^",
                Mark::Comma => ",",
                Mark::Semicolon => ";",
                Mark::Colon => ":",
                Mark::Dash => "/",
                Mark::Open => "(",
                Mark::Close => ")",
                Mark::Hole => "_",
            }
            .to_owned(),
        };
        let told = |sentence: Sentence| {
            let words: Vec<String> = sentence.tokens.iter().map(sign).collect();
            let end = match sentence.end {
                End::Question => "?",
                End::Stop => ".",
                End::Colon => ":",
            };
            let place = match sentence.place {
                Place::Prose => "",
                Place::Item => "- ",
                Place::LabelledItem => "+ ",
            };
            let mention = if sentence.is_mention { " (mention)" } else { "" };
            format!("{place}{}{end}{mention}", words.join(" "))
        };
        sentences(question).into_iter().map(told).collect()
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
