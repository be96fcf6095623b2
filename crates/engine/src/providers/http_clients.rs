//! [`HttpClients`]: what the calls of a process share: HTTP clients, each built on first use, cached
//! schemas, and the pace of each provider.
//!
//! Calls to this machine use separate clients: they need no certificates, which take milliseconds to
//! load, and must not go through a proxy.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use reqwest::{Client, ClientBuilder, Url, redirect};
use serde_json::Value;

use crate::providers::dialects::wire::adapt_schema;
use crate::providers::pace::ProviderPaces;
use crate::providers::transport::Dialect;

/// Enough for 500 councils of three seats that all keep their connections for the next round.
const IDLE_CONNECTIONS_MAX: usize = 1_536;

/// A host that does not accept a connection in this time counts as unreachable.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(10);

/// Limit of the schema cache: three documents, three modes and three dialects, with a margin.
const SCHEMAS_MAX: usize = 64;

/// HTTP clients, cached schemas and paces of the process.
#[derive(Debug, Default)]
pub struct HttpClients {
    pub(crate) paces: ProviderPaces,
    plain: OnceLock<Option<Client>>,
    secure: OnceLock<Option<Client>>,
    outward: OnceLock<Option<Client>>,
    schemas: Mutex<Vec<CachedSchema>>,
}

#[derive(Debug)]
struct CachedSchema {
    dialect: Dialect,
    output_tokens_max: u32,
    source: Arc<Value>,
    suited: Arc<Value>,
}

/// Selects the client for a provider's address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClientRoute {
    /// HTTP on this machine.
    Plain,
    /// HTTPS on this machine.
    Secure,
    /// Another machine, through a proxy if the environment names one.
    Remote,
}

impl ClientRoute {
    pub(crate) fn for_url(base_url: &str) -> Self {
        match Url::parse(base_url) {
            Ok(url) if !is_on_this_machine(&url) => Self::Remote,
            Ok(url) if url.scheme() == "http" => Self::Plain,
            Ok(_) => Self::Secure,
            Err(_) => Self::Remote,
        }
    }
}

/// Whether a base URL is on this machine: such a call is free and leaves nothing to the network.
pub fn is_loopback(base_url: &str) -> bool {
    Url::parse(base_url).is_ok_and(|url| is_on_this_machine(&url))
}

/// Returns scheme, host and port as the HTTP client parses them. Non-ASCII host names are in
/// punycode, which exposes look-alike names.
pub fn origin_of(base_url: &str) -> Option<String> {
    Url::parse(base_url).ok().map(|url| url.origin().ascii_serialization())
}

fn is_on_this_machine(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    match address {
        Ok(address) => address.is_loopback(),
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    }
}

impl HttpClients {
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns `None` if the system's certificates cannot be read.
    pub(crate) fn get_client(&self, route: ClientRoute) -> Option<&Client> {
        let client = match route {
            ClientRoute::Plain => self
                .plain
                .get_or_init(|| build_client(client_builder().no_proxy().tls_certs_only([]))),
            ClientRoute::Secure => {
                self.secure.get_or_init(|| build_client(client_builder().no_proxy()))
            }
            ClientRoute::Remote => self.outward.get_or_init(|| build_client(client_builder())),
        };
        client.as_ref()
    }

    /// Returns the schema in the dialect's form. Every call sends one of a few schemas, so results
    /// are cached, keyed by the address of the source `Arc`.
    pub(crate) fn adapted_schema(
        &self,
        dialect: Dialect,
        source: &Arc<Value>,
        output_tokens_max: u32,
    ) -> Arc<Value> {
        let mut kept = self.schemas.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |known: &&CachedSchema| {
            known.dialect == dialect
                && known.output_tokens_max == output_tokens_max
                && Arc::ptr_eq(&known.source, source)
        };
        if let Some(known) = kept.iter().find(same) {
            return Arc::clone(&known.suited);
        }
        let suited = Arc::new(adapt_schema(dialect, source, output_tokens_max));
        if kept.len() >= SCHEMAS_MAX {
            kept.clear();
        }
        let source = Arc::clone(source);
        kept.push(CachedSchema { dialect, output_tokens_max, source, suited: Arc::clone(&suited) });
        suited
    }
}

fn client_builder() -> ClientBuilder {
    // An error means that a provider is installed already; it is the same one.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder()
        .user_agent(concat!("plenary/", env!("CARGO_PKG_VERSION")))
        .http1_only()
        .tcp_nodelay(true)
        .pool_max_idle_per_host(IDLE_CONNECTIONS_MAX)
        .connect_timeout(CONNECT_TIME_MAX)
        // A redirect must not carry the key to another address.
        .redirect(redirect::Policy::none())
        .referer(false)
}

fn build_client(builder: ClientBuilder) -> Option<Client> {
    builder.build().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_this_machine_is_called_without_proxy_and_certificates() {
        let check = |base_url: &str, expected: ClientRoute| {
            assert_eq!(ClientRoute::for_url(base_url), expected, "{base_url}");
            assert_eq!(is_loopback(base_url), expected != ClientRoute::Remote, "{base_url}");
        };
        check("http://127.0.0.1:8099/v1", ClientRoute::Plain);
        check("http://127.8.0.1/v1", ClientRoute::Plain);
        check("http://[::1]:8099/v1", ClientRoute::Plain);
        check("http://localhost:11434/v1", ClientRoute::Plain);
        check("http://models.localhost/v1", ClientRoute::Plain);
        check("https://localhost/v1", ClientRoute::Secure);
        check("https://api.openai.com/v1", ClientRoute::Remote);
        check("http://192.168.1.7:11434/v1", ClientRoute::Remote);
        check("http://localhost.example.com/v1", ClientRoute::Remote);
        check("http://127.0.0.1@example.com/v1", ClientRoute::Remote);
        check("nonsense", ClientRoute::Remote);
    }

    #[test]
    fn every_client_can_be_built() {
        let clients = HttpClients::new();
        for route in [ClientRoute::Plain, ClientRoute::Secure, ClientRoute::Remote] {
            assert!(clients.get_client(route).is_some(), "{route:?}");
        }
    }

    #[test]
    fn a_schema_is_suited_once_for_each_dialect() {
        let clients = HttpClients::new();
        let schema = Arc::new(json!({ "type": ["string", "null"] }));
        let first = clients.adapted_schema(Dialect::Gemini, &schema, 4_096);
        let again = clients.adapted_schema(Dialect::Gemini, &schema, 4_096);
        let other = clients.adapted_schema(Dialect::OpenAi, &schema, 4_096);
        assert!(Arc::ptr_eq(&first, &again));
        assert_eq!(*first, json!({ "type": "string", "nullable": true }));
        assert_eq!(other, schema);
        for _ in 0..SCHEMAS_MAX * 3 {
            clients.adapted_schema(Dialect::OpenAi, &Arc::new(json!({ "type": "string" })), 4_096);
        }
        assert!(clients.schemas.lock().unwrap().len() <= SCHEMAS_MAX);
    }
}
