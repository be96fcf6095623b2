//! The four tools that start and control runs: ask, review, status and intervene.

use std::sync::Arc;

use super::call::{CancelAction, ToolCall};
use super::directing::call_direct;
use super::run_answer::RunAnswer;
use super::tools::Run;
use super::tools::ask::AskRequest;
use super::tools::intervene::InterveneRequest;
use super::tools::review::{ReviewRequest, Sorting};
use super::tools::status::{StatusRequest, resume_plan};
use crate::domain::ids::DialogueId;
use crate::domain::intervention::{Intervention, InterventionCommand};
use crate::engine;
use crate::error::{Error, to_json_text};
use crate::hosting::{RunStart, RunStatus, run_blocking};
use crate::record::read_strict_request;

/// Runs a tool and returns the state of its run.
pub(super) async fn run_tool(run: Run, call: &ToolCall) -> Result<String, Error> {
    let answer = match run {
        Run::Ask => call_ask(call).await?,
        Run::Review => call_review(call).await?,
        Run::Status => call_status(call).await?,
        Run::Intervene => call_intervene(call).await?,
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
pub(super) enum StartResult {
    Run(DialogueId),
    /// The call needs no run, so it is answered at once.
    Answered(Box<RunAnswer>),
}

/// Starts the run behind a task; the task id is the run's dialogue id.
pub(super) async fn start_task_run(run: Run, call: &ToolCall) -> Result<StartResult, Error> {
    match run {
        Run::Ask => {
            Ok(StartResult::Run(start_ask(call, read_strict_request(&call.arguments)?).await?))
        }
        Run::Review => start_review(call, read_strict_request(&call.arguments)?).await,
        Run::Status => Ok(StartResult::Answered(Box::new(call_status(call).await?))),
        Run::Intervene => Ok(StartResult::Answered(Box::new(call_intervene(call).await?))),
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
    call.run_server.start_run(slot, RunStart::Resumed(plan), log).await?;
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
    let transcript = engine::load_run(store.as_ref(), &wanted.dialogue_id)?.transcript;
    let intervention = match wanted.kind {
        InterventionCommand::Whisper => wanted.whisper(&transcript)?,
        InterventionCommand::Stop => Intervention::Stop,
        InterventionCommand::Direct => return call_direct(call, wanted, transcript).await,
    };
    record_intervention(call, wanted.dialogue_id, intervention).await
}

/// Appends the intervention to the journal and returns the state of the run.
pub(super) async fn record_intervention(
    call: &ToolCall,
    id: DialogueId,
    intervention: Intervention,
) -> Result<RunAnswer, Error> {
    let (run_server, known) = (Arc::clone(&call.run_server), id.clone());
    run_blocking(move || {
        let project = run_server.open_project()?;
        let (store, ambient) = (project.store.as_ref(), project.ambient.as_ref());
        engine::record_intervention(store, ambient, &known, &intervention)
    })
    .await?;
    Ok(call.run_server.report_status(&id).await?.into())
}
