//! MCP tasks: a run is a task with the dialogue's id, so a client can query it after the server
//! that started it has exited.

use std::sync::Arc;

use rmcp::model::{
    CallToolResponse, CreateTaskResult, DetailedTask, ErrorData, GetTaskResult, Task, TaskPayload,
    TaskStatus,
};
use serde_json::{Map, Value};

use super::answer::{or_protocol_error, refusal, result};
use super::call::Call;
use super::deliberating::{Begun, start};
use super::run_answer::RunAnswer;
use super::tools::Run;
use crate::domain::ids::DialogueId;
use crate::engine::load_run_state;
use crate::error::{Error, document_text};
use crate::hosting::{RunServer, RunStatus, run_blocking};
use crate::record::no_dialogue;

/// Suggested polling interval.
const POLL_MILLIS: u64 = 1_000;

/// Starts a run and returns its task; a call without a run is answered at once.
pub(super) async fn begun(run: Run, call: &Call) -> CallToolResponse {
    let id = match start(run, call).await {
        Ok(Begun::Run(id)) => id,
        Ok(Begun::Answered(answer)) => return result(document_text(&answer)).into(),
        Err(error) => return refusal(&error.document()).into(),
    };
    match task(&call.run_server, &id, TaskStatus::Working).await {
        Ok(task) => CallToolResponse::Task(CreateTaskResult::new(task)),
        Err(error) => refusal(&error.document()).into(),
    }
}

pub(super) async fn get(run_server: &Arc<RunServer>, id: &str) -> Result<GetTaskResult, ErrorData> {
    or_protocol_error(detailed(run_server, id).await).map(GetTaskResult::new)
}

async fn detailed(run_server: &Arc<RunServer>, id: &str) -> Result<DetailedTask, Error> {
    let id: DialogueId = id.parse().map_err(|_| no_dialogue(id))?;
    let answer: RunAnswer = run_server.report(&id).await?.into();
    let payload = match run_server.is_cancelled(&id) {
        true => TaskPayload::Cancelled,
        false => payload(&answer)?,
    };
    let mut task = task(run_server, &id, payload.status()).await?;
    task.status_message = answer.suggestion;
    Ok(DetailedTask::new(task, payload))
}

/// Reports an interrupted run as cancelled, because otherwise a client would poll forever. The
/// status message says how to resume it.
fn payload(told: &RunAnswer) -> Result<TaskPayload, Error> {
    Ok(match told.status {
        RunStatus::Running => TaskPayload::Working,
        RunStatus::Interrupted => TaskPayload::Cancelled,
        RunStatus::Done | RunStatus::Incomplete | RunStatus::Failed => {
            let answer = serde_json::to_value(result(document_text(told)));
            let result = match answer.map_err(Error::Document)? {
                Value::Object(map) => map,
                Value::Null
                | Value::Bool(_)
                | Value::Number(_)
                | Value::String(_)
                | Value::Array(_) => Map::new(),
            };
            TaskPayload::Completed { result }
        }
    })
}

async fn task(
    run_server: &Arc<RunServer>,
    id: &DialogueId,
    status: TaskStatus,
) -> Result<Task, Error> {
    let (run_server, id) = (Arc::clone(run_server), id.clone());
    run_blocking(move || {
        let project = run_server.open_project()?;
        let transcript = load_run_state(&project.protocols, project.store.as_ref(), &id)?;
        let (created, updated) = (transcript.opened_at, transcript.last_entry_at);
        let task = Task::new(id.as_str(), status, created.to_string(), updated.to_string());
        Ok(task.with_poll_interval_ms(POLL_MILLIS))
    })
    .await
}

/// Interrupts the run so that it can be resumed; the task itself stays cancelled even if it is.
pub(super) async fn cancel(run_server: &Arc<RunServer>, id: &str) -> Result<(), ErrorData> {
    let found: Result<DialogueId, _> = id.parse();
    let id = or_protocol_error(found.map_err(|_| no_dialogue(id).into()))?;
    or_protocol_error(run_server.cancel(&id).await)
}
