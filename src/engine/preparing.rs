//! Prepares the calls of a step: messages of new asks, transports of all.

use std::sync::Arc;

use super::deliberation::Deliberation;
use super::pursue::Course;
use super::run_start::unreachable_seat;
use crate::domain::ask::Ask;
use crate::domain::change::Change;
use crate::domain::record::Record;
use crate::domain::refusal::{Code, Fault};
use crate::domain::transcript::Transcript;
use crate::error::Error;
use crate::prompting::Prepared;
use crate::record::no_dialogue;

impl Deliberation {
    /// A call for each ask, and the changes that record the messages of new asks.
    pub(super) fn courses<'a>(
        &'a self,
        asks: &'a [Ask],
    ) -> Result<(Vec<Change>, Vec<Course<'a>>), Error> {
        let transcript = self.transcript();
        let (mut prepared, mut courses) = (Vec::new(), Vec::new());
        let first = asks.first();
        let rules = first.and_then(|ask| self.protocols.ask_rules(ask.purpose, ask.round));
        let reached = rules.and_then(|rules| rules.stage);
        if let Some(stage) = reached.filter(|stage| transcript.stage != Some(*stage)) {
            prepared.push(Change::StageReached { stage });
        }
        for ask in asks {
            let transports = self.connections.for_seat(&ask.seat);
            let course = if let Some(asked) = transcript.asked(ask.id) {
                // If prompts are not kept, the same run state gives the same messages again.
                let messages = match &asked.messages {
                    Some(messages) => Arc::clone(messages),
                    None => Arc::new(self.prepare(&transcript, ask)?.messages),
                };
                Course::again(&self.protocols, &transcript, ask, transports, asked, messages)
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
                Course::begin(&self.protocols, &transcript, ask, transports, messages)
            };
            // The protocol would ask an unreachable seat again and again.
            courses.push(course.ok_or_else(|| unreachable_seat(&ask.seat))?);
        }
        Ok((prepared, courses))
    }

    /// The messages of an ask.
    fn prepare(&self, transcript: &Transcript, ask: &Ask) -> Result<Prepared, Error> {
        let rules = self.protocols.ask_rules(ask.purpose, ask.round);
        let needs_record = rules.is_some_and(|rules| rules.needs_record);
        let record = if needs_record { Some(self.record()?) } else { None };
        let messages = self.protocols.messages(transcript, record.as_ref(), ask);
        Ok(messages.ok_or_else(|| nothing_to_show(ask))?)
    }

    /// The whole record, as the tables have it now.
    pub(super) fn record(&self) -> Result<Record, Error> {
        let record = self.store.record(&self.id)?;
        Ok(record.ok_or_else(|| no_dialogue(self.id.as_str()))?)
    }
}

/// A protocol only asks when it has material for the messages; a changed journal might lack it.
fn nothing_to_show(ask: &Ask) -> Fault {
    let (purpose, seat) = (ask.purpose, &ask.seat);
    let message = format!("there is nothing to show '{seat}' for its {purpose}");
    Fault::new(Code::NotSupported, message).suggest("`plenary verify` says whether it was touched")
}
