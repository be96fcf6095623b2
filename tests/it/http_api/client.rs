//! A client of the API: requests with and without the token, and event streams.

use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::mcp::http_harness::{HttpServerProcess, ServerResponse};

/// A test that waits longer has hung.
pub const HUNG: Duration = Duration::from_secs(120);

/// Sends a request with the token.
pub fn send(served: &HttpServerProcess, method: &str, path: &str, body: &Value) -> ServerResponse {
    let bearer = format!("Bearer {}", served.token);
    let headers = [
        ("Host", served.address.as_str()),
        ("Authorization", bearer.as_str()),
        ("Content-Type", "application/json"),
    ];
    let body = if method == "GET" { String::new() } else { body.to_string() };
    served.send_request(method, path, &headers, body.as_bytes())
}

/// The JSON of a successful answer.
#[track_caller]
pub fn get_json(served: &HttpServerProcess, path: &str) -> Value {
    let result = send(served, "GET", path, &Value::Null);
    assert_eq!(result.status, 200, "{path}: {result:?}");
    serde_json::from_str(&result.body).unwrap_or_else(|error| panic!("{path}: {error}: {result:?}"))
}

/// Starts a rehearsed council and returns its id.
#[track_caller]
pub fn start_council(served: &HttpServerProcess, question: &str) -> String {
    let body = json!({ "question": question, "rehearse": true });
    let result = send(served, "POST", "/api/ask", &body);
    assert_eq!(result.status, 202, "{result:?}");
    let answer: Value = serde_json::from_str(&result.body).unwrap();
    answer["dialogue_id"].as_str().unwrap().to_owned()
}

/// Waits until the dialogue is in this state.
#[track_caller]
pub fn wait_for_state(served: &HttpServerProcess, id: &str, state: &str) {
    let until = Instant::now() + HUNG;
    loop {
        let rows = get_json(served, "/api/dialogues?limit=100");
        let row = rows["dialogues"].as_array().unwrap().iter().find(|row| row["dialogue_id"] == id);
        if row.is_some_and(|row| row["state"] == state) {
            return;
        }
        assert!(Instant::now() < until, "{id} is not {state}: {row:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// An open event stream.
pub struct EventStream {
    lines: BufReader<TcpStream>,
}

/// An event with its id; transient events have none.
#[derive(Debug, Clone, PartialEq)]
pub struct StreamEvent {
    pub id: Option<String>,
    pub data: Value,
}

impl EventStream {
    /// Follows dialogues after an event.
    pub fn open(served: &HttpServerProcess, ids: &[&str], after: Option<&str>) -> Self {
        let query: Vec<String> = ids.iter().map(|id| format!("dialogue={id}")).collect();
        let path = format!("/api/events?{}", query.join("&"));
        let bearer = format!("Bearer {}", served.token);
        let mut headers = vec![("Host", served.address.as_str()), ("Authorization", &bearer)];
        headers.extend(after.map(|id| ("Last-Event-ID", id)));
        let stream = served.send_unread("GET", &path, &headers, b"");
        stream.set_read_timeout(Some(HUNG)).unwrap();
        Self { lines: BufReader::new(stream) }
    }

    /// The lines before the first event: the head of the answer, and what the browser must know.
    pub fn read_head(&mut self) -> String {
        let mut head = String::new();
        while !head.contains("retry: ") {
            assert_ne!(self.lines.read_line(&mut head).unwrap(), 0, "{head}");
        }
        head.to_lowercase()
    }

    /// The next event; none when the stream has ended.
    pub fn next_event(&mut self) -> Option<StreamEvent> {
        let mut id = None;
        loop {
            let mut line = String::new();
            if self.lines.read_line(&mut line).unwrap_or(0) == 0 {
                return None;
            }
            if let Some(text) = line.strip_prefix("id: ") {
                id = Some(text.trim().to_owned());
            }
            if let Some(text) = line.strip_prefix("data: ") {
                return Some(StreamEvent { id, data: serde_json::from_str(text).unwrap() });
            }
        }
    }

    /// The events of the journal up to one with this name.
    #[track_caller]
    pub fn read_until(&mut self, name: &str) -> Vec<StreamEvent> {
        let mut events = Vec::new();
        loop {
            let event = self.next_event().unwrap_or_else(|| panic!("no {name}: {events:?}"));
            let is_last = event.data["event"] == name;
            events.extend(Some(event).filter(|event| event.id.is_some()));
            if is_last {
                return events;
            }
        }
    }
}
