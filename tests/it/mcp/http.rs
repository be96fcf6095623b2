//! MCP over HTTP: access control and handling of requests.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use super::http_harness::{HttpServerProcess, call_message, initialize_message, read_response};
use super::run_tools::{first_dialogue, waiting_council};
use super::stdio_client::StdioClient;
use crate::kit::{TestProgram, value_at};

#[test]
fn whoever_has_the_token_is_answered() {
    let program = TestProgram::new();
    let served = HttpServerProcess::new(&program);
    let result = served.post_message(initialize_message().to_string().as_bytes());
    assert_eq!(result.status, 200, "{result:?}");
    assert!(result.body.contains("\"plenary\""), "{result:?}");
    let mode =
        std::fs::metadata(program.path().join(".plenary/token")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(served.token.len() >= 64, "256 random bits");
}

/// Every combination of host, origin, token and method: the server accepts only those in which all
/// parts are valid.
#[test]
fn nobody_is_let_in_by_a_host_an_origin_or_a_token_that_is_not_ours() {
    let program = TestProgram::new();
    let served = HttpServerProcess::new(&program);
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
                let body = initialize_message().to_string();
                let body = if method == "POST" { body.as_bytes() } else { b"" };
                let result = served.send_request(method, "/mcp", &headers, body);
                let is_let_in = !matches!(result.status, 400 | 401 | 403)
                    || (method != "POST" && result.status == 400 && result.body.contains("ession"));
                assert_eq!(
                    is_let_in,
                    *is_host && *is_origin && *is_token,
                    "{method} {headers:?}: {result:?}"
                );
                tried += 1;
            }
        }
    }
    assert!(tried >= 500, "{tried}");
}

#[test]
fn two_of_a_header_are_one_too_many() {
    let program = TestProgram::new();
    let served = HttpServerProcess::new(&program);
    let host = format!("127.0.0.1:{}", served.port);
    let bearer = format!("Bearer {}", served.token);
    let origin = format!("http://{host}");
    let all = [("Host", host.as_str()), ("Authorization", bearer.as_str())];
    for twice in
        [("Host", "evil.example"), ("Authorization", "Bearer x"), ("Origin", "http://evil.example")]
    {
        let headers = [&all[..], &[("Origin", origin.as_str()), twice]].concat();
        let result = served.send_request(
            "POST",
            "/mcp",
            &headers,
            initialize_message().to_string().as_bytes(),
        );
        assert!(matches!(result.status, 400 | 401 | 403), "{twice:?}: {result:?}");
    }
}

#[test]
fn what_cannot_be_read_is_answered_and_the_server_goes_on() {
    let program = TestProgram::new();
    let served = HttpServerProcess::new(&program);
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
        let result = served.post_message(&body);
        assert_eq!(result.status, 400, "{result:?}");
        let answer: Value =
            serde_json::from_str(&result.body).unwrap_or_else(|_| panic!("{result:?}"));
        assert_eq!(answer.get("id").unwrap_or(&Value::Null), &id, "{answer:#}");
        assert!(value_at(&answer, "error.code").as_i64().unwrap() < 0);
    }
    let result = served.post_message(&vec![b' '; 17 * 1024 * 1024]);
    assert_eq!(result.status, 413, "{result:?}");
    assert_eq!(served.post_message(initialize_message().to_string().as_bytes()).status, 200);
}

#[test]
fn a_batch_and_nothing_at_all_are_answered_with_a_reason() {
    let program = TestProgram::new();
    let served = HttpServerProcess::new(&program);
    let ping = json!({ "jsonrpc": "2.0", "id": 7, "method": "ping" });
    for (body, word) in [
        (json!([ping]).to_string(), "batch"),
        ("[]".to_owned(), "batch"),
        (String::new(), "the body is empty"),
        (" \n".to_owned(), "the body is empty"),
    ] {
        let result = served.post_message(body.as_bytes());
        assert_eq!(result.status, 400, "{result:?}");
        let message = result.parse_message();
        assert!(
            value_at(&message, "error.message").as_str().unwrap().contains(word),
            "{message:#}"
        );
    }
}

#[test]
fn an_id_that_is_in_use_is_refused_until_it_is_answered() {
    let (council, _) = waiting_council();
    let served = HttpServerProcess::new(&council.program);
    let (session, other) = (served.open_session(), served.open_session());
    let ask = call_message(2, "council_ask", &json!({ "question": "Tea?", "wait_seconds": 60 }));
    let first = served.start_request("POST", Some(&session), ask.to_string().as_bytes());
    let mut agent = StdioClient::new(&council.program);
    let id = first_dialogue(&mut agent);
    let ping = json!({ "jsonrpc": "2.0", "id": 2, "method": "ping" });
    let result = served.post_in_session(&session, &ping);
    assert_eq!(value_at(&result.parse_message(), "error.code"), -32600, "{result:?}");
    assert!(
        served.post_in_session(&other, &ping).parse_message().get("result").is_some(),
        "another session"
    );
    agent.call_tool_ok("deliberation_intervene", &json!({ "dialogue_id": id, "kind": "stop" }));
    let answer = read_response(first).parse_message();
    assert_eq!(
        value_at(&answer, "result.structuredContent.dialogue_id"),
        id.as_str(),
        "{answer:#}"
    );
    assert!(
        served.post_in_session(&session, &ping).parse_message().get("result").is_some(),
        "free again"
    );
}

#[test]
fn params_that_cannot_be_read_are_an_answer_like_any_other() {
    let program = TestProgram::new();
    let served = HttpServerProcess::new(&program);
    let session = served.open_session();
    let bad = json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {} });
    let result = served.post_in_session(&session, &bad);
    assert_eq!(
        (result.status, value_at(&result.parse_message(), "error.code")),
        (200, &json!(-32602)),
        "{result:?}"
    );
}

#[test]
fn a_server_knows_the_address_it_listens_on() {
    let program = TestProgram::new();
    let served = HttpServerProcess::with_options(&program, &["--bind", "127.0.0.2"]);
    assert!(served.address.starts_with("127.0.0.2:"), "{}", served.address);
    served.open_session();
}

#[test]
fn a_planted_token_is_refused_with_what_to_do() {
    let program = TestProgram::new();
    let path = program.path().join(".plenary/token");
    let refused = |text: &str| {
        let ran = program.run_command(&["serve", "--port", "0"]);
        assert_eq!(ran.code, 5, "{ran:?}");
        assert!(ran.stderr.contains("token") && ran.stderr.contains("remove"), "{ran:?}");
        assert!(ran.stderr.contains(text) && !ran.stderr.contains("--port"), "{ran:?}");
    };
    // As a git clone may bring it.
    program.write_text(".plenary/token", &"0123456789abcdef".repeat(4));
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).unwrap();
    refused("mode 0644");
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
    std::fs::rename(&path, program.path().join("elsewhere")).unwrap();
    std::os::unix::fs::symlink("../elsewhere", &path).unwrap();
    refused("it is a link");
    std::fs::remove_file(&path).unwrap();
    // An incomplete token.
    program.write_text(".plenary/token", "");
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
    refused("fewer than");
    std::fs::remove_file(&path).unwrap();
    assert!(HttpServerProcess::new(&program).token.len() >= 64);
}

#[test]
fn only_this_machine_is_served_and_a_port_that_is_taken_is_said() {
    let program = TestProgram::new();
    let served = HttpServerProcess::new(&program);
    let ran = program.run_command(&["serve", "--bind", "0.0.0.0"]);
    assert_eq!(ran.code, 64, "{ran:?}");
    let ran = program.run_command(&["serve", "--port", &served.port.to_string()]);
    assert_eq!(ran.code, 5, "{ran:?}");
    assert!(ran.stderr.contains("--port"), "{ran:?}");
}
