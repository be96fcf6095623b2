//! [`HttpServer`]: binds the address and serves the API, the page and MCP on it.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use axum::{Router, middleware};
use plenary_engine::app::run_server::RunServer;
use plenary_engine::error::Error;
use rustls::ServerConfig;
use tokio::net::TcpListener;

use crate::http::admission::{AdmissionRules, PublicAddress, ServedNames, admit_request};
use crate::http::connections::{HttpLimits, serve_connections};
use crate::http::router::{ApiState, api_router};
use crate::http::session::SessionKeeper;
use crate::http::token::AccessToken;

/// The address to listen on.
#[derive(Debug, Clone)]
pub(crate) struct ListenAddress {
    pub socket: SocketAddr,
    /// The address of the proxy with TLS before the server.
    pub public: Option<PublicAddress>,
    /// The certificate, if the server itself speaks TLS.
    pub tls: Option<Arc<ServerConfig>>,
}

impl ListenAddress {
    pub(crate) fn loopback(ip: IpAddr, port: u16) -> Self {
        Self { socket: SocketAddr::new(ip, port), public: None, tls: None }
    }
}

/// A bound server that does not answer yet.
pub(crate) struct HttpServer {
    listener: TcpListener,
    router: Router,
    limits: HttpLimits,
    sessions: Arc<SessionKeeper>,
    public: Option<PublicAddress>,
    tls: Option<Arc<ServerConfig>>,
    pub address: SocketAddr,
    pub token_path: PathBuf,
}

impl HttpServer {
    /// Binds the port; [`HttpServer::serve_until`] starts to answer. `mcp_router` serves `/mcp`.
    pub(crate) async fn bind(
        run_server: Arc<RunServer>,
        address: &ListenAddress,
        limits: HttpLimits,
        mcp_router: impl FnOnce(Arc<RunServer>, &ServedNames, HttpLimits) -> Router,
    ) -> Result<Self, Error> {
        let project = run_server.create_project()?;
        let folder = project.folders.store_folder();
        let token = AccessToken::load_or_create(folder, project.ambient.as_ref())?;
        let listener = TcpListener::bind(address.socket).await.map_err(Error::Listen)?;
        let (socket, public) = (listener.local_addr().map_err(Error::Listen)?, &address.public);
        let token_path = token.path.clone();
        let names = ServedNames::new(socket, public.as_ref());
        let ambient = Arc::clone(&project.ambient);
        let sessions = SessionKeeper::new(token, socket.port(), public.is_some(), ambient);
        let sessions = Arc::new(sessions);
        let mcp = mcp_router(Arc::clone(&run_server), &names, limits);
        let state = ApiState::new(run_server, Arc::clone(&sessions), limits);
        let rules = AdmissionRules { names, sessions: Arc::clone(&sessions) };
        let router = api_router(state)
            .merge(mcp)
            .layer(middleware::from_fn_with_state(Arc::new(rules), admit_request));
        let public = public.clone();
        let tls = address.tls.clone();
        Ok(Self { listener, router, limits, sessions, public, tls, address: socket, token_path })
    }

    /// The address of the page.
    pub(crate) fn page_address(&self) -> String {
        match &self.public {
            Some(public) => format!("{}/", public.origin()),
            None => format!("http://{}/", self.address),
        }
    }

    /// The address that programs on this machine use: behind a proxy not that of the page.
    pub(crate) fn served_address(&self) -> String {
        match self.tls {
            Some(_) => self.page_address(),
            None => format!("http://{}/", self.address),
        }
    }

    /// The address of the page with a token that opens one session. A browser does not send the
    /// part after `#`, so no log or proxy has the token.
    pub(crate) fn open_address(&self) -> String {
        format!("{}#token={}", self.page_address(), self.sessions.create_one_time())
    }

    /// Serves requests until `stop`.
    pub(crate) async fn serve_until(self, stop: impl Future<Output = ()>) {
        serve_connections(self.listener, self.tls, self.router, self.limits, stop).await;
    }
}
