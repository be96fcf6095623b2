//! HTTP transport: sends one request to a model's server and parses the reply.
//!
//! Replies are streamed; a server that answers with a whole body is read as well. A parameter that the
//! server refuses is named in the error, and [`HttpTransport`] leaves it out of later calls. What the
//! server says about its limits sets the provider's pace.

use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use plenary_core::model::ask::{CallErrorType, RequestParameter, TransportKind};
use reqwest::header::{CONTENT_TYPE, DATE, HeaderMap, HeaderValue};
use reqwest::{Client, Method, Response};
use secrecy::ExposeSecret;
use serde_json::Value;
use tokio::time::timeout;

use crate::providers::catalogue::find_row;
use crate::providers::dialects::stream::StreamedReply;
use crate::providers::dialects::wire::{
    WireRequest, build_models_request, build_request, parse_reply,
};
use crate::providers::http_clients::{ClientRoute, HttpClients};
use crate::providers::http_errors::{
    ErrorResponse, append_offered_models, lacks_credit, timeout_error,
};
use crate::providers::model_facts::{ModelFacts, find_facts};
use crate::providers::offered_models::{OfferedModel, is_chat_model, parse_models};
use crate::providers::pace::ProviderPace;
use crate::providers::rate_limits::{parse_exhausted, parse_wait};
use crate::providers::redact::clean_message;
use crate::providers::request_parts::{RefusedParameters, RequestParts, usual_tokens};
use crate::providers::response_body::ResponseBody;
use crate::providers::transport::{
    CallError, CallReply, CallRequest, Dialect, Provider, WireSchema,
};

/// Above this size of the shared block, its place in the provider's cache is worth more than the
/// schema.
const SCHEMA_SHARED_TOKENS_MAX: usize = 8_000;

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
    /// What is known about the model.
    facts: Option<&'static ModelFacts>,
    pub(crate) pace: Arc<ProviderPace>,
    refused: RefusedParameters,
    /// Why the server does not know the model. It is not asked again: a correction is a new seat.
    unknown_model: OnceLock<CallError>,
}

/// A server's answer to a call.
enum ServerAnswer {
    Whole(RawResponse),
    Streamed(StreamedReply),
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
        let facts = find_facts(provider.name.as_str(), &provider.model);
        let pace = clients.paces.for_provider(&provider, TransportKind::Http);
        let refused = RefusedParameters::default();
        let unknown_model = OnceLock::new();
        Self { provider, clients, dialect, base_url, route, facts, pace, refused, unknown_model }
    }

    /// Makes one call. It ends when the server is silent for longer than the request allows.
    pub async fn send(&self, request: &CallRequest) -> Result<CallReply, CallError> {
        // Pinned in place: moving the future by value would double its memory.
        let asking = pin!(self.ask_model(request));
        tokio::select! {
            answered = asking => answered,
            () = request.timer.expired() => {
                Err(timeout_error(&self.provider, &request.timer))
            }
        }
    }

    /// Returns the key, which must not appear in the record.
    pub(crate) fn secret_values(&self) -> Vec<String> {
        self.provider.key.iter().map(|key| key.expose_secret().to_owned()).collect()
    }

    /// Lists the models the provider offers.
    pub async fn list_models(&self) -> Result<Vec<OfferedModel>, CallError> {
        let wire = build_models_request(self.dialect, &self.base_url, &self.provider);
        let response = self.open_response(Method::GET, wire).await?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let body = ResponseBody::new(response, &self.provider).read_text(None).await?;
        let answer = self.note_response(status, &headers, body);
        match answer.error_response() {
            Some(refusal) => Err(refusal.to_call_error(&self.provider)),
            None => parse_models(&self.provider, &answer.body),
        }
    }

    /// The parameters that later calls leave out.
    pub(crate) fn refused_parameters(&self) -> Vec<RequestParameter> {
        self.refused.list()
    }

    /// Leaves out what the server refused earlier in the run.
    pub(crate) fn restore_refused(&self, refused: &[RequestParameter]) {
        self.refused.restore(refused);
    }

    async fn ask_model(&self, request: &CallRequest) -> Result<CallReply, CallError> {
        if let Some(error) = self.unknown_model.get() {
            return Err(error.clone());
        }
        let (schema, json_mode) = self.schema_to_send(request);
        let parts = self.refused.remaining_parts(
            &self.provider,
            self.dialect,
            &self.base_url,
            &request.messages,
            schema.as_deref(),
            self.facts,
        );
        let is_left = self.refused.count(RequestParameter::Schema) == 0;
        let parts = RequestParts { json_mode: json_mode && is_left, ..parts };
        let structured = parts.schema.is_some();
        let answer = match self.post_request(request, &parts).await? {
            ServerAnswer::Whole(answer) => answer,
            ServerAnswer::Streamed(reply) => {
                return self.note_error(reply.into_reply(&self.provider, structured));
            }
        };
        let Some(refusal) = answer.error_response() else {
            let reply = parse_reply(self.dialect, &self.provider, &answer.body, structured);
            return self.note_error(reply);
        };
        let error = refusal.to_call_error(&self.provider);
        let sent = parts.refusable(self.dialect);
        if let Some(parameter) = refusal.refused_parameter(&sent, self.dialect) {
            self.refused.add(parameter);
            return Err(CallError { refused: Some(parameter), ..error });
        }
        if !refusal.rejects_model() {
            return Err(error);
        }
        // Use half of the remaining time, so that the error itself returns in time.
        let time_left = request.timer.time_left() / 2;
        let offered = timeout(time_left.min(OFFER_TIME_MAX), Box::pin(self.list_models())).await;
        let offered = offered.ok().and_then(Result::ok).unwrap_or_default();
        let offered = offered.into_iter().map(|model| model.name);
        let offered = offered.filter(|name| is_chat_model(name)).collect();
        let error = append_offered_models(&self.provider, error, offered);
        Err(self.unknown_model.get_or_init(|| error).clone())
    }

    /// A server may be busy after it has answered that all is well.
    fn note_error(&self, reply: Result<CallReply, CallError>) -> Result<CallReply, CallError> {
        reply.inspect_err(|error| {
            if error.is_busy {
                self.pace.note_busy(error.retry_after);
            }
        })
    }

    /// The schema, or whether to ask for JSON without one. Providers put the schema before the
    /// messages, so one that differs by role defeats the cache of a long shared block.
    fn schema_to_send(&self, request: &CallRequest) -> (Option<Arc<Value>>, bool) {
        let Some(wanted) = &request.schema else { return (None, false) };
        let is_cached = usual_tokens(request.messages.shared_text()) > SCHEMA_SHARED_TOKENS_MAX;
        match self.provider.wire_schema {
            WireSchema::Never => return (None, false),
            WireSchema::Auto if is_cached && !request.is_stricter => return (None, true),
            WireSchema::Auto | WireSchema::Always => {}
        }
        let limit = self.provider.output_tokens_max;
        (Some(self.clients.adapted_schema(self.dialect, wanted, limit)), false)
    }

    async fn post_request(
        &self,
        request: &CallRequest,
        parts: &RequestParts<'_>,
    ) -> Result<ServerAnswer, CallError> {
        let wire = build_request(self.dialect, &self.base_url, &self.provider, request, parts);
        let response = self.open_response(Method::POST, wire).await?;
        if response.status().is_success() {
            let headers = response.headers();
            match parse_exhausted(headers, server_time(headers)) {
                Some(reset) => self.pace.note_exhausted(reset),
                None => self.pace.note_answer(),
            }
        }
        let (status, headers) = (response.status(), response.headers().clone());
        let mut body = ResponseBody::new(response, &self.provider);
        let is_stream = status.is_success()
            && (is_event_stream(&headers) || parts.stream && body.begins_as_stream().await?);
        if is_stream {
            let reply = body.read_stream(self.dialect, request, self.secret_values()).await?;
            return Ok(ServerAnswer::Streamed(reply));
        }
        let body = body.read_text(Some(&request.timer)).await?;
        Ok(ServerAnswer::Whole(self.note_response(status.as_u16(), &headers, body)))
    }

    async fn open_response(
        &self,
        method: Method,
        wire: WireRequest<'_>,
    ) -> Result<Response, CallError> {
        let headers = self.build_headers(&wire)?;
        let request = self.get_client()?.request(method, wire.url).headers(headers).body(wire.body);
        request.send().await.map_err(|error| self.connection_error(&error))
    }

    /// The provider's pace depends on what its servers say.
    fn note_response(&self, status: u16, headers: &HeaderMap, body: String) -> RawResponse {
        let retry_after = parse_wait(headers, &body, server_time(headers));
        let is_busy = matches!(status, 429 | 529) || status >= 500 && retry_after.is_some();
        if is_busy && !lacks_credit(status, &body) {
            self.pace.note_busy(retry_after);
        }
        RawResponse { status, retry_after, body }
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

fn is_event_stream(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.trim_start().to_ascii_lowercase().starts_with("text/event-stream")
}
