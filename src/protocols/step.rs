//! The steps that a protocol tells the engine to take.
//!
//! Steps are deeds of the engine and name nothing of one protocol: what a protocol wants in the
//! journal it puts into [`EntryDraft`]s as typed values.

use crate::domain::ask::Ask;
use crate::domain::change::{JournalEntryKind, JournalEvent};
use crate::domain::gate::LogRow;
use crate::domain::record::DialogueRecord;
use crate::domain::transcript::{RunState, RunStopReason};
use crate::record::register::RegisterBatch;
use crate::record::verdict::VerdictRequest;

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
}

impl EntryDraft {
    pub fn new(kind: JournalEntryKind, parts: impl IntoIterator<Item = EntryPart>) -> Self {
        Self { kind, parts: parts.into_iter().collect() }
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
