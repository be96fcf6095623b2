//! The ways to reach a model, behind one call.

use std::sync::Arc;

use super::cli::CliTransport;
use super::http::HttpTransport;
use super::mcp::McpTransport;
use super::rehearsal::RehearsalTransport;
use super::request::{CallError, Received, Request};
use super::sentence::without_secrets;
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
    ///
    /// What comes back will be: a server that repeats the key it was sent must not get it
    /// into the record, so it is hidden here, in replies and in errors.
    pub async fn send(&self, request: &Request) -> Result<Received, CallError> {
        let (sent, secrets) = match self {
            Self::Http(transport) => (transport.send(request).await, transport.secrets()),
            // Large and rare: hundreds of calls over HTTP need not make room for them.
            Self::Cli(transport) => (Box::pin(transport.send(request)).await, transport.secrets()),
            Self::Mcp(transport) => (Box::pin(transport.send(request)).await, transport.secrets()),
            Self::Rehearsal(transport) => return transport.send(request).await,
        };
        let hide = |text: String| without_secrets(text, &secrets);
        match sent {
            Ok(received) => Ok(Received {
                text: hide(received.text),
                model: received.model.map(hide),
                ..received
            }),
            Err(error) => Err(CallError { message: hide(error.message), ..error }),
        }
    }
}
