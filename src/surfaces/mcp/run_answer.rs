//! [`RunAnswer`]: the state of a run for an agent, with a suggestion for the next call.

use serde::Serialize;
use serde_json::Value;

use crate::domain::ids::DialogueId;
use crate::export::gate::ReviewDocument;
use crate::hosting::{RunProgress, RunReport, RunStatus};

/// Warns an agent not to pass on the result as advice.
const REHEARSAL_NOTE: &str = "a REHEARSAL: no model was asked, and what it says is no advice";

#[derive(Debug, Serialize)]
pub(super) struct RunAnswer {
    /// `None` if there was no run.
    pub dialogue_id: Option<DialogueId>,
    pub status: RunStatus,
    pub progress: Option<RunProgress>,
    pub result: Option<Value>,
    /// The next step, if any.
    pub suggestion: Option<String>,
}

impl RunAnswer {
    /// The answer for a skipped document.
    pub(super) fn for_skipped(document: &ReviewDocument) -> Result<Self, serde_json::Error> {
        Ok(Self {
            dialogue_id: None,
            status: RunStatus::Done,
            progress: None,
            result: Some(serde_json::to_value(document)?),
            suggestion: Some("council_review with tier: 1 has it judged all the same".to_owned()),
        })
    }
}

impl From<RunReport> for RunAnswer {
    fn from(report: RunReport) -> Self {
        let RunReport { dialogue_id, status, is_rehearsal, progress, result } = report;
        let rehearsed = is_rehearsal.then(|| REHEARSAL_NOTE.to_owned());
        let said = [rehearsed, suggest_next(status, &dialogue_id)];
        let said: Vec<String> = said.into_iter().flatten().collect();
        Self {
            suggestion: (!said.is_empty()).then(|| said.join("; ")),
            dialogue_id: Some(dialogue_id),
            status,
            progress: Some(progress),
            result,
        }
    }
}

fn suggest_next(status: RunStatus, id: &DialogueId) -> Option<String> {
    match status {
        RunStatus::Done => None,
        RunStatus::Running => {
            Some("ask deliberation_status again, with wait_seconds to wait for it".to_owned())
        }
        RunStatus::Incomplete | RunStatus::Failed | RunStatus::Interrupted => {
            Some(format!("deliberation_status with resume: true goes on, or `plenary resume {id}`"))
        }
    }
}
