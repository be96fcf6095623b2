//! [`Transport`]: one enum over all ways to call a model, with the [`Provider`](super::Provider) it
//! calls, its request, reply and error. Config builds providers; the engine calls
//! [`Transport::send`].

use std::sync::Arc;

use super::cli::CliTransport;
use super::http::HttpTransport;
use super::mcp::McpTransport;
use super::rehearsal::RehearsalTransport;
use super::request::{CallError, CallReply, CallRequest};
use super::sentence::mask_secrets;
use crate::domain::ask::TransportKind;

#[derive(Debug)]
pub enum Transport {
    Http(HttpTransport),
    Cli(CliTransport),
    Mcp(McpTransport),
    /// One instance for all seats of a run: a script counts calls across seats.
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

    /// Makes one call, without retry and without writing to the journal.
    ///
    /// The engine records what this returns, and a server may echo the key it received, so secrets
    /// are masked here in replies and errors.
    pub async fn send(&self, request: &CallRequest) -> Result<CallReply, CallError> {
        let (sent, secrets) = match self {
            Self::Http(transport) => (transport.send(request).await, transport.secret_values()),
            // Boxed: these futures are large and rare, and would enlarge every HTTP call.
            Self::Cli(transport) => {
                (Box::pin(transport.send(request)).await, transport.secret_values())
            }
            Self::Mcp(transport) => {
                (Box::pin(transport.send(request)).await, transport.secret_values())
            }
            Self::Rehearsal(transport) => return transport.send(request).await,
        };
        let hide = |text: String| mask_secrets(text, &secrets);
        match sent {
            Ok(received) => Ok(CallReply {
                text: hide(received.text),
                model: received.model.map(hide),
                ..received
            }),
            Err(error) => Err(CallError { message: hide(error.message), ..error }),
        }
    }
}
