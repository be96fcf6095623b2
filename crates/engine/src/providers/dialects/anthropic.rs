//! Anthropic Messages API.
//!
//! The schema is sent as the input schema of a forced tool; the tool's input is then the reply.

use plenary_core::model::ask::{FinishReason, TokenUsage};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::providers::dialects::wire::{
    WireRequest, empty_reply, error_in_body, key_header, parse_body, parse_optional, to_json_body,
};
use crate::providers::http_errors::invalid_reply;
use crate::providers::transport::{CallError, CallReply, CallRequest, Dialect, Provider};

#[derive(Serialize)]
struct AnthropicBody<'a> {
    model: &'a str,
    max_tokens: u32,
    system: &'a str,
    messages: [AnthropicMessage<'a>; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<[AnthropicTool<'a>; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<AnthropicToolChoice>,
}

#[derive(Serialize)]
struct AnthropicMessage<'a> {
    role: &'static str,
    content: &'a str,
}

#[derive(Serialize)]
struct AnthropicTool<'a> {
    name: &'static str,
    description: &'static str,
    input_schema: &'a Value,
}

#[derive(Serialize)]
#[serde(tag = "type", rename = "tool")]
struct AnthropicToolChoice {
    name: &'static str,
}

pub(crate) fn build_request<'a>(
    base_url: &str,
    provider: &'a Provider,
    request: &CallRequest,
    schema: Option<&Value>,
) -> WireRequest<'a> {
    let name = request.purpose.name();
    let body = to_json_body(&AnthropicBody {
        model: &provider.model,
        max_tokens: provider.output_tokens_max,
        system: &request.messages.system,
        messages: [AnthropicMessage { role: "user", content: &request.messages.user }],
        temperature: provider.temperature,
        tools: schema.map(|input_schema| {
            [AnthropicTool { name, description: "Takes your whole answer.", input_schema }]
        }),
        tool_choice: schema.map(|_| AnthropicToolChoice { name }),
    });
    let key = key_header(Dialect::Anthropic, provider);
    WireRequest { url: format!("{base_url}/messages"), headers: VERSION_HEADERS, key, body }
}

/// The API rejects requests without this version header.
pub(crate) const VERSION_HEADERS: &[(&str, &str)] = &[("anthropic-version", "2023-06-01")];

#[derive(Deserialize)]
struct AnthropicReply {
    content: Option<Vec<AnthropicBlock>>,
    model: Option<String>,
    stop_reason: Option<String>,
    usage: Option<Value>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct AnthropicBlock {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
    input: Option<Value>,
}

#[derive(Deserialize)]
struct AnthropicTokens {
    input_tokens: u64,
    output_tokens: u64,
    cache_creation_input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
}

pub(crate) fn parse_reply(provider: &Provider, body: &str) -> Result<CallReply, CallError> {
    let answer: AnthropicReply = parse_body(provider, body)?;
    let Some(blocks) = answer.content else {
        let error = error_in_body(provider, answer.error.as_ref());
        return Err(error.unwrap_or_else(|| invalid_reply(provider, "no content in it")));
    };
    let tokens: Option<AnthropicTokens> = parse_optional(answer.usage.as_ref());
    Ok(CallReply {
        text: collect_text(blocks),
        usage: tokens.as_ref().map(to_usage),
        model: answer.model,
        finish: parse_finish(answer.stop_reason.as_deref()),
        ..empty_reply()
    })
}

/// Returns the tool's input as JSON, else the text blocks. Thinking blocks are ignored.
fn collect_text(blocks: Vec<AnthropicBlock>) -> String {
    let tool = blocks.iter().find(|block| block.kind == "tool_use");
    if let Some(input) = tool.and_then(|block| block.input.as_ref()) {
        return input.to_string();
    }
    let texts = blocks.into_iter().filter(|block| block.kind == "text");
    texts.filter_map(|block| block.text).collect()
}

/// Counts tokens written to or read from a cache as input tokens.
fn to_usage(tokens: &AnthropicTokens) -> TokenUsage {
    let cached = [tokens.cache_creation_input_tokens, tokens.cache_read_input_tokens];
    TokenUsage {
        input_tokens: cached.into_iter().flatten().fold(tokens.input_tokens, u64::saturating_add),
        output_tokens: tokens.output_tokens,
    }
}

fn parse_finish(reason: Option<&str>) -> FinishReason {
    match reason {
        Some("end_turn" | "tool_use" | "stop_sequence") => FinishReason::Stop,
        // A paused turn would need a continuation request, which Plenary does not send.
        Some("max_tokens" | "model_context_window_exceeded" | "pause_turn") => FinishReason::Length,
        Some("refusal") => FinishReason::Refusal,
        Some(_) | None => FinishReason::Other,
    }
}

#[cfg(test)]
#[path = "anthropic_tests.rs"]
mod tests;
