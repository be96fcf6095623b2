//! The scripted reactions of the server to a request.

use std::time::Duration;

use plenary::providers::Dialect;
use serde_json::{Value, json};

use super::reply_gate::Gate;
use super::server::Seen;
use super::valid_replies::fitting_text;

#[derive(Debug, Clone)]
pub enum Play {
    /// A valid document for the requested purpose.
    Fitting,
    Reply(String),
    /// A valid document without this many bytes at its end, with a normal finish reason.
    WithoutLast(usize),
    /// The same, with a finish reason that says the model ran out of tokens.
    OutOfTokens(usize),
    Slow(Duration, Box<Play>),
    /// No reply until the gate opens.
    Gated(Gate, Box<Play>),
    Status(u16, Vec<(&'static str, String)>, String),
    RateLimited {
        retry_after: String,
    },
    /// Never replies.
    Hang,
    /// Closes the connection in the middle of the body.
    Cut,
    /// A body that is not JSON.
    Malformed,
    /// The model runs out of tokens in the middle of its JSON.
    Truncated,
    Empty,
    Refusal,
    /// JSON with a number where a text belongs.
    WrongType,
    /// A reply of this many bytes.
    Huge(usize),
    /// Exactly this body.
    Raw(Vec<u8>),
}

/// What the server does on the connection.
pub enum Answer {
    Gated(Gate, Box<Answer>),
    Respond { status: u16, headers: Vec<(&'static str, String)>, body: Vec<u8> },
    Cut { body: Vec<u8> },
    Hang,
}

impl Answer {
    pub fn ok(body: impl Into<Vec<u8>>) -> Self {
        Self::Respond { status: 200, headers: Vec::new(), body: body.into() }
    }

    fn error(status: u16, headers: Vec<(&'static str, String)>, message: &str) -> Self {
        let body = json!({ "error": { "message": message } }).to_string().into();
        Self::Respond { status, headers, body }
    }
}

/// Finish reason, independent of the dialect.
#[derive(Clone, Copy, PartialEq)]
enum Stop {
    Done,
    Length,
    Refused,
}

impl Play {
    /// The server's action, and the delay before it.
    pub fn answer(self, seen: &Seen) -> (Duration, Answer) {
        let reply = |text: &str, stop: Stop| Answer::ok(reply(seen, text, stop).to_string());
        let answer = match self {
            Self::Slow(wait, then) => {
                let (more, answer) = then.answer(seen);
                return (wait + more, answer);
            }
            Self::Gated(gate, then) => {
                let (wait, answer) = then.answer(seen);
                return (wait, Answer::Gated(gate, Box::new(answer)));
            }
            Self::Fitting => reply(&fitting_text(seen), Stop::Done),
            Self::Reply(text) => reply(&text, Stop::Done),
            Self::WithoutLast(bytes) => reply(&without_last(bytes, seen), Stop::Done),
            Self::OutOfTokens(bytes) => reply(&without_last(bytes, seen), Stop::Length),
            Self::Status(status, headers, body) => {
                Answer::Respond { status, headers, body: body.into() }
            }
            Self::RateLimited { retry_after } => {
                Answer::error(429, vec![("retry-after", retry_after)], "slow down")
            }
            Self::Hang => Answer::Hang,
            Self::Cut => Answer::Cut { body: reply_text(seen).into() },
            Self::Malformed => Answer::ok("Well, {what} can I say"),
            Self::Truncated => {
                let whole = fitting_text(seen);
                reply(&whole[..whole.len() / 2], Stop::Length)
            }
            Self::Empty => reply("", Stop::Done),
            Self::Refusal => reply("", Stop::Refused),
            Self::WrongType => {
                reply(&json!({ "summary": 7, "details": "none" }).to_string(), Stop::Done)
            }
            Self::Huge(bytes) => reply(&"x".repeat(bytes), Stop::Done),
            Self::Raw(body) => Answer::ok(body),
        };
        (Duration::ZERO, answer)
    }
}

fn without_last(bytes: usize, seen: &Seen) -> String {
    let mut text = fitting_text(seen);
    text.truncate(text.len() - bytes);
    text
}

fn reply_text(seen: &Seen) -> String {
    reply(seen, &fitting_text(seen), Stop::Done).to_string()
}

/// A reply in the format of the dialect.
fn reply(seen: &Seen, text: &str, stop: Stop) -> Value {
    let tokens = ((seen.system.len() + seen.user.len()) / 4, text.len() / 4);
    match seen.dialect {
        Dialect::OpenAi => openai(seen, text, stop, tokens),
        Dialect::Anthropic => anthropic(seen, text, stop, tokens),
        Dialect::Gemini => gemini(seen, text, stop, tokens),
    }
}

fn openai(seen: &Seen, text: &str, stop: Stop, (input, output): (usize, usize)) -> Value {
    let refused = stop == Stop::Refused;
    let refusal = refused.then_some("I cannot help with that.");
    let reason = if stop == Stop::Length { "length" } else { "stop" };
    json!({
        "id": format!("chatcmpl-{}", seen.nth),
        "object": "chat.completion",
        "model": seen.model,
        "choices": [{
            "index": 0,
            "message": {
                "role": "assistant",
                "content": if refused { Value::Null } else { json!(text) },
                "refusal": refusal,
            },
            "finish_reason": reason,
        }],
        "usage": { "prompt_tokens": input, "completion_tokens": output },
    })
}

fn anthropic(seen: &Seen, text: &str, stop: Stop, (input, output): (usize, usize)) -> Value {
    // A model that must use a tool passes its JSON to the tool.
    let given = serde_json::from_str::<Value>(text).ok().filter(|_| seen.structured);
    let content = match given {
        Some(given) => {
            json!([{ "type": "tool_use", "id": "toolu_1", "name": "x", "input": given }])
        }
        None if stop == Stop::Refused => json!([]),
        None => json!([{ "type": "text", "text": text }]),
    };
    let reason = match stop {
        Stop::Done => "end_turn",
        Stop::Length => "max_tokens",
        Stop::Refused => "refusal",
    };
    json!({
        "id": format!("msg_{}", seen.nth),
        "type": "message",
        "role": "assistant",
        "model": seen.model,
        "content": content,
        "stop_reason": reason,
        "usage": { "input_tokens": input, "output_tokens": output },
    })
}

fn gemini(seen: &Seen, text: &str, stop: Stop, (input, output): (usize, usize)) -> Value {
    let usage = json!({ "promptTokenCount": input, "candidatesTokenCount": output });
    if stop == Stop::Refused {
        return json!({ "promptFeedback": { "blockReason": "SAFETY" }, "usageMetadata": usage });
    }
    let reason = if stop == Stop::Length { "MAX_TOKENS" } else { "STOP" };
    json!({
        "candidates": [{
            "content": { "role": "model", "parts": [{ "text": text }] },
            "finishReason": reason,
        }],
        "usageMetadata": usage,
        "modelVersion": seen.model,
    })
}
