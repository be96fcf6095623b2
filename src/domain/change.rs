//! Journal events: everything that happens to a dialogue, as data.
//!
//! Operations produce events, the store applies them to its tables, and the journal keeps them. The
//! tables can be rebuilt from the journal; `verify` does so to detect changed rows.

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
    /// Kind of a journal entry.
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

/// A journal entry: the events of one dialogue at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Numbered per dialogue, from 1.
    pub seq: u64,
    pub kind: EntryKind,
    pub at: Moment,
    pub changes: Vec<Change>,
}

/// One event. A journal entry is a list of events.
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
    #[serde(rename = "round_held")]
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
    /// Includes the creation event of the entity.
    EntityAdded(NewEntity),
    /// A reference added after its source entity was registered.
    ReferenceAdded(Link),
    EventAdded(NewEvent),
    MoveMade(Move),
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
        caps: Caps,
    },
    /// The exact messages for a seat.
    AskPrepared {
        ask: Ask,
        /// `None` if the settings exclude prompts from the record; then `messages_sha256` is set.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        messages: Option<Arc<Messages>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        messages_sha256: Option<String>,
        condensed: Vec<String>,
    },
    /// The budget did not allow the ask.
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
        /// The engine makes no further call for this ask.
        gave_up: bool,
    },
    /// Result of parsing the reply to an ask.
    #[serde(rename = "reply_read")]
    ReplyRead {
        ask: u32,
        reading: Reading,
    },
    #[serde(rename = "shortcut_weighed")]
    ShortcutWeighed(Shortcut),
    ReportGiven(Box<CouncilFinalReport>),
    RunStopped(Stop),
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
    /// The rounds are over; these seats took part in them.
    ConclusionBegun {
        participants: Vec<Participant>,
    },
    /// The stage that the conclusion reached.
    StageReached {
        stage: Stage,
    },
    Concluded(Box<Ending>),
    OutcomeRecorded(Outcome),
    /// The verdict of a review.
    #[serde(rename = "ruled")]
    Ruled(Box<Ruling>),
    /// A redacted line of the verdict log, written by a review or imported.
    VerdictLogged(Box<LogRow>),
    #[serde(rename = "overridden")]
    Overridden(Override),
}

impl Change {
    /// Returns true for events that a person adds after the run ended.
    pub fn is_hindsight(&self) -> bool {
        matches!(self, Self::OutcomeRecorded(_) | Self::Overridden(_))
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
    pub references: Vec<Reference>,
}

/// An entity event to add to the record.
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
