//! What happened to a dialogue, as data.
//!
//! Operations decide on changes, the store applies them, and the journal keeps
//! them: the tables can be rebuilt from it, which is how `verify` finds a row
//! that was touched.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ask::{Ask, Failure, Messages, Reply, Sending};
use super::conclusion::{Ending, Outcome, Participant};
use super::council::report::CouncilFinalReport;
use super::dialogue::{DialogueStatus, Opening, Stage};
use super::entity::Origin;
use super::expert::{PanelSeat, Profile};
use super::gate::{LogRow, Override, Ruling};
use super::ids::{Actor, EntityId, ExpertSlug, LocalId};
use super::intervention::Intervention;
use super::lifecycle::EventType;
use super::plan::{Caps, ConclusionPlan, Plan, Seat};
use super::reference::{Link, Move, Reference};
use super::time::Moment;
use super::transcript::{Reading, Shortage, Shortcut, Stop};
use super::verdict::Verdict;
use super::words::words;

words! {
    /// What kind of entry the journal holds.
    pub enum EntryKind {
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
        ShortcutWeighed = "shortcut_weighed",
        RunStopped = "run_stopped",
        Intervened = "intervened",
        ConclusionBegun = "conclusion_begun",
        Concluded = "concluded",
        OutcomeRecorded = "outcome_recorded",
        VerdictLogged = "verdict_logged",
        Overridden = "overridden",
    }
}

/// An entry of the journal: what happened to a dialogue at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Counted per dialogue, from 1.
    pub seq: u64,
    pub kind: EntryKind,
    pub at: Moment,
    pub changes: Vec<Change>,
}

/// One thing that happened. A journal entry is a list of these.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum Change {
    DialogueOpened(Opening),
    PoolGiven {
        domain: Option<String>,
        experts: Value,
    },
    ExpertAdded(Profile),
    /// The round in which an expert first took part.
    ExpertJoined {
        expert: ExpertSlug,
        round: u8,
    },
    PanelSet {
        round: u8,
        seats: Vec<PanelSeat>,
    },
    RoundHeld {
        round: u8,
        title: Option<String>,
        score: i64,
        summary: Option<String>,
    },
    ScoreGiven {
        round: u8,
        expert: ExpertSlug,
        score: i64,
    },
    RawReplyKept {
        round: u8,
        expert: ExpertSlug,
        content: String,
    },
    /// The entity's own creation event goes with it.
    EntityAdded(NewEntity),
    /// A reference made after its source was registered.
    ReferenceAdded(Link),
    EventAdded(NewEvent),
    MoveMade(Move),
    /// So that the same batch, sent again, gets the same answer.
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
    /// A process took the run up.
    RunStarted {
        owner: String,
    },
    /// What the run may spend from now on.
    CapsSet {
        caps: Caps,
    },
    /// Exactly what a seat was to see.
    AskPrepared {
        ask: Ask,
        /// Nothing, where settings keep prompts out of the record; then their digest stands here.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        messages: Option<Arc<Messages>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        messages_sha256: Option<String>,
        condensed: Vec<String>,
    },
    /// The budget did not allow it.
    AskNotSent {
        ask: u32,
        shortage: Shortage,
    },
    CallSent(Sending),
    ReplyKept {
        call: u32,
        reply: Reply,
    },
    CallFailed {
        call: u32,
        failure: Failure,
        /// Nothing more is tried for this ask.
        gave_up: bool,
    },
    /// What the reply to an ask was found to say.
    ReplyRead {
        ask: u32,
        reading: Reading,
    },
    ShortcutWeighed(Shortcut),
    ReportGiven(Box<CouncilFinalReport>),
    RunStopped(Stop),
    /// What the Principal did, in the round that was under way.
    Intervened {
        round: u8,
        intervention: Intervention,
    },
    /// A conclusion is wanted of a run that was planned without one.
    ConclusionPlanned {
        conclusion: ConclusionPlan,
        /// Seats that the run did not have before.
        seats: Vec<Seat>,
    },
    /// The rounds are over; these took part in them.
    ConclusionBegun {
        participants: Vec<Participant>,
    },
    /// Where the ending stands.
    StageReached {
        stage: Stage,
    },
    Concluded(Box<Ending>),
    OutcomeRecorded(Outcome),
    /// What the gate decided.
    Ruled(Box<Ruling>),
    /// A line of the verdict log, redacted: ours, or one that was imported.
    VerdictLogged(Box<LogRow>),
    Overridden(Override),
}

impl Change {
    /// Whether it is what a person says of a run long after it ended.
    pub fn is_hindsight(&self) -> bool {
        matches!(self, Self::OutcomeRecorded(_) | Self::Overridden(_))
    }
}

/// An entity as it enters the record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NewEntity {
    pub id: EntityId,
    pub local_id: LocalId,
    pub label: String,
    pub text: String,
    pub contributors: Vec<ExpertSlug>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Value>,
    pub references: Vec<Reference>,
}

/// An event as it enters the record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewEvent {
    pub entity: EntityId,
    pub event_type: EventType,
    pub round: u8,
    pub actors: Vec<Actor>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<EntityId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<Origin>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
