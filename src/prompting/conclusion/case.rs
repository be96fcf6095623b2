//! All that the Blind Critic is ever shown: a question and a conclusion.
//!
//! **Invariant:** a case is made of these two and nothing else. There is no other
//! constructor, no other field, and its messages are made of it and words of ours, so
//! nothing that was said on the way to a conclusion can reach its auditor.

use serde_json::Value;

use crate::domain::ask::{Messages, Purpose};
use crate::domain::conclusion::Conclusion;
use crate::domain::council::words::Mode;
use crate::prompting::condense::{TEXT_BYTES, change_texts, fits, fitting};
use crate::prompting::instructions::{SHORTER_CRITIC, STRICTER_CRITIC, system, task};
use crate::prompting::message::{Paragraph, Prepared, message};
use crate::prompting::view::{Section, as_text};

#[derive(Debug, Clone)]
pub struct Case {
    question: String,
    conclusion: Value,
}

impl Case {
    pub fn new(question: &str, conclusion: &Conclusion) -> Self {
        let conclusion = serde_json::to_value(conclusion).unwrap_or_default();
        Self { question: question.to_owned(), conclusion }
    }

    /// What the critic is asked at one of the two looks. The secret only makes the mark of the
    /// fences, by way of a digest.
    pub fn asked(&self, secret: &str, round: u8) -> Prepared {
        self.prepared(secret, round, &[task(Purpose::Audit)])
    }

    /// The same after a reply of another form. Neither that reply nor what our reader says of it
    /// is shown: the critic starts from the same two things again.
    pub fn asked_again(&self, secret: &str, round: u8) -> Prepared {
        self.prepared(secret, round, &[task(Purpose::Audit), STRICTER_CRITIC.trim_end()])
    }

    /// The same after a reply that was cut off, of which nothing is shown either.
    pub fn asked_for_less(&self, secret: &str, round: u8) -> Prepared {
        self.prepared(secret, round, &[task(Purpose::Audit), SHORTER_CRITIC.trim_end()])
    }

    fn prepared(&self, secret: &str, round: u8, words: &[&str]) -> Prepared {
        let mut shown = self.clone();
        let condensed = shown.condense();
        let sections = shown.sections();
        let theirs = sections.iter().map(Paragraph::Theirs);
        let paragraphs: Vec<Paragraph<'_>> =
            theirs.chain(words.iter().map(|text| Paragraph::Ours(text))).collect();
        let user = message(secret, round, &paragraphs);
        let system = system(Purpose::Audit, Mode::General);
        Prepared { messages: Messages { system, user }, condensed }
    }

    fn sections(&self) -> [Section; 2] {
        [
            Section::question(&self.question),
            Section::new("CONCLUSION", "the conclusion to audit", as_text(&self.conclusion)),
        ]
    }

    /// Texts give way evenly until both fit.
    fn condense(&mut self) -> Vec<String> {
        if fits(&self.sections()) {
            return Vec::new();
        }
        let longest = TEXT_BYTES.map(|bytes| bytes * 4);
        for bytes_max in longest {
            self.question = fitting(&self.question, bytes_max);
            change_texts(&mut self.conclusion, &|text| fitting(text, bytes_max));
            if fits(&self.sections()) {
                return vec![format!("texts over {bytes_max} bytes were cut, head and tail kept")];
            }
        }
        Vec::new()
    }
}
