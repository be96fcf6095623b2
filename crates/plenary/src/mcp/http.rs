//! MCP over HTTP: the routes below `/mcp`, and how a message is read.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::{Router, middleware};
use futures_util::StreamExt;
use plenary_engine::app::run_server::RunServer;
use rmcp::model::RequestId;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::time::timeout;

use crate::mcp::message::{MESSAGE_BYTES_MAX, MessageError, read_message};
use crate::mcp::request_slots::{ActiveIds, cancelled_id, request_id};
use crate::mcp::server::McpServer;

/// The routes of MCP. The HTTP server checks host, origin and token of every request before its
/// body is read, and refuses duplicate headers. The library gets the same lists, because by default
/// it accepts any port and any origin: a request that bypassed our layer would be accepted.
pub(crate) fn mcp_router(
    run_server: Arc<RunServer>,
    hosts: Vec<String>,
    origins: Vec<String>,
    body_timeout: Duration,
) -> Router {
    let config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(hosts)
        .with_allowed_origins(origins)
        .enforce_origin_validation()
        .with_max_request_body_bytes(MESSAGE_BYTES_MAX);
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(
        move || Ok(McpServer::new(Arc::clone(&run_server))),
        sessions,
        config,
    );
    Router::new()
        .nest_service("/mcp", service)
        .layer(middleware::from_fn_with_state(Arc::new(PostState::new(body_timeout)), read_post))
        .layer(middleware::from_fn(answer_farewell))
}

/// The session is closed. The reference client treats 202 as an error, so send 204.
async fn answer_farewell(request: Request, next: Next) -> Response {
    let is_farewell = request.method() == Method::DELETE;
    let mut response = next.run(request).await;
    if is_farewell && response.status() == StatusCode::ACCEPTED {
        *response.status_mut() = StatusCode::NO_CONTENT;
    }
    response
}

/// Header with the session of a request.
const SESSION_HEADER: &str = "mcp-session-id";

/// Session and request id; the answer goes to the last client that used the pair.
type SessionRequest = (String, RequestId);

/// State shared by all POST requests.
pub(crate) struct PostState {
    in_flight: Arc<ActiveIds<SessionRequest>>,
    body_timeout: Duration,
}

impl PostState {
    pub(crate) fn new(body_timeout: Duration) -> Self {
        Self { in_flight: Arc::default(), body_timeout }
    }
}

/// Keeps a request id active until its response is fully read or dropped.
struct ActiveIdGuard {
    in_flight: Arc<ActiveIds<SessionRequest>>,
    key: SessionRequest,
}

impl Drop for ActiveIdGuard {
    fn drop(&mut self) {
        self.in_flight.release_id(&self.key);
    }
}

pub(crate) async fn read_post(
    State(posting): State<Arc<PostState>>,
    request: Request,
    next: Next,
) -> Response {
    if request.method() != Method::POST {
        return next.run(request).await;
    }
    let in_flight = Arc::clone(&posting.in_flight);
    let (parts, body) = request.into_parts();
    let read = timeout(posting.body_timeout, axum::body::to_bytes(body, MESSAGE_BYTES_MAX)).await;
    let Ok(read) = read else {
        let reason = format!("the message did not come within {:?}", posting.body_timeout);
        let close = [(header::CONNECTION, "close")];
        return (StatusCode::REQUEST_TIMEOUT, close, reason).into_response();
    };
    let Ok(bytes) = read else {
        let reason = format!("a message has at most {MESSAGE_BYTES_MAX} bytes");
        return (StatusCode::PAYLOAD_TOO_LARGE, reason).into_response();
    };
    let message = match read_message(&bytes) {
        Ok(message) => message,
        Err(unread) => return error_response(unread),
    };
    let key = |id: &RequestId| Some((session_id(&parts.headers)?, id.clone()));
    if let Some(key) = cancelled_id(&message).and_then(key) {
        // A cancelled request gets no answer.
        in_flight.release_id(&key);
    }
    let held = match request_id(&message).and_then(key) {
        Some(key) if !in_flight.try_insert(key.clone()) => {
            return error_response(MessageError::duplicate_id(&key.1));
        }
        // Without a session each request has its own response, so ids may repeat.
        key => key.map(|key| ActiveIdGuard { in_flight, key }),
    };
    let response = next.run(Request::from_parts(parts, Body::from(bytes))).await;
    let Some(held) = held else { return response };
    let (parts, body) = response.into_parts();
    let chunks = body.into_data_stream().map(move |chunk| {
        let _until_its_end = &held;
        chunk
    });
    Response::from_parts(parts, Body::from_stream(chunks))
}

fn session_id(headers: &HeaderMap) -> Option<String> {
    headers.get(SESSION_HEADER).and_then(|value| value.to_str().ok()).map(str::to_owned)
}

/// The error response, with the request id if one was found.
fn error_response(unread: MessageError) -> Response {
    // Invalid params are a normal JSON-RPC error, sent with HTTP status 200.
    let status = if unread.is_params_error() { StatusCode::OK } else { StatusCode::BAD_REQUEST };
    let body = serde_json::to_string(&unread.into_reply()).unwrap_or_default();
    (status, [(header::CONTENT_TYPE, "application/json")], body).into_response()
}
