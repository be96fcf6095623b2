//! `POST /api/ask` and its like: start a run and answer at once with its address.

use std::collections::VecDeque;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use plenary_core::dialogue::request::{OperationRequest, read_strict_request};
use plenary_core::model::hash::canonical_sha256;
use plenary_core::model::ids::DialogueId;
use plenary_engine::app::dialogue_rows::DialogueState;
use plenary_engine::app::requests::align::AlignRequest;
use plenary_engine::app::requests::ask::AskRequest;
use plenary_engine::app::requests::review::ReviewRequest;
use plenary_engine::app::requests::run_answer::{CallPlan, CallStart, start_call};
use plenary_engine::app::run_server::RunServer;
use plenary_engine::error::{Error, to_json_text};
use schemars::JsonSchema;
use serde::Serialize;
use tokio::sync::Mutex;

use crate::http::answer::{ApiProblem, json_answer, json_text, read_body};
use crate::http::router::ApiState;

/// Answer of a request that started a run.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct StartAnswer {
    pub dialogue_id: DialogueId,
    pub state: DialogueState,
    /// Where the dialogue is read.
    pub href: String,
}

/// Keys that are remembered: those of clients that repeat a request after a lost answer.
const START_KEYS_MAX: usize = 256;

/// Longest `Idempotency-Key`.
const KEY_BYTES_MAX: usize = 200;

/// The runs that were started with an `Idempotency-Key`, oldest first. The lock is held while a run
/// starts, so two requests with one key start one run.
#[derive(Debug, Default)]
pub(crate) struct StartKeys {
    known: Mutex<VecDeque<KeyedStart>>,
}

#[derive(Debug)]
struct KeyedStart {
    key: String,
    /// Digest of the path and the body.
    request: String,
    dialogue_id: DialogueId,
}

/// How a request of one type becomes a plan.
type PlanCall<T> = fn(T, &RunServer) -> Result<CallPlan, Error>;

pub(crate) async fn start_council(
    State(state): State<Arc<ApiState>>,
    request: Request,
) -> Result<Response, ApiProblem> {
    start_keyed(&state, request, AskRequest::plan_call).await
}

pub(crate) async fn start_alignment(
    State(state): State<Arc<ApiState>>,
    request: Request,
) -> Result<Response, ApiProblem> {
    start_keyed(&state, request, AlignRequest::plan_call).await
}

pub(crate) async fn start_review(
    State(state): State<Arc<ApiState>>,
    request: Request,
) -> Result<Response, ApiProblem> {
    start_keyed(&state, request, ReviewRequest::plan_call).await
}

/// Starts the run of a request, once per key.
async fn start_keyed<T: OperationRequest + Send>(
    state: &Arc<ApiState>,
    request: Request,
    plan_call: PlanCall<T>,
) -> Result<Response, ApiProblem> {
    let key = read_key(request.headers())?;
    let path = request.uri().path().to_owned();
    let body = read_body(state, request).await?;
    let asked: T = read_strict_request(&body)?;
    let Some(key) = key else { return start_run(state, asked, plan_call).await?.answer() };
    let digest = format!("{path} {}", canonical_sha256(&body));
    let mut known = state.start_keys.known.lock().await;
    if let Some(first) = known.iter().find(|first| first.key == key) {
        if first.request != digest {
            return Err(ApiProblem::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                "idempotency_key_reused",
                "this `Idempotency-Key` belongs to another request",
                "send a new key with a new request",
            ));
        }
        return RunStarted::Run(first.dialogue_id.clone()).answer();
    }
    let started = start_run(state, asked, plan_call).await?;
    if let RunStarted::Run(dialogue_id) = &started {
        if known.len() >= START_KEYS_MAX {
            known.pop_front();
        }
        known.push_back(KeyedStart { key, request: digest, dialogue_id: dialogue_id.clone() });
    }
    started.answer()
}

/// What came of a start.
enum RunStarted {
    Run(DialogueId),
    /// The answer of a request that needed no run.
    Answer(String),
}

impl RunStarted {
    fn answer(self) -> Result<Response, ApiProblem> {
        match self {
            Self::Run(id) => accepted_answer(id),
            Self::Answer(text) => json_text(StatusCode::OK, text),
        }
    }
}

async fn start_run<T: OperationRequest + Send>(
    state: &Arc<ApiState>,
    asked: T,
    plan_call: PlanCall<T>,
) -> Result<RunStarted, ApiProblem> {
    match start_call(&state.run_server, move |server| plan_call(asked, server)).await? {
        CallStart::Started(id) => Ok(RunStarted::Run(id)),
        CallStart::Answered(answer) => Ok(RunStarted::Answer(to_json_text(&answer)?)),
    }
}

/// `202 Accepted` with the address of the dialogue.
pub(crate) fn accepted_answer(dialogue_id: DialogueId) -> Result<Response, ApiProblem> {
    let href = format!("/api/dialogues/{dialogue_id}");
    let location = HeaderValue::from_str(&href);
    let answer = StartAnswer { dialogue_id, state: DialogueState::Running, href };
    let mut response = json_answer(&answer)?;
    *response.status_mut() = StatusCode::ACCEPTED;
    if let Ok(location) = location {
        response.headers_mut().insert(header::LOCATION, location);
    }
    Ok(response)
}

fn read_key(headers: &HeaderMap) -> Result<Option<String>, ApiProblem> {
    let Some(value) = headers.get("idempotency-key") else { return Ok(None) };
    let is_key = |key: &&str| !key.is_empty() && key.len() <= KEY_BYTES_MAX;
    value.to_str().ok().filter(is_key).map(|key| Some(key.to_owned())).ok_or_else(|| {
        ApiProblem::new(
            StatusCode::BAD_REQUEST,
            "invalid_idempotency_key",
            &format!("an `Idempotency-Key` has 1 to {KEY_BYTES_MAX} visible characters"),
            "send a random value, such as a UUID",
        )
    })
}
