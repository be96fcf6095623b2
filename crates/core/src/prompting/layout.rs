//! The order of a prompt's parts, so that provider caches work.
//!
//! The system message is the same for all roles of a run. The user message is the shared block,
//! the role, the material of the round, our remarks, and the format of the reply. The Blind Critic,
//! the adjudicator and the restatement get no shared block, and their role stands in the system
//! message.

use std::sync::Arc;

use crate::model::ask::{Ask, AskMessages};
use crate::model::time::Day;
use crate::prompting::condense::{REASON_BYTES_MAX, truncate_to_fit};
use crate::prompting::fence::{FenceSet, FencedSection};
use crate::prompting::instructions::{DIRECTIVE, RoleParts, SHORTER, STRICTER, SYSTEM};
use crate::prompting::shared_block::{SeatBlock, today_line};
use crate::protocols::council::types::QuestionMode;

/// The messages of an ask, with notes on everything that was cut from them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderedPrompt {
    pub messages: AskMessages,
    pub condensed: Vec<String>,
}

/// Input of an ask's messages.
#[derive(Debug)]
pub(crate) struct MessageParts<'a> {
    /// The run's secret. Only a digest of it is sent.
    pub secret: &'a str,
    /// `None` for a seat that must not see it.
    pub block: Option<&'a SeatBlock>,
    pub role: &'a RoleParts,
    pub sections: &'a [FencedSection],
    /// Our sentences between the material and the format.
    pub remarks: &'a [String],
}

impl MessageParts<'_> {
    /// The messages of an ask. If the last reply was rejected, they end with the reason, which may
    /// quote that reply.
    pub(crate) fn render_messages(&self, ask: &Ask) -> AskMessages {
        let Some(faults) = &ask.retry_reason else { return self.render_with(ask.round, &[], None) };
        let reason = FencedSection::material("REASON", truncate_to_fit(faults, REASON_BYTES_MAX));
        let texts: &[&str] = if ask.wants_shorter() { &[STRICTER, SHORTER] } else { &[STRICTER] };
        self.render_with(ask.round, texts, Some(reason))
    }

    /// The messages with these sentences of ours and this section at the end.
    pub(crate) fn render_with(
        &self,
        round: u8,
        retry: &[&str],
        reason: Option<FencedSection>,
    ) -> AskMessages {
        let sections: Vec<FencedSection> = self.sections.iter().cloned().chain(reason).collect();
        let fences = FenceSet::for_sections(self.secret, round, &sections);
        let fences = match self.block {
            Some(own) => fences.beside_block(&own.block.text),
            None => fences,
        };
        let (role, system) = match self.block {
            Some(_) => (self.role.role.as_str(), SYSTEM.trim_end().to_owned()),
            None => ("", self.role.system_message()),
        };
        let (first, last) = sections.split_at(self.sections.len());
        let fenced = |sections: &[FencedSection]| -> Vec<String> {
            sections.iter().map(|section| fences.fence_section(section)).collect()
        };
        let (first, last) = (fenced(first), fenced(last));
        let paragraphs = std::iter::once(role)
            .chain(first.iter().map(String::as_str))
            .chain(self.remarks.iter().map(String::as_str))
            .chain([self.role.format.as_str()])
            .chain(retry.iter().copied())
            .chain(last.iter().map(String::as_str));
        let paragraphs = paragraphs.map(str::trim_end).filter(|text| !text.is_empty());
        let user = paragraphs.collect::<Vec<_>>().join("\n\n");
        match self.block {
            Some(SeatBlock { block, is_own: false, .. }) => {
                let shared = Some(Arc::clone(block));
                AskMessages { shared, ..AskMessages::new(system, user) }
            }
            Some(SeatBlock { block, .. }) => {
                AskMessages::new(system, [&*block.text, &user].concat())
            }
            None => AskMessages::new(system, user),
        }
    }
}

/// A restatement belongs to no round.
const RESTATEMENT_ROUND: u8 = 0;

/// The beginning of the question is enough to understand a directive.
const RESTATED_QUESTION_BYTES_MAX: usize = 20_000;

/// The messages to the chair's provider when the Principal directs the panel. Both texts are
/// material: the seat restates the directive and does not follow it.
pub fn restatement_messages(secret: &str, question: &str, text: &str, today: Day) -> AskMessages {
    let question = truncate_to_fit(question, RESTATED_QUESTION_BYTES_MAX);
    let sections = [
        FencedSection::material("QUESTION", question),
        FencedSection::material("DIRECTIVE", text.to_owned()),
    ];
    let role = &DIRECTIVE.parts(QuestionMode::General);
    let remarks = &[today_line(today)];
    let parts = MessageParts { secret, block: None, role, sections: &sections, remarks };
    parts.render_with(RESTATEMENT_ROUND, &[], None)
}
