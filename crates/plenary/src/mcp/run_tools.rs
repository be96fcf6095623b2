//! The four tools that start and control runs: ask, review, status and intervene.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use plenary_core::dialogue::diagnostics::Diagnostics;
use plenary_core::dialogue::request::{OperationRequest, ReadFields, read_strict_request};
use plenary_core::model::ids::DialogueId;
use plenary_core::model::intervention::{
    INTERVENTION_CHARS_MAX, Intervention, InterventionCommand, find_unconfirmed,
};
use plenary_core::model::limits::LINE_CHARS_MAX;
use plenary_core::model::run_state::RunState;
use plenary_core::model::string_enum::word_schema;
use plenary_core::model::validation_error::{ErrorCode, ValidationError};
use plenary_core::protocols::review::document::ReviewDocument;
use plenary_engine::app::prepare_run::{RestateOutcome, restate_directive};
use plenary_engine::app::run_server::{RunServer, run_blocking};
use plenary_engine::app::run_status::{RunProgress, RunReport, RunStatus};
use plenary_engine::app::start_run::{ResumeParty, ResumePlan, RunStart};
use plenary_engine::config::settle_sections::BudgetOverrides;
use plenary_engine::engine::interventions::{check_intervention, unknown_seat};
use plenary_engine::engine::run_start::load_run;
use plenary_engine::error::{Error, to_json_text};
use rmcp::model::CallToolResponse;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::mcp::tool_call::{CancelAction, ToolCall, WAIT_SECONDS_MAX, start_task, tool_result};
use crate::mcp::tools::ask::AskRequest;
use crate::mcp::tools::review::ReviewRequest;
use crate::mcp::tools::table::RunTool;

/// Arguments of `deliberation_status`.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct StatusRequest {
    dialogue_id: DialogueId,
    /// [0] Many clients give up after 60.
    #[schemars(range(max = WAIT_SECONDS_MAX))]
    wait_seconds: Option<u32>,
    #[serde(default)]
    resume: bool,
    /// With resume: what it may spend in all [as before].
    #[serde(default)]
    #[schemars(schema_with = "read_dollars")]
    budget_usd: Option<f64>,
}

impl OperationRequest for StatusRequest {
    fn validate(fields: &ReadFields<'_>, notes: &mut Diagnostics) {
        let is_budgeted = fields.get::<f64>("budget_usd").is_some();
        if is_budgeted && fields.get("resume") != Some(true) {
            let message = "'budget_usd' needs 'resume'";
            let fault =
                ValidationError::new(ErrorCode::NotSupported, message).with_field("budget_usd");
            notes.add_error(fault.with_suggestion("send resume: true, or omit budget_usd"));
        }
    }
}

impl StatusRequest {
    fn wait(&self) -> Duration {
        read_wait(self.wait_seconds)
    }

    /// Overrides for the resumed run; `None` to only report.
    fn overrides(&self) -> Option<BudgetOverrides> {
        let budget_usd = self.budget_usd;
        self.resume.then_some(BudgetOverrides { budget_usd, deadline_ms: None })
    }
}

/// Plans to resume a run; the verdict log keeps the result of a run that judges a document.
fn plan_resume(
    run_server: &RunServer,
    id: &DialogueId,
    overrides: &BudgetOverrides,
) -> Result<CallPlan, Error> {
    let loaded = load_run(run_server.open_project()?.store.as_ref(), id)?;
    let operator = run_server
        .loader
        .load_run_settings(&loaded.transcript.opening, &BudgetOverrides::default())?;
    let settings = run_server.limit_caller(operator, overrides)?;
    let protocol = run_server.loader.protocols.of_run(&loaded.transcript)?;
    let is_logged = protocol.judged_artifact(&loaded.transcript).is_some();
    let log = is_logged.then(|| settings.review.log_path.clone());
    let factory = &run_server.factory;
    let plan =
        ResumePlan::new(loaded, Vec::new(), &settings, overrides, factory, ResumeParty::Caller);
    Ok(CallPlan::Start { start: Box::new(RunStart::Resumed(Box::new(plan))), log })
}

/// Arguments of `deliberation_intervene`.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct InterveneRequest {
    dialogue_id: DialogueId,
    #[schemars(schema_with = "word_schema::<InterventionCommand>")]
    kind: InterventionCommand,
    #[serde(default)]
    #[schemars(length(max = INTERVENTION_CHARS_MAX))]
    text: String,
    #[schemars(length(max = LINE_CHARS_MAX))]
    to: Option<String>,
    #[serde(default)]
    confirmed: bool,
}

impl OperationRequest for InterveneRequest {
    fn validate(fields: &ReadFields<'_>, notes: &mut Diagnostics) {
        let kind: Option<InterventionCommand> = fields.get("kind");
        if matches!(kind, Some(InterventionCommand::Whisper | InterventionCommand::Direct))
            && !fields.given.has("text")
        {
            notes.add_error(fields.given.missing_field("text"));
        }
        if fields.get::<String>("to").is_some() && kind != Some(InterventionCommand::Whisper) {
            let fault = ValidationError::new(ErrorCode::NotSupported, "'to' needs kind: whisper");
            notes.add_error(fault.with_field("to").with_suggestion("omit 'to'"));
        }
    }
}

impl InterveneRequest {
    /// A whisper, with its seat if one was named.
    fn whisper(&self, transcript: &RunState) -> Result<Intervention, ValidationError> {
        let seat = |name: &String| name.parse().map_err(|_| unknown_seat(transcript, name));
        let to = self.to.as_ref().map(seat).transpose()?;
        Ok(Intervention::Whisper { text: self.text.clone(), to })
    }
}

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
pub(crate) enum CallPlan {
    /// A run, and the verdict log that keeps its result.
    Start { start: Box<RunStart>, log: Option<PathBuf> },
    /// The call needs no run.
    Answer(Box<RunAnswer>),
}

/// Runs a tool. Its answer is the state of the run, or a task for a client that has tasks.
pub(crate) async fn run_tool(run: RunTool, call: &ToolCall) -> Result<CallToolResponse, Error> {
    let (started, wait) = match run {
        RunTool::Ask => {
            let asked: AskRequest = read_strict_request(&call.arguments)?;
            let wait = asked.wait();
            (start_call(call, move |server| asked.plan_call(server)).await?, wait)
        }
        RunTool::Review => {
            let submitted: ReviewRequest = read_strict_request(&call.arguments)?;
            let wait = submitted.wait();
            (start_call(call, move |server| submitted.plan_call(server)).await?, wait)
        }
        RunTool::Status => return respond(&call_status(call).await?),
        RunTool::Intervene => return respond(&call_intervene(call).await?),
    };
    match started {
        Err(answer) => respond(&answer),
        Ok(id) if call.has_tasks() => start_task(call, &id).await,
        Ok(id) => respond(&call.await_run(&id, wait, CancelAction::EndRun).await?),
    }
}

fn respond(answer: &RunAnswer) -> Result<CallToolResponse, Error> {
    Ok(tool_result(to_json_text(answer)).into())
}

/// Starts the run of a call and returns its id, or the answer of a call without a run.
async fn start_call(
    call: &ToolCall,
    plan_call: impl FnOnce(&RunServer) -> Result<CallPlan, Error> + Send + 'static,
) -> Result<Result<DialogueId, Box<RunAnswer>>, Error> {
    let slot = call.run_server.reserve_slot()?;
    let run_server = Arc::clone(&call.run_server);
    match run_blocking(move || plan_call(&run_server)).await? {
        CallPlan::Start { start, log } => {
            call.run_server.start_run(slot, *start, log).await.map(Ok)
        }
        CallPlan::Answer(answer) => Ok(Err(answer)),
    }
}

async fn call_status(call: &ToolCall) -> Result<RunAnswer, Error> {
    let request: StatusRequest = read_strict_request(&call.arguments)?;
    let (wait, resume) = (request.wait(), request.overrides());
    let id = request.dialogue_id;
    let can_resume = match call.run_server.report_status(&id).await?.status {
        RunStatus::Incomplete | RunStatus::Failed | RunStatus::Interrupted => true,
        RunStatus::Running | RunStatus::Done => false,
    };
    let Some(overrides) = resume.filter(|_| can_resume) else {
        return call.await_run(&id, wait, CancelAction::LeaveRun).await;
    };
    let resumed = id.clone();
    match start_call(call, move |server| plan_resume(server, &resumed, &overrides)).await? {
        Ok(id) => call.await_run(&id, wait, CancelAction::EndRun).await,
        Err(answer) => Ok(*answer),
    }
}

async fn call_intervene(call: &ToolCall) -> Result<RunAnswer, Error> {
    let wanted: InterveneRequest = read_strict_request(&call.arguments)?;
    let store = Arc::clone(&call.run_server.open_project()?.store);
    // Directives run one at a time, so that each sees the cost of the earlier ones in the run
    // state.
    let _turn = match wanted.kind {
        InterventionCommand::Direct => Some(call.run_server.directing.lock().await),
        InterventionCommand::Whisper | InterventionCommand::Stop => None,
    };
    let transcript = load_run(store.as_ref(), &wanted.dialogue_id)?.transcript;
    let intervention = match wanted.kind {
        InterventionCommand::Whisper => wanted.whisper(&transcript)?,
        InterventionCommand::Stop => Intervention::Stop,
        InterventionCommand::Direct => return call_direct(call, wanted, transcript).await,
    };
    record_intervention(call, wanted.dialogue_id, intervention).await
}

/// Appends the intervention to the journal and returns the state of the run.
async fn record_intervention(
    call: &ToolCall,
    id: DialogueId,
    intervention: Intervention,
) -> Result<RunAnswer, Error> {
    let (run_server, known) = (Arc::clone(&call.run_server), id.clone());
    run_blocking(move || {
        let project = run_server.open_project()?;
        let (store, ambient) = (project.store.as_ref(), project.ambient.as_ref());
        plenary_engine::engine::interventions::record_intervention(
            &project.protocols,
            store,
            ambient,
            &known,
            &intervention,
        )
    })
    .await?;
    Ok(call.run_server.report_status(&id).await?.into())
}

async fn call_direct(
    call: &ToolCall,
    wanted: InterveneRequest,
    transcript: RunState,
) -> Result<RunAnswer, Error> {
    let InterveneRequest { dialogue_id: id, text, confirmed, .. } = wanted;
    let directive =
        |restatement| Intervention::Directive { text: text.clone(), restatement, confirmed };
    check_intervention(&call.run_server.loader.protocols, &transcript, &directive(None))?;
    let known = find_unconfirmed(&transcript.interventions, &text).cloned();
    let is_known = known.is_some();
    let RunServer { loader, factory, .. } = call.run_server.as_ref();
    let restated = match known {
        Some(restatement) => RestateOutcome::Restated(restatement),
        None => {
            let engine = call.run_server.engine()?;
            let daily_budget = engine.daily_budget.as_deref();
            restate_directive(loader, &transcript, &text, factory, daily_budget).await?
        }
    };
    let (said, restatement) = match restated {
        RestateOutcome::Restated(restatement) => {
            (format!("understood as: {}", restatement.sentence), Some(restatement))
        }
        RestateOutcome::Failed { reason } => {
            (format!("the chair could not restate it: {reason}"), None)
        }
    };
    let is_noted = confirmed || (restatement.is_some() && !is_known);
    let answer: RunAnswer = match is_noted {
        // A confirmation applies to the caller's own text, restated or not.
        true => record_intervention(call, id, directive(restatement)).await?,
        false => call.run_server.report_status(&id).await?.into(),
    };
    let suggestion = match confirmed {
        true => format!("Every seat follows it from the next round on; {said}"),
        false => format!("{said}. Not confirmed yet: call again with confirmed: true"),
    };
    Ok(RunAnswer { suggestion: Some(suggestion), ..answer })
}

/// Warns an agent not to pass on the result as advice.
const REHEARSAL_NOTE: &str = "a REHEARSAL: no model was called, and the result is not advice";

#[derive(Debug, Serialize)]
pub(crate) struct RunAnswer {
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
            Some("call deliberation_status again, with wait_seconds to wait for it".to_owned())
        }
        RunStatus::Incomplete | RunStatus::Failed | RunStatus::Interrupted => Some(format!(
            "deliberation_status with resume: true continues it, or `plenary resume {id}`"
        )),
    }
}
