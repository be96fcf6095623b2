//! Where a run stands, for those who ask from time to time.

use serde::Serialize;
use serde_json::Value;

use crate::domain::ids::DialogueId;
use crate::domain::transcript::{Stop, Transcript};
use crate::domain::words::words;
use crate::engine::{is_at_work, look};
use crate::error::Error;
use crate::export::RunDocument;
use crate::export::council::{Status, cost_usd, status};
use crate::operations::Workspace;

words! {
    /// `incomplete` and `interrupted` can be gone on with; `failed` means that nobody was heard,
    /// or that this process could not go on.
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
    /// No model was asked.
    pub is_rehearsal: bool,
    pub progress: Progress,
    /// The document of the run, once it has stopped.
    pub result: Option<Value>,
}

/// How far it has come.
#[derive(Debug, Serialize)]
pub struct Progress {
    pub round: u8,
    /// Those who were asked, whatever came of it.
    pub asked: usize,
    pub answered: usize,
    pub calls: usize,
    pub cost_usd: Option<f64>,
}

/// Where a run stands by its journal. A run that this process works on is running, too.
pub fn report(workspace: &Workspace, id: &DialogueId) -> Result<RunReport, Error> {
    let transcript = look(workspace.store.as_ref(), id)?;
    let status = match is_at_work(workspace.folders.store_file(), &transcript) {
        true => RunStatus::Running,
        false => status_of(&transcript),
    };
    let result = match status {
        RunStatus::Done | RunStatus::Incomplete | RunStatus::Failed => {
            Some(serde_json::to_value(RunDocument::of(&transcript)).map_err(Error::Document)?)
        }
        RunStatus::Running | RunStatus::Interrupted => None,
    };
    Ok(RunReport {
        dialogue_id: id.clone(),
        status,
        is_rehearsal: transcript.opening.rehearsal,
        progress: progress(&transcript),
        result,
    })
}

/// Of a run that nobody works on.
fn status_of(transcript: &Transcript) -> RunStatus {
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

fn progress(transcript: &Transcript) -> Progress {
    let answered = transcript.asks.iter().filter(|asked| asked.reading.is_some()).count();
    Progress {
        round: transcript.round_under_way(),
        asked: transcript.asks.len(),
        answered,
        calls: transcript.calls().count(),
        cost_usd: cost_usd(transcript),
    }
}
