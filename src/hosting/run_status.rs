//! Status of a run from its journal: [`report_run`] reads it once, [`RunFollower`] follows it.

use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use crate::domain::change::{Change, Entry};
use crate::domain::ids::DialogueId;
use crate::domain::transcript::{Stop, Transcript};
use crate::domain::words::words;
use crate::engine::{due_readings, is_running, load_run_state};
use crate::error::Error;
use crate::export::council::{Status, cost_usd, status};
use crate::operations::Project;
use crate::protocols::Protocols;

words! {
    /// `incomplete` and `interrupted` runs can be resumed; `failed` means that no seat answered, or
    /// that this process could not continue.
    pub enum RunStatus {
        Running = "running",
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
    pub progress: RunProgress,
    pub result: Option<Value>,
}

/// Progress of a run.
#[derive(Debug, Serialize)]
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
    let transcript = load_run_state(protocols, project.store.as_ref(), id)?;
    let status = match is_running(project.folders.store_file(), &transcript) {
        true => RunStatus::Running,
        false => stopped_status(&transcript),
    };
    let result = match status {
        RunStatus::Done | RunStatus::Incomplete | RunStatus::Failed => {
            Some(protocols.of_run(&transcript)?.document(&transcript).map_err(Error::Document)?)
        }
        RunStatus::Running | RunStatus::Interrupted => None,
    };
    Ok(RunReport {
        dialogue_id: id.clone(),
        status,
        is_rehearsal: transcript.opening.rehearsal,
        progress: run_progress(&transcript),
        result,
    })
}

/// Status of a run that no process works on.
fn stopped_status(transcript: &Transcript) -> RunStatus {
    match &transcript.stopped {
        None | Some(Stop::Interrupted) => RunStatus::Interrupted,
        Some(
            Stop::Done
            | Stop::Quorum { .. }
            | Stop::Partial { .. }
            | Stop::Families { .. }
            | Stop::Budget { .. }
            | Stop::Unconcluded { .. }
            | Stop::Unadjudicated { .. }
            | Stop::Deadline,
        ) => match status(transcript) {
            Status::Done => RunStatus::Done,
            Status::Incomplete => RunStatus::Incomplete,
            Status::Failed => RunStatus::Failed,
        },
    }
}

fn run_progress(transcript: &Transcript) -> RunProgress {
    let answered = transcript.asks.iter().filter(|asked| asked.reading.is_some()).count();
    RunProgress {
        round: transcript.round_under_way(),
        asked: transcript.asks.len(),
        answered,
        calls: transcript.calls().count(),
        cost_usd: cost_usd(transcript),
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
    pub transcript: Option<Transcript>,
    /// Entries before a run was planned on the dialogue.
    before: Vec<Entry>,
    /// Sequence number of the last applied entry.
    pub seq: u64,
}

impl RunFollower {
    pub fn new(protocols: &Protocols) -> Self {
        Self { protocols: protocols.clone(), transcript: None, before: Vec::new(), seq: 0 }
    }

    /// Applies an entry and returns its new changes. A reply is parsed with the entry that records
    /// it, as in the live run, and not again with the later entry that records the reading.
    pub fn apply_entry(&mut self, entry: &Entry) -> Vec<Change> {
        self.seq = entry.seq;
        let Some(transcript) = &mut self.transcript else {
            self.before.push(entry.clone());
            self.transcript = Transcript::of(&self.before);
            return entry.changes.clone();
        };
        let is_known =
            |ask: u32| transcript.asked(ask).is_some_and(|asked| asked.reading.is_some());
        let is_fresh =
            |change: &&Change| !matches!(change, Change::ReplyRead { ask, .. } if is_known(*ask));
        let mut fresh: Vec<Change> = entry.changes.iter().filter(is_fresh).cloned().collect();
        transcript.add(entry.at, &fresh);
        let due = due_readings(&self.protocols, transcript);
        transcript.add(entry.at, &due);
        fresh.extend(due);
        fresh
    }

    /// Whether a process may be working on the run: none of it was read yet, or its process lives.
    /// A dialogue without a run has no transcript, however many entries were read.
    pub fn is_running(&self, store_file: &Path) -> bool {
        let Some(transcript) = &self.transcript else { return self.seq == 0 };
        is_running(store_file, transcript)
    }
}
