//! OpenAI chat completions API, also for compatible servers.

use plenary_core::model::ask::{FinishReason, TokenUsage};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::providers::catalogue::{OutputLimit, provider_rows};
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
    let mut body = json!({
        "model": provider.model,
        "messages": [
            { "role": "system", "content": request.messages.system },
            { "role": "user", "content": request.messages.user_message() },
        ],
    });
    if parts.stream {
        set_field(&mut body, "stream", Some(true.into()));
        set_field(&mut body, "stream_options", Some(json!({ "include_usage": true })));
    }
    if let Some(limit) = parts.output_limit {
        set_field(&mut body, limit.field_name(), Some(provider.output_tokens_max.into()));
    }
    set_field(&mut body, "temperature", parts.temperature.map(Value::from));
    set_field(&mut body, "reasoning_effort", parts.effort.map(|effort| effort.name().into()));
    let name = request.purpose.name();
    let format = |schema: &Value| {
        let json_schema = json!({ "name": name, "strict": true, "schema": schema });
        json!({ "type": "json_schema", "json_schema": json_schema })
    };
    let json_object = parts.json_mode.then(|| json!({ "type": "json_object" }));
    set_field(&mut body, "response_format", parts.schema.map(format).or(json_object));
    // Sends the requests of a run to the same cache.
    let shared = request.messages.shared.as_ref().filter(|_| parts.cache_mark);
    set_field(&mut body, "prompt_cache_key", shared.map(|block| cache_key(&block.sha256).into()));
    let key = key_header(Dialect::OpenAi, provider);
    WireRequest {
        url: format!("{base_url}/chat/completions"),
        headers: &[],
        key,
        body: to_json_body(&body),
    }
}

/// Known providers other than OpenAI reject the field.
pub(crate) fn takes_cache_key(base_url: &str) -> bool {
    let known = provider_rows().iter().find(|row| row.base_url == base_url);
    known.is_none_or(|row| row.output_limit == OutputLimit::MaxCompletionTokens)
}

/// The digest of the shared block, shortened: the API takes 64 characters.
fn cache_key(sha256: &str) -> String {
    sha256.chars().take(32).collect()
}

/// A whole reply, or one chunk of a streamed reply, which has `delta` in place of `message`.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct OpenAiReply {
    choices: Option<Vec<OpenAiChoice>>,
    model: Option<String>,
    usage: Option<Value>,
    error: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
struct OpenAiChoice {
    #[serde(alias = "delta")]
    message: Option<OpenAiReplyMessage>,
    finish_reason: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
struct OpenAiReplyMessage {
    content: Option<OpenAiContent>,
    refusal: Option<String>,
}

/// Text, or parts, which may include the model's thoughts.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum OpenAiContent {
    Text(String),
    Parts(Vec<OpenAiPart>),
}

#[derive(Debug, Deserialize)]
struct OpenAiPart {
    #[serde(rename = "type")]
    kind: Option<String>,
    text: Option<String>,
}

impl OpenAiContent {
    fn into_text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Parts(parts) => {
                let texts = parts.into_iter().filter(|part| part.kind.as_deref() == Some("text"));
                texts.filter_map(|part| part.text).collect()
            }
        }
    }
}

#[derive(Deserialize)]
struct OpenAiTokens {
    prompt_tokens: u64,
    completion_tokens: Option<u64>,
    prompt_tokens_details: Option<OpenAiInputDetails>,
    /// DeepSeek's name for the same.
    prompt_cache_hit_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct OpenAiInputDetails {
    cached_tokens: Option<u64>,
}

impl OpenAiTokens {
    /// Cached tokens are counted as input tokens, too.
    fn to_usage(&self) -> TokenUsage {
        let details = self.prompt_tokens_details.as_ref();
        let cached = details.and_then(|details| details.cached_tokens);
        let cached = cached.or(self.prompt_cache_hit_tokens).unwrap_or(0);
        TokenUsage {
            cached_tokens: cached.min(self.prompt_tokens),
            ..TokenUsage::new(self.prompt_tokens, self.completion_tokens.unwrap_or(0))
        }
    }
}

/// Cost of the call in dollars, reported by OpenRouter.
#[derive(Deserialize)]
struct OpenRouterCost {
    cost: f64,
}

impl OpenAiReply {
    /// Adds a chunk; returns the text in it.
    pub(crate) fn add_chunk(&mut self, chunk: Self) -> String {
        self.model = chunk.model.or(self.model.take());
        self.usage = chunk.usage.or(self.usage.take());
        self.error = chunk.error.or(self.error.take());
        let Some(part) = chunk.choices.into_iter().flatten().next() else { return String::new() };
        let choices = self.choices.get_or_insert_default();
        if choices.is_empty() {
            choices.push(OpenAiChoice::default());
        }
        let Some(choice) = choices.first_mut() else { return String::new() };
        choice.finish_reason = part.finish_reason.or(choice.finish_reason.take());
        let message = choice.message.get_or_insert_default();
        let delta = part.message.unwrap_or_default();
        if let Some(refusal) = delta.refusal {
            message.refusal.get_or_insert_default().push_str(&refusal);
        }
        let text = delta.content.map(OpenAiContent::into_text).unwrap_or_default();
        let content = message.content.take().map(OpenAiContent::into_text).unwrap_or_default();
        message.content = Some(OpenAiContent::Text(content + &text));
        text
    }

    /// Whether the server said why the reply ends.
    pub(crate) fn is_complete(&self) -> bool {
        let choice = self.choices.as_ref().and_then(|choices| choices.first());
        self.error.is_some() || choice.is_some_and(|choice| choice.finish_reason.is_some())
    }
}

pub(crate) fn parse_reply(provider: &Provider, body: &str) -> Result<CallReply, CallError> {
    convert_reply(provider, parse_body(provider, body)?)
}

pub(crate) fn convert_reply(
    provider: &Provider,
    completion: OpenAiReply,
) -> Result<CallReply, CallError> {
    if let Some(error) = &completion.error {
        return Err(error_in_reply(provider, error));
    }
    let choice = completion.choices.into_iter().flatten().next();
    let Some((message, reason)) =
        choice.and_then(|choice| Some((choice.message?, choice.finish_reason)))
    else {
        return Err(invalid_reply(provider, "no choice in it"));
    };
    let text = message.content.map(OpenAiContent::into_text).unwrap_or_default();
    let refusal = message.refusal.filter(|refusal| !refusal.is_empty());
    let finish =
        if refusal.is_some() { FinishReason::Refusal } else { parse_finish(reason.as_deref()) };
    let tokens: Option<OpenAiTokens> = parse_optional(completion.usage.as_ref());
    let charge: Option<OpenRouterCost> = parse_optional(completion.usage.as_ref());
    let text = if text.is_empty() { refusal.unwrap_or_default() } else { text };
    Ok(CallReply {
        usage: tokens.map(|tokens| tokens.to_usage()),
        model: completion.model,
        finish,
        cost_usd: charge.map(|charge| charge.cost).filter(|cost| *cost >= 0.0),
        ..CallReply::from_text(text)
    })
}

fn parse_finish(reason: Option<&str>) -> FinishReason {
    match reason {
        Some("stop") => FinishReason::Stop,
        // Compatible servers use values of their own; with `error` and `abort` the text ends early.
        Some("length" | "max_tokens" | "MAX_TOKENS" | "model_length" | "error" | "abort") => {
            FinishReason::Length
        }
        Some("content_filter") => FinishReason::Refusal,
        Some(_) | None => FinishReason::Other,
    }
}

#[cfg(test)]
#[path = "openai_tests.rs"]
mod tests;
