//! A minimal MCP client over stdio.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::kit::{TestProgram, value_at};

/// Timeout after which the server counts as hung.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

/// A client of `plenary mcp` in a folder.
pub struct StdioClient {
    server: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    next_id: u64,
    /// Keeps the folder alive if this client owns it.
    _own_folder: Option<TestProgram>,
    /// Messages received while waiting for an answer.
    pub notices: Vec<Value>,
}

impl StdioClient {
    /// Starts the server and initialises with the most common protocol version.
    pub fn new(program: &TestProgram) -> Self {
        Self::with_arguments(program, &["mcp"])
    }

    /// The same, in a folder owned by this client.
    pub fn in_own_folder() -> Self {
        let program = TestProgram::new();
        let mut agent = Self::new(&program);
        agent._own_folder = Some(program);
        agent
    }

    pub fn with_arguments(program: &TestProgram, arguments: &[&str]) -> Self {
        Self::without_handshake(program, arguments).initialize()
    }

    /// The same, with a prepared command.
    pub fn from_command(command: Command) -> Self {
        Self::spawn_server(command).initialize()
    }

    /// Sends the initialisation.
    fn initialize(mut self) -> Self {
        let agent = &mut self;
        let client = json!({ "name": "test", "version": "1" });
        let hello =
            json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
        agent.request_ok("initialize", &hello);
        agent.send_message(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        self
    }

    /// The same, in a folder below the program's own.
    pub fn in_subfolder(program: &TestProgram, folder: &Path) -> Self {
        Self::in_subfolder_with(program, folder, &["mcp"])
    }

    pub fn in_subfolder_with(program: &TestProgram, folder: &Path, arguments: &[&str]) -> Self {
        let mut command = program.command();
        command.current_dir(folder).args(arguments);
        Self::spawn_server(command).initialize()
    }

    /// Starts the server without initialisation.
    pub fn without_handshake(program: &TestProgram, arguments: &[&str]) -> Self {
        let mut command = program.command();
        command.args(arguments);
        Self::spawn_server(command)
    }

    /// Starts the server with the caller's command.
    pub fn without_handshake_from(command: Command) -> Self {
        Self::spawn_server(command).initialize()
    }

    /// The process number of the server.
    pub fn process_id(&self) -> u32 {
        self.server.id()
    }

    fn spawn_server(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut server = command.spawn().unwrap();
        let (input, output) = (server.stdin.take(), server.stdout.take().unwrap());
        let (received, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines() {
                if received.send(line.unwrap()).is_err() {
                    return;
                }
            }
        });
        Self { server, input, lines, next_id: 1, _own_folder: None, notices: Vec::new() }
    }

    pub fn send_message(&mut self, message: &Value) {
        self.send_line(message.to_string().as_bytes());
    }

    /// Sends bytes as they are, in one write.
    pub fn send_bytes(&mut self, bytes: &[u8]) {
        self.input.as_mut().unwrap().write_all(bytes).unwrap();
    }

    pub fn send_line(&mut self, line: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line).and_then(|()| input.write_all(b"\n")).unwrap();
        input.flush().unwrap();
    }

    /// Sends the last bytes and closes stdin.
    pub fn send_last(&mut self, bytes: &[u8]) {
        self.input.take().unwrap().write_all(bytes).unwrap();
    }

    /// Waits for the exit code; `None` on timeout.
    pub fn wait_exit(&mut self, time: Duration) -> Option<i32> {
        let until = Instant::now() + time;
        while Instant::now() < until {
            if let Some(status) = self.server.try_wait().unwrap() {
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        None
    }

    /// The next message from the server.
    pub fn next_message(&mut self) -> Value {
        let line = self.lines.recv_timeout(ANSWER_TIMEOUT).expect("the server says nothing");
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("not a message: {line}"))
    }

    /// Sends a request and returns its id.
    pub fn send_request(&mut self, method: &str, params: &Value) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        self.send_message(
            &json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }),
        );
        id
    }

    /// The whole answer to a request; other messages are kept in `notices`.
    pub fn wait_answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.next_message();
            if message.get("id") == Some(&json!(id)) {
                return message;
            }
            self.notices.push(message);
        }
    }

    /// The result of a request that must succeed.
    #[track_caller]
    pub fn request_ok(&mut self, method: &str, params: &Value) -> Value {
        let id = self.send_request(method, params);
        let answer = self.wait_answer(id);
        assert!(answer.get("result").is_some(), "{method}: {answer:#}");
        answer["result"].clone()
    }

    /// The answer of a tool, success or error.
    pub fn call_tool(&mut self, name: &str, arguments: &Value) -> Value {
        self.request_ok("tools/call", &json!({ "name": name, "arguments": arguments }))
    }

    /// The answer of a tool that must succeed; its text must equal its structured content, or have its
    /// main fields if that is long.
    #[track_caller]
    pub fn call_tool_ok(&mut self, name: &str, arguments: &Value) -> Value {
        let result = self.call_tool(name, arguments);
        assert_ne!(result["isError"], json!(true), "{name}: {result:#}");
        let text: Value =
            serde_json::from_str(value_at(&result, "content.0.text").as_str().unwrap()).unwrap();
        let whole = &result["structuredContent"];
        match text.get("note").is_some() && text != *whole {
            true => assert_eq!(text["dialogue_id"], whole["dialogue_id"], "{name}"),
            false => assert_eq!(text, *whole, "{name}"),
        }
        whole.clone()
    }

    /// The error document of a tool that must fail: text only.
    #[track_caller]
    pub fn call_tool_error(&mut self, name: &str, arguments: &Value) -> Value {
        let result = self.call_tool(name, arguments);
        assert_eq!(result["isError"], json!(true), "{name}: {result:#}");
        assert!(result.get("structuredContent").is_none(), "{name}: {result:#}");
        serde_json::from_str(value_at(&result, "content.0.text").as_str().unwrap()).unwrap()
    }

    /// Closes stdin as a client does; returns the server's exit code and stderr.
    pub fn close_client(mut self) -> (i32, String) {
        drop(self.input.take());
        let mut printed = String::new();
        let mut stderr = self.server.stderr.take().unwrap();
        std::io::Read::read_to_string(&mut stderr, &mut printed).unwrap();
        (self.server.wait().unwrap().code().unwrap_or(-1), printed)
    }

    /// Kills the server.
    pub fn kill_server(mut self) {
        self.server.kill().unwrap();
        self.server.wait().unwrap();
    }
}

impl Drop for StdioClient {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
