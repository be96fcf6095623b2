//! Messages that ask a model to restate a directive in one sentence, for confirmation.

use super::condense::truncate_to_fit;
use super::instructions::DIRECTIVE;
use super::message::{MessageParagraph, join_paragraphs};
use super::view::FencedSection;
use crate::domain::ask::AskMessages;
use crate::domain::council::words::QuestionMode;

/// A restatement belongs to no round.
const RESTATEMENT_ROUND: u8 = 0;

/// The beginning of the question is enough to understand a directive.
const RESTATED_QUESTION_BYTES_MAX: usize = 20_000;

/// The messages to the chair's provider when the Principal directs the panel.
pub fn restatement_messages(secret: &str, question: &str, text: &str) -> AskMessages {
    let question =
        FencedSection::from_question(&truncate_to_fit(question, RESTATED_QUESTION_BYTES_MAX));
    let directive =
        FencedSection::new("DIRECTIVE", "what the person who asks wants", text.to_owned());
    let paragraphs = [
        MessageParagraph::Fenced(&question),
        MessageParagraph::Fenced(&directive),
        MessageParagraph::Plain(DIRECTIVE.task),
    ];
    AskMessages {
        system: DIRECTIVE.system_prompt(QuestionMode::General),
        user: join_paragraphs(secret, RESTATEMENT_ROUND, &paragraphs),
    }
}
