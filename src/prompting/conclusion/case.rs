//! The Blind Critic's input: a question and a conclusion.
//!
//! **Invariant:** `CriticInput` is made of these two and nothing else. It has one constructor and
//! two fields, and its messages consist of them and our own text, so nothing from the debate can
//! reach the critic.

use serde_json::Value;

use crate::domain::ask::Messages;
use crate::domain::conclusion::Conclusion;
use crate::domain::council::words::Mode;
use crate::prompting::condense::{TEXT_BYTES, change_texts, fits, fitting};
use crate::prompting::instructions::{AUDIT, SHORTER_CRITIC, STRICTER_CRITIC};
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

    /// The prompt of the first or second audit. The secret only enters the digest that becomes the
    /// nonce of the fences.
    pub fn asked(&self, secret: &str, round: u8) -> Prepared {
        self.prepared(secret, round, &[AUDIT.task])
    }

    /// The prompt after an unparsable reply. It shows neither that reply nor the parse error: the
    /// critic starts again from the same two inputs.
    pub fn asked_again(&self, secret: &str, round: u8) -> Prepared {
        self.prepared(secret, round, &[AUDIT.task, STRICTER_CRITIC.trim_end()])
    }

    /// The prompt after a truncated reply, which is not shown either.
    pub fn asked_for_less(&self, secret: &str, round: u8) -> Prepared {
        self.prepared(secret, round, &[AUDIT.task, SHORTER_CRITIC.trim_end()])
    }

    fn prepared(&self, secret: &str, round: u8, words: &[&str]) -> Prepared {
        let mut shown = self.clone();
        let condensed = shown.condense();
        let sections = shown.sections();
        let theirs = sections.iter().map(Paragraph::Theirs);
        let paragraphs: Vec<Paragraph<'_>> =
            theirs.chain(words.iter().map(|text| Paragraph::Ours(text))).collect();
        let user = message(secret, round, &paragraphs);
        let system = AUDIT.system(Mode::General);
        Prepared { messages: Messages { system, user }, condensed }
    }

    fn sections(&self) -> [Section; 2] {
        [
            Section::question(&self.question),
            Section::new("CONCLUSION", "the conclusion to audit", as_text(&self.conclusion)),
        ]
    }

    /// Cuts all texts to the same limit until both inputs fit.
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
