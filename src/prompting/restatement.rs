//! Messages that ask a model to restate a directive in one sentence, for confirmation.

use super::condense::fitting;
use super::instructions::DIRECTIVE;
use super::message::{Paragraph, message};
use super::view::Section;
use crate::domain::ask::Messages;
use crate::domain::council::words::Mode;

/// A restatement belongs to no round.
const ROUND: u8 = 0;

/// The beginning of the question is enough to understand a directive.
const QUESTION_BYTES_MAX: usize = 20_000;

/// The messages to the chair's provider when the Principal directs the panel.
pub fn restatement(secret: &str, question: &str, text: &str) -> Messages {
    let question = Section::question(&fitting(question, QUESTION_BYTES_MAX));
    let directive = Section::new("DIRECTIVE", "what the person who asks wants", text.to_owned());
    let paragraphs = [
        Paragraph::Theirs(&question),
        Paragraph::Theirs(&directive),
        Paragraph::Ours(DIRECTIVE.task),
    ];
    Messages { system: DIRECTIVE.system(Mode::General), user: message(secret, ROUND, &paragraphs) }
}
