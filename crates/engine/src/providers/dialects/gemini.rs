//! Gemini `generateContent` API.
//!
//! The key goes into a header, because URLs end up in logs.

use std::fmt::Write as _;

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
    let mut settings = json!({ "maxOutputTokens": provider.output_tokens_max });
    set_field(&mut settings, "temperature", provider.temperature.map(Value::from));
    set_field(&mut settings, "responseMimeType", schema.map(|_| json!("application/json")));
    set_field(&mut settings, "responseSchema", schema.cloned());
    let body = to_json_body(&json!({
        "systemInstruction": { "parts": [{ "text": request.messages.system }] },
        "contents": [{ "role": "user", "parts": [{ "text": request.messages.user }] }],
        "generationConfig": settings,
    }));
    let model = provider.model.strip_prefix("models/").unwrap_or(&provider.model);
    let url = format!("{base_url}/models/{}:generateContent", encode_segment(model));
    WireRequest { url, headers: &[], key: key_header(Dialect::Gemini, provider), body }
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

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GeminiReply {
    candidates: Option<Vec<GeminiCandidate>>,
    prompt_feedback: Option<GeminiPromptFeedback>,
    usage_metadata: Option<Value>,
    model_version: Option<String>,
    error: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GeminiCandidate {
    content: Option<GeminiContent>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct GeminiContent {
    parts: Option<Vec<GeminiPart>>,
}

#[derive(Deserialize)]
struct GeminiPart {
    text: Option<String>,
    thought: Option<bool>,
}

#[derive(Deserialize)]
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
}

pub(crate) fn parse_reply(provider: &Provider, body: &str) -> Result<CallReply, CallError> {
    let answer: GeminiReply = parse_body(provider, body)?;
    let candidate = answer.candidates.into_iter().flatten().next();
    let blocked = answer.prompt_feedback.is_some_and(|feedback| feedback.block_reason.is_some());
    let (text, finish) = match candidate {
        Some(candidate) => {
            let finish = parse_finish(candidate.finish_reason.as_deref());
            (candidate.content.map(collect_text).unwrap_or_default(), finish)
        }
        None if blocked => (String::new(), FinishReason::Refusal),
        None => return Err(missing_reply(provider, answer.error.as_ref(), "no candidate in it")),
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
    TokenUsage {
        input_tokens: tokens.prompt_token_count,
        output_tokens: written.into_iter().flatten().fold(0, u64::saturating_add),
    }
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
