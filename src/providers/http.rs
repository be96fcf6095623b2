//! HTTP transport: sends one request to a model's server and parses the reply. [`HttpClients`] are
//! shared by all calls of the process, each client built on first use.
//!
//! If the server rejects the schema, [`HttpTransport`] repeats the call without it and sends no
//! schema for the rest of the run. Calls to this machine use separate clients: they need no
//! certificates, which take milliseconds to load, and must not go through a proxy.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use reqwest::header::{CONTENT_TYPE, DATE, HeaderMap, HeaderValue};
use reqwest::{Client, Method, Response};
use secrecy::ExposeSecret;
use serde_json::Value;
use tokio::time::{Instant, timeout};

use super::catalogue;
use super::clients::{ClientRoute, HttpClients};
use super::dialect::{self, WireRequest};
use super::failure::{self, ErrorResponse};
use super::provider::{Dialect, Provider};
use super::request::{CallError, CallReply, CallRequest};
use super::sentence::clean_message;
use crate::domain::ask::CallErrorType;

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
        let row = catalogue::find_row(provider.name.as_str());
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
            .unwrap_or_else(|_| Err(failure::timeout_error(&self.provider, request.time_left)))
    }

    /// Returns the key, which must not appear in the record.
    pub(super) fn secret_values(&self) -> Vec<String> {
        self.provider.key.iter().map(|key| key.expose_secret().to_owned()).collect()
    }

    /// Lists the models the provider offers.
    pub async fn list_models(&self) -> Result<Vec<String>, CallError> {
        let wire = dialect::build_models_request(self.dialect, &self.base_url, &self.provider);
        let answer = self.call_server(Method::GET, wire).await?;
        match answer.error_response() {
            Some(refusal) => Err(refusal.to_call_error(&self.provider)),
            None => dialect::parse_models(&self.provider, &answer.body),
        }
    }

    async fn ask_model(&self, request: &CallRequest) -> Result<CallReply, CallError> {
        let began = Instant::now();
        let (answer, structured) = self.post_with_fallback(request).await?;
        let Some(refusal) = answer.error_response() else {
            return dialect::parse_reply(self.dialect, &self.provider, &answer.body, structured);
        };
        let error = refusal.to_call_error(&self.provider);
        if !refusal.rejects_model() {
            return Err(error);
        }
        // Use half of the remaining time, so that the error itself returns in time.
        let time_left = request.time_left.saturating_sub(began.elapsed()) / 2;
        let offered = timeout(time_left.min(OFFER_TIME_MAX), Box::pin(self.list_models())).await;
        let offered = offered.ok().and_then(Result::ok).unwrap_or_default();
        Err(failure::append_offered_models(&self.provider, error, offered))
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
        let wire =
            dialect::build_request(self.dialect, &self.base_url, &self.provider, request, schema);
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
        let retry_after =
            failure::parse_retry_after(response.headers(), server_time(response.headers()));
        let body = self.read_body(response).await?;
        Ok(RawResponse { status, retry_after, body })
    }

    fn get_client(&self) -> Result<&Client, CallError> {
        self.clients.get_client(self.route).ok_or_else(|| {
            let name = &self.provider.name;
            let text = format!("`{name}` cannot be called: no certificates could be read");
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
            "`{}` cannot be called: its key in `{variable}` holds characters no header can carry",
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
                return Err(failure::invalid_reply(&self.provider, &what));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(String::from_utf8(body)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }

    fn connection_error(&self, error: &reqwest::Error) -> CallError {
        failure::connection_error(&self.provider, error)
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
