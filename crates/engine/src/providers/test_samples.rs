//! Test fixtures: a provider with a key that must never appear in output, a request, and readers of
//! recorded replies.

#![expect(clippy::disallowed_methods, reason = "recorded replies are files")]

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use plenary_core::model::ask::{AskMessages, AskPurpose, TransportKind};
use plenary_core::model::plan::SeatRole;
use secrecy::SecretString;
use serde_json::{Value, json};

use crate::providers::call_progress::SilenceTimer;
use crate::providers::dialects::wire::{WireRequest, parse_reply};
use crate::providers::model_facts::find_facts;
use crate::providers::request_parts::{RefusedParameters, RequestParts};
use crate::providers::transport::{CallReply, CallRequest, Dialect, Provider, WireSchema};

pub(crate) const SAMPLE_KEY: &str = "sk-test-0123456789abcdef";

pub(crate) fn sample_provider() -> Provider {
    Provider {
        name: "openai".parse().unwrap(),
        roles: vec![SeatRole::Participant],
        model: "gpt-4o".to_owned(),
        family: "openai".to_owned(),
        version: None,
        transports: vec![TransportKind::Http],
        dialect: Some(Dialect::OpenAi),
        base_url: Some("https://api.openai.com/v1".to_owned()),
        key_variable: Some("OPENAI_API_KEY".to_owned()),
        key: Some(SecretString::from(SAMPLE_KEY)),
        command: Vec::new(),
        mcp: None,
        price: None,
        output_tokens_max: 4_096,
        temperature: None,
        input_tokens_max: None,
        effort: None,
        lens: None,
        lenses: Vec::new(),
        timeouts: None,
        wire_schema: WireSchema::Auto,
        max_in_flight: None,
    }
}

pub(crate) fn sample_request() -> CallRequest {
    CallRequest {
        seat: "openai".parse().unwrap(),
        round: 1,
        purpose: AskPurpose::Opinion,
        messages: Arc::new(AskMessages::new("You are a participant.", "Is \"it\" so?\n")),
        schema: Some(Arc::new(json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "Answer",
            "type": "object",
            "properties": {
                "summary": { "type": "string", "description": "In short." },
                "rating": { "type": "integer", "format": "uint8", "minimum": 1, "maximum": 10 },
                "note": { "type": ["string", "null"] },
                "risks": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": { "severity": { "type": "string" } },
                        "required": ["severity"],
                    },
                    "default": [],
                },
            },
            "required": ["summary", "rating"],
        }))),
        timer: SilenceTimer::start(Duration::from_secs(60)),
        partial_text: None,
        is_stricter: false,
    }
}

/// All parts of a first request that does not stream.
pub(crate) fn sample_parts<'a>(
    dialect: Dialect,
    provider: &Provider,
    schema: Option<&'a Value>,
) -> RequestParts<'a> {
    let base_url = match provider.key {
        Some(_) => "https://api.openai.com/v1",
        None => "http://127.0.0.1:8099/v1",
    };
    let facts = find_facts(provider.name.as_str(), &provider.model);
    let refused = RefusedParameters::default();
    let messages = sample_request().messages;
    let parts = refused.remaining_parts(provider, dialect, base_url, &messages, schema, facts);
    RequestParts { stream: false, ..parts }
}

/// Formats a request as it is sent, with a placeholder for the key.
pub(crate) fn format_request(wire: &WireRequest<'_>) -> String {
    let mut lines = vec![wire.url.clone()];
    lines.extend(wire.headers.iter().map(|(name, value)| format!("{name}: {value}")));
    lines.extend(wire.key.as_ref().map(|key| format!("{}: {}KEY", key.name, key.scheme)));
    let body: Value = serde_json::from_slice(&wire.body).unwrap();
    lines.push(format!("{body:#}"));
    let all = format!("{}{wire:?}", String::from_utf8_lossy(&wire.body));
    assert!(!all.contains(SAMPLE_KEY), "the key is not kept apart");
    lines.join("\n")
}

/// Parses a recorded reply; an error becomes its type and message.
pub(crate) fn read_recorded(dialect: Dialect, fixture: &str) -> String {
    let body = load_recorded(&format!("{dialect}/{fixture}.json"));
    match parse_reply(dialect, &sample_provider(), &body, true) {
        Ok(CallReply { text, usage, model, finish, cost_usd, structured }) => {
            assert!(structured, "what was on the wire is the caller's knowledge");
            let usage = usage.map(|usage| (usage.input_tokens, usage.output_tokens));
            format!("{finish} {text:?} {model:?} {usage:?} {cost_usd:?}")
        }
        Err(error) => format!("{}: {}", error.error_type, error.message),
    }
}

/// Reads a recorded response body.
pub(crate) fn load_recorded(path: &str) -> String {
    let folder =
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("tests/fixtures/replies");
    std::fs::read_to_string(folder.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}
