//! OpenAI chat completions API, also for compatible servers.

use plenary_core::model::ask::{FinishReason, TokenUsage};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::providers::catalogue::{OutputLimit, output_limit_at};
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
    let mut body = json!({
        "model": provider.model,
        "messages": [
            { "role": "system", "content": request.messages.system },
            { "role": "user", "content": request.messages.user },
        ],
    });
    let limit = match output_limit_at(base_url) {
        OutputLimit::MaxTokens => "max_tokens",
        OutputLimit::MaxCompletionTokens => "max_completion_tokens",
    };
    set_field(&mut body, limit, Some(provider.output_tokens_max.into()));
    set_field(&mut body, "temperature", provider.temperature.map(Value::from));
    let name = request.purpose.name();
    let format = |schema: &Value| {
        let json_schema = json!({ "name": name, "strict": true, "schema": schema });
        json!({ "type": "json_schema", "json_schema": json_schema })
    };
    set_field(&mut body, "response_format", schema.map(format));
    let key = key_header(Dialect::OpenAi, provider);
    WireRequest {
        url: format!("{base_url}/chat/completions"),
        headers: &[],
        key,
        body: to_json_body(&body),
    }
}

#[derive(Deserialize)]
struct OpenAiReply {
    choices: Option<Vec<OpenAiChoice>>,
    model: Option<String>,
    usage: Option<Value>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct OpenAiChoice {
    message: Option<OpenAiReplyMessage>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct OpenAiReplyMessage {
    content: Option<OpenAiContent>,
    refusal: Option<String>,
}

/// Text, or parts, which may include the model's thoughts.
#[derive(Deserialize)]
#[serde(untagged)]
enum OpenAiContent {
    Text(String),
    Parts(Vec<OpenAiPart>),
}

#[derive(Deserialize)]
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
}

/// Cost of the call in dollars, reported by OpenRouter.
#[derive(Deserialize)]
struct OpenRouterCost {
    cost: f64,
}

pub(crate) fn parse_reply(provider: &Provider, body: &str) -> Result<CallReply, CallError> {
    let completion: OpenAiReply = parse_body(provider, body)?;
    let choice = completion.choices.into_iter().flatten().next();
    let Some((message, reason)) =
        choice.and_then(|choice| Some((choice.message?, choice.finish_reason)))
    else {
        return Err(missing_reply(provider, completion.error.as_ref(), "no choice in it"));
    };
    let text = message.content.map(OpenAiContent::into_text).unwrap_or_default();
    let refusal = message.refusal.filter(|refusal| !refusal.is_empty());
    let finish =
        if refusal.is_some() { FinishReason::Refusal } else { parse_finish(reason.as_deref()) };
    let tokens: Option<OpenAiTokens> = parse_optional(completion.usage.as_ref());
    let charge: Option<OpenRouterCost> = parse_optional(completion.usage.as_ref());
    let text = if text.is_empty() { refusal.unwrap_or_default() } else { text };
    Ok(CallReply {
        usage: tokens.map(|tokens| TokenUsage {
            input_tokens: tokens.prompt_tokens,
            output_tokens: tokens.completion_tokens.unwrap_or(0),
        }),
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
