//! OpenAI chat completions API, also for compatible servers.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::wire::{self, WireRequest, key_header};
use crate::domain::ask::{Finish, Usage};
use crate::providers::catalogue::{self, OutputLimit};
use crate::providers::failure;
use crate::providers::provider::{Dialect, Provider};
use crate::providers::request::{CallError, Received, Request};

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: [Message<'a>; 2],
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<ResponseFormat<'a>>,
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    content: &'a str,
}

#[derive(Serialize)]
#[serde(tag = "type", rename = "json_schema")]
struct ResponseFormat<'a> {
    json_schema: JsonSchema<'a>,
}

#[derive(Serialize)]
struct JsonSchema<'a> {
    name: &'static str,
    strict: bool,
    schema: &'a Value,
}

pub(super) fn request<'a>(
    base_url: &str,
    provider: &'a Provider,
    request: &Request,
    schema: Option<&Value>,
) -> WireRequest<'a> {
    let limit = |of: OutputLimit| {
        (catalogue::output_limit(base_url) == of).then_some(provider.output_tokens_max)
    };
    let name = request.purpose.name();
    let body = wire::body(&Body {
        model: &provider.model,
        messages: [
            Message { role: "system", content: &request.messages.system },
            Message { role: "user", content: &request.messages.user },
        ],
        max_tokens: limit(OutputLimit::MaxTokens),
        max_completion_tokens: limit(OutputLimit::MaxCompletionTokens),
        temperature: provider.temperature,
        response_format: schema.map(|schema| ResponseFormat {
            json_schema: JsonSchema { name, strict: true, schema },
        }),
    });
    let key = key_header(Dialect::OpenAi, provider);
    WireRequest { url: format!("{base_url}/chat/completions"), headers: &[], key, body }
}

#[derive(Deserialize)]
struct Completion {
    choices: Option<Vec<Choice>>,
    model: Option<String>,
    usage: Option<Value>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    message: Option<Said>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Said {
    content: Option<Content>,
    refusal: Option<String>,
}

/// Text, or parts, which may include the model's thoughts.
#[derive(Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<Part>),
}

#[derive(Deserialize)]
struct Part {
    #[serde(rename = "type")]
    kind: Option<String>,
    text: Option<String>,
}

impl Content {
    fn text(self) -> String {
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
struct Tokens {
    prompt_tokens: u64,
    completion_tokens: Option<u64>,
}

/// Cost of the call in dollars, reported by OpenRouter.
#[derive(Deserialize)]
struct Charge {
    cost: f64,
}

pub(super) fn reply(provider: &Provider, body: &str) -> Result<Received, CallError> {
    let completion: Completion = wire::parsed(provider, body)?;
    let choice = completion.choices.into_iter().flatten().next();
    let Some((message, reason)) =
        choice.and_then(|choice| Some((choice.message?, choice.finish_reason)))
    else {
        let error = wire::error_within(provider, completion.error.as_ref());
        return Err(error.unwrap_or_else(|| failure::not_a_reply(provider, "no choice in it")));
    };
    let text = message.content.map(Content::text).unwrap_or_default();
    let refusal = message.refusal.filter(|refusal| !refusal.is_empty());
    let finish = if refusal.is_some() { Finish::Refusal } else { finish(reason.as_deref()) };
    let tokens: Option<Tokens> = wire::aside(completion.usage.as_ref());
    let charge: Option<Charge> = wire::aside(completion.usage.as_ref());
    Ok(Received {
        text: if text.is_empty() { refusal.unwrap_or_default() } else { text },
        usage: tokens.map(|tokens| Usage {
            input_tokens: tokens.prompt_tokens,
            output_tokens: tokens.completion_tokens.unwrap_or(0),
        }),
        model: completion.model,
        finish,
        cost_usd: charge.map(|charge| charge.cost).filter(|cost| *cost >= 0.0),
        ..wire::silence()
    })
}

fn finish(reason: Option<&str>) -> Finish {
    match reason {
        Some("stop") => Finish::Stop,
        // Compatible servers use values of their own; with `error` and `abort` the text ends early.
        Some("length" | "max_tokens" | "MAX_TOKENS" | "model_length" | "error" | "abort") => {
            Finish::Length
        }
        Some("content_filter") => Finish::Refusal,
        Some(_) | None => Finish::Other,
    }
}

#[cfg(test)]
#[path = "openai_tests.rs"]
mod tests;
