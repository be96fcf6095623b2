//! Anthropic Messages API.
//!
//! The schema is sent as the input schema of a forced tool; the tool's input is then the reply. A
//! model that refuses forced tools takes the schema as its output format.

use plenary_core::model::ask::{AskMessages, FinishReason, TokenUsage};
use plenary_core::model::plan::EffortLevel;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::providers::dialects::schema::to_strict;
use crate::providers::dialects::wire::{
    WireRequest, key_header, parse_body, parse_optional, set_field, to_json_body,
};
use crate::providers::http_errors::{error_in_reply, invalid_reply};
use crate::providers::model_facts::ModelFacts;
use crate::providers::request_parts::{RequestParts, usual_tokens};
use crate::providers::transport::{CallError, CallReply, CallRequest, Dialect, Provider};

pub(crate) fn build_request<'a>(
    base_url: &str,
    provider: &'a Provider,
    request: &CallRequest,
    parts: &RequestParts<'_>,
) -> WireRequest<'a> {
    let name = request.purpose.name();
    let mut body = json!({
        "model": provider.model,
        "max_tokens": provider.output_tokens_max,
        "system": request.messages.system,
        "messages": [{ "role": "user", "content": message_content(&request.messages, parts) }],
    });
    set_field(&mut body, "stream", parts.stream.then(|| true.into()));
    let thinking = thinking_budget(parts, provider.output_tokens_max);
    let takes_native = parts.facts.is_some_and(|facts| facts.native_schema);
    let forbids_tool = parts.facts.is_some_and(|facts| !facts.forced_tool) || thinking.is_some();
    let (native, tool) = match parts.schema {
        schema if forbids_tool && takes_native => (schema, None),
        // Without another way, the prompt alone states the format.
        _ if forbids_tool => (None, None),
        schema => (None, schema),
    };
    set_field(&mut body, "output_config", output_config(parts, native));
    // A model that thinks by a budget takes no temperature.
    let temperature = parts.temperature.filter(|_| thinking.is_none());
    set_field(&mut body, "temperature", temperature.map(Value::from));
    let budget = |tokens: u32| json!({ "type": "enabled", "budget_tokens": tokens });
    set_field(&mut body, "thinking", thinking.map(budget));
    let to_tools = |input_schema: &Value| json!([{ "name": name, "description": "Takes your whole answer.", "input_schema": input_schema }]);
    set_field(&mut body, "tools", tool.map(to_tools));
    set_field(&mut body, "tool_choice", tool.map(|_| json!({ "type": "tool", "name": name })));
    let key = key_header(Dialect::Anthropic, provider);
    WireRequest {
        url: format!("{base_url}/messages"),
        headers: VERSION_HEADERS,
        key,
        body: to_json_body(&body),
    }
}

/// Tokens of thought for a model that does not take the effort as a word: at most half of the
/// output, which they are part of. `None` for other models.
fn thinking_budget(parts: &RequestParts<'_>, output_tokens_max: u32) -> Option<u32> {
    if parts.facts.is_none_or(|facts| facts.effort_setting) {
        return None;
    }
    let tokens = match parts.effort? {
        EffortLevel::Low => 2_048,
        EffortLevel::Medium => 8_192,
        EffortLevel::High => 16_384,
    };
    Some(tokens.min(output_tokens_max / 2)).filter(|tokens| *tokens >= THINKING_TOKENS_MIN)
}

/// The API accepts no smaller budget.
const THINKING_TOKENS_MIN: u32 = 1_024;

/// The effort as a word, and the schema of a model that takes it without a tool.
fn output_config(parts: &RequestParts<'_>, schema: Option<&Value>) -> Option<Value> {
    let effort = parts.effort.filter(|_| parts.facts.is_none_or(|facts| facts.effort_setting));
    let mut config = json!({});
    set_field(&mut config, "effort", effort.map(|effort| effort.name().into()));
    let format = |schema: &Value| json!({ "type": "json_schema", "schema": to_strict(schema) });
    set_field(&mut config, "format", schema.map(format));
    (config != json!({})).then_some(config)
}

/// Shorter prefixes of an unknown model are not cached.
const CACHED_TOKENS_MIN: u64 = 1_024;

/// Whether the system message and the shared block are long enough to be cached.
pub(crate) fn is_cached(messages: &AskMessages, facts: Option<&ModelFacts>) -> bool {
    let least = facts.and_then(|facts| facts.cache_tokens_min).unwrap_or(CACHED_TOKENS_MIN);
    let shared = messages.shared_text();
    let tokens = usual_tokens(&messages.system) + usual_tokens(shared);
    !shared.is_empty() && tokens as u64 >= least
}

/// The user message. The end of a shared block that is long enough is marked, so that the provider
/// caches everything before it.
fn message_content(messages: &AskMessages, parts: &RequestParts<'_>) -> Value {
    if !parts.cache_mark {
        return messages.user_message().into();
    }
    let shared = messages.shared_text();
    json!([
        { "type": "text", "text": shared, "cache_control": { "type": "ephemeral" } },
        { "type": "text", "text": messages.user },
    ])
}

/// The API rejects requests without this version header.
pub(crate) const VERSION_HEADERS: &[(&str, &str)] = &[("anthropic-version", "2023-06-01")];

#[derive(Debug, Default, Deserialize)]
pub(crate) struct AnthropicReply {
    content: Option<Vec<AnthropicBlock>>,
    model: Option<String>,
    stop_reason: Option<String>,
    usage: Option<Value>,
    error: Option<Value>,
    /// Set by the last event of a stream.
    #[serde(skip)]
    is_whole: bool,
}

#[derive(Debug, Default, Deserialize)]
pub(crate) struct AnthropicBlock {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
    input: Option<Value>,
    /// The tool's input as it arrives in a stream.
    #[serde(skip)]
    streamed_input: String,
}

/// An event of a stream. Kinds that carry nothing of the reply, such as `ping`, are ignored.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum AnthropicEvent {
    MessageStart {
        message: AnthropicReply,
    },
    ContentBlockStart {
        content_block: AnthropicBlock,
    },
    ContentBlockDelta {
        delta: AnthropicDelta,
    },
    MessageDelta {
        delta: AnthropicReply,
        usage: Option<Value>,
    },
    MessageStop,
    Error {
        error: Value,
    },
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
pub(crate) struct AnthropicDelta {
    text: Option<String>,
    partial_json: Option<String>,
}

impl AnthropicReply {
    /// Adds an event; returns the text in it.
    pub(crate) fn add_event(&mut self, event: AnthropicEvent) -> String {
        match event {
            AnthropicEvent::MessageStart { message } => *self = message,
            AnthropicEvent::ContentBlockStart { content_block } => {
                let text = content_block.text.clone().unwrap_or_default();
                self.content.get_or_insert_default().push(content_block);
                return text;
            }
            AnthropicEvent::ContentBlockDelta { delta } => return self.add_delta(delta),
            AnthropicEvent::MessageDelta { delta, usage } => {
                self.stop_reason = delta.stop_reason.or(self.stop_reason.take());
                self.merge_usage(usage);
            }
            AnthropicEvent::MessageStop => self.is_whole = true,
            AnthropicEvent::Error { error } => self.error = Some(error),
            AnthropicEvent::Other => {}
        }
        String::new()
    }

    /// Thinking arrives as deltas of other fields, which are ignored.
    fn add_delta(&mut self, delta: AnthropicDelta) -> String {
        let Some(block) = self.content.as_mut().and_then(|blocks| blocks.last_mut()) else {
            return String::new();
        };
        if let Some(text) = &delta.text {
            block.text.get_or_insert_default().push_str(text);
        }
        if let Some(json) = &delta.partial_json {
            block.streamed_input.push_str(json);
        }
        delta.text.or(delta.partial_json).unwrap_or_default()
    }

    /// The first event counts the input, the last one the output.
    fn merge_usage(&mut self, usage: Option<Value>) {
        let Some(Value::Object(newer)) = usage else { return };
        match &mut self.usage {
            Some(Value::Object(counts)) => counts.extend(newer),
            counts => *counts = Some(Value::Object(newer)),
        }
    }

    /// Whether the server said why the reply ends: no text follows.
    pub(crate) fn is_complete(&self) -> bool {
        self.is_ended() || self.stop_reason.is_some()
    }

    /// Whether the stream came to its end.
    pub(crate) fn is_ended(&self) -> bool {
        self.is_whole || self.error.is_some()
    }
}

#[derive(Deserialize)]
struct AnthropicTokens {
    input_tokens: u64,
    output_tokens: u64,
    cache_creation_input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
}

pub(crate) fn parse_reply(provider: &Provider, body: &str) -> Result<CallReply, CallError> {
    convert_reply(provider, parse_body(provider, body)?)
}

pub(crate) fn convert_reply(
    provider: &Provider,
    answer: AnthropicReply,
) -> Result<CallReply, CallError> {
    if let Some(error) = &answer.error {
        return Err(error_in_reply(provider, error));
    }
    let Some(blocks) = answer.content else {
        return Err(invalid_reply(provider, "no content in it"));
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
    if let Some(tool) = blocks.iter().find(|block| block.kind == "tool_use") {
        return match &tool.input {
            _ if !tool.streamed_input.is_empty() => tool.streamed_input.clone(),
            Some(input) => input.to_string(),
            None => String::new(),
        };
    }
    let texts = blocks.into_iter().filter(|block| block.kind == "text");
    texts.filter_map(|block| block.text).collect()
}

/// Counts tokens written to or read from a cache as input tokens, too.
fn to_usage(tokens: &AnthropicTokens) -> TokenUsage {
    let written = tokens.cache_creation_input_tokens.unwrap_or(0);
    let read = tokens.cache_read_input_tokens.unwrap_or(0);
    TokenUsage {
        input_tokens: tokens.input_tokens.saturating_add(written).saturating_add(read),
        output_tokens: tokens.output_tokens,
        cached_tokens: read,
        cache_write_tokens: written,
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
