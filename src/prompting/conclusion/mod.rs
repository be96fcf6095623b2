//! Stub.
use super::council::{self, Prepared};
use crate::domain::ask::{Ask, Messages};
use crate::domain::conclusion::Conclusion;
use crate::domain::record::Record;
use crate::domain::transcript::Transcript;
#[derive(Debug)]
pub struct Case(String);
impl Case {
    pub fn new(question: &str, conclusion: &Conclusion) -> Self {
        Self(format!("{question} {}", conclusion.recommendation))
    }
    pub fn messages(&self, _secret: &str, _round: u8) -> Messages {
        Messages { system: "You are the Blind Critic.".into(), user: self.0.clone() }
    }
    pub fn stricter(&self, secret: &str, round: u8) -> Messages {
        self.messages(secret, round)
    }
}
pub fn synthesizer(transcript: &Transcript, _record: &Record, ask: &Ask) -> Prepared {
    council::prepare(transcript, ask)
}
pub fn reviser(transcript: &Transcript, _record: &Record, ask: &Ask) -> Prepared {
    council::prepare(transcript, ask)
}
pub fn restatement(_secret: &str, question: &str, text: &str) -> Messages {
    Messages { system: "You restate".into(), user: format!("{question} {text}") }
}
