//! Each provider's transports, made once and shared by its seats.

use std::sync::Arc;
use std::time::Duration;

use crate::domain::ask::TransportKind;
use crate::providers::rehearsal::{RehearsalTransport, Script};
use crate::providers::{
    CliTransport, HttpClients, HttpTransport, McpTransport, Provider, Transport,
};

/// What transports are made of that is not the provider's own.
#[derive(Debug, Clone, Default)]
pub struct Outlets {
    pub clients: Arc<HttpClients>,
    /// How long a rehearsed reply takes, so that a person can follow it.
    pub pace: Option<Duration>,
}

impl Outlets {
    /// The way into the rehearsal, the same for every seat of a run.
    pub(super) fn rehearsal(&self, script: Option<Script>) -> Arc<RehearsalTransport> {
        let transport = RehearsalTransport::new(script);
        Arc::new(match self.pace {
            Some(pace) => transport.with_pace(pace),
            None => transport,
        })
    }

    pub(super) fn transports(
        &self,
        provider: &Provider,
        rehearsal: &Arc<RehearsalTransport>,
    ) -> Arc<[Transport]> {
        let provider = Arc::new(provider.clone());
        let made = provider.transports.iter().map(|kind| match kind {
            TransportKind::Http => Transport::Http(HttpTransport::new(
                Arc::clone(&provider),
                Arc::clone(&self.clients),
            )),
            TransportKind::Cli => Transport::Cli(CliTransport::new(Arc::clone(&provider))),
            TransportKind::Mcp => Transport::Mcp(McpTransport::new(Arc::clone(&provider))),
            TransportKind::Rehearsal => Transport::Rehearsal(Arc::clone(rehearsal)),
        });
        made.collect()
    }
}
