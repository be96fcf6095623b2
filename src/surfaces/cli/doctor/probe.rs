//! Asks all providers concurrently which models they offer, with a short timeout.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::timeout;

use crate::config::Candidate;
use crate::domain::ask::{ErrorType, TransportKind};
use crate::providers::{CallError, CliTransport, HttpClients, HttpTransport, Provider};

/// A model list is small; a slower server counts as unreachable.
const SERVER_TIME_MAX: Duration = Duration::from_secs(4);

/// Agent programs load for seconds before they print their version.
const PROGRAM_TIME_MAX: Duration = Duration::from_secs(5);

/// Replies of a provider, for each transport that is available.
#[derive(Debug, Default)]
pub(super) struct Probed {
    /// The models that the server lists.
    pub models: Option<Result<Vec<String>, CallError>>,
    /// The program's version; `Ok(None)` for a program without a version command.
    pub version: Option<Result<Option<String>, CallError>>,
}

pub(super) async fn all(candidates: &[Candidate]) -> Vec<Probed> {
    let clients = Arc::new(HttpClients::new());
    join_all(candidates.iter().map(|candidate| one(candidate, &clients))).await
}

async fn one(candidate: &Candidate, clients: &Arc<HttpClients>) -> Probed {
    let is_open = |kind: TransportKind| {
        candidate.transport_statuses.iter().any(|way| way.kind == kind && way.closed.is_none())
    };
    let provider = Arc::new(candidate.provider.clone());
    let models = async {
        if !is_open(TransportKind::Http) {
            return None;
        }
        Some(models(Arc::clone(&provider), Arc::clone(clients)).await)
    };
    let version = async {
        if !is_open(TransportKind::Cli) {
            return None;
        }
        Some(CliTransport::new(Arc::clone(&provider)).version(PROGRAM_TIME_MAX).await)
    };
    let (models, version) = tokio::join!(models, version);
    Probed { models, version }
}

async fn models(
    provider: Arc<Provider>,
    clients: Arc<HttpClients>,
) -> Result<Vec<String>, CallError> {
    let server = HttpTransport::new(provider, clients);
    timeout(SERVER_TIME_MAX, server.models()).await.unwrap_or_else(|_| {
        let message = format!("no answer within {} s", SERVER_TIME_MAX.as_secs());
        Err(CallError::new(ErrorType::Timeout, message))
    })
}
