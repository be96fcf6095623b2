//! The four tools that start and control runs: ask, review, status and intervene.

use std::sync::Arc;

use plenary_core::dialogue::request::read_strict_request;
use plenary_core::model::ids::DialogueId;
use plenary_core::model::intervention::{Intervention, InterventionCommand, find_unconfirmed};
use plenary_core::model::run_state::RunState;
use plenary_core::protocols::review::document::ReviewDocument;
use plenary_engine::app::prepare_run::{RestateOutcome, restate_directive};
use plenary_engine::app::run_server::{RunServer, run_blocking};
use plenary_engine::app::run_status::{RunProgress, RunReport, RunStatus};
use plenary_engine::app::start_run::RunStart;
use plenary_engine::engine::interventions::check_intervention;
use plenary_engine::engine::run_start::load_run;
use plenary_engine::error::{Error, to_json_text};
use serde::Serialize;
use serde_json::Value;

use crate::mcp::tool_call::{CancelAction, ToolCall};
use crate::mcp::tools::ask::AskRequest;
use crate::mcp::tools::deliberation_tools::{InterveneRequest, StatusRequest, resume_plan};
use crate::mcp::tools::review::{ReviewRequest, Sorting};
use crate::mcp::tools::tool::RunTool;

/// Runs a tool and returns the state of its run.
pub(crate) async fn run_tool(run: RunTool, call: &ToolCall) -> Result<String, Error> {
    let answer = match run {
        RunTool::Ask => call_ask(call).await?,
        RunTool::Review => call_review(call).await?,
        RunTool::Status => call_status(call).await?,
        RunTool::Intervene => call_intervene(call).await?,
    };
    to_json_text(&answer)
}

async fn call_ask(call: &ToolCall) -> Result<RunAnswer, Error> {
    let asked: AskRequest = read_strict_request(&call.arguments)?;
    let wait = asked.wait();
    let id = start_ask(call, asked).await?;
    call.await_run(&id, wait, CancelAction::EndRun).await
}

async fn start_ask(call: &ToolCall, asked: AskRequest) -> Result<DialogueId, Error> {
    let slot = call.run_server.reserve_slot()?;
    let run_server = Arc::clone(&call.run_server);
    let prepared = run_blocking(move || asked.prepare(&run_server)).await?;
    call.run_server.start_run(slot, RunStart::New(prepared), None).await
}

async fn call_review(call: &ToolCall) -> Result<RunAnswer, Error> {
    let submitted: ReviewRequest = read_strict_request(&call.arguments)?;
    let wait = submitted.wait();
    match start_review(call, submitted).await? {
        StartResult::Run(id) => call.await_run(&id, wait, CancelAction::EndRun).await,
        StartResult::Answered(answer) => Ok(*answer),
    }
}

async fn start_review(call: &ToolCall, submitted: ReviewRequest) -> Result<StartResult, Error> {
    let slot = call.run_server.reserve_slot()?;
    let run_server = Arc::clone(&call.run_server);
    match run_blocking(move || submitted.sort(&run_server)).await? {
        Sorting::Run { prepared, log } => Ok(StartResult::Run(
            call.run_server.start_run(slot, RunStart::New(*prepared), Some(log)).await?,
        )),
        Sorting::Skipped(document) => {
            let answer = RunAnswer::for_skipped(&document).map_err(Error::Document)?;
            Ok(StartResult::Answered(Box::new(answer)))
        }
    }
}

/// Result of starting a call.
#[derive(Debug)]
pub(crate) enum StartResult {
    Run(DialogueId),
    /// The call needs no run, so it is answered at once.
    Answered(Box<RunAnswer>),
}

/// Starts the run behind a task; the task id is the run's dialogue id.
pub(crate) async fn start_task_run(run: RunTool, call: &ToolCall) -> Result<StartResult, Error> {
    match run {
        RunTool::Ask => {
            Ok(StartResult::Run(start_ask(call, read_strict_request(&call.arguments)?).await?))
        }
        RunTool::Review => start_review(call, read_strict_request(&call.arguments)?).await,
        RunTool::Status => Ok(StartResult::Answered(Box::new(call_status(call).await?))),
        RunTool::Intervene => Ok(StartResult::Answered(Box::new(call_intervene(call).await?))),
    }
}

async fn call_status(call: &ToolCall) -> Result<RunAnswer, Error> {
    let request: StatusRequest = read_strict_request(&call.arguments)?;
    let (wait, resume) = (request.wait(), request.overrides());
    let id = request.dialogue_id;
    let report = call.run_server.report_status(&id).await?;
    let can_go_on = match report.status {
        RunStatus::Incomplete | RunStatus::Failed | RunStatus::Interrupted => true,
        RunStatus::Running | RunStatus::Done => false,
    };
    let Some(overrides) = resume.filter(|_| can_go_on) else {
        return call.await_run(&id, wait, CancelAction::LeaveRun).await;
    };
    let slot = call.run_server.reserve_slot()?;
    let (run_server, wanted) = (Arc::clone(&call.run_server), id.clone());
    let (plan, log) = run_blocking(move || resume_plan(&run_server, &wanted, &overrides)).await?;
    call.run_server.start_run(slot, RunStart::Resumed(Box::new(plan)), log).await?;
    call.await_run(&id, wait, CancelAction::EndRun).await
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
pub(crate) async fn record_intervention(
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

pub(crate) async fn call_direct(
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
        RestateOutcome::Failed { reason } => (format!("it could not be restated: {reason}"), None),
    };
    let is_noted = confirmed || (restatement.is_some() && !is_known);
    let answer: RunAnswer = match is_noted {
        // A confirmation applies to the caller's own text, restated or not.
        true => record_intervention(call, id, directive(restatement)).await?,
        false => call.run_server.report_status(&id).await?.into(),
    };
    let suggestion = match confirmed {
        true => format!("Taken up when the next round begins; {said}"),
        false => format!("{said}. Not taken up yet: call again with confirmed: true"),
    };
    Ok(RunAnswer { suggestion: Some(suggestion), ..answer })
}

/// Warns an agent not to pass on the result as advice.
const REHEARSAL_NOTE: &str = "a REHEARSAL: no model was asked, and what it says is no advice";

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
    pub(crate) fn for_skipped(document: &ReviewDocument) -> Result<Self, serde_json::Error> {
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
