//! [`TransportFactory`]: makes the transports of each provider once, shared by its seats.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use plenary_core::model::ask::TransportKind;
use plenary_core::model::ids::ExpertSlug;
use plenary_core::model::plan::{Plan, Seat};

use crate::config::settings::Settings;
use crate::engine::run_start::SeatTransports;
use crate::providers::cli::transport::CliTransport;
use crate::providers::http::{HttpClients, HttpTransport};
use crate::providers::mcp::McpTransport;
use crate::providers::rehearsal::transport::{
    RehearsalScript, RehearsalTransport, rehearsal_panel,
};
use crate::providers::transport::{Provider, Transport};

/// Shared parts of transports.
#[derive(Debug, Clone, Default)]
pub struct TransportFactory {
    pub clients: Arc<HttpClients>,
    /// Duration of a rehearsed reply, so that a person can follow it.
    pub pace: Option<Duration>,
}

impl TransportFactory {
    /// The rehearsal transport, shared by all seats of a run.
    pub(crate) fn create_rehearsal(
        &self,
        script: Option<RehearsalScript>,
    ) -> Arc<RehearsalTransport> {
        let transport = RehearsalTransport::new(script);
        Arc::new(match self.pace {
            Some(pace) => transport.with_pace(pace),
            None => transport,
        })
    }

    pub(crate) fn create_transports(
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

/// Transports for the seats of an existing run: today's providers with the models of the plan. A
/// seat whose provider is gone has none.
pub fn reconnect_seats(
    plan: &Plan,
    is_rehearsal: bool,
    settings: &Settings,
    factory: &TransportFactory,
) -> SeatTransports {
    let script = plan.rehearsal_script.clone().and_then(|value| serde_json::from_value(value).ok());
    let mut present =
        if is_rehearsal { rehearsal_panel() } else { settings.council.providers.clone() };
    for provider in &mut present {
        let seat = plan.seats.iter().find(|seat| seat.provider == provider.name);
        if let Some(seat) = seat {
            provider.model.clone_from(&seat.model);
            provider.output_tokens_max = seat.output_tokens_max;
            provider.temperature = seat.temperature;
        }
    }
    connect_seats(&plan.seats, &present, script, factory)
}

/// Transports of the seats; those of one provider share them, and a seat without its provider has
/// none.
pub(crate) fn connect_seats(
    seats: &[Seat],
    present: &[Provider],
    script: Option<RehearsalScript>,
    factory: &TransportFactory,
) -> SeatTransports {
    let rehearsal = factory.create_rehearsal(script);
    let made: BTreeMap<&ExpertSlug, Arc<[Transport]>> = present
        .iter()
        .map(|provider| (&provider.name, factory.create_transports(provider, &rehearsal)))
        .collect();
    let mut connections = SeatTransports::default();
    for seat in seats {
        if let Some(transports) = made.get(&seat.provider) {
            connections.add(seat.name.clone(), Arc::clone(transports));
        }
    }
    connections
}
