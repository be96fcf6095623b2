//! Gemini `generateContent` API.
//!
//! The key goes into a header, because URLs end up in logs.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::wire::{self, WireRequest, key_header};
use crate::domain::ask::{Finish, Usage};
use crate::providers::failure;
use crate::providers::provider::{Dialect, Provider};
use crate::providers::request::{CallError, Received, Request};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    system_instruction: Parts<'a>,
    contents: [Turn<'a>; 1],
    generation_config: GenerationConfig<'a>,
}

#[derive(Serialize)]
struct Parts<'a> {
    parts: [Text<'a>; 1],
}

#[derive(Serialize)]
struct Turn<'a> {
    role: &'static str,
    parts: [Text<'a>; 1],
}

#[derive(Serialize)]
struct Text<'a> {
    text: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GenerationConfig<'a> {
    max_output_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_mime_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_schema: Option<&'a Value>,
}

pub(super) fn request<'a>(
    base_url: &str,
    provider: &'a Provider,
    request: &Request,
    schema: Option<&Value>,
) -> WireRequest<'a> {
    let body = wire::body(&Body {
        system_instruction: Parts { parts: [Text { text: &request.messages.system }] },
        contents: [Turn { role: "user", parts: [Text { text: &request.messages.user }] }],
        generation_config: GenerationConfig {
            max_output_tokens: provider.output_tokens_max,
            temperature: provider.temperature,
            response_mime_type: schema.map(|_| "application/json"),
            response_schema: schema,
        },
    });
    let model = provider.model.strip_prefix("models/").unwrap_or(&provider.model);
    let url = format!("{base_url}/models/{}:generateContent", as_segment(model));
    WireRequest { url, headers: &[], key: key_header(Dialect::Gemini, provider), body }
}

/// Percent-encodes a text as one path segment.
fn as_segment(text: &str) -> String {
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
struct Answer {
    candidates: Option<Vec<Candidate>>,
    prompt_feedback: Option<PromptFeedback>,
    usage_metadata: Option<Value>,
    model_version: Option<String>,
    error: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate {
    content: Option<Content>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Content {
    parts: Option<Vec<Part>>,
}

#[derive(Deserialize)]
struct Part {
    text: Option<String>,
    thought: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PromptFeedback {
    block_reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Tokens {
    prompt_token_count: u64,
    candidates_token_count: Option<u64>,
    thoughts_token_count: Option<u64>,
}

pub(super) fn reply(provider: &Provider, body: &str) -> Result<Received, CallError> {
    let answer: Answer = wire::parsed(provider, body)?;
    let candidate = answer.candidates.into_iter().flatten().next();
    let blocked = answer.prompt_feedback.is_some_and(|feedback| feedback.block_reason.is_some());
    let (text, finish) = match candidate {
        Some(candidate) => {
            let finish = finish(candidate.finish_reason.as_deref());
            (candidate.content.map(text).unwrap_or_default(), finish)
        }
        None if blocked => (String::new(), Finish::Refusal),
        None => {
            let error = wire::error_within(provider, answer.error.as_ref());
            let nothing = || failure::not_a_reply(provider, "no candidate in it");
            return Err(error.unwrap_or_else(nothing));
        }
    };
    let tokens: Option<Tokens> = wire::aside(answer.usage_metadata.as_ref());
    let (usage, model) = (tokens.as_ref().map(usage), answer.model_version);
    Ok(Received { text, usage, model, finish, ..wire::silence() })
}

/// Joins the parts that are not thoughts.
fn text(content: Content) -> String {
    let parts = content.parts.into_iter().flatten();
    parts.filter(|part| part.thought != Some(true)).filter_map(|part| part.text).collect()
}

/// Thinking tokens are billed as output.
fn usage(tokens: &Tokens) -> Usage {
    let written = [tokens.candidates_token_count, tokens.thoughts_token_count];
    Usage {
        input_tokens: tokens.prompt_token_count,
        output_tokens: written.into_iter().flatten().fold(0, u64::saturating_add),
    }
}

fn finish(reason: Option<&str>) -> Finish {
    match reason {
        Some("STOP") => Finish::Stop,
        Some("MAX_TOKENS") => Finish::Length,
        Some("SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII") => {
            Finish::Refusal
        }
        Some(_) | None => Finish::Other,
    }
}

#[cfg(test)]
#[path = "gemini_tests.rs"]
mod tests;
