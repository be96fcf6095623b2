//! Gemini `generateContent` API.
//!
//! The key goes into a header, because URLs end up in logs.

use std::fmt::Write as _;

use plenary_core::model::ask::{FinishReason, TokenUsage};
use plenary_core::model::plan::EffortLevel;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::providers::dialects::wire::{
    WireRequest, key_header, parse_body, parse_optional, set_field, to_json_body,
};
use crate::providers::http_errors::{error_in_reply, invalid_reply};
use crate::providers::request_parts::RequestParts;
use crate::providers::transport::{CallError, CallReply, CallRequest, Dialect, Provider};

pub(crate) fn build_request<'a>(
    base_url: &str,
    provider: &'a Provider,
    request: &CallRequest,
    parts: &RequestParts<'_>,
) -> WireRequest<'a> {
    let model = provider.model.strip_prefix("models/").unwrap_or(&provider.model);
    let mut settings = json!({});
    let limit = parts.output_limit.map(|_| provider.output_tokens_max.into());
    set_field(&mut settings, "maxOutputTokens", limit);
    set_field(&mut settings, "temperature", parts.temperature.map(Value::from));
    let thinking = parts.effort.map(|effort| thinking_config(model, effort));
    set_field(&mut settings, "thinkingConfig", thinking);
    let is_json = parts.schema.is_some() || parts.json_mode;
    set_field(&mut settings, "responseMimeType", is_json.then(|| json!("application/json")));
    set_field(&mut settings, "responseSchema", parts.schema.cloned());
    let body = to_json_body(&json!({
        "systemInstruction": { "parts": [{ "text": request.messages.system }] },
        "contents": [{ "role": "user", "parts": [{ "text": request.messages.user_message() }] }],
        "generationConfig": settings,
    }));
    let method = if parts.stream { "streamGenerateContent?alt=sse" } else { "generateContent" };
    let url = format!("{base_url}/models/{}:{method}", encode_segment(model));
    WireRequest { url, headers: &[], key: key_header(Dialect::Gemini, provider), body }
}

/// Models before Gemini 3 take a number of tokens, later ones a word.
fn thinking_config(model: &str, effort: EffortLevel) -> Value {
    if !model.starts_with("gemini-2") {
        return json!({ "thinkingLevel": effort.name() });
    }
    let tokens = match effort {
        EffortLevel::Low => 1_024,
        EffortLevel::Medium => 8_192,
        EffortLevel::High => 24_576,
    };
    json!({ "thinkingBudget": tokens })
}

/// Percent-encodes a text as one path segment.
fn encode_segment(text: &str) -> String {
    let mut segment = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            segment.push(char::from(byte));
        } else {
            // Writing to a `String` cannot fail.
            let _ = write!(segment, "%{byte:02X}");
        }
    }
    segment
}

/// A whole reply, or one chunk of a streamed reply.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GeminiReply {
    candidates: Option<Vec<GeminiCandidate>>,
    prompt_feedback: Option<GeminiPromptFeedback>,
    usage_metadata: Option<Value>,
    model_version: Option<String>,
    error: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct GeminiCandidate {
    content: Option<GeminiContent>,
    finish_reason: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
struct GeminiContent {
    parts: Option<Vec<GeminiPart>>,
}

#[derive(Debug, Default, Deserialize)]
struct GeminiPart {
    text: Option<String>,
    thought: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct GeminiPromptFeedback {
    block_reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GeminiTokens {
    prompt_token_count: u64,
    candidates_token_count: Option<u64>,
    thoughts_token_count: Option<u64>,
    cached_content_token_count: Option<u64>,
}

impl GeminiReply {
    /// Adds a chunk; returns the text in it. The counts of the last chunk hold for the whole reply.
    pub(crate) fn add_chunk(&mut self, chunk: Self) -> String {
        self.model_version = chunk.model_version.or(self.model_version.take());
        self.usage_metadata = chunk.usage_metadata.or(self.usage_metadata.take());
        self.prompt_feedback = chunk.prompt_feedback.or(self.prompt_feedback.take());
        self.error = chunk.error.or(self.error.take());
        let Some(part) = chunk.candidates.into_iter().flatten().next() else {
            return String::new();
        };
        let candidates = self.candidates.get_or_insert_default();
        if candidates.is_empty() {
            candidates.push(GeminiCandidate::default());
        }
        let Some(candidate) = candidates.first_mut() else { return String::new() };
        candidate.finish_reason = part.finish_reason.or(candidate.finish_reason.take());
        let text = part.content.map(collect_text).unwrap_or_default();
        let parts = candidate.content.get_or_insert_default().parts.get_or_insert_default();
        parts.push(GeminiPart { text: Some(text.clone()), thought: None });
        text
    }

    /// Whether the server said why the reply ends.
    pub(crate) fn is_complete(&self) -> bool {
        let candidate = self.candidates.as_ref().and_then(|candidates| candidates.first());
        self.error.is_some()
            || self.is_blocked()
            || candidate.is_some_and(|candidate| candidate.finish_reason.is_some())
    }

    fn is_blocked(&self) -> bool {
        self.prompt_feedback.as_ref().is_some_and(|feedback| feedback.block_reason.is_some())
    }
}

pub(crate) fn parse_reply(provider: &Provider, body: &str) -> Result<CallReply, CallError> {
    convert_reply(provider, parse_body(provider, body)?)
}

pub(crate) fn convert_reply(
    provider: &Provider,
    answer: GeminiReply,
) -> Result<CallReply, CallError> {
    if let Some(error) = &answer.error {
        return Err(error_in_reply(provider, error));
    }
    let blocked = answer.is_blocked();
    let candidate = answer.candidates.into_iter().flatten().next();
    let (text, finish) = match candidate {
        Some(candidate) => {
            let finish = parse_finish(candidate.finish_reason.as_deref());
            (candidate.content.map(collect_text).unwrap_or_default(), finish)
        }
        None if blocked => (String::new(), FinishReason::Refusal),
        None => return Err(invalid_reply(provider, "no candidate in it")),
    };
    let tokens: Option<GeminiTokens> = parse_optional(answer.usage_metadata.as_ref());
    let (usage, model) = (tokens.as_ref().map(to_usage), answer.model_version);
    Ok(CallReply { usage, model, finish, ..CallReply::from_text(text) })
}

/// Joins the parts that are not thoughts.
fn collect_text(content: GeminiContent) -> String {
    let parts = content.parts.into_iter().flatten();
    parts.filter(|part| part.thought != Some(true)).filter_map(|part| part.text).collect()
}

/// Thinking tokens are billed as output.
fn to_usage(tokens: &GeminiTokens) -> TokenUsage {
    let written = [tokens.candidates_token_count, tokens.thoughts_token_count];
    let written = written.into_iter().flatten().fold(0, u64::saturating_add);
    let cached = tokens.cached_content_token_count.unwrap_or(0).min(tokens.prompt_token_count);
    TokenUsage { cached_tokens: cached, ..TokenUsage::new(tokens.prompt_token_count, written) }
}

fn parse_finish(reason: Option<&str>) -> FinishReason {
    match reason {
        Some("STOP") => FinishReason::Stop,
        Some("MAX_TOKENS") => FinishReason::Length,
        Some("SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII") => {
            FinishReason::Refusal
        }
        Some(_) | None => FinishReason::Other,
    }
}

#[cfg(test)]
#[path = "gemini_tests.rs"]
mod tests;
