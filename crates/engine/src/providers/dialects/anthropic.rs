//! Anthropic Messages API.
//!
//! The schema is sent as the input schema of a forced tool; the tool's input is then the reply.

use plenary_core::model::ask::{FinishReason, TokenUsage};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::providers::dialects::wire::{
    WireRequest, key_header, missing_reply, parse_body, parse_optional, set_field, to_json_body,
};
use crate::providers::transport::{CallError, CallReply, CallRequest, Dialect, Provider};

pub(crate) fn build_request<'a>(
    base_url: &str,
    provider: &'a Provider,
    request: &CallRequest,
    schema: Option<&Value>,
) -> WireRequest<'a> {
    let name = request.purpose.name();
    let mut body = json!({
        "model": provider.model,
        "max_tokens": provider.output_tokens_max,
        "system": request.messages.system,
        "messages": [{ "role": "user", "content": request.messages.user }],
    });
    set_field(&mut body, "temperature", provider.temperature.map(Value::from));
    let tool = |input_schema: &Value| json!([{ "name": name, "description": "Takes your whole answer.", "input_schema": input_schema }]);
    set_field(&mut body, "tools", schema.map(tool));
    set_field(&mut body, "tool_choice", schema.map(|_| json!({ "type": "tool", "name": name })));
    let key = key_header(Dialect::Anthropic, provider);
    WireRequest {
        url: format!("{base_url}/messages"),
        headers: VERSION_HEADERS,
        key,
        body: to_json_body(&body),
    }
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
        return Err(missing_reply(provider, answer.error.as_ref(), "no content in it"));
    };
    let tokens: Option<AnthropicTokens> = parse_optional(answer.usage.as_ref());
    Ok(CallReply {
        usage: tokens.as_ref().map(to_usage),
        model: answer.model,
        finish: parse_finish(answer.stop_reason.as_deref()),
        ..CallReply::from_text(collect_text(blocks))
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
