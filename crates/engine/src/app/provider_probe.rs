//! What answers for `doctor`: the model list, the program and the smallest call of each provider.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use plenary_core::model::ask::{AskMessages, AskPurpose, CallErrorType, TransportKind};
use tokio::time::timeout;

use crate::app::planning::panel_setup::TransportFactory;
use crate::clock::{RealSystem, System};
use crate::config::resolve_provider::ProviderCandidate;
use crate::providers::call_progress::SilenceTimer;
use crate::providers::cli::transport::CliTransport;
use crate::providers::http::HttpTransport;
use crate::providers::http_clients::HttpClients;
use crate::providers::retry::retry_delay;
use crate::providers::transport::{CallError, CallReply, CallRequest, Provider};

/// A model list is small; a slower server counts as unreachable.
const SERVER_TIMEOUT: Duration = Duration::from_secs(4);

/// Agent programs load for seconds before they print their version.
const PROGRAM_TIMEOUT: Duration = Duration::from_secs(5);

/// Replies of a provider, for each transport that is available.
#[derive(Debug, Default)]
pub(crate) struct ProbeResult {
    /// The models that the server lists.
    pub models: Option<Result<Vec<String>, CallError>>,
    /// The reply to the smallest call over each transport that can be reached.
    pub replies: Vec<(TransportKind, Result<CallReply, CallError>)>,
    /// The program's version; `Ok(None)` for a program without a version command.
    pub version: Option<Result<Option<String>, CallError>>,
}

pub(crate) async fn probe_all(candidates: &[ProviderCandidate]) -> Vec<ProbeResult> {
    let clients = Arc::new(HttpClients::new());
    join_all(candidates.iter().map(|candidate| probe_provider(candidate, &clients))).await
}

async fn probe_provider(candidate: &ProviderCandidate, clients: &Arc<HttpClients>) -> ProbeResult {
    let is_open = |kind: TransportKind| {
        candidate.transport_statuses.iter().any(|way| way.kind == kind && way.closed.is_none())
    };
    let provider = Arc::new(candidate.provider.clone());
    let models = async {
        match is_open(TransportKind::Http) {
            true => Some(fetch_models(Arc::clone(&provider), Arc::clone(clients)).await),
            false => None,
        }
    };
    let version = async {
        if !is_open(TransportKind::Cli) {
            return None;
        }
        Some(CliTransport::new(Arc::clone(&provider)).read_version(PROGRAM_TIMEOUT).await)
    };
    let (models, version) = tokio::join!(models, version);
    let answers = match &models {
        Some(models) => models.as_ref().map_or_else(is_answer, |_| true),
        None => false,
    };
    let can_call = |kind: &&TransportKind| match kind {
        TransportKind::Http => answers,
        TransportKind::Cli => matches!(version, Some(Ok(_))),
        TransportKind::Mcp => is_open(TransportKind::Mcp),
        TransportKind::Rehearsal => false,
    };
    let calls = TransportKind::ALL
        .iter()
        .filter(can_call)
        .map(|kind| async { (*kind, send_test_call(*kind, &provider, clients).await) });
    let replies = join_all(calls).await;
    ProbeResult { models, replies, version }
}

/// A reply of one word is quick; a server that loads a model first takes longer, and so does an
/// agent program.
const CALL_TIMEOUT: Duration = Duration::from_secs(30);

/// Enough for one word, also for a model that thinks before it answers.
const CALL_TOKENS_MAX: u32 = 256;

/// Asks for one word. A reply that is cut off proves the seat too.
async fn send_test_call(
    kind: TransportKind,
    provider: &Provider,
    clients: &Arc<HttpClients>,
) -> Result<CallReply, CallError> {
    let tokens = provider.output_tokens_max.min(CALL_TOKENS_MAX);
    let transports = vec![kind];
    let provider = Provider { output_tokens_max: tokens, transports, ..provider.clone() };
    let request = CallRequest {
        seat: provider.name.clone(),
        round: 0,
        purpose: AskPurpose::Restatement,
        messages: Arc::new(AskMessages::new(
            "You are a connection test.",
            "Reply with the word OK.",
        )),
        schema: None,
        timer: SilenceTimer::start(CALL_TIMEOUT),
        partial_text: None,
        is_stricter: false,
    };
    let factory = TransportFactory { clients: Arc::clone(clients), pace: None };
    let transports = factory.create_transports(&provider, &factory.create_rehearsal(None));
    let call = async {
        let transport = transports.first()?;
        let sent = transport.send_until_accepted(&request).await;
        // As in a run, what may pass is tried once more.
        let wait = sent.as_ref().err().and_then(|error| {
            retry_delay(error, 1, request.timer.time_left(), RealSystem.random_u64())
        });
        let Some(wait) = wait else { return Some(sent) };
        tokio::time::sleep(wait).await;
        Some(transport.send_until_accepted(&request).await)
    };
    timeout(CALL_TIMEOUT, call).await.ok().flatten().unwrap_or_else(|| {
        let message = format!("no reply within {} s", CALL_TIMEOUT.as_secs());
        Err(CallError::new(CallErrorType::Timeout, message))
    })
}

async fn fetch_models(
    provider: Arc<Provider>,
    clients: Arc<HttpClients>,
) -> Result<Vec<String>, CallError> {
    let server = HttpTransport::new(provider, clients);
    let listed = timeout(SERVER_TIMEOUT, server.list_models()).await.unwrap_or_else(|_| {
        let message = format!("no answer within {} s", SERVER_TIMEOUT.as_secs());
        Err(CallError::new(CallErrorType::Timeout, message))
    });
    listed.map(|models| models.into_iter().map(|model| model.name).collect())
}

/// Whether the server answered, even with an error.
pub(crate) fn is_answer(error: &CallError) -> bool {
    !matches!(error.error_type, CallErrorType::Network | CallErrorType::Timeout)
}
