//! A scripted model that calls tools, in the wire formats that the agent programs speak.

use serde_json::{Value, json};

use super::server::ModelCall;

/// A tool that the model calls, by the end of its name, and its JSON arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolStep {
    pub tool: &'static str,
    pub arguments: &'static str,
}

/// The events of the next call; `None` after the last one.
pub fn next_call(called: &ModelCall, steps: &[ToolStep]) -> Option<Vec<Value>> {
    let nth = tool_results(&called.body).len();
    let step = steps.get(nth)?;
    let arguments: Value = serde_json::from_str(step.arguments).unwrap();
    let (namespace, tool) = find_tool_name(&called.body["tools"], step.tool)
        .unwrap_or_else(|| panic!("{} was not offered: {}", step.tool, called.body["tools"]));
    let id = format!("call_{nth}");
    Some(if called.path.starts_with("/v1/messages") {
        messages_events(&id, &tool, &arguments)
    } else if called.path.starts_with("/v1/responses") {
        responses_events(&id, namespace, &tool, &arguments)
    } else {
        let content = json!({"role": "model", "parts": [{"functionCall": {"name": tool, "args": arguments}}]});
        vec![json!({"candidates": [{"content": content, "finishReason": "STOP", "index": 0}]})]
    })
}

/// The tool results so far.
pub fn tool_results(body: &Value) -> Vec<&Value> {
    let kinds = ["tool_result", "function_call_output"];
    match body {
        Value::Object(fields) => {
            let is_result = fields
                .get("type")
                .and_then(Value::as_str)
                .is_some_and(|kind| kinds.contains(&kind));
            if is_result || fields.contains_key("functionResponse") {
                return vec![body];
            }
            fields.values().flat_map(tool_results).collect()
        }
        Value::Array(values) => values.iter().flat_map(tool_results).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

/// The agent's name for a tool: agents add the server's name as a prefix or a namespace.
fn find_tool_name(tools: &Value, end: &str) -> Option<(Option<String>, String)> {
    let list = tools.as_array()?;
    list.iter().find_map(|tool| {
        let name = tool["name"].as_str();
        let inner = tool.get("tools").or_else(|| tool.get("functionDeclarations"));
        match (inner, name) {
            (Some(inner), space) => {
                let (_, tool) = find_tool_name(inner, end)?;
                Some((space.map(str::to_owned), tool))
            }
            (None, Some(name)) if name.ends_with(end) => Some((None, name.to_owned())),
            (None, _) => None,
        }
    })
}

fn messages_events(id: &str, tool: &str, arguments: &Value) -> Vec<Value> {
    let usage = json!({"input_tokens": 11, "output_tokens": 1});
    let message = json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "answering-model", "content": [], "stop_reason": null, "usage": usage});
    let block = json!({"type": "tool_use", "id": id, "name": tool, "input": {}});
    let delta = json!({"type": "input_json_delta", "partial_json": arguments.to_string()});
    vec![
        json!({"type": "message_start", "message": message}),
        json!({"type": "content_block_start", "index": 0, "content_block": block}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 7}}),
        json!({"type": "message_stop"}),
    ]
}

fn responses_events(
    id: &str,
    namespace: Option<String>,
    tool: &str,
    arguments: &Value,
) -> Vec<Value> {
    let mut item = json!({"type": "function_call", "id": "f1", "call_id": id, "name": tool, "arguments": arguments.to_string(), "status": "completed"});
    if let Some(namespace) = namespace {
        item["namespace"] = namespace.into();
    }
    let usage = json!({"input_tokens": 11, "output_tokens": 7, "total_tokens": 18});
    vec![
        json!({"type": "response.created", "response": {"id": "r1"}}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
        json!({"type": "response.completed", "response": {"id": "r1", "output": [item], "usage": usage}}),
    ]
}
