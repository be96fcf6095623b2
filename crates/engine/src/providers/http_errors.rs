//! Turns a failed HTTP call into a [`CallError`]: status and body become an [`ErrorType`] and a
//! one-line message. Called by `http` and the dialects.

use std::error::Error;
use std::time::{Duration, SystemTime};

use plenary_core::model::ask::{CallErrorType, FinishReason, RequestParameter};
use plenary_core::model::text::{nearest_first, truncate_within};
use reqwest::header::{HeaderMap, RETRY_AFTER};
use serde_json::Value;

use crate::providers::call_progress::SilenceTimer;
use crate::providers::pace::PAUSE_MAX;
use crate::providers::redact::{MESSAGE_CHARS_MAX, clean_message};
use crate::providers::transport::{CallError, CallReply, Dialect, Provider};

/// Phrases by which servers report that the messages exceed the context window.
const TOO_LONG_PHRASES: [&str; 9] = [
    "context_length_exceeded",
    "context length",
    "context window",
    "context size",
    "prompt is too long",
    "input is too long",
    "too many tokens",
    "exceeds the maximum number of tokens",
    "exceed_context_size",
];

/// Phrases by which servers report that they reject the schema.
const SCHEMA_PHRASES: [&str; 7] = [
    "response_format",
    "schema",
    "tool",
    "responsemimetype",
    "json mode",
    "grammar",
    "structured output",
];

/// The same, where the server names no other parameter.
const UNSUPPORTED_PHRASES: [&str; 2] = ["unsupported", "not supported"];

/// The words under which servers know streaming. `upstream` is none of them.
const STREAM_WORDS: [&str; 4] = ["stream", "streaming", "stream_options", "streamgeneratecontent"];

/// Phrases after the word `model` by which servers report that they do not know it.
const NO_MODEL_PHRASES: [&str; 5] =
    ["not exist", "not found", "is not available", "is unknown", "not a valid model"];

/// The names under which dialects know the mark for the cache.
const CACHE_PHRASES: [&str; 2] = ["prompt_cache_key", "cache_control"];

/// The names under which dialects know the effort.
const EFFORT_PHRASES: [&str; 4] = ["effort", "thinking", "reasoning", "output_config"];

/// The names under which dialects know the output limit.
const OUTPUT_LIMIT_PHRASES: [&str; 4] =
    ["max_tokens", "max_completion_tokens", "maxoutputtokens", "max_output_tokens"];

/// HTTP response with an error status.
pub(crate) struct ErrorResponse<'a> {
    pub status: u16,
    pub retry_after: Option<Duration>,
    pub body: &'a str,
}

impl ErrorResponse<'_> {
    /// The parameter among `sent` without which a repeated call may succeed. A parameter that the
    /// server names comes before streaming and the schema, whose words are general.
    pub(crate) fn refused_parameter(
        &self,
        sent: &[RequestParameter],
        dialect: Dialect,
    ) -> Option<RequestParameter> {
        let is_refused = |parameter: &&RequestParameter| match parameter {
            RequestParameter::Stream => self.rejects_stream(dialect),
            RequestParameter::Temperature => self.rejects_named(&["temperature"]),
            RequestParameter::Effort => self.rejects_named(&EFFORT_PHRASES),
            RequestParameter::OutputLimit => self.rejects_named(&OUTPUT_LIMIT_PHRASES),
            RequestParameter::Schema => {
                let others =
                    [&EFFORT_PHRASES[..], &OUTPUT_LIMIT_PHRASES, &["temperature"]].concat();
                self.rejects_named(&SCHEMA_PHRASES)
                    || self.rejects_named(&UNSUPPORTED_PHRASES) && !self.rejects_named(&others)
            }
            RequestParameter::CacheMark => self.rejects_named(&CACHE_PHRASES),
        };
        let is_specific = |parameter: &&RequestParameter| {
            !matches!(parameter, RequestParameter::Stream | RequestParameter::Schema)
        };
        let named = sent.iter().filter(is_specific).find(is_refused);
        named.or_else(|| sent.iter().find(is_refused)).copied()
    }

    fn rejects_named(&self, phrases: &[&str]) -> bool {
        let unfit = matches!(self.status, 400 | 404 | 422 | 501);
        let body = self.body.to_ascii_lowercase();
        unfit
            && !contains_any(&body, &TOO_LONG_PHRASES)
            && !self.rejects_model()
            && contains_any(&body, phrases)
    }

    /// Whether the server cannot stream. Gemini's dialect streams by a method of its own, which a
    /// server may not have.
    pub(crate) fn rejects_stream(&self, dialect: Dialect) -> bool {
        let body = self.body.to_ascii_lowercase();
        let has_no_method = dialect == Dialect::Gemini && matches!(self.status, 404 | 405 | 501);
        let is_unfit = matches!(self.status, 400 | 404 | 405 | 422 | 501);
        let mut words = body.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        let is_named = words.any(|word| STREAM_WORDS.contains(&word));
        !self.rejects_model() && (has_no_method || is_unfit && is_named)
    }

    /// Whether the server does not know the model.
    pub(crate) fn rejects_model(&self) -> bool {
        if !matches!(self.status, 400 | 403 | 404) {
            return false;
        }
        let document: Option<Value> = serde_json::from_str(self.body).ok();
        let field = |name: &str| document.as_ref()?.get("error")?.get(name)?.as_str();
        let is_coded = field("code").is_some_and(|code| code.contains("model_not_found"));
        if is_coded || field("param") == Some("model") {
            return true;
        }
        let body = self.body.to_ascii_lowercase();
        let about_model = body.split_once("model").map(|(_, rest)| rest);
        match self.status {
            404 => about_model.is_some(),
            400 => {
                contains_any(&body, &["model_not_found", "invalid model", "unknown model"])
                    || contains_any(&body, &["no such model", "not a valid model"])
                    || about_model.is_some_and(|rest| contains_any(rest, &NO_MODEL_PHRASES))
            }
            _ => false,
        }
    }

    pub(crate) fn to_call_error(&self, provider: &Provider) -> CallError {
        let answered = self.describe(provider, &format!("answered {}", self.status));
        // A gateway that gave up waiting may have a model behind it that worked.
        let is_unserved = answered.error_type != CallErrorType::Timeout;
        CallError { is_unserved, ..answered }
    }

    /// The error of a server that did `what`: it answered with a status, or reported it later.
    fn describe(&self, provider: &Provider, what: &str) -> CallError {
        let error_type = match self.rejects_model() {
            true => CallErrorType::BadRequest,
            false => classify_status(self.status, self.body),
        };
        let place = describe_place(provider);
        let text = match extract_message(self.body) {
            Some(printed) => format!("{place} {what}: {}", explain_quota(self.body, &printed)),
            None => format!("{place} {what}{}", status_hint(self.status)),
        };
        let advice = self.advice(provider, error_type);
        let is_final = lacks_credit(self.status, self.body);
        CallError {
            retry_after: self.retry_after,
            is_final,
            is_busy: matches!(self.status, 429 | 529) && !is_final,
            ..CallError::new(error_type, append_advice(&clean_message(provider, &text), &advice))
        }
    }

    /// What the user can do about it.
    fn advice(&self, provider: &Provider, error_type: CallErrorType) -> String {
        if error_type == CallErrorType::Auth {
            return key_source(provider);
        }
        if lacks_credit(self.status, self.body) {
            return "; add credit".to_owned();
        }
        if let Some(wait) = self.retry_after.filter(|wait| *wait > PAUSE_MAX) {
            return format!("; it asks to wait {} s; resume then", wait.as_secs_f64().ceil());
        }
        let limit = (self.status == 400).then(|| stated_output_limit(self.body)).flatten();
        limit.map(|limit| format!("; set `max_output_tokens: {limit}`")).unwrap_or_default()
    }
}

/// The limit that a server names when it refuses a longer one: `max_tokens: 8192 > 4096`.
fn stated_output_limit(body: &str) -> Option<u32> {
    let (_, rest) = body.split_once("max_tokens")?;
    let (_, rest) = rest.split_once('>')?;
    let digits: String = rest.trim_start().chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// The provider and its host: `` `openai` at api.openai.com ``.
fn describe_place(provider: &Provider) -> String {
    let name = &provider.name;
    match provider.base_url.as_deref().and_then(host_of) {
        Some(host) => format!("`{name}` at {host}"),
        None => format!("`{name}`"),
    }
}

/// `api.openai.com` of `https://api.openai.com/v1`, without a password.
pub(crate) fn host_of(url: &str) -> Option<String> {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.split('/').next().and_then(|place| place.rsplit('@').next());
    host.filter(|host| !host.is_empty()).map(str::to_owned)
}

/// Says where a refused key comes from.
fn key_source(provider: &Provider) -> String {
    match (&provider.key_variable, &provider.key) {
        (Some(variable), Some(_)) => format!("; its key is from {variable}: check that key"),
        (Some(variable), None) => format!("; {variable} is not set"),
        (None, _) => "; no key was sent: name its variable with `api_key_env`".to_owned(),
    }
}

/// Appends `; …` within the length of a message.
fn append_advice(text: &str, advice: &str) -> String {
    if advice.is_empty() {
        return text.to_owned();
    }
    let room = MESSAGE_CHARS_MAX.saturating_sub(advice.chars().count());
    let kept = truncate_within(text.trim_end_matches('.'), room);
    format!("{}{advice}", kept.trim_end_matches('.'))
}

fn classify_status(status: u16, body: &str) -> CallErrorType {
    match status {
        401 | 403 => CallErrorType::Auth,
        408 | 504 => CallErrorType::Timeout,
        // An account without credit counts as rate-limited, so that another transport may pay.
        402 | 429 => CallErrorType::RateLimit,
        413 => CallErrorType::ContextTooLong,
        // Some compatible servers report a long context as a server error.
        400 | 404 | 422 | 500 if contains_any(&body.to_ascii_lowercase(), &TOO_LONG_PHRASES) => {
            CallErrorType::ContextTooLong
        }
        // Gemini reports an invalid key as a bad request.
        400 if body.contains("API_KEY_INVALID") => CallErrorType::Auth,
        300..=499 => CallErrorType::BadRequest,
        500..=599 => CallErrorType::ServerError,
        _ => CallErrorType::Unknown,
    }
}

fn contains_any(text: &str, phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| text.contains(phrase))
}

/// Whether the account has no credit left. Waiting does not help then.
pub(crate) fn lacks_credit(status: u16, body: &str) -> bool {
    status == 402 || body.contains("insufficient_quota")
}

/// Adds that the quota is used up, because waiting does not help then.
fn explain_quota(body: &str, printed: &str) -> String {
    let spent =
        body.contains("insufficient_quota") && !printed.to_ascii_lowercase().contains("quota");
    if spent { format!("the quota is used up: {printed}") } else { printed.to_owned() }
}

fn status_hint(status: u16) -> &'static str {
    match status {
        300..=399 => " with a redirect; check its `base_url`",
        404 => " without a message; check its `base_url`",
        _ => " without a message",
    }
}

/// Returns the server's own explanation from the usual places.
fn extract_message(body: &str) -> Option<String> {
    let text = match serde_json::from_str::<Value>(body) {
        Ok(document) => find_explanation(&document)?.to_owned(),
        // An HTML page explains nothing.
        Err(_) if body.trim_start().starts_with('<') => return None,
        Err(_) => body.trim().to_owned(),
    };
    (!text.trim().is_empty()).then_some(text)
}

fn find_explanation(document: &Value) -> Option<&str> {
    ["/error/message", "/error", "/message", "/detail", "/detail/0/msg", "/0/error/message"]
        .iter()
        .find_map(|place| document.pointer(place).and_then(Value::as_str))
}

/// Handles an error object in a response whose status says success: the server began to answer
/// before it failed.
pub(crate) fn error_in_reply(provider: &Provider, error: &Value) -> CallError {
    let status = stated_status(error);
    let body = serde_json::json!({ "error": error }).to_string();
    let what = match status {
        Some(status) => format!("reported {status} in its reply"),
        None => "reported an error in its reply".to_owned(),
    };
    ErrorResponse { status: status.unwrap_or(500), retry_after: None, body: &body }
        .describe(provider, &what)
}

/// The status that an error object would have had: as a number, or by the name of its kind.
fn stated_status(error: &Value) -> Option<u16> {
    let code = error.get("code");
    let code = code.and_then(|code| code.as_u64().or_else(|| code.as_str()?.parse().ok()));
    let code = code.and_then(|code| u16::try_from(code).ok());
    let kinds = ["code", "type", "status"].into_iter().filter_map(|name| error.get(name)?.as_str());
    code.filter(|code| (400..600).contains(code))
        .or_else(|| kinds.into_iter().find_map(kind_status))
}

fn kind_status(kind: &str) -> Option<u16> {
    Some(match kind {
        "invalid_request_error" => 400,
        "authentication_error" => 401,
        "billing_error" => 402,
        "permission_error" => 403,
        "not_found_error" => 404,
        "request_too_large" => 413,
        "rate_limit_error" | "rate_limit_exceeded" | "insufficient_quota" => 429,
        "api_error" | "server_error" => 500,
        "timeout_error" => 504,
        "overloaded_error" => 529,
        _ => return None,
    })
}

/// Handles a failed connection: refused, reset, unknown host or untrusted certificate.
pub(crate) fn connection_error(provider: &Provider, error: &reqwest::Error) -> CallError {
    let (name, place) = (&provider.name, describe_place(provider));
    if error.is_builder() {
        let text = format!("`{name}` cannot be called: its `base_url` is not a URL");
        return CallError::new(CallErrorType::BadRequest, clean_message(provider, &text));
    }
    let mut cause: &dyn Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    let what = if error.is_dns() {
        "cannot be found: the host name does not resolve"
    } else if error.is_timeout() {
        "did not accept the connection in time"
    } else if error.is_connect() {
        "cannot be reached"
    } else {
        "closed the connection"
    };
    // Use the innermost error: the outer one names the address, which may contain a secret.
    let text = if std::ptr::addr_eq(cause, error) {
        format!("{place} {what}")
    } else {
        format!("{place} {what}: {cause}")
    };
    let message = clean_message(provider, &text);
    // Without a connection nothing was sent.
    let is_unserved = error.is_connect();
    CallError { is_unserved, ..CallError::new(CallErrorType::Network, message) }
}

/// Handles a body that does not have the dialect's reply shape.
pub(crate) fn parse_error(provider: &Provider, error: &serde_json::Error) -> CallError {
    // Do not print serde's message: it quotes the reply.
    let what = if error.is_data() { "JSON of another shape" } else { "no whole JSON" };
    let place = format!("line {} column {}", error.line(), error.column());
    invalid_reply(provider, &format!("{what} (at {place})"))
}

pub(crate) fn invalid_reply(provider: &Provider, what: &str) -> CallError {
    let text = format!("`{}` sent an invalid reply: {what}", provider.name);
    CallError::new(CallErrorType::ParseError, clean_message(provider, &text))
}

/// Handles a stream that ends before its reply does.
pub(crate) fn broken_stream(provider: &Provider) -> CallError {
    let text = format!("{} ended its stream before the reply was whole", describe_place(provider));
    CallError::new(CallErrorType::Network, clean_message(provider, &text))
}

/// Handles a connection that breaks within the body. The library's words for it say nothing to a
/// user.
pub(crate) fn broken_connection(provider: &Provider, bytes: usize) -> CallError {
    let place = describe_place(provider);
    let text = format!("{place} broke the connection after {bytes} bytes of its reply");
    CallError::new(CallErrorType::Network, clean_message(provider, &text))
}

pub(crate) fn timeout_error(provider: &Provider, timer: &SilenceTimer) -> CallError {
    let text = format!("{} {}", describe_place(provider), timer.describe_silence());
    CallError::new(CallErrorType::Timeout, clean_message(provider, &text))
}

/// Turns a refusal without text into an error. A refusal with text is a reply.
pub(crate) fn reject_empty_refusal(
    provider: &Provider,
    received: CallReply,
) -> Result<CallReply, CallError> {
    if received.finish == FinishReason::Refusal && received.text.trim().is_empty() {
        let text = format!("`{}` refused to answer and gave no reason", provider.name);
        return Err(CallError::new(CallErrorType::Refused, clean_message(provider, &text)));
    }
    Ok(received)
}

/// Adds the names of offered models that are nearest to the requested one, and the command that
/// lists them all.
pub(crate) fn append_offered_models(
    provider: &Provider,
    error: CallError,
    offered: Vec<String>,
) -> CallError {
    if offered.is_empty() {
        return error;
    }
    let nearest = nearest_first(&provider.model, offered).into_iter().take(OFFERED_MAX);
    let shown: Vec<String> =
        nearest.map(|name| format!("`{}`", truncate_within(&name, OFFERED_CHARS_MAX))).collect();
    let offer =
        format!("; it offers {}; `plenary models {}` lists all", shown.join(", "), provider.name);
    let offer = clean_message(provider, &offer);
    CallError { message: append_advice(&error.message, &offer), ..error }
}

/// Three names are enough to see a misspelling.
const OFFERED_MAX: usize = 3;
const OFFERED_CHARS_MAX: usize = 40;

/// Parses how long the server asks to wait: milliseconds, seconds, or a date.
pub(crate) fn parse_retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    if let Some(millis) = text("retry-after-ms").and_then(|text| text.parse::<f64>().ok()) {
        return Duration::try_from_secs_f64(millis / 1_000.0).ok();
    }
    let text = text(RETRY_AFTER.as_str())?;
    match text.parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        Err(_) => {
            let date = httpdate::parse_http_date(text).ok()?;
            // A date in the past means no wait.
            Some(date.duration_since(now).unwrap_or_default())
        }
    }
}

#[cfg(test)]
#[path = "http_errors_tests.rs"]
mod tests;
