//! Asks all providers concurrently which models they offer, with a short timeout.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::timeout;

use crate::config::ProviderCandidate;
use crate::domain::ask::{CallErrorType, TransportKind};
use crate::providers::{CallError, CliTransport, HttpClients, HttpTransport, Provider};

/// A model list is small; a slower server counts as unreachable.
const SERVER_TIMEOUT: Duration = Duration::from_secs(4);

/// Agent programs load for seconds before they print their version.
const PROGRAM_TIMEOUT: Duration = Duration::from_secs(5);

/// Replies of a provider, for each transport that is available.
#[derive(Debug, Default)]
pub(super) struct ProbeResult {
    /// The models that the server lists.
    pub models: Option<Result<Vec<String>, CallError>>,
    /// The program's version; `Ok(None)` for a program without a version command.
    pub version: Option<Result<Option<String>, CallError>>,
}

pub(super) async fn probe_all(candidates: &[ProviderCandidate]) -> Vec<ProbeResult> {
    let clients = Arc::new(HttpClients::new());
    join_all(candidates.iter().map(|candidate| probe_provider(candidate, &clients))).await
}

async fn probe_provider(candidate: &ProviderCandidate, clients: &Arc<HttpClients>) -> ProbeResult {
    let is_open = |kind: TransportKind| {
        candidate.transport_statuses.iter().any(|way| way.kind == kind && way.closed.is_none())
    };
    let provider = Arc::new(candidate.provider.clone());
    let models = async {
        if !is_open(TransportKind::Http) {
            return None;
        }
        Some(fetch_models(Arc::clone(&provider), Arc::clone(clients)).await)
    };
    let version = async {
        if !is_open(TransportKind::Cli) {
            return None;
        }
        Some(CliTransport::new(Arc::clone(&provider)).read_version(PROGRAM_TIMEOUT).await)
    };
    let (models, version) = tokio::join!(models, version);
    ProbeResult { models, version }
}

async fn fetch_models(
    provider: Arc<Provider>,
    clients: Arc<HttpClients>,
) -> Result<Vec<String>, CallError> {
    let server = HttpTransport::new(provider, clients);
    timeout(SERVER_TIMEOUT, server.list_models()).await.unwrap_or_else(|_| {
        let message = format!("no answer within {} s", SERVER_TIMEOUT.as_secs());
        Err(CallError::new(CallErrorType::Timeout, message))
    })
}
