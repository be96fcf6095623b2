//! The door by HTTP: who is let in, and what becomes of what they send.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::kit::{Program, at};

/// `plenary serve` on a free port.
struct Served {
    program: Program,
    server: Child,
    port: u16,
    token: String,
}

/// What came back.
#[derive(Debug)]
struct Response {
    status: u16,
    body: String,
}

impl Served {
    fn new() -> Self {
        let program = Program::new();
        let mut command = program.command();
        command.args(["serve", "--port", "0"]).stderr(Stdio::piped()).stdout(Stdio::piped());
        let mut server = command.spawn().unwrap();
        let mut said = BufReader::new(server.stderr.take().unwrap());
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        let port = line.rsplit_once(':').unwrap().1.split_once('/').unwrap().0.parse().unwrap();
        said.read_line(&mut line).unwrap();
        assert!(line.contains("token"), "{line}");
        let token = std::fs::read_to_string(program.path().join(".plenary/token")).unwrap();
        Self { program, server, port, token }
    }

    fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Response {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!("Content-Length: {}\r\n\r\n", body.len()));
        // A server that has heard enough may hang up before it has read everything.
        let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
        let mut answer = Vec::new();
        let mut chunk = [0; 65_536];
        while let Ok(read @ 1..) = stream.read(&mut chunk) {
            answer.extend_from_slice(&chunk[..read]);
            // A stream of events stays open; the first answer is enough.
            let text = String::from_utf8_lossy(&answer);
            if text.contains("text/event-stream")
                && text.contains("\"jsonrpc\"")
                && text.ends_with("\n\n\r\n")
            {
                break;
            }
        }
        let text = String::from_utf8_lossy(&answer).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
        Response { status, body: body.to_owned() }
    }

    /// A message from somebody who is let in.
    fn post(&self, body: &[u8]) -> Response {
        let host = format!("127.0.0.1:{}", self.port);
        let bearer = format!("Bearer {}", self.token);
        let headers = [
            ("Host", host.as_str()),
            ("Authorization", &bearer),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ];
        self.send("POST", "/mcp", &headers, body)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn hello() -> Value {
    let client = json!({ "name": "test", "version": "1" });
    let params =
        json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params })
}

#[test]
fn whoever_has_the_token_is_answered() {
    let served = Served::new();
    let told = served.post(hello().to_string().as_bytes());
    assert_eq!(told.status, 200, "{told:?}");
    assert!(told.body.contains("\"plenary\""), "{told:?}");
    let mode = std::fs::metadata(served.program.path().join(".plenary/token"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(served.token.len() >= 64, "256 random bits");
}

/// Every combination of a host, an origin, a token and a method: those that are let in are
/// exactly those whose parts all are ours.
#[test]
fn nobody_is_let_in_by_a_host_an_origin_or_a_token_that_is_not_ours() {
    let served = Served::new();
    let (port, token) = (served.port, &served.token);
    let other_port = port ^ 1;
    let hosts: Vec<(Option<String>, bool)> = vec![
        (Some(format!("127.0.0.1:{port}")), true),
        (Some(format!("LOCALHOST:{port}")), true),
        (Some(format!("localhost:{other_port}")), false),
        (Some("127.0.0.1".to_owned()), false),
        (Some(format!("evil.example:{port}")), false),
        (Some(format!("127.0.0.1:{port}.evil.example")), false),
        (Some(format!("127.0.0.1:{port}@evil.example")), false),
        (None, false),
    ];
    let origins: Vec<(Option<String>, bool)> = vec![
        (None, true),
        (Some(format!("http://127.0.0.1:{port}")), true),
        (Some(format!("http://localhost:{other_port}")), false),
        (Some(format!("https://127.0.0.1:{port}")), false),
        (Some("http://evil.example".to_owned()), false),
        (Some("null".to_owned()), false),
        (Some(String::new()), false),
        (Some(format!("http://127.0.0.1:{port}.evil.example")), false),
    ];
    let tokens: Vec<(Option<String>, bool)> = vec![
        (Some(format!("Bearer {token}")), true),
        (Some(format!("bearer {token}")), true),
        (None, false),
        (Some("Bearer ".to_owned()), false),
        (Some(token.clone()), false),
        (Some(format!("Basic {token}")), false),
        (Some(format!("Bearer {}", &token[1..])), false),
        (Some(format!("Bearer {token}0")), false),
        (Some(format!("Bearer {}", token.to_uppercase())), token.to_uppercase() == *token),
    ];
    let mut tried = 0;
    for (host, is_host) in &hosts {
        for (origin, is_origin) in &origins {
            for (bearer, is_token) in &tokens {
                let method = ["POST", "GET", "DELETE", "PUT"][tried % 4];
                let mut headers = vec![
                    ("Accept", "application/json, text/event-stream"),
                    ("Content-Type", "application/json"),
                ];
                let given = [("Host", host), ("Origin", origin), ("Authorization", bearer)];
                headers.extend(
                    given.iter().filter_map(|(name, value)| Some((*name, value.as_deref()?))),
                );
                let body = hello().to_string();
                let body = if method == "POST" { body.as_bytes() } else { b"" };
                let told = served.send(method, "/mcp", &headers, body);
                let is_let_in = !matches!(told.status, 400 | 401 | 403)
                    || (method != "POST" && told.status == 400 && told.body.contains("ession"));
                assert_eq!(
                    is_let_in,
                    *is_host && *is_origin && *is_token,
                    "{method} {headers:?}: {told:?}"
                );
                tried += 1;
            }
        }
    }
    assert!(tried >= 500, "{tried}");
}

#[test]
fn two_of_a_header_are_one_too_many() {
    let served = Served::new();
    let host = format!("127.0.0.1:{}", served.port);
    let bearer = format!("Bearer {}", served.token);
    let origin = format!("http://{host}");
    let all = [("Host", host.as_str()), ("Authorization", bearer.as_str())];
    for twice in
        [("Host", "evil.example"), ("Authorization", "Bearer x"), ("Origin", "http://evil.example")]
    {
        let headers = [&all[..], &[("Origin", origin.as_str()), twice]].concat();
        let told = served.send("POST", "/mcp", &headers, hello().to_string().as_bytes());
        assert!(matches!(told.status, 400 | 401 | 403), "{twice:?}: {told:?}");
    }
}

#[test]
fn what_cannot_be_read_is_answered_and_the_server_goes_on() {
    let served = Served::new();
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{}{}}}"#,
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    for (body, id) in [
        (deep.into_bytes(), json!(7)),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"tools/list\",\"x\":\"\xff\"}".to_vec(),
            json!(8),
        ),
        (b"{\"jsonrpc\":\"2.0\",\"id\":9,".to_vec(), json!(9)),
        (b"{\"jsonrpc\":\"2.0\",\"id\":10,\"id\":10,\"method\":\"ping\"}".to_vec(), json!(10)),
        (b"nonsense".to_vec(), Value::Null),
    ] {
        let told = served.post(&body);
        assert_eq!(told.status, 400, "{told:?}");
        let answer: Value = serde_json::from_str(&told.body).unwrap_or_else(|_| panic!("{told:?}"));
        assert_eq!(answer.get("id").unwrap_or(&Value::Null), &id, "{answer:#}");
        assert!(at(&answer, "error.code").as_i64().unwrap() < 0);
    }
    let told = served.post(&vec![b' '; 17 * 1024 * 1024]);
    assert_eq!(told.status, 413, "{told:?}");
    assert_eq!(served.post(hello().to_string().as_bytes()).status, 200);
}

#[test]
fn only_this_machine_is_served_and_a_port_that_is_taken_is_said() {
    let served = Served::new();
    let ran = served.program.run(&["serve", "--bind", "0.0.0.0"]);
    assert_eq!(ran.code, 64, "{ran:?}");
    let ran = served.program.run(&["serve", "--port", &served.port.to_string()]);
    assert_eq!(ran.code, 5, "{ran:?}");
    assert!(ran.stderr.contains("--port"), "{ran:?}");
}
