//! A user message, put together: fenced sections, remarks of ours, the task.

use super::fence::Fences;
use super::instructions::{STRICTER, task};
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
        let texts = self.sections.iter().map(|section| section.text.as_str());
        let texts: Vec<&str> = texts.chain(self.faults).collect();
        let fences = Fences::new(self.secret, ask.round, &texts);
        let mut paragraphs: Vec<String> =
            self.sections.iter().map(|section| section.fenced(&fences)).collect();
        paragraphs.extend_from_slice(self.remarks);
        paragraphs.push(task(ask.purpose).to_owned());
        if let Some(faults) = self.faults {
            paragraphs.push(STRICTER.trim_end().to_owned());
            let whose = "what our reader says about your last reply";
            paragraphs.push(fences.around("REASON", whose, faults));
        }
        paragraphs.join("\n\n")
    }
}
