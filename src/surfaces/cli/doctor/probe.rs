//! Asks each provider what it offers, all at once and for a few seconds.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::timeout;

use crate::config::Candidate;
use crate::domain::ask::{ErrorType, TransportKind};
use crate::providers::{CallError, CliTransport, HttpClients, HttpTransport, Provider};

/// A list of models is a small answer; who needs longer for it is as good as away.
const SERVER_TIME_MAX: Duration = Duration::from_secs(4);

/// Agent programs load a great deal before they say a word.
const PROGRAM_TIME_MAX: Duration = Duration::from_secs(5);

/// What came back, from those ways that were worth trying.
#[derive(Debug, Default)]
pub(super) struct Probed {
    /// The models a server says it has.
    pub models: Option<Result<Vec<String>, CallError>>,
    /// The version of a program; nothing inside for one that is not asked.
    pub version: Option<Result<Option<String>, CallError>>,
}

pub(super) async fn all(candidates: &[Candidate]) -> Vec<Probed> {
    let clients = Arc::new(HttpClients::new());
    join_all(candidates.iter().map(|candidate| one(candidate, &clients))).await
}

async fn one(candidate: &Candidate, clients: &Arc<HttpClients>) -> Probed {
    let is_open = |kind: TransportKind| {
        candidate.ways.iter().any(|way| way.kind == kind && way.closed.is_none())
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
