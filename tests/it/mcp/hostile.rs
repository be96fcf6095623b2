//! Invalid messages: the server returns an error if it can read an id, and keeps serving.

use serde_json::{Value, json};

use super::stdio_client::StdioClient;
use crate::hostile::corpora;
use crate::kit::{TestProgram, make_pool, value_at};

/// Checks that the server still answers.
#[track_caller]
fn check_alive(agent: &mut StdioClient) {
    assert_eq!(
        value_at(&agent.request_ok("tools/list", &json!({})), "tools").as_array().unwrap().len(),
        16
    );
}

#[test]
fn lines_that_are_no_messages_are_answered_where_they_have_an_id() {
    let mut agent = StdioClient::in_own_folder();
    let deep = |id: u32| {
        let (open, close) = ("[".repeat(100_000), "]".repeat(100_000));
        format!(r#"{{"jsonrpc":"2.0","method":"tools/call","params":{open}{close},"id":{id}}}"#)
    };
    for (line, id) in [
        (deep(1001).into_bytes(), json!(1001)),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1002,\"method\":\"tools/list\",\"params\":{\"x\":\"\xff\xfe\"}}".to_vec(), json!(1002)),
        (br#"{"jsonrpc":"2.0","id":"abc","method":"#.to_vec(), json!("abc")),
        (br#"{"jsonrpc":"2.0","id":1003,"id":1003,"method":"ping"}"#.to_vec(), json!(1003)),
        (br#"{"jsonrpc":"1.0","id":1004,"method":"ping"}"#.to_vec(), json!(1004)),
        (br#"{"jsonrpc":"2.0","id":1005,"method":"no/such/method"}"#.to_vec(), json!(1005)),
        (br#"{"jsonrpc":"2.0","id":1006,"method":"tools/call","params":7}"#.to_vec(), json!(1006)),
        (br#"{"jsonrpc":"2.0","id":1007,"method":"tools/call","params":{"name":5}}"#.to_vec(), json!(1007)),
        (br#"{"jsonrpc":"2.0","id":1008,"method":"resources/read","params":{}}"#.to_vec(), json!(1008)),
    ] {
        agent.send_line(&line);
        let answer = agent.next_message();
        assert_eq!(answer["id"], id, "{answer:#}");
        assert!(value_at(&answer, "error.code").as_i64().unwrap() < 0, "{answer:#}");
    }
    for line in [
        &b"nonsense"[..],
        b"",
        b"\x00\x01\x02",
        b"[]",
        b"{}",
        b"null",
        b"\xef\xbb\xbf",
        b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/none\"}",
    ] {
        agent.send_line(line);
    }
    check_alive(&mut agent);
}

#[test]
fn ten_megabytes_are_refused_with_a_word() {
    let mut agent = StdioClient::in_own_folder();
    let big = "x".repeat(10 * 1024 * 1024);
    let refused =
        agent.call_tool_error("blue_dialogue_create", &json!({ "title": "Talk", "question": big }));
    assert_eq!(value_at(&refused, "error_code"), "field_too_long");
    let refused =
        agent.call_tool_error("council_ask", &json!({ "question": big, "rehearse": true }));
    assert!(refused.to_string().contains("field_too_long"), "{refused:#}");
    // Over the line limit: its beginning still contains the id.
    let line = format!(
        r#"{{"jsonrpc":"2.0","id":2001,"method":"ping","params":{{"x":"{}"}}}}"#,
        "y".repeat(17 * 1024 * 1024)
    );
    agent.send_line(line.as_bytes());
    let answer = agent.next_message();
    assert_eq!((&answer["id"], value_at(&answer, "error.code")), (&json!(2001), &json!(-32600)));
    check_alive(&mut agent);
}

#[test]
fn what_is_said_before_the_handshake_ends_nothing() {
    let program = TestProgram::new();
    let mut agent = StdioClient::without_handshake(&program, &["mcp"]);
    agent.send_message(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    agent.send_message(&json!({ "jsonrpc": "2.0", "id": 1, "result": {} }));
    agent.send_message(&json!({ "jsonrpc": "2.0", "id": "early", "method": "tools/list" }));
    let answer = agent.next_message();
    assert_eq!(answer["id"], "early");
    let client = json!({ "name": "test", "version": "1" });
    let hello =
        json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
    agent.request_ok("initialize", &hello);
    check_alive(&mut agent);
}

/// A ping, or a request without a client, is answered and starts no session.
#[test]
fn what_follows_an_early_request_ends_nothing_either() {
    for early in ["ping", "tools/list", "server/discover"] {
        let program = TestProgram::new();
        let mut agent = StdioClient::without_handshake(&program, &["mcp"]);
        agent.send_message(&json!({ "jsonrpc": "2.0", "id": "early", "method": early }));
        assert_eq!(agent.next_message()["id"], "early");
        agent.send_message(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        agent.send_message(&json!({ "jsonrpc": "2.0", "id": 1, "result": {} }));
        let client = json!({ "name": "test", "version": "1" });
        let hello =
            json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
        agent.request_ok("initialize", &hello);
        check_alive(&mut agent);
    }
}

#[test]
fn params_that_cannot_be_read_are_told_from_a_method_that_is_not_there() {
    let mut agent = StdioClient::in_own_folder();
    for (method, params, code, word) in [
        ("tools/call", json!({ "name": "council_ask", "arguments": [] }), -32602, "arguments"),
        ("tools/call", json!({ "arguments": {} }), -32602, "name"),
        ("prompts/get", json!({}), -32602, "name"),
        ("resources/read", json!({ "uri": 7 }), -32602, "resources/read"),
        ("tasks/get", json!({}), -32602, "taskId"),
        ("no/such/method", json!({}), -32601, "unknown method `no/such/method`"),
    ] {
        let id = agent.send_request(method, &params);
        let answer = agent.wait_answer(id);
        assert_eq!(value_at(&answer, "error.code"), code, "{method} {params}: {answer:#}");
        let message = value_at(&answer, "error.message").as_str().unwrap();
        assert!(message.contains(word) && message.contains(' '), "{method} {params}: {message}");
    }
    let id = agent.send_request("resources/list", &json!({ "cursor": "no-such-page" }));
    assert_eq!(value_at(&agent.wait_answer(id), "error.code"), -32602);
}

#[test]
fn a_name_of_ten_megabytes_is_not_sent_back() {
    let mut agent = StdioClient::in_own_folder();
    let big = "n".repeat(10 * 1024 * 1024);
    for (method, params) in [
        ("tools/call", json!({ "name": big })),
        ("tools/call", json!({ "name": "council_ask", "arguments": { big.clone(): 1 } })),
        ("prompts/get", json!({ "name": big })),
        ("resources/read", json!({ "uri": big })),
        ("resources/read", json!({ "uri": format!("plenary://dialogues/{big}") })),
        ("tasks/get", json!({ "taskId": big })),
        (big.as_str(), json!({})),
    ] {
        let id = agent.send_request(method, &params);
        let answer = agent.wait_answer(id).to_string();
        assert!(answer.len() < 10_000, "{} bytes: {}", answer.len(), &answer[..500]);
    }
    check_alive(&mut agent);
}

/// A numeric id outside our range: the error is sent without an id.
#[test]
fn an_id_that_cannot_be_answered_to_is_answered_without_one() {
    let mut agent = StdioClient::in_own_folder();
    for id in ["9223372036854775808", "1.5", "1e400"] {
        agent.send_line(
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list"}}"#).as_bytes(),
        );
        if id != "1e400" {
            let answer = agent.next_message();
            assert_eq!(value_at(&answer, "error.code"), -32600, "{answer:#}");
            assert!(answer.get("id").is_none_or(Value::is_null), "{answer:#}");
        }
    }
    check_alive(&mut agent);
}

#[test]
fn a_client_that_closes_at_once_still_hears_what_was_wrong() {
    for _ in 0..10 {
        let program = TestProgram::new();
        let mut agent = StdioClient::with_arguments(&program, &["mcp"]);
        agent.send_last(b"{\"jsonrpc\":\"1.0\",\"id\":77,\"method\":\"ping\"}\n");
        assert_eq!(value_at(&agent.next_message(), "error.code"), -32600);
        // Also before initialisation, and without a newline at the end of the input.
        let mut agent = StdioClient::without_handshake(&program, &["mcp"]);
        agent.send_last(b"{\"jsonrpc\":\"1.0\",\"id\":78,\"method\":\"ping\"}");
        assert_eq!(value_at(&agent.next_message(), "id"), 78);
    }
}

#[test]
fn requests_that_overlap_are_all_answered_also_under_one_id() {
    let mut agent = StdioClient::in_own_folder();
    agent.call_tool_ok(
        "blue_dialogue_create",
        &json!({ "title": "Talk", "expert_pool": make_pool(&["ann"]) }),
    );
    let call = |id: Value, name: &str, arguments: Value| {
        let params = json!({ "name": name, "arguments": arguments });
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
    };
    for n in 0..50 {
        agent.send_message(&call(
            json!(3000 + n),
            "blue_dialogue_progress",
            json!({ "dialogue_id": "talk" }),
        ));
    }
    let mut received: Vec<i64> =
        (0..50).map(|_| agent.next_message()["id"].as_i64().unwrap()).collect();
    received.sort_unstable();
    assert_eq!(received, (3000..3050).collect::<Vec<_>>());
    for _ in 0..5 {
        agent.send_message(&call(json!(4000), "blue_dialogue_search", json!({ "op": "stats" })));
    }
    // Each gets the result, or the error that its id is in use.
    let answers: Vec<Value> = (0..5).map(|_| agent.next_message()).collect();
    assert!(answers.iter().all(|answer| answer["id"] == 4000), "{answers:?}");
    assert!(answers.iter().any(|answer| answer.get("result").is_some()), "{answers:?}");
    check_alive(&mut agent);
}

/// Every corpus path as output, dialogue, resource and document: no file outside the folder is read
/// or written.
#[test]
fn no_path_of_the_corpora_leads_out_of_the_folder() {
    let program = TestProgram::new();
    // Deeper than any path climbs, so a bug stays inside this folder.
    let inside = program.path().join("street/".repeat(60)).join("home");
    std::fs::create_dir_all(&inside).unwrap();
    std::fs::write(inside.join("../secret.md"), "the secret of the house\n").unwrap();
    let mut agent = StdioClient::in_subfolder(&program, &inside);
    agent.call_tool_ok("blue_dialogue_create", &json!({ "title": "Talk" }));
    let before = list_files(program.path(), &inside);
    let own = [
        "../secret.md",
        "./../secret.md",
        "../home/../secret.md",
        ".plenary/plenary.db",
        ".plenary/token",
    ];
    let paths = corpora::read_corpus("path_traversal");
    for path in own.into_iter().map(str::to_owned).chain(paths) {
        let climbs = path.starts_with('/') || path.split('/').any(|part| part == "..");
        let written = agent.call_tool(
            "blue_dialogue_export",
            &json!({ "dialogue_id": "talk", "output_path": path }),
        );
        assert!(!climbs || written["isError"] == true, "{path}: {written}");
        let named = agent.call_tool("blue_dialogue_progress", &json!({ "dialogue_id": path }));
        assert_eq!(named["isError"], true, "{path}: {named}");
        let id = agent.send_request(
            "resources/read",
            &json!({ "uri": format!("plenary://dialogues/{path}") }),
        );
        assert!(agent.wait_answer(id).get("error").is_some(), "{path}");
        if climbs || path.starts_with(".plenary") {
            let arguments = json!({ "path": path, "rehearse": true });
            let read = agent.call_tool("council_review", &arguments);
            assert_eq!(read["isError"], true, "{path}: {read}");
            let arguments = json!({ "question": "?", "context": [path], "rehearse": true });
            let read = agent.call_tool("council_ask", &arguments);
            assert_eq!(read["isError"], true, "{path}: {read}");
        }
    }
    assert_eq!(list_files(program.path(), &inside), before, "something was written outside");
    let stats = agent.call_tool_ok("blue_dialogue_search", &json!({ "op": "stats" }));
    assert_eq!(value_at(&stats, "dialogues"), 1, "nothing was started");
    check_alive(&mut agent);
}

/// Every file below a folder except those in `but`.
fn list_files(folder: &std::path::Path, but: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path == but {
                continue;
            }
            if path.is_dir() {
                folders.push(path.clone());
            }
            found.push(path);
        }
    }
    found.sort();
    found
}
