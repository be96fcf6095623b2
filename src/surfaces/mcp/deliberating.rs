//! The four tools that start and control runs: ask, review, status and intervene.

use std::sync::Arc;

use super::call::{Call, OnCancel};
use super::directing::direct;
use super::run_answer::RunAnswer;
use super::tools::Run;
use super::tools::ask::AskRequest;
use super::tools::intervene::InterveneRequest;
use super::tools::review::{ReviewRequest, Sorting};
use super::tools::status::{StatusRequest, resume_plan};
use crate::domain::ids::DialogueId;
use crate::domain::intervention::{Deed, Intervention};
use crate::engine;
use crate::error::{Error, document_text};
use crate::hosting::{RunStart, RunStatus, run_blocking};
use crate::record::read_strict_request;

/// Runs a tool and returns the state of its run.
pub(super) async fn deliberate(run: Run, call: &Call) -> Result<String, Error> {
    let answer = match run {
        Run::Ask => ask(call).await?,
        Run::Review => review(call).await?,
        Run::Status => status(call).await?,
        Run::Intervene => intervene(call).await?,
    };
    document_text(&answer)
}

async fn ask(call: &Call) -> Result<RunAnswer, Error> {
    let asked: AskRequest = read_strict_request(&call.arguments)?;
    let wait = asked.wait();
    let id = begin_asked(call, asked).await?;
    call.await_run(&id, wait, OnCancel::EndRun).await
}

async fn begin_asked(call: &Call, asked: AskRequest) -> Result<DialogueId, Error> {
    let slot = call.run_server.reserve_slot()?;
    let run_server = Arc::clone(&call.run_server);
    let prepared = run_blocking(move || asked.prepare(&run_server)).await?;
    call.run_server.start_run(slot, RunStart::New(prepared), None).await
}

async fn review(call: &Call) -> Result<RunAnswer, Error> {
    let submitted: ReviewRequest = read_strict_request(&call.arguments)?;
    let wait = submitted.wait();
    match begin_submitted(call, submitted).await? {
        Begun::Run(id) => call.await_run(&id, wait, OnCancel::EndRun).await,
        Begun::Answered(answer) => Ok(*answer),
    }
}

async fn begin_submitted(call: &Call, submitted: ReviewRequest) -> Result<Begun, Error> {
    let slot = call.run_server.reserve_slot()?;
    let run_server = Arc::clone(&call.run_server);
    match run_blocking(move || submitted.sort(&run_server)).await? {
        Sorting::Run { prepared, log } => Ok(Begun::Run(
            call.run_server.start_run(slot, RunStart::New(*prepared), Some(log)).await?,
        )),
        Sorting::Skipped(document) => {
            let answer = RunAnswer::skipped(&document).map_err(Error::Document)?;
            Ok(Begun::Answered(Box::new(answer)))
        }
    }
}

/// Result of starting a call.
#[derive(Debug)]
pub(super) enum Begun {
    Run(DialogueId),
    /// The call needs no run, so it is answered at once.
    Answered(Box<RunAnswer>),
}

/// Starts the run behind a task; the task id is the run's dialogue id.
pub(super) async fn start(run: Run, call: &Call) -> Result<Begun, Error> {
    match run {
        Run::Ask => Ok(Begun::Run(begin_asked(call, read_strict_request(&call.arguments)?).await?)),
        Run::Review => begin_submitted(call, read_strict_request(&call.arguments)?).await,
        Run::Status => Ok(Begun::Answered(Box::new(status(call).await?))),
        Run::Intervene => Ok(Begun::Answered(Box::new(intervene(call).await?))),
    }
}

async fn status(call: &Call) -> Result<RunAnswer, Error> {
    let request: StatusRequest = read_strict_request(&call.arguments)?;
    let (wait, resume) = (request.wait(), request.overrides());
    let id = request.dialogue_id;
    let report = call.run_server.report(&id).await?;
    let can_go_on = match report.status {
        RunStatus::Incomplete | RunStatus::Failed | RunStatus::Interrupted => true,
        RunStatus::Running | RunStatus::Done => false,
    };
    let Some(overrides) = resume.filter(|_| can_go_on) else {
        return call.await_run(&id, wait, OnCancel::LeaveRun).await;
    };
    let slot = call.run_server.reserve_slot()?;
    let (run_server, wanted) = (Arc::clone(&call.run_server), id.clone());
    let (plan, log) = run_blocking(move || resume_plan(&run_server, &wanted, &overrides)).await?;
    call.run_server.start_run(slot, RunStart::Resumed(plan), log).await?;
    call.await_run(&id, wait, OnCancel::EndRun).await
}

async fn intervene(call: &Call) -> Result<RunAnswer, Error> {
    let wanted: InterveneRequest = read_strict_request(&call.arguments)?;
    let store = Arc::clone(&call.run_server.open_project()?.store);
    // Directives run one at a time, so that each sees the cost of the earlier ones in the run
    // state.
    let _turn = match wanted.kind {
        Deed::Direct => Some(call.run_server.directing.lock().await),
        Deed::Whisper | Deed::Stop => None,
    };
    let transcript = engine::load_run(store.as_ref(), &wanted.dialogue_id)?.transcript;
    let intervention = match wanted.kind {
        Deed::Whisper => wanted.whisper(&transcript)?,
        Deed::Stop => Intervention::Stop,
        Deed::Direct => return direct(call, wanted, transcript).await,
    };
    note(call, wanted.dialogue_id, intervention).await
}

/// Appends the intervention to the journal and returns the state of the run.
pub(super) async fn note(
    call: &Call,
    id: DialogueId,
    intervention: Intervention,
) -> Result<RunAnswer, Error> {
    let (run_server, known) = (Arc::clone(&call.run_server), id.clone());
    run_blocking(move || {
        let project = run_server.open_project()?;
        let (store, ambient) = (project.store.as_ref(), project.ambient.as_ref());
        engine::intervene(store, ambient, &known, &intervention)
    })
    .await?;
    Ok(call.run_server.report(&id).await?.into())
}
