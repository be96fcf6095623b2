//! Assembles a user message from fenced sections, our remarks and the task.

use super::condense::{REASON_BYTES_MAX, fitting};
use super::fence::Fences;
use super::instructions::{SHORTER, STRICTER};
use super::view::Section;
use crate::domain::ask::{Ask, Messages};

/// The messages of an ask, with notes on everything that was cut from them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prepared {
    pub messages: Messages,
    pub condensed: Vec<String>,
}

/// Input of a user message.
#[derive(Debug)]
pub(super) struct Parts<'a> {
    /// The run's secret. Only a digest of it is sent.
    pub secret: &'a str,
    pub sections: &'a [Section],
    /// Our sentences between the material and the task.
    pub remarks: &'a [String],
    /// What the seat is asked to do.
    pub task: &'a str,
    /// Why the last reply was rejected. It may quote the reply.
    pub faults: Option<&'a str>,
}

impl Parts<'_> {
    pub(super) fn message(&self, ask: &Ask) -> String {
        let whose = "what our reader says about your last reply";
        let reason = self.faults.map(|faults| fitting(faults, REASON_BYTES_MAX));
        let reason = reason.map(|reason| Section::new("REASON", whose, reason));
        let mut paragraphs: Vec<Paragraph<'_>> =
            self.sections.iter().map(Paragraph::Theirs).collect();
        paragraphs.extend(self.remarks.iter().map(|remark| Paragraph::Ours(remark)));
        paragraphs.push(Paragraph::Ours(self.task));
        if let Some(reason) = &reason {
            paragraphs.push(Paragraph::Ours(STRICTER.trim_end()));
            if ask.wants_shorter() {
                paragraphs.push(Paragraph::Ours(SHORTER.trim_end()));
            }
            paragraphs.push(Paragraph::Theirs(reason));
        }
        message(self.secret, ask.round, &paragraphs)
    }
}

/// A paragraph of a user message: foreign or ours.
#[derive(Debug, Clone, Copy)]
pub(super) enum Paragraph<'a> {
    /// Foreign text, rendered in a fence.
    Theirs(&'a Section),
    Ours(&'a str),
}

/// Joins the paragraphs. All fences share one nonce that occurs in none of the fenced texts.
pub(super) fn message(secret: &str, round: u8, paragraphs: &[Paragraph<'_>]) -> String {
    let fenced = paragraphs.iter().filter_map(|paragraph| match paragraph {
        Paragraph::Theirs(section) => Some(section.text.as_str()),
        Paragraph::Ours(_) => None,
    });
    let fences = Fences::new(secret, round, &fenced.collect::<Vec<_>>());
    let set = paragraphs.iter().map(|paragraph| match paragraph {
        Paragraph::Theirs(section) => section.fenced(&fences),
        Paragraph::Ours(text) => (*text).to_owned(),
    });
    set.collect::<Vec<_>>().join("\n\n")
}
