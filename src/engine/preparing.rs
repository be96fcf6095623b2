//! Prepares the calls of a step: messages of new asks, transports of all.

use std::sync::Arc;

use super::deliberation::Run;
use super::pursue::CallAttempt;
use super::run_start::unreachable_seat;
use crate::domain::ask::Ask;
use crate::domain::change::JournalEvent;
use crate::domain::record::DialogueRecord;
use crate::domain::refusal::{ErrorCode, ValidationError};
use crate::domain::transcript::RunState;
use crate::error::Error;
use crate::prompting::RenderedPrompt;
use crate::record::dialogue_not_found;

impl Run {
    /// A call for each ask, and the changes that record the messages of new asks.
    pub(super) fn prepare_calls<'a>(
        &'a self,
        asks: &'a [Ask],
    ) -> Result<(Vec<JournalEvent>, Vec<CallAttempt<'a>>), Error> {
        let transcript = self.state();
        let (mut prepared, mut courses) = (Vec::new(), Vec::new());
        let first = asks.first();
        let rules = first.and_then(|ask| self.protocols.ask_rules(ask.purpose, ask.round));
        let reached = rules.and_then(|rules| rules.stage);
        if let Some(stage) = reached.filter(|stage| transcript.stage != Some(*stage)) {
            prepared.push(JournalEvent::StageReached { stage });
        }
        for ask in asks {
            let transports = self.connections.for_seat(&ask.seat);
            let course = if let Some(asked) = transcript.find_ask(ask.id) {
                // If prompts are not kept, the same run state gives the same messages again.
                let messages = match &asked.messages {
                    Some(messages) => Arc::clone(messages),
                    None => Arc::new(self.render_messages(&transcript, ask)?.messages),
                };
                CallAttempt::resume_call(
                    &self.protocols,
                    &transcript,
                    ask,
                    transports,
                    asked,
                    messages,
                )
            } else {
                let RenderedPrompt { messages, condensed } =
                    self.render_messages(&transcript, ask)?;
                let messages = Arc::new(messages);
                let keeps = transcript.plan.keep_prompts;
                prepared.push(JournalEvent::AskPrepared {
                    ask: ask.clone(),
                    messages: keeps.then(|| Arc::clone(&messages)),
                    messages_sha256: (!keeps).then(|| messages.content_hash()),
                    condensed,
                });
                CallAttempt::start_call(&self.protocols, &transcript, ask, transports, messages)
            };
            // The protocol would ask an unreachable seat again and again.
            courses.push(course.ok_or_else(|| unreachable_seat(&ask.seat))?);
        }
        Ok((prepared, courses))
    }

    /// The messages of an ask.
    fn render_messages(&self, transcript: &RunState, ask: &Ask) -> Result<RenderedPrompt, Error> {
        let rules = self.protocols.ask_rules(ask.purpose, ask.round);
        let needs_record = rules.is_some_and(|rules| rules.needs_record);
        let record = if needs_record { Some(self.load_record()?) } else { None };
        let messages = self.protocols.render_messages(transcript, record.as_ref(), ask);
        Ok(messages.ok_or_else(|| missing_material(ask))?)
    }

    /// The whole record, as the tables have it now.
    pub(super) fn load_record(&self) -> Result<DialogueRecord, Error> {
        let record = self.store.load_record(&self.id)?;
        Ok(record.ok_or_else(|| dialogue_not_found(self.id.as_str()))?)
    }
}

/// A protocol only asks when it has material for the messages; a changed journal might lack it.
fn missing_material(ask: &Ask) -> ValidationError {
    let (purpose, seat) = (ask.purpose, &ask.seat);
    let message = format!("there is nothing to show '{seat}' for its {purpose}");
    ValidationError::new(ErrorCode::NotSupported, message)
        .with_suggestion("`plenary verify` says whether it was touched")
}
