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
use super::clients::{HttpClients, Route};
use super::dialect::{self, WireRequest};
use super::failure::{self, Refusal};
use super::provider::{Dialect, Provider};
use super::request::{CallError, Received, Request};
use super::sentence::sentence;
use crate::domain::ask::ErrorType;

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
    route: Route,
    /// Set when the server rejects a schema; later calls of the run send none.
    schema_refused: AtomicBool,
}

/// HTTP response with its whole body.
struct Answer {
    status: u16,
    retry_after: Option<Duration>,
    body: String,
}

impl Answer {
    fn refusal(&self) -> Option<Refusal<'_>> {
        let refused = !(200..300).contains(&self.status);
        let (status, retry_after) = (self.status, self.retry_after);
        refused.then_some(Refusal { status, retry_after, body: &self.body })
    }
}

impl HttpTransport {
    /// Fills values the provider does not set from its catalogue row.
    pub fn new(provider: Arc<Provider>, clients: Arc<HttpClients>) -> Self {
        let row = catalogue::row(provider.name.as_str());
        let dialect = provider.dialect.or(row.map(|row| row.dialect)).unwrap_or(Dialect::OpenAi);
        let base_url = provider.base_url.as_deref().or(row.map(|row| row.base_url));
        let base_url = base_url.unwrap_or_default().trim_end_matches('/').to_owned();
        let route = Route::to(&base_url);
        let schema_refused = AtomicBool::new(false);
        Self { provider, clients, dialect, base_url, route, schema_refused }
    }

    /// Makes one call within the request's timeout.
    pub async fn send(&self, request: &Request) -> Result<Received, CallError> {
        // Pinned in place: moving the future by value would double its memory.
        let asking = pin!(self.ask(request));
        timeout(request.time_left, asking)
            .await
            .unwrap_or_else(|_| Err(failure::out_of_time(&self.provider, request.time_left)))
    }

    /// Returns the key, which must not appear in the record.
    pub(super) fn secrets(&self) -> Vec<String> {
        self.provider.key.iter().map(|key| key.expose_secret().to_owned()).collect()
    }

    /// Lists the models the provider offers.
    pub async fn models(&self) -> Result<Vec<String>, CallError> {
        let wire = dialect::models_request(self.dialect, &self.base_url, &self.provider);
        let answer = self.call(Method::GET, wire).await?;
        match answer.refusal() {
            Some(refusal) => Err(refusal.error(&self.provider)),
            None => dialect::models(&self.provider, &answer.body),
        }
    }

    async fn ask(&self, request: &Request) -> Result<Received, CallError> {
        let began = Instant::now();
        let (answer, structured) = self.answer(request).await?;
        let Some(refusal) = answer.refusal() else {
            return dialect::reply(self.dialect, &self.provider, &answer.body, structured);
        };
        let error = refusal.error(&self.provider);
        if !refusal.is_of_model() {
            return Err(error);
        }
        // Use half of the remaining time, so that the error itself returns in time.
        let time_left = request.time_left.saturating_sub(began.elapsed()) / 2;
        let offered = timeout(time_left.min(OFFER_TIME_MAX), Box::pin(self.models())).await;
        let offered = offered.ok().and_then(Result::ok).unwrap_or_default();
        Err(failure::with_offer(&self.provider, error, offered))
    }

    /// Returns the response, and whether the request contained the schema.
    async fn answer(&self, request: &Request) -> Result<(Answer, bool), CallError> {
        let Some(schema) = self.schema(request) else {
            return Ok((self.post(request, None).await?, false));
        };
        let answer = self.post(request, Some(&schema)).await?;
        if answer.refusal().is_some_and(|refusal| refusal.is_of_schema()) {
            self.schema_refused.store(true, Ordering::Relaxed);
            return Ok((self.post(request, None).await?, false));
        }
        Ok((answer, true))
    }

    fn schema(&self, request: &Request) -> Option<Arc<Value>> {
        let wanted = request.schema.as_ref()?;
        let refused = self.schema_refused.load(Ordering::Relaxed);
        (!refused)
            .then(|| self.clients.schema(self.dialect, wanted, self.provider.output_tokens_max))
    }

    async fn post(&self, request: &Request, schema: Option<&Value>) -> Result<Answer, CallError> {
        let wire = dialect::request(self.dialect, &self.base_url, &self.provider, request, schema);
        self.call(Method::POST, wire).await
    }

    async fn call(&self, method: Method, wire: WireRequest<'_>) -> Result<Answer, CallError> {
        let headers = self.headers(&wire)?;
        let request = self.client()?.request(method, wire.url).headers(headers).body(wire.body);
        let response = request.send().await.map_err(|error| self.cut_off(&error))?;
        let status = response.status().as_u16();
        let retry_after = failure::retry_after(response.headers(), time_at(response.headers()));
        let body = self.body(response).await?;
        Ok(Answer { status, retry_after, body })
    }

    fn client(&self) -> Result<&Client, CallError> {
        self.clients.client(self.route).ok_or_else(|| {
            let name = &self.provider.name;
            let text = format!("`{name}` cannot be called: no certificates could be read");
            CallError::new(ErrorType::Network, text)
        })
    }

    fn headers(&self, wire: &WireRequest<'_>) -> Result<HeaderMap, CallError> {
        let mut headers = HeaderMap::with_capacity(4);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        for (name, value) in wire.headers {
            headers.insert(*name, HeaderValue::from_static(value));
        }
        if let Some(key) = &wire.key {
            let text = [key.scheme, key.key.expose_secret()].concat();
            let mut value = HeaderValue::try_from(text).map_err(|_| self.unsendable_key())?;
            value.set_sensitive(true);
            headers.insert(key.name, value);
        }
        Ok(headers)
    }

    fn unsendable_key(&self) -> CallError {
        let variable = self.provider.key_variable.as_deref().unwrap_or("the configuration");
        let text = format!(
            "`{}` cannot be called: its key in `{variable}` holds characters no header can carry",
            self.provider.name
        );
        CallError::new(ErrorType::Auth, sentence(&self.provider, &text))
    }

    /// Reads the body as text and replaces invalid UTF-8.
    async fn body(&self, mut response: Response) -> Result<String, CallError> {
        let expected = response.content_length().and_then(|length| usize::try_from(length).ok());
        let mut body = Vec::with_capacity(expected.unwrap_or(0).min(REPLY_BYTES_MAX));
        while let Some(chunk) = response.chunk().await.map_err(|error| self.cut_off(&error))? {
            if body.len() + chunk.len() > REPLY_BYTES_MAX {
                let what = format!("over {REPLY_BYTES_MAX} bytes");
                return Err(failure::not_a_reply(&self.provider, &what));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(String::from_utf8(body)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }

    fn cut_off(&self, error: &reqwest::Error) -> CallError {
        failure::of_connection(&self.provider, error)
    }
}

/// Returns the server's time, so that a wrong local clock does not matter.
fn time_at(headers: &HeaderMap) -> SystemTime {
    let date = headers.get(DATE).and_then(|value| value.to_str().ok());
    date.and_then(|text| httpdate::parse_http_date(text).ok()).unwrap_or_else(now)
}

#[expect(clippy::disallowed_methods, reason = "what a server says is about the real time")]
fn now() -> SystemTime {
    SystemTime::now()
}
