//! The server: accepts connections, records requests, replies by the script.

use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::JoinHandle;
use std::time::Instant;

use plenary_core::model::ask::TransportKind;
use plenary_core::model::plan::SeatRole;
use plenary_engine::providers::transport::{Dialect, Provider, WireSchema};
use serde_json::{Value, json};
use tokio::net::TcpSocket;
use tokio::sync::oneshot;

use super::connection::{HttpConnection, HttpRequest};
use super::scripted_reply::{ScriptedReply, ServerAction};

/// Model names that the server lists.
pub const MODEL_NAMES: [&str; 3] = ["gpt-4o", "claude-sonnet-4-20250514", "gemini-2.0-flash"];

/// Up to 1,500 clients connect at once.
const BACKLOG: u32 = 4_096;

/// A request as received.
#[derive(Debug, Clone)]
pub struct ModelRequest {
    pub dialect: Dialect,
    pub path: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Value,
    pub model: String,
    pub system: String,
    pub user: String,
    /// Whether the request has a schema.
    pub structured: bool,
    /// Whether the request asks for a stream.
    pub streamed: bool,
    /// Counts all requests from 1.
    pub nth: usize,
    /// Counts the requests to this model from 1.
    pub nth_of_model: usize,
    pub received_at: Instant,
}

impl ModelRequest {
    pub fn find_header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The program's own text: the system message, and the user message without its fences.
    pub fn instructions(&self) -> String {
        let mut own = format!("{}\n", self.system);
        let mut end: Option<String> = None;
        for line in self.user.lines() {
            match (&end, line.strip_prefix("===== BEGIN ")) {
                (Some(closing), _) if line == closing => end = None,
                (Some(_), _) => {}
                (None, Some(label)) => end = Some(format!("===== END {label}")),
                (None, None) => own.extend([line, "\n"]),
            }
        }
        own
    }
}

type ReplyScript = dyn Fn(&ModelRequest) -> ScriptedReply + Send + Sync;

struct ServerState {
    script: Box<ReplyScript>,
    requests: Mutex<Vec<ModelRequest>>,
    counts_by_model: Mutex<HashMap<String, usize>>,
    connections: AtomicUsize,
    hanging: AtomicUsize,
}

pub struct ModelServer {
    state: Arc<ServerState>,
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl ModelServer {
    pub fn start(script: impl Fn(&ModelRequest) -> ScriptedReply + Send + Sync + 'static) -> Self {
        let house = Arc::new(ServerState {
            script: Box::new(script),
            requests: Mutex::default(),
            counts_by_model: Mutex::default(),
            connections: AtomicUsize::new(0),
            hanging: AtomicUsize::new(0),
        });
        let (stop, stopped) = oneshot::channel();
        let (tell, result) = mpsc::channel();
        let serving = Arc::clone(&house);
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.unwrap().block_on(async move {
                tokio::select! {
                    () = accept_connections(serving, tell) => {}
                    _ = stopped => {}
                }
            });
        });
        Self {
            state: house,
            address: result.recv().unwrap(),
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// The value for a provider's `base_url`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// All requests so far.
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.state.requests.lock().unwrap().clone()
    }

    /// Number of connections ever opened.
    pub fn connection_count(&self) -> usize {
        self.state.connections.load(Ordering::SeqCst)
    }

    /// Number of clients that still wait for an answer that never comes.
    pub fn hanging_count(&self) -> usize {
        self.state.hanging.load(Ordering::SeqCst)
    }

    /// A provider whose model is this server.
    pub fn make_provider(&self, name: &str, dialect: Dialect) -> Provider {
        Provider {
            name: name.parse().unwrap(),
            roles: vec![SeatRole::Participant],
            model: "test-model".to_owned(),
            family: name.to_owned(),
            version: None,
            transports: vec![TransportKind::Http],
            dialect: Some(dialect),
            base_url: Some(self.base_url()),
            key_variable: None,
            key: None,
            command: Vec::new(),
            mcp: None,
            price: None,
            output_tokens_max: 1_000,
            temperature: None,
            input_tokens_max: None,
            effort: None,
            lens: None,
            lenses: Vec::new(),
            timeouts: None,
            wire_schema: WireSchema::Auto,
            max_in_flight: None,
        }
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        drop(self.stop.take());
        let ended = self.thread.take().unwrap().join();
        // A second panic would hide the first.
        assert!(ended.is_ok() || std::thread::panicking(), "the model server broke down");
    }
}

async fn accept_connections(house: Arc<ServerState>, tell: mpsc::Sender<SocketAddr>) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
    let listener = socket.listen(BACKLOG).unwrap();
    tell.send(listener.local_addr().unwrap()).unwrap();
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        house.connections.fetch_add(1, Ordering::SeqCst);
        let house = Arc::clone(&house);
        tokio::spawn(async move {
            let Ok(mut connection) = HttpConnection::new(stream) else { return };
            // Ignore clients that disconnect early.
            while let Ok(Some(incoming)) = connection.next_request().await {
                let (wait, answer) = house.respond_to(incoming);
                let hangs = usize::from(matches!(answer, ServerAction::Hang));
                house.hanging.fetch_add(hangs, Ordering::SeqCst);
                let is_open = connection.send_action(wait, answer).await.unwrap_or(false);
                house.hanging.fetch_sub(hangs, Ordering::SeqCst);
                if !is_open {
                    break;
                }
            }
        });
    }
}

impl ServerState {
    fn respond_to(&self, incoming: HttpRequest) -> (std::time::Duration, ServerAction) {
        if incoming.method == "GET" && incoming.path.contains("/models") {
            return (
                std::time::Duration::ZERO,
                ServerAction::ok_response(models_document().to_string()),
            );
        }
        let Some(seen) = self.parse_request(incoming) else {
            let body = b"404 page not found".to_vec();
            let lost = ServerAction::Respond { status: 404, headers: Vec::new(), body };
            return (std::time::Duration::ZERO, lost);
        };
        let played = (self.script)(&seen).into_action(&seen);
        self.requests.lock().unwrap().push(seen);
        played
    }

    fn parse_request(&self, incoming: HttpRequest) -> Option<ModelRequest> {
        let HttpRequest { path, headers, body, .. } = incoming;
        let dialect = dialect_of(&path)?;
        let body: Value = serde_json::from_slice(&body).ok()?;
        let text = |pointer: &str| {
            body.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let (model, system, user, schema) = match dialect {
            Dialect::OpenAi => (
                text("/model"),
                text("/messages/0/content"),
                text("/messages/1/content"),
                "/response_format/json_schema",
            ),
            Dialect::Anthropic => (text("/model"), text("/system"), content_text(&body), "/tools"),
            Dialect::Gemini => (
                path.rsplit('/').next()?.split(':').next()?.to_owned(),
                text("/systemInstruction/parts/0/text"),
                text("/contents/0/parts/0/text"),
                "/generationConfig/responseSchema",
            ),
        };
        let structured = body.pointer(schema).or(body.pointer("/output_config/format")).is_some();
        let streamed = body["stream"] == true || path.contains(":streamGenerateContent?alt=sse");
        let (nth, nth_of_model) = self.count_request(&model);
        let at = Instant::now();
        Some(ModelRequest {
            dialect,
            path,
            headers,
            body,
            model,
            system,
            user,
            structured,
            streamed,
            nth,
            nth_of_model,
            received_at: at,
        })
    }

    fn count_request(&self, model: &str) -> (usize, usize) {
        let mut of_model = self.counts_by_model.lock().unwrap();
        *of_model.entry(model.to_owned()).or_default() += 1;
        (of_model.values().sum(), of_model[model])
    }
}

fn dialect_of(path: &str) -> Option<Dialect> {
    [
        ("/chat/completions", Dialect::OpenAi),
        ("/messages", Dialect::Anthropic),
        (":generateContent", Dialect::Gemini),
        (":streamGenerateContent?alt=sse", Dialect::Gemini),
    ]
    .into_iter()
    .find_map(|(end, dialect)| path.ends_with(end).then_some(dialect))
}

/// The user message of Anthropic's dialect: text, or blocks of text.
fn content_text(body: &Value) -> String {
    let content = &body["messages"][0]["content"];
    let blocks = content.as_array().into_iter().flatten();
    let blocks: String = blocks.filter_map(|block| block["text"].as_str()).collect();
    content.as_str().map_or(blocks, str::to_owned)
}

/// The model list in the formats of all dialects at once.
fn models_document() -> Value {
    json!({
        "data": MODEL_NAMES.map(|name| json!({ "id": name })),
        "models": MODEL_NAMES.map(|name| json!({ "name": format!("models/{name}") })),
    })
}
