//! MCP tasks: a run is a task with the dialogue's id, so a client can query it after the server
//! that started it has exited.

use std::sync::Arc;

use rmcp::model::{
    CallToolResponse, CreateTaskResult, DetailedTask, ErrorData, GetTaskResult, Task, TaskPayload,
    TaskStatus,
};
use serde_json::{Map, Value};

use super::answer::{error_result, to_protocol_result, tool_result};
use super::call::ToolCall;
use super::deliberating::{StartResult, start_task_run};
use super::run_answer::RunAnswer;
use super::tools::Run;
use crate::domain::ids::DialogueId;
use crate::engine::load_run_state;
use crate::error::{Error, to_json_text};
use crate::hosting::{RunServer, RunStatus, run_blocking};
use crate::record::dialogue_not_found;

/// Suggested polling interval.
const POLL_MILLIS: u64 = 1_000;

/// Starts a run and returns its task; a call without a run is answered at once.
pub(super) async fn start_task(run: Run, call: &ToolCall) -> CallToolResponse {
    let id = match start_task_run(run, call).await {
        Ok(StartResult::Run(id)) => id,
        Ok(StartResult::Answered(answer)) => return tool_result(to_json_text(&answer)).into(),
        Err(error) => return error_result(&error.to_document()).into(),
    };
    match describe_task(&call.run_server, &id, TaskStatus::Working).await {
        Ok(task) => CallToolResponse::Task(CreateTaskResult::new(task)),
        Err(error) => error_result(&error.to_document()).into(),
    }
}

pub(super) async fn get_task(
    run_server: &Arc<RunServer>,
    id: &str,
) -> Result<GetTaskResult, ErrorData> {
    to_protocol_result(load_task(run_server, id).await).map(GetTaskResult::new)
}

async fn load_task(run_server: &Arc<RunServer>, id: &str) -> Result<DetailedTask, Error> {
    let id: DialogueId = id.parse().map_err(|_| dialogue_not_found(id))?;
    let answer: RunAnswer = run_server.report_status(&id).await?.into();
    let payload = match run_server.is_cancelled(&id) {
        true => TaskPayload::Cancelled,
        false => task_payload(&answer)?,
    };
    let mut task = describe_task(run_server, &id, payload.status()).await?;
    task.status_message = answer.suggestion;
    Ok(DetailedTask::new(task, payload))
}

/// Reports an interrupted run as cancelled, because otherwise a client would poll forever. The
/// status message says how to resume it.
fn task_payload(told: &RunAnswer) -> Result<TaskPayload, Error> {
    Ok(match told.status {
        RunStatus::Running => TaskPayload::Working,
        RunStatus::Interrupted => TaskPayload::Cancelled,
        RunStatus::Done | RunStatus::Incomplete | RunStatus::Failed => {
            let answer = serde_json::to_value(tool_result(to_json_text(told)));
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

async fn describe_task(
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
pub(super) async fn cancel_task(run_server: &Arc<RunServer>, id: &str) -> Result<(), ErrorData> {
    let found: Result<DialogueId, _> = id.parse();
    let id = to_protocol_result(found.map_err(|_| dialogue_not_found(id).into()))?;
    to_protocol_result(run_server.cancel_run(&id).await)
}
