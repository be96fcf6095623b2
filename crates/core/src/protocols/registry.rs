//! The protocols that a program knows.

use std::sync::Arc;

use crate::model::ask::{Ask, AskPurpose};
use crate::model::dialogue::ProtocolKind as ProtocolName;
use crate::model::record::DialogueRecord;
use crate::model::run_state::{RunState, RunStopReason};
use crate::model::validation_error::{ErrorCode, ValidationError};
use crate::prompting::messages::RenderedPrompt;
use crate::protocols::conclusion::protocol::ConclusionProtocol;
use crate::protocols::council::protocol::CouncilProtocol;
use crate::protocols::protocol::{AskRules, Protocol, Step};
use crate::protocols::review::protocol::ReviewProtocol;

/// A registry of protocols. The command line, the servers and the engine pass it along.
#[derive(Debug, Clone)]
pub struct Protocols {
    known: Arc<[&'static dyn Protocol]>,
}

impl Protocols {
    /// The protocols of this program.
    pub fn built_in() -> Self {
        Self {
            known: [&CouncilProtocol as &dyn Protocol, &ReviewProtocol, &ConclusionProtocol].into(),
        }
    }

    /// The same registry with one protocol more.
    #[must_use]
    pub fn with_protocol(&self, protocol: &'static dyn Protocol) -> Self {
        Self { known: self.known.iter().copied().chain([protocol]).collect() }
    }

    /// The protocol of dialogues that are stored under this name.
    pub fn find_protocol(
        &self,
        name: ProtocolName,
    ) -> Result<&'static dyn Protocol, ValidationError> {
        let found = self.known.iter().copied().find(|protocol| protocol.name() == name);
        found.ok_or_else(|| unknown_protocol(name.name()))
    }

    /// The protocol of a new run on a question; by default a council.
    pub fn for_question(
        &self,
        name: Option<&str>,
    ) -> Result<&'static dyn Protocol, ValidationError> {
        let Some(name) = name else { return self.find_protocol(ProtocolName::Council) };
        let is_it = |protocol: &&dyn Protocol| {
            let takes_it = protocol.has_question() && !protocol.name().is_judged();
            takes_it && protocol.name().name() == name
        };
        let found = self.known.iter().copied().find(is_it);
        found.ok_or_else(|| unknown_protocol(name))
    }

    /// The protocol that a run follows.
    pub fn of_run(&self, state: &RunState) -> Result<&'static dyn Protocol, ValidationError> {
        self.find_protocol(state.opening.protocol)
    }

    /// The protocol that asks with this purpose belong to.
    pub fn of_purpose(&self, purpose: AskPurpose) -> Option<&'static dyn Protocol> {
        self.known.iter().copied().find(|protocol| protocol.purposes().contains(&purpose))
    }

    /// The next step of a run. A run of an unknown protocol stops as interrupted; callers check
    /// with [`Self::of_run`] before they start one.
    pub fn next_step(&self, state: &RunState) -> Step {
        self.of_run(state)
            .map_or(Step::Stop(RunStopReason::Interrupted), |protocol| protocol.next(state))
    }

    /// The messages of an ask; none if its purpose or its subject is unknown.
    pub fn render_messages(
        &self,
        state: &RunState,
        record: Option<&DialogueRecord>,
        ask: &Ask,
    ) -> Option<RenderedPrompt> {
        self.of_purpose(ask.purpose)?.render_messages(state, record, ask)
    }

    /// The rules of an ask, if its purpose is known.
    pub fn ask_rules(&self, purpose: AskPurpose, round: u8) -> Option<AskRules> {
        Some(self.of_purpose(purpose)?.ask_rules(purpose, round))
    }
}

fn unknown_protocol(name: &str) -> ValidationError {
    ValidationError::new(
        ErrorCode::NotSupported,
        format!("this program does not know the protocol '{name}'"),
    )
    .with_field("protocol")
    .with_value(name)
    .with_suggestion("use the program that wrote the dialogue")
}
