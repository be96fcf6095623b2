//! Status of a run from its journal: [`report_run`] reads it once, [`RunFollower`] follows it.

use std::path::Path;
use std::time::Duration;

use plenary_core::dialogue::diagnostics::dialogue_not_found;
use plenary_core::model::dialogue::ProtocolKind;
use plenary_core::model::ids::DialogueId;
use plenary_core::model::journal::{JournalEntry, JournalEvent};
use plenary_core::model::run_state::{RunState, RunStopReason};
use plenary_core::model::string_enum::words;
use plenary_core::protocols::protocol::Protocols;
use plenary_core::report::dialogue_events::derive_dialogue_events;
use plenary_core::report::events::{RunEvent, derive_events};
use plenary_core::report::run_metrics::cost_usd;
use plenary_core::report::run_status::{CompletionStatus, completion_status};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::app::project::Project;
use crate::engine::parse_replies::parse_pending_replies as due_readings;
use crate::engine::process_lock::is_running;
use crate::engine::run_start::{find_run, parsed_state};
use crate::error::Error;

words! {
    /// `incomplete` and `interrupted` runs can be resumed; `failed` means that no seat answered, or
    /// that this process could not continue. An `open` dialogue has no run: an agent or a person
    /// leads it.
    pub enum RunStatus {
        Running = "running",
        Open = "open",
        Done = "done",
        Incomplete = "incomplete",
        Failed = "failed",
        Interrupted = "interrupted",
    }
}

#[derive(Debug)]
pub struct RunReport {
    pub dialogue_id: DialogueId,
    pub status: RunStatus,
    /// No model was called.
    pub is_rehearsal: bool,
    /// `None` if the dialogue has no run.
    pub progress: Option<RunProgress>,
    pub result: Option<Value>,
}

/// Progress of a run.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RunProgress {
    pub round: u8,
    /// Asks so far, answered or not.
    pub asked: usize,
    pub answered: usize,
    pub calls: usize,
    pub cost_usd: Option<f64>,
}

/// Reports a run from its journal. A run of this process counts as running too.
pub fn report_run(project: &Project, id: &DialogueId) -> Result<RunReport, Error> {
    let protocols = &project.protocols;
    let Some(run) = find_run(project.store.as_ref(), id)? else { return report_led(project, id) };
    let state = parsed_state(protocols, run)?;
    let status = match is_running(project.folders.store_file(), &state) {
        true => RunStatus::Running,
        false => stopped_status(&state),
    };
    let result = match status {
        RunStatus::Done | RunStatus::Incomplete | RunStatus::Failed => {
            Some(protocols.of_run(&state)?.run_document(&state).map_err(Error::Document)?)
        }
        RunStatus::Running | RunStatus::Interrupted | RunStatus::Open => None,
    };
    Ok(RunReport {
        dialogue_id: id.clone(),
        status,
        is_rehearsal: state.opening.rehearsal,
        progress: Some(run_progress(&state)),
        result,
    })
}

/// Reports a dialogue without a run.
fn report_led(project: &Project, id: &DialogueId) -> Result<RunReport, Error> {
    let found = project.store.load_dialogue(id)?;
    let dialogue = found.ok_or_else(|| dialogue_not_found(id.as_str()))?;
    Ok(RunReport {
        dialogue_id: id.clone(),
        status: if dialogue.status.is_closed() { RunStatus::Done } else { RunStatus::Open },
        is_rehearsal: dialogue.opening.rehearsal,
        progress: None,
        result: None,
    })
}

/// Status of a run that no process works on.
pub(crate) fn stopped_status(state: &RunState) -> RunStatus {
    match (&state.stopped, completion_status(state)) {
        (None | Some(RunStopReason::Interrupted), _) => RunStatus::Interrupted,
        (Some(_), CompletionStatus::Done) => RunStatus::Done,
        (Some(_), CompletionStatus::Incomplete) => RunStatus::Incomplete,
        (Some(_), CompletionStatus::Failed) => RunStatus::Failed,
    }
}

fn run_progress(state: &RunState) -> RunProgress {
    let answered = state.asks.iter().filter(|asked| asked.parse_outcome.is_some()).count();
    RunProgress {
        round: state.last_panel_round(),
        asked: state.asks.len(),
        answered,
        calls: state.all_calls().count(),
        cost_usd: cost_usd(state),
    }
}

/// Interval between two reads of the journal.
pub const FOLLOW_INTERVAL: Duration = Duration::from_millis(150);

/// Follows a run by its journal, in any process. A caller first asks whether a process works on the
/// run, then reads the journal: the last entries are in it by then. When no process did and no
/// entry came, the run is over.
#[derive(Debug)]
pub struct RunFollower {
    protocols: Protocols,
    pub state: Option<RunState>,
    /// Entries before a run was planned on the dialogue.
    before: Vec<JournalEntry>,
    /// Sequence number of the last applied entry.
    pub seq: u64,
}

impl RunFollower {
    pub fn new(protocols: &Protocols) -> Self {
        Self { protocols: protocols.clone(), state: None, before: Vec::new(), seq: 0 }
    }

    /// Applies an entry and returns its new changes. A reply is parsed with the entry that records
    /// it, as in the live run, and not again with the later entry that records the reading.
    pub fn apply_entry(&mut self, entry: &JournalEntry) -> Vec<JournalEvent> {
        self.seq = entry.seq;
        let Some(state) = &mut self.state else {
            self.before.push(entry.clone());
            self.state = RunState::from_entries(&self.before);
            return entry.events.clone();
        };
        let is_known =
            |ask: u32| state.find_ask(ask).is_some_and(|asked| asked.parse_outcome.is_some());
        let is_fresh = |change: &&JournalEvent| !matches!(change, JournalEvent::ReplyParsed { ask, .. } if is_known(*ask));
        let mut fresh: Vec<JournalEvent> = entry.events.iter().filter(is_fresh).cloned().collect();
        state.apply_events(entry.at, &fresh);
        let due = due_readings(&self.protocols, state);
        state.apply_events(entry.at, &due);
        fresh.extend(due);
        fresh
    }

    /// The events of changes that [`Self::apply_entry`] returned. Without a run they are those of a
    /// dialogue that an agent or a person leads.
    pub fn events_of(&self, changes: &[JournalEvent]) -> Vec<RunEvent> {
        match (&self.state, self.find_protocol()) {
            (Some(state), _) => derive_events(state, changes),
            (None, Some(protocol)) => derive_dialogue_events(protocol, changes),
            (None, None) => Vec::new(),
        }
    }

    /// Whether an agent or a person leads the dialogue, without a run.
    pub fn is_led(&self) -> bool {
        self.state.is_none() && self.find_protocol().is_some_and(ProtocolKind::is_judged)
    }

    fn find_protocol(&self) -> Option<ProtocolKind> {
        self.before.first()?.events.iter().find_map(opened_protocol)
    }

    /// Whether a process may be working on the run: none of it was read yet, or its process lives.
    /// A dialogue without a run has no transcript, however many entries were read.
    pub fn is_running(&self, store_file: &Path) -> bool {
        let Some(state) = &self.state else { return self.seq == 0 };
        is_running(store_file, state)
    }
}

fn opened_protocol(change: &JournalEvent) -> Option<ProtocolKind> {
    let JournalEvent::DialogueOpened(opening) = change else { return None };
    Some(opening.protocol)
}
