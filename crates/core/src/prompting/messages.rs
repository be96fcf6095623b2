//! Assembles a user message from fenced sections, our remarks and the task.

use crate::model::ask::{Ask, AskMessages};
use crate::prompting::condense::{REASON_BYTES_MAX, truncate_to_fit};
use crate::prompting::fence::FenceSet;
use crate::prompting::instructions::{DIRECTIVE, SHORTER, STRICTER};
use crate::prompting::reader_view::FencedSection;
use crate::protocols::council::types::QuestionMode;

/// The messages of an ask, with notes on everything that was cut from them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderedPrompt {
    pub messages: AskMessages,
    pub condensed: Vec<String>,
}

/// Input of a user message.
#[derive(Debug)]
pub(crate) struct MessageParts<'a> {
    /// The run's secret. Only a digest of it is sent.
    pub secret: &'a str,
    pub sections: &'a [FencedSection],
    /// Our sentences between the material and the task.
    pub remarks: &'a [String],
    /// What the seat is asked to do.
    pub task: &'a str,
    /// Why the last reply was rejected. It may quote the reply.
    pub rejection_reason: Option<&'a str>,
}

impl MessageParts<'_> {
    pub(crate) fn render_message(&self, ask: &Ask) -> String {
        let whose = "what our reader says about your last reply";
        let reason = self.rejection_reason.map(|faults| truncate_to_fit(faults, REASON_BYTES_MAX));
        let reason = reason.map(|reason| FencedSection::new("REASON", whose, reason));
        let mut paragraphs: Vec<MessageParagraph<'_>> =
            self.sections.iter().map(MessageParagraph::Fenced).collect();
        paragraphs.extend(self.remarks.iter().map(|remark| MessageParagraph::Plain(remark)));
        paragraphs.push(MessageParagraph::Plain(self.task));
        if let Some(reason) = &reason {
            paragraphs.push(MessageParagraph::Plain(STRICTER.trim_end()));
            if ask.wants_shorter() {
                paragraphs.push(MessageParagraph::Plain(SHORTER.trim_end()));
            }
            paragraphs.push(MessageParagraph::Fenced(reason));
        }
        join_paragraphs(self.secret, ask.round, &paragraphs)
    }
}

/// A paragraph of a user message: foreign or ours.
#[derive(Debug, Clone, Copy)]
pub(crate) enum MessageParagraph<'a> {
    /// Foreign text, rendered in a fence.
    Fenced(&'a FencedSection),
    Plain(&'a str),
}

/// Joins the paragraphs. All fences share one nonce that occurs in none of the fenced texts.
pub(crate) fn join_paragraphs(
    secret: &str,
    round: u8,
    paragraphs: &[MessageParagraph<'_>],
) -> String {
    let fenced = paragraphs.iter().filter_map(|paragraph| match paragraph {
        MessageParagraph::Fenced(section) => Some(section.text.as_str()),
        MessageParagraph::Plain(_) => None,
    });
    let fences = FenceSet::new(secret, round, &fenced.collect::<Vec<_>>());
    let set = paragraphs.iter().map(|paragraph| match paragraph {
        MessageParagraph::Fenced(section) => section.render_fenced(&fences),
        MessageParagraph::Plain(text) => (*text).to_owned(),
    });
    set.collect::<Vec<_>>().join("\n\n")
}

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
