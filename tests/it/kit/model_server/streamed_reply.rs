//! Replies as server-sent events, whole or faulty, in each dialect.

use std::time::Duration;

use plenary_engine::providers::transport::Dialect;
use serde_json::{Value, json};

/// How a stream goes wrong. Counts are bytes of the event stream.
#[derive(Debug, Clone, Copy)]
pub enum StreamFault {
    /// The connection breaks.
    Cut(usize),
    /// The stream ends in good order, but too early.
    Ended(usize),
    /// Nothing more arrives, and the connection stays open.
    Silent(usize),
    /// All events arrive, then comments for ever: the connection stays open.
    OpenAfterEnd,
    /// The connection breaks after the last event.
    CutAfterEnd,
    /// The header that says it is a stream is missing.
    Undeclared,
    /// Each event takes this long.
    Slow(Duration),
}

/// Parts into which the text of a reply is divided.
const PARTS: usize = 8;

/// A whole body of the dialect as the events that a server would stream.
pub fn stream_events(dialect: Dialect, body: &Value) -> Vec<String> {
    match dialect {
        Dialect::OpenAi => openai_events(body),
        Dialect::Anthropic => anthropic_events(body),
        Dialect::Gemini => gemini_events(body),
    }
}

fn data_event(document: &Value) -> String {
    format!("data: {document}\n\n")
}

/// Divides a text at character boundaries.
fn divide_text(text: &str) -> Vec<&str> {
    let size = text.len().div_ceil(PARTS).max(1);
    let (mut parts, mut rest) = (Vec::new(), text);
    while !rest.is_empty() {
        let (part, more) = rest.split_at(rest.ceil_char_boundary(size));
        parts.push(part);
        rest = more;
    }
    parts
}

fn openai_events(body: &Value) -> Vec<String> {
    let choice = &body["choices"][0];
    let chunk = |delta: Value, finish: &Value| {
        data_event(&json!({
            "id": body["id"], "object": "chat.completion.chunk", "model": body["model"],
            "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }],
        }))
    };
    let mut events = vec![chunk(json!({ "role": "assistant", "content": "" }), &Value::Null)];
    let text = choice["message"]["content"].as_str().unwrap_or_default();
    events.extend(
        divide_text(text).iter().map(|part| chunk(json!({ "content": part }), &Value::Null)),
    );
    if let Some(refusal) = choice["message"]["refusal"].as_str() {
        events.push(chunk(json!({ "refusal": refusal }), &Value::Null));
    }
    events.push(chunk(json!({}), &choice["finish_reason"]));
    events.push(data_event(&json!({ "choices": [], "usage": body["usage"] })));
    events.push("data: [DONE]\n\n".to_owned());
    events
}

fn anthropic_events(body: &Value) -> Vec<String> {
    let event = |document: Value| {
        format!("event: {}\n{}", document["type"].as_str().unwrap(), data_event(&document))
    };
    let mut usage = body["usage"].clone();
    let output = usage["output_tokens"].take();
    usage["output_tokens"] = json!(1);
    let mut message = body.clone();
    message["content"] = json!([]);
    message["stop_reason"] = Value::Null;
    message["usage"] = usage;
    let mut events = vec![event(json!({ "type": "message_start", "message": message }))];
    for (index, block) in body["content"].as_array().unwrap().iter().enumerate() {
        let is_tool = block["type"] == "tool_use";
        let text = if is_tool {
            block["input"].to_string()
        } else {
            block["text"].as_str().unwrap().to_owned()
        };
        let mut empty = block.clone();
        empty[if is_tool { "input" } else { "text" }] = if is_tool { json!({}) } else { json!("") };
        events.push(event(
            json!({ "type": "content_block_start", "index": index, "content_block": empty }),
        ));
        events.push(event(json!({ "type": "ping" })));
        for part in divide_text(&text) {
            let delta = match is_tool {
                true => json!({ "type": "input_json_delta", "partial_json": part }),
                false => json!({ "type": "text_delta", "text": part }),
            };
            events.push(event(
                json!({ "type": "content_block_delta", "index": index, "delta": delta }),
            ));
        }
        events.push(event(json!({ "type": "content_block_stop", "index": index })));
    }
    events.push(event(json!({
        "type": "message_delta", "delta": { "stop_reason": body["stop_reason"] },
        "usage": { "output_tokens": output },
    })));
    events.push(event(json!({ "type": "message_stop" })));
    events
}

fn gemini_events(body: &Value) -> Vec<String> {
    let candidate = &body["candidates"][0];
    let Some(text) = candidate["content"]["parts"][0]["text"].as_str() else {
        return vec![data_event(body)];
    };
    let chunk = |text: &str, finish: &Value| {
        data_event(&json!({
            "candidates": [{
                "content": { "role": "model", "parts": [{ "text": text }] },
                "finishReason": finish,
            }],
            "usageMetadata": body["usageMetadata"],
            "modelVersion": body["modelVersion"],
        }))
    };
    let parts = divide_text(text);
    let mut events: Vec<String> = parts.iter().map(|part| chunk(part, &Value::Null)).collect();
    events.push(chunk("", &candidate["finishReason"]));
    events
}
