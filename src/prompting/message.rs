//! A user message, put together: fenced sections, remarks of ours, the task.

use super::condense::{REASON_BYTES_MAX, fitting};
use super::fence::Fences;
use super::instructions::{SHORTER, STRICTER, task};
use super::view::Section;
use crate::domain::ask::{Ask, Messages};

/// Messages, and what had to be cut from them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prepared {
    pub messages: Messages,
    pub condensed: Vec<String>,
}

/// All that a user message is made of.
#[derive(Debug)]
pub(super) struct Parts<'a> {
    /// The run's own random bits; only a digest of them is sent.
    pub secret: &'a str,
    pub sections: &'a [Section],
    /// Sentences of ours between the material and the task.
    pub remarks: &'a [String],
    /// Why the last reply could not be used. It may quote it.
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
        paragraphs.push(Paragraph::Ours(task(ask.purpose)));
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

/// A paragraph of a user message, by whose text it is.
#[derive(Debug, Clone, Copy)]
pub(super) enum Paragraph<'a> {
    /// It will stand in a fence.
    Theirs(&'a Section),
    Ours(&'a str),
}

/// The paragraphs, with one mark for all fences that none of the fenced texts has in it.
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
