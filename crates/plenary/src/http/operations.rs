//! Changes of one dialogue: interventions in its run, and the operations of a Judge. Bodies are the
//! request types of the command line and MCP; the path names the dialogue.

use std::sync::Arc;

use axum::extract::{Path, Request, State};
use axum::response::Response;
use plenary_core::dialogue::request::read_strict_request;
use plenary_core::model::ids::DialogueId;
use plenary_core::model::validation_error::{ErrorCode, ValidationError};
use plenary_engine::app::checks::record_outcome;
use plenary_engine::app::conclude::ConcludeRequest;
use plenary_engine::app::dialogues::{create_expert, evolve_panel};
use plenary_engine::app::ethos::run_ethos_tool;
use plenary_engine::app::project::Project;
use plenary_engine::app::requests::intervene::InterveneRequest;
use plenary_engine::app::requests::run_answer::{CallStart, RunAnswer, start_call};
use plenary_engine::app::requests::status::StatusRequest;
use plenary_engine::app::rounds::{give_verdict, register_round};
use plenary_engine::error::{Error, to_json_text};
use serde_json::{Value, json};

use crate::http::answer::{ApiProblem, json_answer, json_text, read_body};
use crate::http::router::{ApiState, parse_dialogue};
use crate::http::starts::accepted_answer;

/// Reads the body and adds the dialogue of the path.
async fn read_operation(
    state: &Arc<ApiState>,
    id: &str,
    request: Request,
) -> Result<Value, ApiProblem> {
    let id: DialogueId = parse_dialogue(id)?;
    let mut body = read_body(state, request).await?;
    let Value::Object(fields) = &mut body else {
        return Err(
            ValidationError::new(ErrorCode::InvalidJson, "the body is not an object").into()
        );
    };
    let named = fields.insert("dialogue_id".to_owned(), id.as_str().into());
    if named.is_some_and(|named| named != id.as_str()) {
        let message = "'dialogue_id' of the body is not the dialogue of the address";
        let fault = ValidationError::new(ErrorCode::InvalidType, message);
        return Err(fault.with_field("dialogue_id").with_suggestion("leave it out").into());
    }
    Ok(body)
}

/// Adds a field that the address fixes.
fn with_field(mut body: Value, name: &str, value: Value) -> Value {
    if let Some(fields) = body.as_object_mut() {
        fields.insert(name.to_owned(), value);
    }
    body
}

async fn intervene(
    state: Arc<ApiState>,
    id: String,
    kind: &str,
    request: Request,
) -> Result<Response, ApiProblem> {
    let body = with_field(read_operation(&state, &id, request).await?, "kind", kind.into());
    let wanted: InterveneRequest = read_strict_request(&body)?;
    json_answer(&wanted.intervene(&state.run_server).await?)
}

pub(crate) async fn whisper(
    State(state): State<Arc<ApiState>>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, ApiProblem> {
    intervene(state, id, "whisper", request).await
}

pub(crate) async fn direct(
    State(state): State<Arc<ApiState>>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, ApiProblem> {
    intervene(state, id, "direct", request).await
}

pub(crate) async fn stop(
    State(state): State<Arc<ApiState>>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, ApiProblem> {
    intervene(state, id, "stop", request).await
}

/// Continues a run that is interrupted or incomplete. A run that needs nothing is reported.
pub(crate) async fn resume(
    State(state): State<Arc<ApiState>>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, ApiProblem> {
    let body = with_field(read_operation(&state, &id, request).await?, "resume", true.into());
    let wanted: StatusRequest = read_strict_request(&body)?;
    match wanted.resume_run(&state.run_server).await? {
        Some(CallStart::Started(id)) => accepted_answer(id),
        Some(CallStart::Answered(answer)) => json_answer(&answer),
        None => {
            let report = state.run_server.report_status(&wanted.dialogue_id).await?;
            json_answer(&RunAnswer::from(report))
        }
    }
}

pub(crate) async fn conclude(
    State(state): State<Arc<ApiState>>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, ApiProblem> {
    let wanted: ConcludeRequest =
        read_strict_request(&read_operation(&state, &id, request).await?)?;
    match start_call(&state.run_server, move |server| wanted.plan_call(server)).await? {
        CallStart::Started(id) => accepted_answer(id),
        CallStart::Answered(answer) => json_answer(&answer),
    }
}

/// The library of principles and domains, and the ethos of all dialogues.
pub(crate) async fn show_ethos(State(state): State<Arc<ApiState>>) -> Result<Response, ApiProblem> {
    let work = |_: &_, project: &Project| run_ethos_tool(project, &json!({ "op": "overview" }));
    json_answer(&state.read(work).await?)
}

/// An operation of calibration; the body names it.
pub(crate) async fn change_ethos(
    State(state): State<Arc<ApiState>>,
    request: Request,
) -> Result<Response, ApiProblem> {
    let body = read_body(&state, request).await?;
    // The first principle may be the first entry of the store.
    state.run_server.create_project()?;
    json_answer(&state.read(move |_, project| run_ethos_tool(project, &body)).await?)
}

/// An operation on the record, with its answer as JSON.
type RecordOperation = fn(&Project, &Value) -> Result<String, Error>;

async fn change_record(
    state: Arc<ApiState>,
    id: String,
    request: Request,
    operation: RecordOperation,
) -> Result<Response, ApiProblem> {
    let body = read_operation(&state, &id, request).await?;
    let text = state.read(move |_, project| operation(project, &body)).await?;
    json_text(axum::http::StatusCode::OK, text)
}

pub(crate) async fn register(
    State(state): State<Arc<ApiState>>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, ApiProblem> {
    change_record(state, id, request, |project, body| to_json_text(&register_round(project, body)?))
        .await
}

pub(crate) async fn verdict(
    State(state): State<Arc<ApiState>>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, ApiProblem> {
    change_record(state, id, request, |project, body| to_json_text(&give_verdict(project, body)?))
        .await
}

pub(crate) async fn panel(
    State(state): State<Arc<ApiState>>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, ApiProblem> {
    change_record(state, id, request, |project, body| to_json_text(&evolve_panel(project, body)?))
        .await
}

pub(crate) async fn expert(
    State(state): State<Arc<ApiState>>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, ApiProblem> {
    change_record(state, id, request, |project, body| to_json_text(&create_expert(project, body)?))
        .await
}

pub(crate) async fn outcome(
    State(state): State<Arc<ApiState>>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, ApiProblem> {
    change_record(state, id, request, |project, body| to_json_text(&record_outcome(project, body)?))
        .await
}
