//! MCP over HTTP on a loopback address, for clients with the token: [`HttpServer`].

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
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
use plenary_engine::error::Error;
use rmcp::model::RequestId;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio::time::timeout;

use crate::mcp::connections::{ConnectionState, HttpLimits, serve_connections};
use crate::mcp::message::{MESSAGE_BYTES_MAX, MessageError, read_message};
use crate::mcp::request_slots::{ActiveIds, cancelled_id, request_id};
use crate::mcp::server::McpServer;
use crate::mcp::token::AccessToken;

/// Host names by which local clients address this server.
const LOOPBACK_HOSTS: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// The address to listen on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ListenAddress {
    pub ip: IpAddr,
    pub port: u16,
}

/// A bound server that does not answer yet.
pub(crate) struct HttpServer {
    listener: TcpListener,
    router: Router,
    limits: HttpLimits,
    pub address: SocketAddr,
    pub token_path: PathBuf,
}

/// Binds the port; [`HttpServer::serve_until`] starts to answer.
pub(crate) async fn bind_http_server(
    run_server: Arc<RunServer>,
    address: ListenAddress,
    limits: HttpLimits,
) -> Result<HttpServer, Error> {
    let project = run_server.create_project()?;
    let folder = project.folders.store_folder();
    let token = AccessToken::load_or_create(folder, project.ambient.as_ref())?;
    let listener = TcpListener::bind((address.ip, address.port)).await.map_err(Error::Listen)?;
    let address = listener.local_addr().map_err(Error::Listen)?;
    let token_path = token.path.clone();
    let admission = AdmissionRules::new(token, address);
    // [`AdmissionRules`] checks host and origin of every request before its body is read, and
    // refuses duplicate headers. The library gets the same lists, because by default it accepts any
    // port and any origin: a request that bypassed our layer would be accepted.
    let config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(admission.hosts.clone())
        .with_allowed_origins(admission.allowed_origins())
        .enforce_origin_validation()
        .with_max_request_body_bytes(MESSAGE_BYTES_MAX);
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(
        move || Ok(McpServer::new(Arc::clone(&run_server))),
        sessions,
        config,
    );
    let router = Router::new()
        .nest_service("/mcp", service)
        .layer(middleware::from_fn_with_state(Arc::new(PostState::new(limits)), read_post))
        .layer(middleware::from_fn_with_state(Arc::new(admission), admit_request));
    Ok(HttpServer { listener, router, limits, address, token_path })
}

impl HttpServer {
    /// Serves requests until `stop`.
    pub(crate) async fn serve_until(self, stop: impl Future<Output = ()>) {
        serve_connections(self.listener, self.router, self.limits, stop).await;
    }
}

/// Which requests are admitted: by host, origin and token.
#[derive(Debug)]
struct AdmissionRules {
    token: AccessToken,
    /// Accepted `Host` values, with port.
    hosts: Vec<String>,
}

impl AdmissionRules {
    fn new(token: AccessToken, address: SocketAddr) -> Self {
        let names = LOOPBACK_HOSTS.iter().map(|host| format!("{host}:{}", address.port()));
        // The user may listen on a loopback address other than 127.0.0.1.
        Self { token, hosts: names.chain([address.to_string()]).collect() }
    }

    fn allowed_origins(&self) -> Vec<String> {
        self.hosts.iter().map(|host| format!("http://{host}")).collect()
    }

    /// Status and reason if the request is refused.
    fn refusal_reason(&self, headers: &HeaderMap) -> Option<(StatusCode, &'static str)> {
        // Refuse duplicate headers: a proxy may have checked the other value.
        let only = |name| {
            let mut values = headers.get_all(name).iter();
            let value = values.next();
            if values.next().is_some() { Err(()) } else { Ok(value) }
        };
        let host = only(header::HOST).ok().flatten().and_then(|host| host.to_str().ok());
        let is_ours = |host: &str| self.hosts.iter().any(|known| host.eq_ignore_ascii_case(known));
        if !host.is_some_and(is_ours) {
            return Some((StatusCode::FORBIDDEN, "this host is not served here"));
        }
        let is_known = |origin: &str| {
            self.allowed_origins().iter().any(|known| known.eq_ignore_ascii_case(origin))
        };
        match only(header::ORIGIN) {
            Ok(None) => {}
            Ok(Some(origin)) if origin.to_str().is_ok_and(is_known) => {}
            Ok(Some(_)) | Err(()) => {
                return Some((StatusCode::FORBIDDEN, "pages of other sites are not answered"));
            }
        }
        match only(header::AUTHORIZATION) {
            Ok(Some(given)) if self.token.matches_header(given.as_bytes()) => None,
            Ok(_) | Err(()) => Some((
                StatusCode::UNAUTHORIZED,
                "send `Authorization: Bearer TOKEN`; `plenary serve` says where the token is",
            )),
        }
    }
}

async fn admit_request(
    State(admission): State<Arc<AdmissionRules>>,
    request: Request,
    next: Next,
) -> Response {
    if let Some((status, reason)) = admission.refusal_reason(request.headers()) {
        let mut response = (status, reason).into_response();
        // Close the connection of a refused client, to free its slot.
        let close = header::HeaderValue::from_static("close");
        response.headers_mut().insert(header::CONNECTION, close);
        if status == StatusCode::UNAUTHORIZED {
            let scheme = header::HeaderValue::from_static("Bearer");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
        }
        return response;
    }
    if let Some(connection) = request.extensions().get::<Arc<ConnectionState>>() {
        connection.mark_admitted();
    }
    let is_farewell = request.method() == Method::DELETE;
    let mut response = next.run(request).await;
    if is_farewell && response.status() == StatusCode::ACCEPTED {
        // The session is closed. The reference client treats 202 as an error, so send 204.
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
    pub(crate) fn new(limits: HttpLimits) -> Self {
        Self { in_flight: Arc::default(), body_timeout: limits.body_timeout }
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
