//! Assembles a user message from fenced sections, our remarks and the task.

use super::condense::{REASON_BYTES_MAX, truncate_to_fit};
use super::fence::FenceSet;
use super::instructions::{SHORTER, STRICTER};
use super::view::FencedSection;
use crate::domain::ask::{Ask, AskMessages};

/// The messages of an ask, with notes on everything that was cut from them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderedPrompt {
    pub messages: AskMessages,
    pub condensed: Vec<String>,
}

/// Input of a user message.
#[derive(Debug)]
pub(super) struct MessageParts<'a> {
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
    pub(super) fn render_message(&self, ask: &Ask) -> String {
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
pub(super) enum MessageParagraph<'a> {
    /// Foreign text, rendered in a fence.
    Fenced(&'a FencedSection),
    Plain(&'a str),
}

/// Joins the paragraphs. All fences share one nonce that occurs in none of the fenced texts.
pub(super) fn join_paragraphs(
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
