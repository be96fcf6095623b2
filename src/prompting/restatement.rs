//! A directive before it takes effect: said back in one sentence, for a yes or a no.

use super::condense::fitting;
use super::instructions::{system, task};
use super::message::{Paragraph, message};
use super::view::Section;
use crate::domain::ask::{Messages, Purpose};
use crate::domain::council::words::Mode;

/// It is asked for beside the rounds, whichever is under way.
const ROUND: u8 = 0;

/// To understand what somebody wants of a panel, its question need not be read to the end.
const QUESTION_BYTES_MAX: usize = 20_000;

/// What the chair's provider is sent when the Principal directs the panel.
pub fn restatement(secret: &str, question: &str, text: &str) -> Messages {
    let question = Section::question(&fitting(question, QUESTION_BYTES_MAX));
    let directive = Section::new("DIRECTIVE", "what the person who asks wants", text.to_owned());
    let paragraphs = [
        Paragraph::Theirs(&question),
        Paragraph::Theirs(&directive),
        Paragraph::Ours(task(Purpose::Restatement)),
    ];
    Messages {
        system: system(Purpose::Restatement, Mode::General),
        user: message(secret, ROUND, &paragraphs),
    }
}
