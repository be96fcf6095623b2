//! HTTP transport: sends one request to a model's server and parses the reply. [`HttpClients`] are
//! shared by all calls of the process, each client built on first use.
//!
//! If the server rejects the schema, [`HttpTransport`] repeats the call without it and sends no
//! schema for the rest of the run. Calls to this machine use separate clients: they need no
//! certificates, which take milliseconds to load, and must not go through a proxy.

use std::net::IpAddr;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};

use plenary_core::model::ask::CallErrorType;
use reqwest::header::{CONTENT_TYPE, DATE, HeaderMap, HeaderValue};
use reqwest::{Client, ClientBuilder, Method, Response, Url, redirect};
use secrecy::ExposeSecret;
use serde_json::Value;
use tokio::time::{Instant, timeout};

use crate::providers::catalogue::find_row;
use crate::providers::dialects::wire::{
    WireRequest, adapt_schema, build_models_request, build_request, parse_models, parse_reply,
};
use crate::providers::http_errors::{
    ErrorResponse, append_offered_models, invalid_reply, parse_retry_after, timeout_error,
};
use crate::providers::redact::clean_message;
use crate::providers::transport::{CallError, CallReply, CallRequest, Dialect, Provider};

/// Largest response body that is read. A reply has a few hundred kilobytes at most; the limit
/// protects memory.
pub const REPLY_BYTES_MAX: usize = 8 * 1024 * 1024;

/// The list of models only improves an error message, so the request for it has a short timeout.
const OFFER_TIME_MAX: Duration = Duration::from_secs(3);

#[derive(Debug)]
pub struct HttpTransport {
    provider: Arc<Provider>,
    clients: Arc<HttpClients>,
    dialect: Dialect,
    /// Without a trailing slash.
    base_url: String,
    route: ClientRoute,
    /// Set when the server rejects a schema; later calls of the run send none.
    schema_refused: AtomicBool,
}

/// HTTP response with its whole body.
struct RawResponse {
    status: u16,
    retry_after: Option<Duration>,
    body: String,
}

impl RawResponse {
    fn error_response(&self) -> Option<ErrorResponse<'_>> {
        let refused = !(200..300).contains(&self.status);
        let (status, retry_after) = (self.status, self.retry_after);
        refused.then_some(ErrorResponse { status, retry_after, body: &self.body })
    }
}

impl HttpTransport {
    /// Fills values the provider does not set from its catalogue row.
    pub fn new(provider: Arc<Provider>, clients: Arc<HttpClients>) -> Self {
        let row = find_row(provider.name.as_str());
        let dialect = provider.dialect.or(row.map(|row| row.dialect)).unwrap_or(Dialect::OpenAi);
        let base_url = provider.base_url.as_deref().or(row.map(|row| row.base_url));
        let base_url = base_url.unwrap_or_default().trim_end_matches('/').to_owned();
        let route = ClientRoute::for_url(&base_url);
        let schema_refused = AtomicBool::new(false);
        Self { provider, clients, dialect, base_url, route, schema_refused }
    }

    /// Makes one call within the request's timeout.
    pub async fn send(&self, request: &CallRequest) -> Result<CallReply, CallError> {
        // Pinned in place: moving the future by value would double its memory.
        let asking = pin!(self.ask_model(request));
        timeout(request.time_left, asking)
            .await
            .unwrap_or_else(|_| Err(timeout_error(&self.provider, request.time_left)))
    }

    /// Returns the key, which must not appear in the record.
    pub(crate) fn secret_values(&self) -> Vec<String> {
        self.provider.key.iter().map(|key| key.expose_secret().to_owned()).collect()
    }

    /// Lists the models the provider offers.
    pub async fn list_models(&self) -> Result<Vec<String>, CallError> {
        let wire = build_models_request(self.dialect, &self.base_url, &self.provider);
        let answer = self.call_server(Method::GET, wire).await?;
        match answer.error_response() {
            Some(refusal) => Err(refusal.to_call_error(&self.provider)),
            None => parse_models(&self.provider, &answer.body),
        }
    }

    async fn ask_model(&self, request: &CallRequest) -> Result<CallReply, CallError> {
        let began = Instant::now();
        let (answer, structured) = self.post_with_fallback(request).await?;
        let Some(refusal) = answer.error_response() else {
            return parse_reply(self.dialect, &self.provider, &answer.body, structured);
        };
        let error = refusal.to_call_error(&self.provider);
        if !refusal.rejects_model() {
            return Err(error);
        }
        // Use half of the remaining time, so that the error itself returns in time.
        let time_left = request.time_left.saturating_sub(began.elapsed()) / 2;
        let offered = timeout(time_left.min(OFFER_TIME_MAX), Box::pin(self.list_models())).await;
        let offered = offered.ok().and_then(Result::ok).unwrap_or_default();
        Err(append_offered_models(&self.provider, error, offered))
    }

    /// Returns the response, and whether the request contained the schema.
    async fn post_with_fallback(
        &self,
        request: &CallRequest,
    ) -> Result<(RawResponse, bool), CallError> {
        let Some(schema) = self.schema_to_send(request) else {
            return Ok((self.post_request(request, None).await?, false));
        };
        let answer = self.post_request(request, Some(&schema)).await?;
        if answer.error_response().is_some_and(|refusal| refusal.rejects_schema()) {
            self.schema_refused.store(true, Ordering::Relaxed);
            return Ok((self.post_request(request, None).await?, false));
        }
        Ok((answer, true))
    }

    fn schema_to_send(&self, request: &CallRequest) -> Option<Arc<Value>> {
        let wanted = request.schema.as_ref()?;
        let refused = self.schema_refused.load(Ordering::Relaxed);
        (!refused).then(|| {
            self.clients.adapted_schema(self.dialect, wanted, self.provider.output_tokens_max)
        })
    }

    async fn post_request(
        &self,
        request: &CallRequest,
        schema: Option<&Value>,
    ) -> Result<RawResponse, CallError> {
        let wire = build_request(self.dialect, &self.base_url, &self.provider, request, schema);
        self.call_server(Method::POST, wire).await
    }

    async fn call_server(
        &self,
        method: Method,
        wire: WireRequest<'_>,
    ) -> Result<RawResponse, CallError> {
        let headers = self.build_headers(&wire)?;
        let request = self.get_client()?.request(method, wire.url).headers(headers).body(wire.body);
        let response = request.send().await.map_err(|error| self.connection_error(&error))?;
        let status = response.status().as_u16();
        let retry_after = parse_retry_after(response.headers(), server_time(response.headers()));
        let body = self.read_body(response).await?;
        Ok(RawResponse { status, retry_after, body })
    }

    fn get_client(&self) -> Result<&Client, CallError> {
        self.clients.get_client(self.route).ok_or_else(|| {
            let name = &self.provider.name;
            let text =
                format!("`{name}` cannot be called: the system's certificates cannot be read");
            CallError::new(CallErrorType::Network, text)
        })
    }

    fn build_headers(&self, wire: &WireRequest<'_>) -> Result<HeaderMap, CallError> {
        let mut headers = HeaderMap::with_capacity(4);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        for (name, value) in wire.headers {
            headers.insert(*name, HeaderValue::from_static(value));
        }
        if let Some(key) = &wire.key {
            let text = [key.scheme, key.key.expose_secret()].concat();
            let mut value = HeaderValue::try_from(text).map_err(|_| self.invalid_key_error())?;
            value.set_sensitive(true);
            headers.insert(key.name, value);
        }
        Ok(headers)
    }

    fn invalid_key_error(&self) -> CallError {
        let variable = self.provider.key_variable.as_deref().unwrap_or("the configuration");
        let text = format!(
            "`{}` cannot be called: its key in `{variable}` has characters that an HTTP header cannot contain",
            self.provider.name
        );
        CallError::new(CallErrorType::Auth, clean_message(&self.provider, &text))
    }

    /// Reads the body as text and replaces invalid UTF-8.
    async fn read_body(&self, mut response: Response) -> Result<String, CallError> {
        let expected = response.content_length().and_then(|length| usize::try_from(length).ok());
        let mut body = Vec::with_capacity(expected.unwrap_or(0).min(REPLY_BYTES_MAX));
        while let Some(chunk) =
            response.chunk().await.map_err(|error| self.connection_error(&error))?
        {
            if body.len() + chunk.len() > REPLY_BYTES_MAX {
                let what = format!("over {REPLY_BYTES_MAX} bytes");
                return Err(invalid_reply(&self.provider, &what));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(String::from_utf8(body)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }

    fn connection_error(&self, error: &reqwest::Error) -> CallError {
        crate::providers::http_errors::connection_error(&self.provider, error)
    }
}

/// Returns the server's time, so that a wrong local clock does not matter.
fn server_time(headers: &HeaderMap) -> SystemTime {
    let date = headers.get(DATE).and_then(|value| value.to_str().ok());
    date.and_then(|text| httpdate::parse_http_date(text).ok()).unwrap_or_else(system_time)
}

#[expect(clippy::disallowed_methods, reason = "what a server says is about the real time")]
fn system_time() -> SystemTime {
    SystemTime::now()
}

/// Enough for 500 councils of three seats that all keep their connections for the next round.
const IDLE_CONNECTIONS_MAX: usize = 1_536;

/// A host that does not accept a connection in this time counts as unreachable.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(10);

/// Limit of the schema cache: three documents, three modes and three dialects, with a margin.
const SCHEMAS_MAX: usize = 64;

/// HTTP clients and cached schemas of the process.
#[derive(Debug, Default)]
pub struct HttpClients {
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
