//! Anthropic Messages API.
//!
//! The schema is sent as the input schema of a forced tool; the tool's input is then the reply.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::wire::{self, WireRequest, key_header};
use crate::domain::ask::{Finish, Usage};
use crate::providers::failure;
use crate::providers::provider::{Dialect, Provider};
use crate::providers::request::{CallError, Received, Request};

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    max_tokens: u32,
    system: &'a str,
    messages: [Message<'a>; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<[Tool<'a>; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<ToolChoice>,
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    content: &'a str,
}

#[derive(Serialize)]
struct Tool<'a> {
    name: &'static str,
    description: &'static str,
    input_schema: &'a Value,
}

#[derive(Serialize)]
#[serde(tag = "type", rename = "tool")]
struct ToolChoice {
    name: &'static str,
}

pub(super) fn request<'a>(
    base_url: &str,
    provider: &'a Provider,
    request: &Request,
    schema: Option<&Value>,
) -> WireRequest<'a> {
    let name = request.purpose.name();
    let body = wire::body(&Body {
        model: &provider.model,
        max_tokens: provider.output_tokens_max,
        system: &request.messages.system,
        messages: [Message { role: "user", content: &request.messages.user }],
        temperature: provider.temperature,
        tools: schema.map(|input_schema| {
            [Tool { name, description: "Takes your whole answer.", input_schema }]
        }),
        tool_choice: schema.map(|_| ToolChoice { name }),
    });
    let key = key_header(Dialect::Anthropic, provider);
    WireRequest { url: format!("{base_url}/messages"), headers: VERSION, key, body }
}

/// The API rejects requests without this version header.
pub(super) const VERSION: &[(&str, &str)] = &[("anthropic-version", "2023-06-01")];

#[derive(Deserialize)]
struct Answer {
    content: Option<Vec<Block>>,
    model: Option<String>,
    stop_reason: Option<String>,
    usage: Option<Value>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Block {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
    input: Option<Value>,
}

#[derive(Deserialize)]
struct Tokens {
    input_tokens: u64,
    output_tokens: u64,
    cache_creation_input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
}

pub(super) fn reply(provider: &Provider, body: &str) -> Result<Received, CallError> {
    let answer: Answer = wire::parsed(provider, body)?;
    let Some(blocks) = answer.content else {
        let error = wire::error_within(provider, answer.error.as_ref());
        return Err(error.unwrap_or_else(|| failure::not_a_reply(provider, "no content in it")));
    };
    let tokens: Option<Tokens> = wire::aside(answer.usage.as_ref());
    Ok(Received {
        text: text(blocks),
        usage: tokens.as_ref().map(usage),
        model: answer.model,
        finish: finish(answer.stop_reason.as_deref()),
        ..wire::silence()
    })
}

/// Returns the tool's input as JSON, else the text blocks. Thinking blocks are ignored.
fn text(blocks: Vec<Block>) -> String {
    let tool = blocks.iter().find(|block| block.kind == "tool_use");
    if let Some(input) = tool.and_then(|block| block.input.as_ref()) {
        return input.to_string();
    }
    let texts = blocks.into_iter().filter(|block| block.kind == "text");
    texts.filter_map(|block| block.text).collect()
}

/// Counts tokens written to or read from a cache as input tokens.
fn usage(tokens: &Tokens) -> Usage {
    let cached = [tokens.cache_creation_input_tokens, tokens.cache_read_input_tokens];
    Usage {
        input_tokens: cached.into_iter().flatten().fold(tokens.input_tokens, u64::saturating_add),
        output_tokens: tokens.output_tokens,
    }
}

fn finish(reason: Option<&str>) -> Finish {
    match reason {
        Some("end_turn" | "tool_use" | "stop_sequence") => Finish::Stop,
        // A paused turn would need a continuation request, which Plenary does not send.
        Some("max_tokens" | "model_context_window_exceeded" | "pause_turn") => Finish::Length,
        Some("refusal") => Finish::Refusal,
        Some(_) | None => Finish::Other,
    }
}

#[cfg(test)]
#[path = "anthropic_tests.rs"]
mod tests;
