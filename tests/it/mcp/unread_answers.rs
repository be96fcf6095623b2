//! Clients that write requests and never read an answer, against the real program.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::http_harness::{call_message, initialize_message};
use super::run_tools::{read_run_state, waiting_council};
use crate::kit::TestProgram;

/// A pipe that accepts nothing for this long is full.
const FULL_AFTER: Duration = Duration::from_secs(3);

/// Timeout after which the server counts as hung.
const HANG_TIMEOUT: Duration = Duration::from_secs(60);

/// Requests that a client tries to send.
const REQUESTS: u64 = 20_000;

/// Memory limit of the server in bytes. It starts with about 30 MB.
const MEMORY_MAX: u64 = 200 * 1024 * 1024;

/// A client that initialises and then reads nothing until told to.
struct NonReadingClient {
    server: Child,
    input: Option<ChildStdin>,
}

impl NonReadingClient {
    fn new(program: &TestProgram) -> Self {
        let mut command = program.command();
        command.arg("mcp").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut server = command.spawn().unwrap();
        let input = server.stdin.take().unwrap();
        fcntl_setfl(&input, fcntl_getfl(&input).unwrap() | OFlags::NONBLOCK).unwrap();
        let mut client = Self { server, input: Some(input) };
        let begun = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert!(client.try_send(&format!("{}\n{begun}\n", initialize_message())));
        client
    }

    /// Writes as much as the pipe accepts; returns whether that was all.
    fn try_send(&mut self, text: &str) -> bool {
        let input = self.input.as_mut().unwrap();
        let (mut rest, mut since) = (text.as_bytes(), Instant::now());
        while !rest.is_empty() {
            match input.write(rest) {
                Ok(written) => {
                    rest = &rest[written..];
                    since = Instant::now();
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    if since.elapsed() > FULL_AFTER {
                        return false;
                    }
                    std::thread::sleep(Duration::from_millis(2));
                }
                Err(error) => panic!("{error}"),
            }
        }
        true
    }

    /// Sends requests until the pipe is full. Returns the ids that were sent completely; part of
    /// another request may be in the pipe.
    fn send_until_full(&mut self, request: impl Fn(u64) -> Value) -> BTreeSet<u64> {
        let mut sent = BTreeSet::new();
        for id in 1_000..1_000 + REQUESTS {
            if !self.try_send(&format!("{}\n", request(id))) {
                break;
            }
            sent.insert(id);
        }
        sent
    }

    /// The ids of this many answers.
    fn read_answers(&mut self, count: usize) -> BTreeSet<u64> {
        let output = BufReader::new(self.server.stdout.as_mut().unwrap());
        let mut ids = BTreeSet::new();
        for line in output.lines() {
            let message: Value = serde_json::from_str(&line.unwrap()).unwrap();
            ids.extend(message["id"].as_u64().filter(|id| *id >= 1_000));
            if ids.len() == count {
                break;
            }
        }
        ids
    }

    /// Resident memory; `None` if it cannot be read.
    fn resident_memory(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.server.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1_024)
    }

    /// Waits for the exit code.
    fn wait_exit(&mut self) -> Option<i32> {
        let since = Instant::now();
        while since.elapsed() < HANG_TIMEOUT {
            if let Some(status) = self.server.try_wait().unwrap() {
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("the server does not end");
    }
}

impl Drop for NonReadingClient {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn list_tools(id: u64) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/list" })
}

#[test]
fn a_client_that_never_reads_is_not_read_and_costs_little_memory() {
    let no_request = |id| json!({ "jsonrpc": "1.0", "id": id, "method": "tools/list" });
    let no_tool = |id| call_message(id, "no_such_tool", &json!({}));
    let requests: [&dyn Fn(u64) -> Value; 3] = [&list_tools, &no_request, &no_tool];
    for request in requests {
        let program = TestProgram::new();
        let mut client = NonReadingClient::new(&program);
        let sent = client.send_until_full(request);
        assert!(sent.len() < REQUESTS as usize, "all of them were taken");
        if let Some(memory) = client.resident_memory() {
            assert!(memory < MEMORY_MAX, "{memory} bytes after {} requests", sent.len());
        }
        assert_eq!(client.read_answers(sent.len()), sent, "each that was taken is answered");
    }
}

#[test]
fn a_server_whose_answers_are_not_read_ends_with_its_input() {
    let program = TestProgram::new();
    let mut client = NonReadingClient::new(&program);
    client.send_until_full(list_tools);
    drop(client.input.take());
    assert_eq!(client.wait_exit(), Some(0));
}

#[test]
fn a_server_whose_answers_are_not_read_ends_when_it_is_told() {
    let program = TestProgram::new();
    let mut client = NonReadingClient::new(&program);
    client.send_until_full(list_tools);
    kill_process(Pid::from_child(&client.server), Signal::TERM).unwrap();
    assert_eq!(client.wait_exit(), Some(0));
}

#[test]
fn a_call_is_cancelled_while_its_client_reads_nothing() {
    let (council, _) = waiting_council();
    let mut client = NonReadingClient::new(&council.program);
    let ask = json!({ "question": "Tea?", "wait_seconds": 600 });
    assert!(client.try_send(&format!("{}\n", call_message(7, "council_ask", &ask))));
    // More than a pipe buffers, less than the server buffers for a client.
    for id in 1_000..1_008 {
        assert!(client.try_send(&format!("{}\n", list_tools(id))));
    }
    let id = wait_for_dialogue(&council.program);
    let params = json!({ "requestId": 7 });
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
    assert!(client.try_send(&format!("{cancel}\n")));
    let since = Instant::now();
    while read_run_state(&council.program, &id).stopped.is_none() {
        assert!(since.elapsed() < HANG_TIMEOUT, "the run goes on");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The dialogue that a client opened.
fn wait_for_dialogue(program: &TestProgram) -> Value {
    let path = program.path().join(".plenary/plenary.db");
    let since = Instant::now();
    while since.elapsed() < HANG_TIMEOUT {
        let reading = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
        let store = rusqlite::Connection::open_with_flags(&path, reading);
        let found = store.ok().and_then(|store| {
            store.query_row("SELECT dialogue_id FROM journal LIMIT 1", [], |row| row.get(0)).ok()
        });
        if let Some(id) = found {
            let id: String = id;
            return json!(id);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("no dialogue was opened");
}
