//! The ways to reach a model, behind one call.

use std::sync::Arc;

use super::cli::CliTransport;
use super::http::HttpTransport;
use super::mcp::McpTransport;
use super::rehearsal::RehearsalTransport;
use super::request::{CallError, Received, Request};
use crate::domain::ask::TransportKind;

#[derive(Debug)]
pub enum Transport {
    Http(HttpTransport),
    Cli(CliTransport),
    Mcp(McpTransport),
    /// One for all seats of a run: a script counts across them.
    Rehearsal(Arc<RehearsalTransport>),
}

impl Transport {
    pub fn kind(&self) -> TransportKind {
        match self {
            Self::Http(_) => TransportKind::Http,
            Self::Cli(_) => TransportKind::Cli,
            Self::Mcp(_) => TransportKind::Mcp,
            Self::Rehearsal(_) => TransportKind::Rehearsal,
        }
    }

    /// One call. Nothing is retried and nothing is written down here.
    pub async fn send(&self, request: &Request) -> Result<Received, CallError> {
        match self {
            Self::Http(transport) => transport.send(request).await,
            // Large and rare: hundreds of calls over HTTP need not make room for them.
            Self::Cli(transport) => Box::pin(transport.send(request)).await,
            Self::Mcp(transport) => Box::pin(transport.send(request)).await,
            Self::Rehearsal(transport) => transport.send(request).await,
        }
    }
}
