//! Harness: `plenary serve` and an HTTP client.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::kit::{TestProgram, plenary_binary};

/// `plenary serve` on a free port.
pub struct HttpServerProcess {
    server: Child,
    pub address: String,
    pub port: u16,
    pub token: String,
}

/// An HTTP response.
#[derive(Debug)]
pub struct ServerResponse {
    pub status: u16,
    head: String,
    pub body: String,
}

impl ServerResponse {
    /// The value of a header.
    pub fn header(&self, wanted: &str) -> Option<String> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        let found = lines.find(|(name, _)| name.eq_ignore_ascii_case(wanted));
        found.map(|(_, value)| value.to_owned())
    }

    /// The session that was opened.
    #[track_caller]
    pub fn session_id(&self) -> String {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        let mut sessions = lines.filter(|(name, _)| name.eq_ignore_ascii_case("mcp-session-id"));
        sessions.next().unwrap_or_else(|| panic!("{self:?}")).1.to_owned()
    }

    /// The message in the body, which is one message or an event stream with one.
    #[track_caller]
    pub fn parse_message(&self) -> Value {
        let start = self.body.find("{\"").unwrap_or_else(|| panic!("{self:?}"));
        let mut values = serde_json::Deserializer::from_str(&self.body[start..]).into_iter();
        values.next().unwrap().unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

impl HttpServerProcess {
    pub fn new(program: &TestProgram) -> Self {
        Self::with_options(program, &[])
    }

    pub fn with_options(program: &TestProgram, options: &[&str]) -> Self {
        let mut command = program.command();
        command.args(["serve", "--port", "0"]).args(options);
        Self::spawn_server(program, command)
    }

    /// The same, with a limit on open files.
    pub fn with_file_limit(program: &TestProgram, files_max: u32) -> Self {
        let limited = format!("ulimit -n {files_max} && exec \"$0\" serve --port 0");
        let mut command = Command::new("/bin/sh");
        command.current_dir(program.path()).env_clear().stdin(Stdio::null());
        command.args(["-c", &limited]).arg(plenary_binary());
        Self::spawn_server(program, command)
    }

    fn spawn_server(program: &TestProgram, mut command: Command) -> Self {
        let mut server = command.stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(server.stderr.take().unwrap());
        let mut printed = String::new();
        while !printed.contains("the token is in") {
            assert_ne!(lines.read_line(&mut printed).unwrap(), 0, "it did not serve: {printed}");
        }
        // Drain the output, so that a full pipe cannot block the server.
        std::thread::spawn(move || lines.read_to_end(&mut Vec::new()));
        let url = printed.split_once("serving MCP on http://").unwrap().1;
        let address = url.split_once("/mcp").unwrap().0.to_owned();
        let port = address.rsplit_once(':').unwrap().1.parse().unwrap();
        let token = std::fs::read_to_string(program.path().join(".plenary/token")).unwrap();
        Self { server, address, port, token }
    }

    pub fn send_request(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> ServerResponse {
        read_response(self.send_unread(method, path, headers, body))
    }

    /// Sends a request and returns the stream before reading the answer.
    pub fn send_unread(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!("Content-Length: {}\r\n\r\n", body.len()));
        // The server may close the connection before it has read everything.
        let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
        stream
    }

    /// Posts a message with a valid token.
    pub fn post_message(&self, body: &[u8]) -> ServerResponse {
        read_response(self.start_request("POST", None, body))
    }

    /// The same, in a session.
    pub fn post_in_session(&self, session: &str, message: &Value) -> ServerResponse {
        read_response(self.start_request("POST", Some(session), message.to_string().as_bytes()))
    }

    /// Starts a request with a valid token; the caller reads the answer.
    pub fn start_request(&self, method: &str, session: Option<&str>, body: &[u8]) -> TcpStream {
        let bearer = format!("Bearer {}", self.token);
        let mut headers = vec![
            ("Host", self.address.as_str()),
            ("Authorization", &bearer),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ];
        headers.extend(session.map(|session| ("Mcp-Session-Id", session)));
        self.send_unread(method, "/mcp", &headers, body)
    }

    /// Initialises and returns the session.
    pub fn open_session(&self) -> String {
        let session = self.post_message(initialize_message().to_string().as_bytes()).session_id();
        let note = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        self.post_in_session(&session, &note);
        session
    }

    pub fn send_signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.server), signal).unwrap();
    }

    /// Waits for the exit status; `None` on timeout.
    pub fn wait_exit(&mut self, time: Duration) -> Option<ExitStatus> {
        let until = Instant::now() + time;
        while Instant::now() < until {
            if let Some(status) = self.server.try_wait().unwrap() {
                return Some(status);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        None
    }
}

impl Drop for HttpServerProcess {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// A call of a tool.
pub fn call_message(id: u64, tool: &str, arguments: &Value) -> Value {
    let params = json!({ "name": tool, "arguments": arguments });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}

pub fn initialize_message() -> Value {
    let client = json!({ "name": "test", "version": "1" });
    let params =
        json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params })
}

/// Reads the whole answer. An event stream stays open; its first answer is enough.
pub fn read_response(mut stream: TcpStream) -> ServerResponse {
    let mut answer = Vec::new();
    let mut chunk = [0; 65_536];
    while let Ok(read @ 1..) = stream.read(&mut chunk) {
        answer.extend_from_slice(&chunk[..read]);
        let text = String::from_utf8_lossy(&answer);
        let is_first = text.contains("\"jsonrpc\"") || text.contains("retry: 2000");
        if text.contains("text/event-stream") && is_first && text.ends_with("\n\n\r\n") {
            break;
        }
    }
    let text = String::from_utf8_lossy(&answer).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    ServerResponse { status, head: head.to_owned(), body: body.to_owned() }
}
