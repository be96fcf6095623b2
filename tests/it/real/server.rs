//! A scripted model server on loopback, in the wire formats of the agent programs. It gives the
//! same reply to every call and records the calls.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

use super::tool_script::{ToolStep, next_call};

/// How the server reacts to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentReply {
    Answer,
    /// Calls these tools, one after another, before it answers.
    CallTools(&'static [ToolStep]),
    Refuse(u16),
    Hang,
}

/// A call to a model: path, headers and body.
#[derive(Debug, Clone)]
pub struct ModelCall {
    pub path: String,
    pub headers: String,
    pub body: Value,
}

#[derive(Debug, Clone)]
pub struct AgentModelServer {
    pub port: u16,
    calls: Arc<Mutex<Vec<ModelCall>>>,
}

impl AgentModelServer {
    /// Serves until the test's runtime ends.
    pub async fn start(behaviour: AgentReply) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = Self { port, calls: Arc::default() };
        let serving = server.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let serving = serving.clone();
                tokio::spawn(async move { serving.handle_connection(stream, behaviour).await });
            }
        });
        server
    }

    pub fn base_url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub fn recorded_calls(&self) -> Vec<ModelCall> {
        self.calls.lock().unwrap().clone()
    }

    /// One request per connection; requests other than model calls get an empty answer.
    async fn handle_connection(&self, stream: TcpStream, behaviour: AgentReply) -> Option<()> {
        let mut stream = BufReader::new(stream);
        let called = read_call(&mut stream).await?;
        let asks = called.body.is_object();
        if asks {
            self.calls.lock().unwrap().push(called.clone());
        }
        let (status, kind, text) = match behaviour {
            _ if !asks => (200, "application/json", "{}".to_owned()),
            AgentReply::Answer => (200, "text/event-stream", answer_body(&called.path)),
            AgentReply::CallTools(steps) => {
                let call = next_call(&called, steps).map(|call| event_stream(&call));
                (200, "text/event-stream", call.unwrap_or_else(|| answer_body(&called.path)))
            }
            AgentReply::Refuse(status) => {
                (status, "application/json", refusal_body(&called.path, status).to_string())
            }
            AgentReply::Hang => return std::future::pending().await,
        };
        let length = text.len();
        let head = format!(
            "HTTP/1.1 {status} Scripted\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).await.ok()?;
        stream.write_all(text.as_bytes()).await.ok()?;
        stream.shutdown().await.ok()
    }
}

async fn read_call(stream: &mut BufReader<TcpStream>) -> Option<ModelCall> {
    let mut first = String::new();
    stream.read_line(&mut first).await.ok()?;
    let mut headers = String::new();
    while stream.read_line(&mut headers).await.ok()? > 2 {}
    let headers = headers.to_lowercase();
    let length = headers.lines().find_map(|line| line.strip_prefix("content-length:"));
    let length: usize = length.map_or(Some(0), |length| length.trim().parse().ok())?;
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    let path = first.split(' ').nth(1)?.to_owned();
    Some(ModelCall { path, headers, body: serde_json::from_slice(&body).unwrap_or_default() })
}

/// `PONG`, for eleven tokens in and seven out.
fn answer_body(path: &str) -> String {
    if path.starts_with("/v1/messages") {
        let usage = json!({"input_tokens": 11, "output_tokens": 1});
        let message = json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "answering-model", "content": [], "stop_reason": null, "usage": usage});
        return event_stream(&[
            json!({"type": "message_start", "message": message}),
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "PONG"}}),
            json!({"type": "content_block_stop", "index": 0}),
            json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 7}}),
            json!({"type": "message_stop"}),
        ]);
    }
    if path.starts_with("/v1/responses") {
        let content = json!([{"type": "output_text", "text": "PONG", "annotations": []}]);
        let item = json!({"type": "message", "id": "m1", "role": "assistant", "status": "completed", "content": content});
        let usage = json!({"input_tokens": 11, "output_tokens": 7, "total_tokens": 18});
        return event_stream(&[
            json!({"type": "response.created", "response": {"id": "r1"}}),
            json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
            json!({"type": "response.completed", "response": {"id": "r1", "output": [item], "usage": usage}}),
        ]);
    }
    assert!(path.contains(":streamGenerateContent"), "nobody scripted {path}");
    let content = json!({"role": "model", "parts": [{"text": "PONG"}]});
    let usage = json!({"promptTokenCount": 11, "candidatesTokenCount": 7, "totalTokenCount": 18});
    event_stream(&[
        json!({"candidates": [{"content": content, "finishReason": "STOP", "index": 0}], "usageMetadata": usage, "modelVersion": "answering-model"}),
    ])
}

fn event_stream(events: &[Value]) -> String {
    let text = |event: &Value| match event["type"].as_str() {
        Some(kind) => format!("event: {kind}\ndata: {event}\n\n"),
        None => format!("data: {event}\n\n"),
    };
    events.iter().map(text).collect()
}

fn refusal_body(path: &str, status: u16) -> Value {
    if path.starts_with("/v1/messages") {
        return json!({"type": "error", "error": {"type": "api_error", "message": "scripted"}});
    }
    json!({"error": {"code": status, "message": "scripted", "status": "SCRIPTED", "type": "scripted"}})
}
