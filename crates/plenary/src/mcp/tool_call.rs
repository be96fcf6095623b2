//! [`ToolCall`]: a tool call that may wait for a run and reports progress meanwhile.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use plenary_core::dialogue::diagnostics::dialogue_not_found;
use plenary_core::model::ids::DialogueId;
use plenary_core::report::events::derive_events;
use plenary_core::report::phrases::format_bytes;
use plenary_core::report::progress_lines::describe_event;
use plenary_engine::app::requests::run_answer::RunAnswer;
use plenary_engine::app::run_server::{RunServer, run_blocking};
use plenary_engine::app::run_status::{FOLLOW_INTERVAL, RunFollower, RunStatus};
use plenary_engine::engine::live_text::{LiveReader, WritingEvent};
use plenary_engine::engine::run_start::load_run_state;
use plenary_engine::error::{Error, to_json_text};
use rmcp::RoleServer;
use rmcp::model::{
    CallToolResult, ContentBlock, DetailedTask, ErrorCode, ErrorData, GetTaskResult,
    ProgressNotificationParam, ProtocolVersion, Task, TaskPayload, TaskStatus,
};
use rmcp::service::RequestContext;
use serde_json::Value;
use tokio::time::{Instant, sleep, timeout_at};

use crate::mcp::short_text::shorten_text;
use crate::mcp::tool_hints::name_tools;

/// Interval between two messages about seats that are writing.
const WRITING_INTERVAL: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(crate) struct ToolCall {
    pub run_server: Arc<RunServer>,
    pub arguments: Value,
    context: RequestContext<RoleServer>,
}

/// What happens to a run when the client cancels the call that waits for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CancelAction {
    /// This call started the run, so cancelling it interrupts the run.
    EndRun,
    /// The call only watches the run.
    LeaveRun,
}

impl ToolCall {
    pub(crate) fn new(
        run_server: Arc<RunServer>,
        arguments: Value,
        context: RequestContext<RoleServer>,
    ) -> Self {
        Self { run_server, arguments, context }
    }

    /// Whether the client supports tasks, so that the call need not wait.
    pub(crate) fn has_tasks(&self) -> bool {
        self.context.client_capabilities().is_some_and(|known| known.supports_tasks())
    }

    /// Returns the state of a run. A client that knows structured content gets a long result once, and
    /// its main fields as text.
    pub(crate) fn run_result(&self, answer: &RunAnswer) -> CallToolResult {
        let mut result = tool_result(to_json_text(answer));
        let version = self.context.protocol_version();
        let is_known = version.is_some_and(|version| version >= ProtocolVersion::V_2025_06_18);
        if let Some(value) = result.structured_content.as_ref().filter(|_| is_known) {
            result.content = vec![ContentBlock::text(shorten_text(value))];
        }
        result
    }

    /// Waits for a run for at most `wait` and sends progress; then returns the run's state.
    pub(crate) async fn await_run(
        &self,
        id: &DialogueId,
        wait: Duration,
        on_cancel: CancelAction,
    ) -> Result<RunAnswer, Error> {
        let until = Instant::now() + wait;
        let following = self.report_progress(id);
        tokio::select! {
            followed = timeout_at(until, following) => if let Ok(followed) = followed { followed? },
            () = self.context.ct.cancelled() => if on_cancel == CancelAction::EndRun {
                self.run_server.interrupt_run(id);
            },
        }
        Ok(self.run_server.report_status(id).await?.into())
    }

    /// Sends progress until the run ends.
    async fn report_progress(&self, id: &DialogueId) -> Result<(), Error> {
        let mut following = RunFollower::new(&self.run_server.loader.protocols);
        let (mut live, mut written_at) = (LiveReader::default(), Instant::now());
        let mut steps = 0_u32;
        loop {
            let is_running = self.run_server.is_running(id, &following)?;
            let fresh = self.run_server.read_entries(id, following.seq).await?;
            let is_quiet = fresh.is_empty();
            for entry in fresh {
                let changes = following.apply_entry(&entry);
                let Some(state) = &following.state else { continue };
                let seen = derive_events(state, &changes);
                for outcome in seen.iter().flat_map(|event| {
                    describe_event(&self.run_server.loader.protocols, state, event)
                }) {
                    steps += 1;
                    self.send_progress(steps, outcome.text.trim()).await;
                }
            }
            if is_quiet && !is_running {
                return Ok(());
            }
            if is_quiet && written_at.elapsed() >= WRITING_INTERVAL {
                written_at = Instant::now();
                // The newest part of each seat says how much it wrote.
                let parts = self.run_server.read_writing(&following, &mut live).into_iter();
                let newest: BTreeMap<u32, WritingEvent> =
                    parts.map(|part| (part.ask, part)).collect();
                for part in newest.into_values() {
                    steps += 1;
                    let text = format!("{} is writing, {}", part.seat, format_bytes(part.bytes));
                    self.send_progress(steps, &text).await;
                }
            }
            sleep(FOLLOW_INTERVAL).await;
        }
    }

    async fn send_progress(&self, step: u32, text: &str) {
        let Some(token) = self.context.meta.get_progress_token() else { return };
        let param = ProgressNotificationParam::new(token, f64::from(step)).with_message(text);
        // Progress is optional, so a failure to send it is ignored.
        let _ = self.context.peer.notify_progress(param).await;
    }
}

/// Returns the answer as structured content, and as text for clients without support for it. An
/// error is text only, because clients validate structured content against the tool's output
/// schema.
pub(crate) fn tool_result(answer: Result<String, Error>) -> CallToolResult {
    match answer.and_then(parse_structured) {
        Ok((text, value)) => {
            let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
            result.structured_content = Some(value);
            result
        }
        Err(error) => {
            let mut document = error.to_document();
            name_tools(&mut document);
            CallToolResult::error(vec![ContentBlock::text(document.to_string())])
        }
    }
}

/// Outside tool calls an error becomes a protocol error, with our error document as data.
pub(crate) fn to_protocol_result<T>(answer: Result<T, Error>) -> Result<T, ErrorData> {
    answer.map_err(|error| {
        let code = ErrorCode(error.kind().json_rpc_code());
        ErrorData::new(code, error.full_message(), Some(error.to_document()))
    })
}

fn parse_structured(text: String) -> Result<(String, Value), Error> {
    let value = serde_json::from_str(&text).map_err(Error::Document)?;
    Ok((text, value))
}

/// Suggested polling interval.
const POLL_MILLIS: u64 = 1_000;

pub(crate) async fn get_task(
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
fn task_payload(outcome: &RunAnswer) -> Result<TaskPayload, Error> {
    Ok(match outcome.status {
        RunStatus::Running => TaskPayload::Working,
        RunStatus::Interrupted => TaskPayload::Cancelled,
        RunStatus::Done | RunStatus::Incomplete | RunStatus::Failed | RunStatus::Open => {
            let answer = serde_json::to_value(tool_result(to_json_text(outcome)));
            let answer = answer.map_err(Error::Document)?;
            TaskPayload::Completed { result: answer.as_object().cloned().unwrap_or_default() }
        }
    })
}

pub(crate) async fn describe_task(
    run_server: &Arc<RunServer>,
    id: &DialogueId,
    status: TaskStatus,
) -> Result<Task, Error> {
    let (run_server, id) = (Arc::clone(run_server), id.clone());
    run_blocking(move || {
        let project = run_server.open_project()?;
        let state = load_run_state(&project.protocols, project.store.as_ref(), &id)?;
        let (created, updated) = (state.opened_at, state.last_entry_at);
        let task = Task::new(id.as_str(), status, created.to_string(), updated.to_string());
        Ok(task.with_poll_interval_ms(POLL_MILLIS))
    })
    .await
}

/// Interrupts the run so that it can be resumed; the task itself stays cancelled even if it is.
pub(crate) async fn cancel_task(run_server: &Arc<RunServer>, id: &str) -> Result<(), ErrorData> {
    let found: Result<DialogueId, _> = id.parse();
    let id = to_protocol_result(found.map_err(|_| dialogue_not_found(id).into()))?;
    to_protocol_result(run_server.cancel_run(&id).await)
}
