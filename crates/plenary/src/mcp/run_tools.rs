//! The tools that start and control runs: ask, align, review, status and intervene.

use std::sync::Arc;

use plenary_core::dialogue::request::{OperationRequest, read_strict_request};
use plenary_core::model::ids::DialogueId;
use plenary_engine::app::dialogue_ids::read_strict_resolved;
use plenary_engine::app::requests::align::AlignRequest;
use plenary_engine::app::requests::ask::AskRequest;
use plenary_engine::app::requests::intervene::InterveneRequest;
use plenary_engine::app::requests::review::ReviewRequest;
use plenary_engine::app::requests::run_answer::{CallPlan, CallStart, RunAnswer, start_call};
use plenary_engine::app::requests::status::StatusRequest;
use plenary_engine::app::run_server::RunServer;
use plenary_engine::error::Error;
use rmcp::model::{CallToolResponse, CreateTaskResult, TaskStatus};

use crate::mcp::tool_call::{CancelAction, ToolCall, describe_task};
use crate::mcp::tools::table::RunTool;

/// Runs a tool. Its answer is the state of the run, or a task for a client that has tasks.
pub(crate) async fn run_tool(run: RunTool, call: &ToolCall) -> Result<CallToolResponse, Error> {
    let (started, wait) = match run {
        RunTool::Ask => {
            let asked: AskRequest = read_strict_request(&call.arguments)?;
            let wait = asked.wait();
            (start_run_call(call, asked, AskRequest::plan_call).await?, wait)
        }
        RunTool::Align => {
            let asked: AlignRequest = read_strict_request(&call.arguments)?;
            let wait = asked.wait();
            (start_run_call(call, asked, AlignRequest::plan_call).await?, wait)
        }
        RunTool::Review => {
            let submitted: ReviewRequest = read_strict_request(&call.arguments)?;
            let wait = submitted.wait();
            (start_run_call(call, submitted, ReviewRequest::plan_call).await?, wait)
        }
        RunTool::Status => return respond(call, &call_status(call).await?),
        RunTool::Intervene => {
            let store = Arc::clone(&call.run_server.open_project()?.store);
            let wanted: InterveneRequest = read_strict_resolved(store.as_ref(), &call.arguments)?;
            return respond(call, &wanted.intervene(&call.run_server).await?);
        }
    };
    match started {
        CallStart::Answered(answer) => respond(call, &answer),
        CallStart::Started(id) if call.has_tasks() => start_task(call, &id).await,
        CallStart::Started(id) => {
            respond(call, &call.await_run(&id, wait, CancelAction::EndRun).await?)
        }
    }
}

fn respond(call: &ToolCall, answer: &RunAnswer) -> Result<CallToolResponse, Error> {
    Ok(call.run_result(answer).into())
}

async fn start_run_call<T: OperationRequest + Send>(
    call: &ToolCall,
    request: T,
    plan_call: fn(T, &RunServer) -> Result<CallPlan, Error>,
) -> Result<CallStart, Error> {
    let run_server = Arc::clone(&call.run_server);
    start_call(&run_server, move |server| plan_call(request, server)).await
}

async fn call_status(call: &ToolCall) -> Result<RunAnswer, Error> {
    let store = Arc::clone(&call.run_server.open_project()?.store);
    let request: StatusRequest = read_strict_resolved(store.as_ref(), &call.arguments)?;
    let wait = request.wait();
    match request.resume_run(&call.run_server).await? {
        None => call.await_run(&request.dialogue_id, wait, CancelAction::LeaveRun).await,
        Some(CallStart::Started(id)) => call.await_run(&id, wait, CancelAction::EndRun).await,
        Some(CallStart::Answered(answer)) => Ok(*answer),
    }
}

/// Returns the task of a run that was started; its id is the run's dialogue id.
async fn start_task(call: &ToolCall, id: &DialogueId) -> Result<CallToolResponse, Error> {
    let task = describe_task(&call.run_server, id, TaskStatus::Working).await?;
    Ok(CallToolResponse::Task(CreateTaskResult::new(task)))
}
