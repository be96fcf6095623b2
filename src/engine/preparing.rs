//! What each seat will be sent, and which way it goes.

use std::sync::Arc;

use super::deliberation::Deliberation;
use super::pursue::Course;
use super::run_start::unreachable_seat;
use crate::domain::ask::{Ask, Purpose};
use crate::domain::change::Change;
use crate::domain::record::Record;
use crate::domain::refusal::{Code, Fault};
use crate::domain::transcript::Transcript;
use crate::error::Error;
use crate::prompting::{Prepared, prepare};
use crate::protocols::conclusion::stage;
use crate::record::no_dialogue;

impl Deliberation {
    /// The way of each ask, and what those that are new will carry.
    pub(super) fn courses<'a>(
        &'a self,
        asks: &'a [Ask],
    ) -> Result<(Vec<Change>, Vec<Course<'a>>), Error> {
        let transcript = self.transcript();
        let (mut prepared, mut courses) = (Vec::new(), Vec::new());
        let reached = asks.first().and_then(|ask| stage(ask.round));
        if let Some(stage) = reached.filter(|stage| transcript.stage != Some(*stage)) {
            prepared.push(Change::StageReached { stage });
        }
        for ask in asks {
            let transports = self.connections.for_seat(&ask.seat);
            let course = if let Some(asked) = transcript.asked(ask.id) {
                // Where prompts are not kept they are written anew, from the same transcript.
                let messages = match &asked.messages {
                    Some(messages) => Arc::clone(messages),
                    None => Arc::new(self.prepare(&transcript, ask)?.messages),
                };
                Course::again(&transcript, ask, transports, asked, messages)
            } else {
                let Prepared { messages, condensed } = self.prepare(&transcript, ask)?;
                let messages = Arc::new(messages);
                let keeps = transcript.plan.keep_prompts;
                prepared.push(Change::AskPrepared {
                    ask: ask.clone(),
                    messages: keeps.then(|| Arc::clone(&messages)),
                    messages_sha256: (!keeps).then(|| messages.digest()),
                    condensed,
                });
                Course::begin(&transcript, ask, transports, messages)
            };
            // A seat that nothing leads to would be asked for ever.
            courses.push(course.ok_or_else(|| unreachable_seat(&ask.seat))?);
        }
        Ok((prepared, courses))
    }

    /// Exactly what a seat sees.
    fn prepare(&self, transcript: &Transcript, ask: &Ask) -> Result<Prepared, Error> {
        let record = match ask.purpose {
            Purpose::Conclusion | Purpose::Revision => Some(self.record()?),
            Purpose::Opinion
            | Purpose::Review
            | Purpose::Synthesis
            | Purpose::Audit
            | Purpose::Restatement
            | Purpose::Judgement
            | Purpose::CrossReading
            | Purpose::Adjudication => None,
        };
        Ok(prepare(transcript, record.as_ref(), ask).ok_or_else(|| nothing_to_show(ask))?)
    }

    /// The whole record, as the tables have it by now.
    pub(super) fn record(&self) -> Result<Record, Error> {
        let record = self.store.record(&self.id)?;
        Ok(record.ok_or_else(|| no_dialogue(self.id.as_str()))?)
    }
}

/// The protocol asks for nothing that there is no material for; a journal that somebody
/// meddled with might.
fn nothing_to_show(ask: &Ask) -> Fault {
    let (purpose, seat) = (ask.purpose, &ask.seat);
    let message = format!("there is nothing to show '{seat}' for its {purpose}");
    Fault::new(Code::NotSupported, message).suggest("`plenary verify` says whether it was touched")
}
