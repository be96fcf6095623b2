//! MCP over HTTP on a loopback address, for clients with the token: [`HttpServer`].

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;

use super::connections::{ConnectionState, HttpLimits, serve_connections};
use super::message::MESSAGE_BYTES_MAX;
use super::posted::{PostState, read_post};
use super::server::McpServer;
use super::token::AccessToken;
use crate::error::Error;
use crate::hosting::RunServer;

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
