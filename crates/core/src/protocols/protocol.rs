//! The seam between the engine and a protocol: [`Protocol`], and [`Protocols`], the protocols that a
//! program knows.
//!
//! A protocol is pure: each method is a function of the run state, so a resumed run continues as
//! if it had not stopped, and a test needs no model. To add one, implement [`Protocol`] in a folder
//! of its own and add a line to [`Protocols::built_in`]. `tests/it/toy_protocol.rs` is the smallest
//! example.

use std::fmt::Debug;
use std::sync::Arc;

use serde_json::Value;

use crate::dialogue::register::batch::RegisterBatch;
use crate::dialogue::verdict::parse::VerdictRequest;
use crate::model::ask::{Ask, AskPurpose};
use crate::model::dialogue::{ConclusionStage, ProtocolKind as ProtocolName};
use crate::model::ids::DialogueId;
use crate::model::journal::{JournalEntry, JournalEntryKind, JournalEvent};
use crate::model::plan::{Plan, Seat, TimeLimit};
use crate::model::record::DialogueRecord;
use crate::model::run_state::{ParseOutcome, RunState, RunStopReason};
use crate::model::time::Moment;
use crate::model::validation_error::{ErrorCode, ValidationError};
use crate::prompting::layout::RenderedPrompt;
use crate::protocols::alignment::protocol::AlignmentProtocol;
use crate::protocols::classification::protocol::ClassificationProtocol;
use crate::protocols::conclusion::protocol::ConclusionProtocol;
use crate::protocols::council::protocol::CouncilProtocol;
use crate::protocols::review::log_row::LogRow;
use crate::protocols::review::protocol::ReviewProtocol;
use crate::protocols::review::types::ReviewArtifact;
use crate::report::page::{PageModel, PageScope};
use crate::report::record_page::dialogue_page;

/// Who is asked what, how replies are parsed, when it stops, and how the result is shown.
pub trait Protocol: Debug + Send + Sync {
    /// The name under which dialogues of this protocol are stored.
    fn name(&self) -> ProtocolName;

    /// The purposes of its asks. A purpose belongs to one protocol.
    fn purposes(&self) -> &'static [AskPurpose];

    /// The next step of a run in this state.
    fn next(&self, state: &RunState) -> Step;

    /// What the engine must know of asks with this purpose in this round.
    fn ask_rules(&self, purpose: AskPurpose, round: u8) -> AskRules;

    /// The messages of an ask; none if the state lacks what they are about. `record` is given
    /// where [`AskRules::needs_record`] says so.
    fn render_messages(
        &self,
        state: &RunState,
        record: Option<&DialogueRecord>,
        ask: &Ask,
    ) -> Option<RenderedPrompt>;

    /// The JSON schema of the reply; none for plain text.
    fn reply_schema(&self, _state: &RunState, _ask: &Ask) -> Option<Arc<Value>> {
        None
    }

    /// What the text of a reply says, or why it cannot be used. It arrived at this moment.
    fn parse_reply(&self, state: &RunState, ask: &Ask, text: &str, at: Moment) -> ParseOutcome;

    /// What the engine writes before it records that the run stopped for this reason.
    fn on_stop(&self, _state: &RunState, _stop: &RunStopReason) -> Vec<EntryPart> {
        Vec::new()
    }

    /// The calls that a plan leads to, for an estimate of the cost.
    fn planned_rounds<'p>(&self, plan: &'p Plan, sizes: &InputSizes) -> Vec<PlannedRound<'p>> {
        let calls = plan.participant_seats().map(|seat| PlannedCall { seat, bytes: sizes.asked });
        vec![PlannedRound { name: "R1", calls: calls.collect() }]
    }

    /// How the record calls seats that take part and seats that chair.
    fn role_titles(&self) -> RoleTitles {
        RoleTitles { participant: "Participant", chair: "Chair" }
    }

    /// Whether the seats of the plan are the experts of the record. Otherwise the run adds experts
    /// with seats of their own.
    fn seats_are_experts(&self) -> bool {
        true
    }

    /// Whether the Principal may whisper to a run, direct or stop it.
    fn accepts_interventions(&self) -> bool {
        true
    }

    /// Whether a run begins with a question. A run without one is about a named artifact.
    fn has_question(&self) -> bool {
        true
    }

    /// The JSON document of a run.
    fn run_document(&self, state: &RunState) -> serde_json::Result<Value>;

    /// The section that a run adds to the export of its record, under this name.
    fn export_section(
        &self,
        journal: &[JournalEntry],
    ) -> serde_json::Result<Option<(&'static str, Value)>> {
        let Some(state) = RunState::from_entries(journal) else { return Ok(None) };
        Ok(Some((self.name().name(), self.run_document(&state)?)))
    }

    /// The page of a dialogue, for the terminal and for files.
    fn page(&self, shown: &ShownRun<'_>, scope: PageScope) -> PageModel {
        dialogue_page(shown.record, shown.state, scope)
    }

    /// The document that a completed run concluded with.
    fn conclusion_document(&self, state: &RunState) -> serde_json::Result<Option<Value>> {
        match state.stopped {
            Some(RunStopReason::Done) => self.run_document(state).map(Some),
            _ => Ok(None),
        }
    }

    /// What a completed run found; the exit code of a command follows from it.
    fn run_finding(&self, _state: &RunState) -> RunFinding {
        RunFinding::Passed
    }

    /// Whether a seat failed, or another part of the panel is missing.
    fn is_degraded(&self, _state: &RunState) -> bool {
        false
    }

    /// The document that the run judges. The verdict log keeps the results of such runs.
    fn judged_artifact<'s>(&self, _state: &'s RunState) -> Option<&'s ReviewArtifact> {
        None
    }

    /// Whether `conclude` can add an audited conclusion to a record of this protocol.
    fn takes_conclusion(&self) -> bool {
        self.name().takes_contributions()
    }

    /// What a dialogue without a conclusion lacks, and how to get it.
    fn missing_conclusion(&self, id: &DialogueId) -> MissingConclusion {
        MissingConclusion {
            lacks: "conclusion",
            suggestion: format!("`plenary resume {id}` continues the run"),
        }
    }
}

/// What a completed run found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunFinding {
    Passed,
    /// The author must change something.
    Findings,
    /// A person must decide.
    Hold,
    /// The run ended without a decision.
    Undecided,
}

/// Properties of the asks with one purpose.
#[derive(Debug, Clone, Copy)]
pub struct AskRules {
    /// What a reply is called in progress lines.
    pub noun: &'static str,
    /// The heading of the round in progress lines.
    pub title: &'static str,
    /// Which time limit of the plan applies.
    pub time_limit: TimeLimit,
    /// The stage that the dialogue reaches when the ask is sent.
    pub stage: Option<ConclusionStage>,
    /// Whether the messages are made from the record, too.
    pub needs_record: bool,
    /// Whether a reply that was cut off is used when the retry was cut off as well. Only a reply
    /// that is one of several may be; the missing end could change the meaning of any other.
    pub accepts_cut_reply: bool,
    /// Whether the budget must still cover a call of the chair after this one.
    pub leaves_last_call: bool,
}

impl AskRules {
    /// Rules of a reply that must be complete and needs nothing else.
    pub const fn new(noun: &'static str, title: &'static str, time_limit: TimeLimit) -> Self {
        Self {
            noun,
            title,
            time_limit,
            stage: None,
            needs_record: false,
            accepts_cut_reply: false,
            leaves_last_call: false,
        }
    }

    #[must_use]
    pub const fn accepting_cut_replies(self) -> Self {
        Self { accepts_cut_reply: true, ..self }
    }

    #[must_use]
    pub const fn leaving_last_call(self) -> Self {
        Self { leaves_last_call: true, ..self }
    }

    #[must_use]
    pub const fn with_record(self) -> Self {
        Self { needs_record: true, ..self }
    }

    #[must_use]
    pub const fn with_stage(self, stage: ConclusionStage) -> Self {
        Self { stage: Some(stage), ..self }
    }
}

/// Sizes, in bytes, of what messages are made of.
#[derive(Debug, Clone, Copy)]
pub struct InputSizes {
    pub question: usize,
    /// The question with everything that comes with it.
    pub asked: usize,
    /// One reply of every participant.
    pub replies: usize,
}

/// Planned rounds that follow only if the critic objects.
pub const UNUSUAL_ROUNDS: [&str; 2] = ["revision", "second audit"];

/// The calls of one round.
#[derive(Debug)]
pub struct PlannedRound<'p> {
    pub name: &'static str,
    pub calls: Vec<PlannedCall<'p>>,
}

/// A call that a plan leads to.
#[derive(Debug)]
pub struct PlannedCall<'p> {
    pub seat: &'p Seat,
    /// The size of its messages.
    pub bytes: usize,
}

/// Names of roles in the record.
#[derive(Debug, Clone, Copy)]
pub struct RoleTitles {
    pub participant: &'static str,
    pub chair: &'static str,
}

/// What a page is made from.
#[derive(Debug, Clone, Copy)]
pub struct ShownRun<'a> {
    pub record: &'a DialogueRecord,
    pub journal: &'a [JournalEntry],
    /// The run, with replies parsed that its process left unparsed; none if nothing was run.
    pub state: Option<&'a RunState>,
}

/// Why a dialogue has no conclusion to read.
#[derive(Debug)]
pub struct MissingConclusion {
    pub lacks: &'static str,
    pub suggestion: String,
}

/// The next thing the engine must do.
#[derive(Debug, Clone)]
pub enum Step {
    /// Send these asks concurrently, then call `next` again. Asks already in the run state were
    /// left by a crashed process; the engine resends them unchanged.
    Ask(Vec<Ask>),
    /// Write these entries in one transaction, then call `next` again.
    Append(Vec<EntryDraft>),
    /// The run is complete.
    Finish,
    /// End the run early and keep all replies; `resume` continues it.
    Stop(RunStopReason),
}

/// A journal entry that the engine is to write.
#[derive(Debug, Clone)]
pub struct EntryDraft {
    pub kind: JournalEntryKind,
    /// The changes of the entry are those of its parts, in this order.
    pub parts: Vec<EntryPart>,
    /// The ask whose reply the entry follows from. If the record refuses the entry, the refusal is
    /// recorded with this ask; without one it ends the run.
    pub refusable_by: Option<u32>,
}

impl EntryDraft {
    pub fn new(kind: JournalEntryKind, parts: impl IntoIterator<Item = EntryPart>) -> Self {
        Self { kind, parts: parts.into_iter().collect(), refusable_by: None }
    }

    /// Records a refusal instead of ending the run.
    #[must_use]
    pub fn refusable_by(self, ask: u32) -> Self {
        Self { refusable_by: Some(ask), ..self }
    }

    /// The entry that registers a round.
    pub fn for_round(batch: RegisterBatch) -> Self {
        Self::new(JournalEntryKind::RoundRegistered, [EntryPart::Batch(Box::new(batch))])
    }
}

/// What an entry says. The engine decides all parts of a step before it writes any entry, so a
/// refusal leaves nothing half written.
#[derive(Debug, Clone)]
pub enum EntryPart {
    /// A round, by the rules of `register`.
    Batch(Box<RegisterBatch>),
    /// A verdict, by the rules of `verdict`.
    Verdict {
        request: Box<VerdictRequest>,
        /// Whether the verdict may change the status of the dialogue. It may not where a
        /// conclusion follows.
        sets_status: bool,
    },
    /// A change as it is.
    Change(Box<JournalEvent>),
    /// A line of the verdict log. The engine sets its time and redacts it.
    LogLine(Box<LogRow>),
    /// A change that needs the record as the tables have it.
    FromRecord(fn(&RunState, &DialogueRecord) -> JournalEvent),
    /// The dialogue converged, unless it is closed already.
    Converge,
}

impl EntryPart {
    pub fn from_change(change: JournalEvent) -> Self {
        Self::Change(Box::new(change))
    }

    /// The last part of the entry that completes a run.
    pub fn run_done() -> Self {
        Self::from_change(JournalEvent::RunStopped(RunStopReason::Done))
    }
}

/// A registry of protocols. The command line, the servers and the engine pass it along.
#[derive(Debug, Clone)]
pub struct Protocols {
    known: Arc<[&'static dyn Protocol]>,
}

impl Protocols {
    /// The protocols of this program.
    pub fn built_in() -> Self {
        Self {
            known: [
                &CouncilProtocol as &dyn Protocol,
                &ReviewProtocol,
                &AlignmentProtocol,
                &ConclusionProtocol,
                &ClassificationProtocol,
            ]
            .into(),
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

    /// The purposes of all protocols.
    pub fn list_purposes(&self) -> impl Iterator<Item = AskPurpose> {
        self.known.iter().flat_map(|protocol| protocol.purposes()).copied()
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
