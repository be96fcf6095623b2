//! What a request of a client leads to: a run, or an answer at once. [`RunAnswer`] is the answer of
//! every request about a run.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use plenary_core::model::ids::DialogueId;
use plenary_core::protocols::review::document::ReviewDocument;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::Value;

use crate::app::run_server::{RunServer, run_blocking};
use crate::app::run_status::{RunProgress, RunReport, RunStatus};
use crate::app::start_run::RunStart;
use crate::error::Error;

/// Longest wait of a call; clients do not keep a connection open longer.
pub const WAIT_SECONDS_MAX: i64 = 3_600;

/// How long the call waits for the run before it answers.
pub(crate) fn read_wait(seconds: Option<u32>) -> Duration {
    Duration::from_secs(seconds.unwrap_or(0).into())
}

/// The schema of the budget of a run.
pub(crate) fn read_dollars(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "number",
        "minimum": 0.0,
        "x-expected": "an amount of dollars",
        "x-hint": "for example 0.5",
    })
}

/// What a request leads to.
#[derive(Debug)]
pub enum CallPlan {
    /// A run, and the verdict log that keeps its result.
    Start { start: Box<RunStart>, log: Option<PathBuf> },
    /// The call needs no run.
    Answer(Box<RunAnswer>),
}

/// What came of a request to start a run.
#[derive(Debug)]
pub enum CallStart {
    Started(DialogueId),
    /// The call needed no run.
    Answered(Box<RunAnswer>),
}

/// Plans the run of a call and starts it.
pub async fn start_call(
    run_server: &Arc<RunServer>,
    plan_call: impl FnOnce(&RunServer) -> Result<CallPlan, Error> + Send + 'static,
) -> Result<CallStart, Error> {
    let slot = run_server.reserve_slot()?;
    let planning = Arc::clone(run_server);
    match run_blocking(move || plan_call(&planning)).await? {
        CallPlan::Start { start, log } => {
            run_server.start_run(slot, *start, log).await.map(CallStart::Started)
        }
        CallPlan::Answer(answer) => Ok(CallStart::Answered(answer)),
    }
}

/// Warns an agent not to pass on the result as advice.
const REHEARSAL_NOTE: &str = "a REHEARSAL: no model was called, and the result is not advice";

#[derive(Debug, Serialize, JsonSchema)]
pub struct RunAnswer {
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
    pub(crate) fn for_skipped(document: &ReviewDocument) -> Result<Self, Error> {
        Ok(Self {
            dialogue_id: None,
            status: RunStatus::Done,
            progress: None,
            result: Some(serde_json::to_value(document).map_err(Error::Document)?),
            suggestion: Some("council_review with tier: 1 reviews it anyway".to_owned()),
        })
    }
}

impl RunAnswer {
    /// The answer for a content that was decided before.
    pub(crate) fn for_decided(document: &ReviewDocument, id: DialogueId) -> Result<Self, Error> {
        Ok(Self {
            dialogue_id: Some(id),
            suggestion: Some("council_review with force: true judges it again".to_owned()),
            ..Self::for_skipped(document)?
        })
    }
}

impl From<RunReport> for RunAnswer {
    fn from(report: RunReport) -> Self {
        let RunReport { dialogue_id, status, is_rehearsal, progress, result } = report;
        let rehearsed = is_rehearsal.then(|| REHEARSAL_NOTE.to_owned());
        let next = match progress {
            Some(_) => suggest_next(status, &dialogue_id),
            None => Some(suggest_tool(status).to_owned()),
        };
        let message = [rehearsed, next];
        let message: Vec<String> = message.into_iter().flatten().collect();
        Self {
            suggestion: (!message.is_empty()).then(|| message.join("; ")),
            dialogue_id: Some(dialogue_id),
            status,
            progress,
            result,
        }
    }
}

/// The tool that shows a dialogue without a run.
fn suggest_tool(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Open => {
            "an agent leads this dialogue, so it has no run: blue_dialogue_progress shows its \
             state, blue_dialogue_round_context begins its next round"
        }
        RunStatus::Running
        | RunStatus::Done
        | RunStatus::Incomplete
        | RunStatus::Failed
        | RunStatus::Interrupted => "this dialogue has no run: blue_dialogue_export has its record",
    }
}

fn suggest_next(status: RunStatus, id: &DialogueId) -> Option<String> {
    match status {
        RunStatus::Done | RunStatus::Open => None,
        RunStatus::Running => {
            Some("call deliberation_status again, with wait_seconds to wait for it".to_owned())
        }
        RunStatus::Incomplete | RunStatus::Failed | RunStatus::Interrupted => Some(format!(
            "deliberation_status with resume: true continues it, or `plenary resume {id}`"
        )),
    }
}
