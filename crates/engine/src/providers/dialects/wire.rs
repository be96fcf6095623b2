//! Dispatches to the dialect: builds requests, parses replies, and lists models.

use plenary_core::model::ask::AskMessages;
use secrecy::SecretString;
use serde::Deserialize;
use serde_json::Value;

use crate::providers::dialects::anthropic::VERSION_HEADERS;
use crate::providers::dialects::schema::{
    SMALL_OUTPUT_TOKENS, inline_refs, to_bounded, to_open_api, to_strict,
};
use crate::providers::dialects::{anthropic, gemini, openai};
use crate::providers::http_errors::{parse_error, reject_empty_refusal};
use crate::providers::model_facts::ModelFacts;
use crate::providers::request_parts::RequestParts;
use crate::providers::transport::{CallError, CallReply, CallRequest, Dialect, Provider};

/// HTTP request. The key is separate and hidden from `Debug`.
#[derive(Debug)]
pub(crate) struct WireRequest<'a> {
    pub url: String,
    pub headers: &'static [(&'static str, &'static str)],
    pub key: Option<KeyHeader<'a>>,
    /// JSON.
    pub body: Vec<u8>,
}

#[derive(Debug)]
pub(crate) struct KeyHeader<'a> {
    pub name: &'static str,
    /// Prefix of the key, such as `Bearer `.
    pub scheme: &'static str,
    pub key: &'a SecretString,
}

/// Adapts the schema to the dialect and the model's output limit.
pub(crate) fn adapt_schema(dialect: Dialect, source: &Value, output_tokens_max: u32) -> Value {
    match dialect {
        Dialect::OpenAi if output_tokens_max < SMALL_OUTPUT_TOKENS => {
            to_bounded(source, output_tokens_max)
        }
        Dialect::OpenAi => to_strict(source),
        Dialect::Anthropic => inline_refs(source),
        Dialect::Gemini => to_open_api(source),
    }
}

/// The schema among the parts is the result of [`adapt_schema`] for the same dialect.
pub(crate) fn build_request<'a>(
    dialect: Dialect,
    base_url: &str,
    provider: &'a Provider,
    request: &CallRequest,
    parts: &RequestParts<'_>,
) -> WireRequest<'a> {
    let build = match dialect {
        Dialect::OpenAi => openai::build_request,
        Dialect::Anthropic => anthropic::build_request,
        Dialect::Gemini => gemini::build_request,
    };
    build(base_url, provider, request, parts)
}

/// Whether a request can ask the provider to cache the shared block of the messages.
pub(crate) fn marks_cache(
    dialect: Dialect,
    base_url: &str,
    messages: &AskMessages,
    facts: Option<&ModelFacts>,
) -> bool {
    match dialect {
        Dialect::OpenAi => messages.shared.is_some() && openai::takes_cache_key(base_url),
        Dialect::Anthropic => anthropic::is_cached(messages, facts),
        // It caches by itself.
        Dialect::Gemini => false,
    }
}

/// Parses the body of a successful response.
pub(crate) fn parse_reply(
    dialect: Dialect,
    provider: &Provider,
    body: &str,
    structured: bool,
) -> Result<CallReply, CallError> {
    let message = match dialect {
        Dialect::OpenAi => openai::parse_reply(provider, body),
        Dialect::Anthropic => anthropic::parse_reply(provider, body),
        Dialect::Gemini => gemini::parse_reply(provider, body),
    }?;
    reject_empty_refusal(provider, CallReply { structured, ..message })
}

/// Builds the request for the list of models, all on one page.
pub(crate) fn build_models_request<'a>(
    dialect: Dialect,
    base_url: &str,
    provider: &'a Provider,
) -> WireRequest<'a> {
    let (page, headers) = match dialect {
        Dialect::OpenAi => ("", NO_HEADERS),
        Dialect::Anthropic => ("?limit=1000", VERSION_HEADERS),
        Dialect::Gemini => ("?pageSize=1000", NO_HEADERS),
    };
    let key = key_header(dialect, provider);
    WireRequest { url: format!("{base_url}/models{page}"), headers, key, body: Vec::new() }
}

const NO_HEADERS: &[(&str, &str)] = &[];

/// Returns the header in which the dialect expects the key.
pub(crate) fn key_header(dialect: Dialect, provider: &Provider) -> Option<KeyHeader<'_>> {
    let (name, scheme) = match dialect {
        Dialect::OpenAi => ("authorization", "Bearer "),
        Dialect::Anthropic => ("x-api-key", ""),
        Dialect::Gemini => ("x-goog-api-key", ""),
    };
    provider.key.as_ref().map(|key| KeyHeader { name, scheme, key })
}

/// Serializes a request body.
pub(crate) fn to_json_body(document: &Value) -> Vec<u8> {
    document.to_string().into_bytes()
}

/// Adds a field to an object if it has a value.
pub(crate) fn set_field(document: &mut Value, name: &str, value: Option<Value>) {
    if let (Some(fields), Some(value)) = (document.as_object_mut(), value) {
        fields.insert(name.to_owned(), value);
    }
}

pub(crate) fn parse_body<'a, T: Deserialize<'a>>(
    provider: &Provider,
    body: &'a str,
) -> Result<T, CallError> {
    serde_json::from_str(body).map_err(|error| parse_error(provider, &error))
}

/// Parses optional data beside the reply, such as usage. Invalid data counts as absent, because it
/// is no reason to fail the call.
pub(crate) fn parse_optional<'a, T: Deserialize<'a>>(message: Option<&'a Value>) -> Option<T> {
    T::deserialize(message?).ok()
}
