//! Journal events: everything that happens to a dialogue, as data.
//!
//! Operations produce events, the store applies them to its tables, and the journal keeps them. The
//! tables can be rebuilt from the journal; `verify` does so to detect changed rows.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ethos::library::LibraryChange;
use crate::ethos::rule_set::{DialogueEthos, EthosConstraint, RuleChallenge};
use crate::model::ask::{Ask, AskMessages, CallDispatch, CallFailure, ModelReply, SharedBlock};
use crate::model::dialogue::{
    ConclusionStage, DialogueOpening, DialogueStatus, ExpertProfile, PanelSeat,
};
use crate::model::entity::{EntityReference, EventOrigin, ExpertMove, ReferenceLink};
use crate::model::ids::{EntityId, EventActor, ExpertSlug, LocalId};
use crate::model::intervention::Intervention;
use crate::model::lifecycle::EntityEventType;
use crate::model::plan::{BudgetCaps, ConclusionPlan, Plan, Seat, SettingChange};
use crate::model::run_state::{BudgetShortage, ParseOutcome, RoundShortcut, RunStopReason};
use crate::model::string_enum::words;
use crate::model::time::Moment;
use crate::model::verdict::Verdict;
use crate::protocols::alignment::types::ScoreComponents;
use crate::protocols::conclusion::types::{
    ConclusionOutcome, ConclusionParticipant, ConclusionResult,
};
use crate::protocols::council::report_types::CouncilFinalReport;
use crate::protocols::review::log_row::LogRow;
use crate::protocols::review::policy::{ReviewOutcome, VerdictOverride};

words! {
    /// Kind of a journal entry.
    pub enum JournalEntryKind {
        DialogueCreated = "dialogue_created",
        PanelEvolved = "panel_evolved",
        ExpertCreated = "expert_created",
        RoundRegistered = "round_registered",
        VerdictRegistered = "verdict_registered",
        DialogueAbandoned = "dialogue_abandoned",
        RunStarted = "run_started",
        AsksPrepared = "asks_prepared",
        CallSent = "call_sent",
        ReplyKept = "reply_kept",
        CallFailed = "call_failed",
        AskNotSent = "ask_not_sent",
        ShortcutRecorded = "shortcut_weighed",
        RunStopped = "run_stopped",
        Intervened = "intervened",
        ConclusionBegun = "conclusion_begun",
        Concluded = "concluded",
        OutcomeRecorded = "outcome_recorded",
        VerdictLogged = "verdict_logged",
        VerdictOverridden = "overridden",
        LibraryChanged = "library_changed",
        ConstraintAdded = "constraint_added",
        EthosSynthesized = "ethos_synthesized",
        EthosDecided = "ethos_decided",
        DialogueDesigned = "dialogue_designed",
        BatchRefused = "batch_refused",
    }
}

/// A journal entry: the events of one dialogue at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct JournalEntry {
    /// Numbered per dialogue, from 1.
    pub seq: u64,
    pub kind: JournalEntryKind,
    pub at: Moment,
    pub events: Vec<JournalEvent>,
}

/// One event. A journal entry is a list of events.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum JournalEvent {
    DialogueOpened(DialogueOpening),
    PoolGiven {
        domain: Option<String>,
        experts: Value,
        /// Why the first panel has its size.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        panel_reason: Option<String>,
    },
    /// The background that the built-in Judge wrote when it designed the dialogue.
    BackgroundGiven {
        background: Value,
    },
    ExpertAdded(ExpertProfile),
    /// The round in which an expert first took part.
    ExpertJoined {
        expert: ExpertSlug,
        round: u8,
    },
    PanelSet {
        round: u8,
        seats: Vec<PanelSeat>,
    },
    #[serde(rename = "round_held")]
    RoundRecorded {
        round: u8,
        title: Option<String>,
        score: i64,
        summary: Option<String>,
    },
    ScoreGiven {
        round: u8,
        expert: ExpertSlug,
        score: i64,
        /// What the score is made of, if the Judge said so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        components: Option<ScoreComponents>,
    },
    RawReplyKept {
        round: u8,
        expert: ExpertSlug,
        content: String,
    },
    /// Includes the creation event of the entity.
    EntityAdded(NewEntity),
    /// A reference added after its source entity was registered.
    ReferenceAdded(ReferenceLink),
    EventAdded(NewEntityEvent),
    MoveMade(ExpertMove),
    /// Lets the store return the same answer if a client sends the same batch again.
    BatchAnswered {
        round: u8,
        batch_sha256: String,
        answer: Value,
    },
    VerdictGiven(Verdict),
    StatusSet {
        status: DialogueStatus,
        reason: Option<String>,
    },
    RunPlanned(Box<Plan>),
    /// A process started or resumed the run.
    RunStarted {
        owner: String,
    },
    /// Spending limits of the run from now on.
    CapsSet {
        caps: BudgetCaps,
    },
    /// The settings of a seat that failed for its key, address or model, taken again from the
    /// configuration when the run was resumed.
    SeatChanged {
        seat: Box<Seat>,
        changes: Vec<SettingChange>,
    },
    /// What the messages of the run begin with. `AskPrepared` refers to it by its digest.
    SharedBlockPrepared(Arc<SharedBlock>),
    /// The exact messages for a seat.
    AskPrepared {
        ask: Ask,
        /// `None` if the settings exclude prompts from the record; then `messages_sha256` is set.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        messages: Option<Arc<AskMessages>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        messages_sha256: Option<String>,
        condensed: Vec<String>,
    },
    /// The budget did not allow the ask.
    AskNotSent {
        ask: u32,
        shortage: BudgetShortage,
    },
    CallSent(CallDispatch),
    ReplyKept {
        call: u32,
        reply: ModelReply,
    },
    CallFailed {
        call: u32,
        failure: CallFailure,
        /// The engine makes no further call for this ask.
        gave_up: bool,
    },
    /// Result of parsing the reply to an ask.
    #[serde(rename = "reply_read")]
    ReplyParsed {
        ask: u32,
        reading: ParseOutcome,
    },
    #[serde(rename = "shortcut_weighed")]
    ShortcutRecorded(RoundShortcut),
    ReportGiven(Box<CouncilFinalReport>),
    RunStopped(RunStopReason),
    /// An intervention of the Principal, with the round that was running.
    Intervened {
        round: u8,
        intervention: Intervention,
    },
    /// Adds a conclusion to a run that was planned without one.
    ConclusionPlanned {
        conclusion: ConclusionPlan,
        /// Seats that the conclusion adds to the run.
        seats: Vec<Seat>,
    },
    /// Seats of experts that a run with the built-in Judge adds while it runs.
    SeatsAdded {
        seats: Vec<Seat>,
    },
    /// The record refused what followed from the Judge's reply to this ask.
    BatchRefused {
        ask: u32,
        reason: String,
    },
    /// The rounds are over; these seats took part in them.
    ConclusionBegun {
        participants: Vec<ConclusionParticipant>,
    },
    /// The stage that the conclusion reached.
    StageReached {
        stage: ConclusionStage,
    },
    Concluded(Box<ConclusionResult>),
    OutcomeRecorded(ConclusionOutcome),
    /// The verdict of a review.
    #[serde(rename = "ruled")]
    ReviewDecided(Box<ReviewOutcome>),
    /// A redacted line of the verdict log, written by a review or imported.
    VerdictLogged(Box<LogRow>),
    #[serde(rename = "overridden")]
    VerdictOverridden(VerdictOverride),
    /// A principle, domain, tenet or lens. It belongs to the store, not to a dialogue.
    LibraryChanged(LibraryChange),
    ConstraintAdded(EthosConstraint),
    /// A version of the ethos as it stands from now on.
    EthosSaved(Box<DialogueEthos>),
    RuleChallenged(RuleChallenge),
}

impl JournalEvent {
    /// Returns true for events that a person adds after the run ended.
    pub fn is_follow_up(&self) -> bool {
        matches!(self, Self::OutcomeRecorded(_) | Self::VerdictOverridden(_))
    }
}

/// An entity to add to the record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NewEntity {
    pub id: EntityId,
    pub local_id: LocalId,
    pub label: String,
    pub text: String,
    pub contributors: Vec<ExpertSlug>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Value>,
    pub references: Vec<EntityReference>,
}

/// An entity event to add to the record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewEntityEvent {
    pub entity: EntityId,
    pub event_type: EntityEventType,
    pub round: u8,
    pub actors: Vec<EventActor>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<EntityId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<EventOrigin>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
