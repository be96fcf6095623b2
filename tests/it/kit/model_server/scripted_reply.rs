//! The scripted reactions of the server to a request.

use std::time::Duration;

use plenary_engine::providers::transport::Dialect;
use serde_json::{Value, json};

use super::reply_gate::ReplyGate;
use super::server::ModelRequest;
use super::streamed_reply::{StreamFault, stream_events};
use super::valid_replies::valid_reply_text;

#[derive(Debug, Clone)]
pub enum ScriptedReply {
    /// A valid document for the requested purpose.
    Valid,
    Reply(String),
    /// A valid document without this many bytes at its end, with a normal finish reason.
    Shortened(usize),
    /// The same, with a finish reason that says the model ran out of tokens.
    OutOfTokens(usize),
    Slow(Duration, Box<ScriptedReply>),
    /// No reply until the gate opens.
    Gated(ReplyGate, Box<ScriptedReply>),
    Status(u16, Vec<(&'static str, String)>, String),
    RateLimited {
        retry_after: String,
    },
    /// Never replies.
    Hang,
    /// Closes the connection in the middle of the body.
    Disconnect,
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
    RawBody(Vec<u8>),
    /// A valid document whose stream goes wrong.
    Faulty(StreamFault),
    /// Exactly these events.
    RawEvents(String),
    /// A server that cannot stream: it answers with a whole body, also when asked for a stream.
    Whole(Box<ScriptedReply>),
}

/// What the server does on the connection.
pub enum ServerAction {
    Gated(ReplyGate, Box<ServerAction>),
    Respond { status: u16, headers: Vec<(&'static str, String)>, body: Vec<u8> },
    Disconnect { body: Vec<u8> },
    Stream { events: Vec<String>, fault: Option<StreamFault> },
    Hang,
}

impl ServerAction {
    pub fn ok_response(body: impl Into<Vec<u8>>) -> Self {
        Self::Respond { status: 200, headers: Vec::new(), body: body.into() }
    }

    fn error_response(status: u16, headers: Vec<(&'static str, String)>, message: &str) -> Self {
        let body = json!({ "error": { "message": message } }).to_string().into();
        Self::Respond { status, headers, body }
    }
}

/// Finish reason, independent of the dialect.
#[derive(Clone, Copy, PartialEq)]
enum ReplyFinish {
    Done,
    Length,
    Refusal,
}

impl ScriptedReply {
    /// The server's action, and the delay before it.
    pub fn into_action(self, seen: &ModelRequest) -> (Duration, ServerAction) {
        let reply = |text: &str, stop: ReplyFinish| {
            let body = render_reply(seen, text, stop);
            if seen.streamed {
                return ServerAction::Stream {
                    events: stream_events(seen.dialect, &body),
                    fault: None,
                };
            }
            ServerAction::ok_response(body.to_string())
        };
        let answer = match self {
            Self::Slow(wait, then) => {
                let (more, answer) = then.into_action(seen);
                return (wait + more, answer);
            }
            Self::Gated(gate, then) => {
                let (wait, answer) = then.into_action(seen);
                return (wait, ServerAction::Gated(gate, Box::new(answer)));
            }
            Self::Valid => reply(&valid_reply_text(seen), ReplyFinish::Done),
            Self::Reply(text) => reply(&text, ReplyFinish::Done),
            Self::Shortened(bytes) => reply(&shortened_text(bytes, seen), ReplyFinish::Done),
            Self::OutOfTokens(bytes) => reply(&shortened_text(bytes, seen), ReplyFinish::Length),
            Self::Status(status, headers, body) => {
                ServerAction::Respond { status, headers, body: body.into() }
            }
            Self::RateLimited { retry_after } => {
                ServerAction::error_response(429, vec![("retry-after", retry_after)], "slow down")
            }
            Self::Hang => ServerAction::Hang,
            Self::Disconnect => ServerAction::Disconnect { body: valid_body_text(seen).into() },
            Self::Malformed => ServerAction::ok_response("Well, {what} can I say"),
            Self::Truncated => {
                let whole = valid_reply_text(seen);
                reply(&whole[..whole.len() / 2], ReplyFinish::Length)
            }
            Self::Empty => reply("", ReplyFinish::Done),
            Self::Refusal => reply("", ReplyFinish::Refusal),
            Self::WrongType => {
                reply(&json!({ "summary": 7, "details": "none" }).to_string(), ReplyFinish::Done)
            }
            Self::Huge(bytes) => reply(&"x".repeat(bytes), ReplyFinish::Done),
            Self::RawBody(body) => ServerAction::ok_response(body),
            Self::Faulty(fault) => {
                let body = render_reply(seen, &valid_reply_text(seen), ReplyFinish::Done);
                let events = stream_events(seen.dialect, &body);
                ServerAction::Stream { events, fault: Some(fault) }
            }
            Self::RawEvents(events) => ServerAction::Stream { events: vec![events], fault: None },
            Self::Whole(then) => {
                return then.into_action(&ModelRequest { streamed: false, ..seen.clone() });
            }
        };
        (Duration::ZERO, answer)
    }
}

fn shortened_text(bytes: usize, seen: &ModelRequest) -> String {
    let mut text = valid_reply_text(seen);
    text.truncate(text.len() - bytes);
    text
}

fn valid_body_text(seen: &ModelRequest) -> String {
    render_reply(seen, &valid_reply_text(seen), ReplyFinish::Done).to_string()
}

/// A reply in the format of the dialect.
fn render_reply(seen: &ModelRequest, text: &str, stop: ReplyFinish) -> Value {
    let tokens = ((seen.system.len() + seen.user.len()) / 4, text.len() / 4);
    match seen.dialect {
        Dialect::OpenAi => openai_body(seen, text, stop, tokens),
        Dialect::Anthropic => anthropic_body(seen, text, stop, tokens),
        Dialect::Gemini => gemini_body(seen, text, stop, tokens),
    }
}

fn openai_body(
    seen: &ModelRequest,
    text: &str,
    stop: ReplyFinish,
    (input, output): (usize, usize),
) -> Value {
    let refused = stop == ReplyFinish::Refusal;
    let refusal = refused.then_some("I cannot help with that.");
    let reason = if stop == ReplyFinish::Length { "length" } else { "stop" };
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

fn anthropic_body(
    seen: &ModelRequest,
    text: &str,
    stop: ReplyFinish,
    (input, output): (usize, usize),
) -> Value {
    // A model that must use a tool passes its JSON to the tool.
    let given = serde_json::from_str::<Value>(text).ok().filter(|_| seen.structured);
    let content = match given {
        Some(given) => {
            json!([{ "type": "tool_use", "id": "toolu_1", "name": "x", "input": given }])
        }
        None if stop == ReplyFinish::Refusal => json!([]),
        None => json!([{ "type": "text", "text": text }]),
    };
    let reason = match stop {
        ReplyFinish::Done => "end_turn",
        ReplyFinish::Length => "max_tokens",
        ReplyFinish::Refusal => "refusal",
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

fn gemini_body(
    seen: &ModelRequest,
    text: &str,
    stop: ReplyFinish,
    (input, output): (usize, usize),
) -> Value {
    let usage = json!({ "promptTokenCount": input, "candidatesTokenCount": output });
    if stop == ReplyFinish::Refusal {
        return json!({ "promptFeedback": { "blockReason": "SAFETY" }, "usageMetadata": usage });
    }
    let reason = if stop == ReplyFinish::Length { "MAX_TOKENS" } else { "STOP" };
    json!({
        "candidates": [{
            "content": { "role": "model", "parts": [{ "text": text }] },
            "finishReason": reason,
        }],
        "usageMetadata": usage,
        "modelVersion": seen.model,
    })
}
