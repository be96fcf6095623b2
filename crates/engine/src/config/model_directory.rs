//! [`ModelDirectory`]: which models servers offer, for `latest` and for a router's prices.
//!
//! [`LiveModels`] asks the servers, all at once and for a short time, and keeps their lists for a
//! day in a file beside the store. A server that does not answer is no error: the facts that
//! Plenary contains are used then.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use plenary_core::model::ask::CallErrorType;
use plenary_core::model::time::Moment;
use serde::{Deserialize, Serialize};
use tokio::runtime::Builder;
use tokio::time::timeout;

use crate::config::discover::installed_models;
use crate::files::read_write::{open_named_file, read_limited_text, replace_file};
use crate::files::reserved_names::model_cache_path;
use crate::providers::http::HttpTransport;
use crate::providers::http_clients::HttpClients;
use crate::providers::offered_models::OfferedModel;
use crate::providers::transport::{CallError, Provider};

/// A list of models is small; a slower server counts as unreachable.
const LIST_TIME_MAX: Duration = Duration::from_secs(5);

/// A server that did not answer is not asked again for so long, lest each command waits for it.
const FAILURE_MS_MAX: u64 = 10 * 60_000;

/// New models appear every few weeks.
const CACHE_MS_MAX: u64 = 24 * 3_600_000;

/// The list of a router has a few hundred models of a hundred bytes each.
const CACHE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Answers which models there are.
pub trait ModelDirectory {
    /// The models of the Ollama server at a URL.
    fn installed(&self, server: &str) -> Vec<String>;

    /// The list of each provider, in order; `None` if it does not answer. `store` is the path of
    /// the project's store.
    fn offered(&self, providers: &[&Provider], store: &Path) -> Vec<Option<Vec<OfferedModel>>> {
        let _ = store;
        providers.iter().map(|_| None).collect()
    }
}

/// Only the models of an Ollama server; nothing is asked of other servers.
impl<F: Fn(&str) -> Vec<String>> ModelDirectory for F {
    fn installed(&self, server: &str) -> Vec<String> {
        self(server)
    }
}

/// Whether servers are asked for their models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelQuery {
    /// Servers whose list is not in the cache are asked.
    Asked,
    /// Only the cache is read.
    Cached,
}

/// The models of the real servers.
#[derive(Debug, Clone, Copy)]
pub struct LiveModels {
    pub query: ModelQuery,
    pub now: Moment,
}

impl ModelDirectory for LiveModels {
    fn installed(&self, server: &str) -> Vec<String> {
        installed_models(server)
    }

    fn offered(&self, providers: &[&Provider], store: &Path) -> Vec<Option<Vec<OfferedModel>>> {
        if providers.is_empty() {
            return Vec::new();
        }
        let (path, now) = (model_cache_path(store), self.now);
        let mut cache = ModelCache::load(&path);
        let is_due = |one: &&Provider| self.query == ModelQuery::Asked && !cache.is_fresh(one, now);
        let due: Vec<&Provider> = providers.iter().copied().filter(is_due).collect();
        let answers = fetch_lists(&due);
        let mut is_changed = false;
        for (provider, answer) in due.into_iter().zip(answers) {
            let (models, is_failed) = match answer {
                Ok(models) => (models, false),
                Err(error) if is_unreachable(&error) => (Vec::new(), true),
                Err(_) => continue,
            };
            cache.0.insert(cache_key(provider), CachedList { at: now, models, is_failed });
            is_changed = true;
        }
        if is_changed {
            cache.save(&path);
        }
        providers.iter().map(|one| cache.find(one, now).map(<[OfferedModel]>::to_vec)).collect()
    }
}

/// Whether asking again soon would only take time. A refusal comes at once.
fn is_unreachable(error: &CallError) -> bool {
    matches!(error.error_type, CallErrorType::Timeout | CallErrorType::Network)
}

/// The lists of all providers, asked at once on a thread of its own, because the caller may be in
/// an asynchronous task.
pub fn fetch_lists(providers: &[&Provider]) -> Vec<Result<Vec<OfferedModel>, CallError>> {
    if providers.is_empty() {
        return Vec::new();
    }
    let clients = Arc::new(HttpClients::new());
    let ask = || {
        let runtime = Builder::new_current_thread().enable_all().build().ok()?;
        let lists = providers.iter().map(|one| fetch_list(one, Arc::clone(&clients)));
        Some(runtime.block_on(join_all(lists)))
    };
    let lists = std::thread::scope(|scope| scope.spawn(ask).join().ok().flatten());
    let unasked = || {
        let error = CallError::new(CallErrorType::Unknown, "the list of models was not asked for");
        providers.iter().map(|_| Err(error.clone())).collect()
    };
    lists.unwrap_or_else(unasked)
}

async fn fetch_list(
    provider: &Provider,
    clients: Arc<HttpClients>,
) -> Result<Vec<OfferedModel>, CallError> {
    let server = HttpTransport::new(Arc::new(provider.clone()), clients);
    timeout(LIST_TIME_MAX, server.list_models()).await.unwrap_or_else(|_| {
        let message = format!("no answer within {} s", LIST_TIME_MAX.as_secs());
        Err(CallError::new(CallErrorType::Timeout, message))
    })
}

/// The lists of the last day, by provider.
#[derive(Debug, Default, Serialize, Deserialize)]
struct ModelCache(BTreeMap<String, CachedList>);

#[derive(Debug, Serialize, Deserialize)]
struct CachedList {
    at: Moment,
    models: Vec<OfferedModel>,
    /// The server did not answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_failed: bool,
}

/// A list belongs to a name and an address.
fn cache_key(provider: &Provider) -> String {
    format!("{} {}", provider.name, provider.base_url.as_deref().unwrap_or_default())
}

impl ModelCache {
    /// A file that is missing or damaged counts as empty.
    fn load(path: &Path) -> Self {
        let file = open_named_file(path).ok();
        let text = file.and_then(|file| read_limited_text(path, file, CACHE_BYTES_MAX).ok());
        text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
    }

    /// The cache only saves time, so a failure to write it does not matter. It creates no folder:
    /// looking at a project must leave nothing behind.
    fn save(&self, path: &Path) {
        let is_there = path.parent().is_some_and(Path::is_dir);
        if let (true, Ok(text)) = (is_there, serde_json::to_vec(self)) {
            let _ = replace_file(path, &text);
        }
    }

    fn find(&self, provider: &Provider, now: Moment) -> Option<&[OfferedModel]> {
        let list = self.find_fresh(provider, now).filter(|list| !list.is_failed)?;
        Some(list.models.as_slice())
    }

    /// Whether the server need not be asked: its answer is known, or that it gives none.
    fn is_fresh(&self, provider: &Provider, now: Moment) -> bool {
        self.find_fresh(provider, now).is_some()
    }

    fn find_fresh(&self, provider: &Provider, now: Moment) -> Option<&CachedList> {
        let list = self.0.get(&cache_key(provider))?;
        let age_max = if list.is_failed { FAILURE_MS_MAX } else { CACHE_MS_MAX };
        (list.at <= now && now.millis_since(list.at) < age_max).then_some(list)
    }
}
