//! Every route with every way of not being allowed, and with bodies that are not what it takes.

use serde_json::Value;

use super::client::{get_json, send, start_council, wait_for_state};
use crate::kit::TestProgram;
use crate::mcp::http_harness::{HttpServerProcess, ServerResponse};

/// Method and path of every route, with real values in its path.
fn list_routes(served: &HttpServerProcess, id: &str) -> Vec<(String, String)> {
    let document = get_json(served, "/api/openapi.json");
    let mut routes = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        let path = path.replace("{id}", id).replace("{call}", "1").replace("{entity}", "P0101");
        for method in methods.as_object().unwrap().keys() {
            routes.push((method.to_uppercase(), path.clone()));
        }
    }
    assert!(routes.len() > 25, "{routes:?}");
    routes
}

fn session_cookie(served: &HttpServerProcess) -> String {
    let body = serde_json::json!({ "token": served.token });
    let result = served.send_request(
        "POST",
        "/api/session",
        &[("Host", &served.address), ("Content-Type", "application/json")],
        body.to_string().as_bytes(),
    );
    assert_eq!(result.status, 204, "{result:?}");
    let cookie = result.header("set-cookie").unwrap();
    assert!(cookie.contains("; HttpOnly; SameSite=Strict"), "{cookie}");
    cookie.split(';').next().unwrap().to_owned()
}

#[track_caller]
fn check_problem(result: &ServerResponse, status: u16) {
    assert_eq!(result.status, status, "{result:?}");
    assert_eq!(result.header("content-type").as_deref(), Some("application/problem+json"));
    let problem: Value = serde_json::from_str(&result.body).unwrap();
    assert_eq!(problem["status"], status, "{problem}");
    for field in ["type", "title", "detail", "error_code", "message", "suggestion"] {
        assert!(problem[field].is_string(), "{field}: {problem}");
    }
}

#[test]
fn every_route_refuses_every_stranger() {
    let program = TestProgram::new();
    let served = HttpServerProcess::new(&program);
    let id = start_council(&served, "Tea or coffee?");
    wait_for_state(&served, &id, "done");
    let (host, bearer) = (served.address.clone(), format!("Bearer {}", served.token));
    let own = format!("http://{host}");
    let cookie = session_cookie(&served);
    let json = ("Content-Type", "application/json");
    for (method, path) in list_routes(&served, &id) {
        let is_open = ["/api/health", "/api/session"].contains(&path.as_str());
        let ask = |headers: &[(&str, &str)]| {
            let mut all = vec![json];
            all.extend_from_slice(headers);
            // A stream would stay open: the head of the answer is enough.
            served.send_request(&method, &path, &all, b"{}")
        };
        let context = format!("{method} {path}");
        if !is_open {
            check_problem(&ask(&[("Host", &host)]), 401);
            check_problem(&ask(&[("Host", &host), ("Authorization", "Bearer wrong")]), 401);
            check_problem(&ask(&[("Host", &host), ("Cookie", "plenary_session_1=a-b-c")]), 401);
        }
        let foreign = [
            ("Host", host.as_str()),
            ("Authorization", &bearer),
            ("Origin", "http://evil.example"),
        ];
        check_problem(&ask(&foreign), 403);
        check_problem(&ask(&[("Host", "evil.example"), ("Authorization", &bearer)]), 403);
        let with_cookie = [("Host", host.as_str()), ("Cookie", &cookie)];
        let of_page =
            [("Host", host.as_str()), ("Cookie", &cookie), ("Origin", &own), ("X-Plenary", "1")];
        if method == "POST" && !is_open {
            check_problem(&ask(&with_cookie), 403);
            check_problem(&ask(&of_page[..3]), 403);
            check_problem(&ask(&[of_page[0], of_page[1], of_page[3]]), 403);
        } else {
            assert!(!matches!(ask(&with_cookie).status, 401 | 403) || is_open, "{context}");
        }
        let result = ask(&of_page);
        let is_refused = matches!(result.status, 403) || (result.status == 401 && !is_open);
        assert!(!is_refused && result.status < 500, "{context}: {result:?}");
    }
}

#[test]
fn a_body_that_is_not_what_the_route_takes_is_a_problem_of_the_client() {
    let program = TestProgram::new();
    let served = HttpServerProcess::new(&program);
    let id = start_council(&served, "Tea or coffee?");
    wait_for_state(&served, &id, "done");
    let bearer = format!("Bearer {}", served.token);
    let long = format!("{{\"question\":\"{}\"}}", "x".repeat(300_000));
    let deep = "[".repeat(100_000);
    let bodies: [&[u8]; 10] = [
        b"{",
        b"[]",
        b"\"x\"",
        b"null",
        b"{\"a\":1,\"a\":2}",
        b"\xff\xfe",
        b"\0",
        long.as_bytes(),
        deep.as_bytes(),
        b"{\"dialogue_id\":\"another\",\"unknown_field\":7}",
    ];
    for (method, path) in
        list_routes(&served, &id).into_iter().filter(|(method, _)| method == "POST")
    {
        for body in bodies {
            let headers = [
                ("Host", served.address.as_str()),
                ("Authorization", &bearer),
                ("Content-Type", "application/json"),
            ];
            let result = served.send_request(&method, &path, &headers, body);
            assert!(
                (400..500).contains(&result.status),
                "{path} {:?}: {result:?}",
                String::from_utf8_lossy(&body[..body.len().min(20)])
            );
            check_problem(&result, result.status);
        }
        let headers = [("Host", served.address.as_str()), ("Authorization", &bearer)];
        check_problem(&served.send_request(&method, &path, &headers, b"{}"), 415);
    }
    let huge = vec![b' '; (16 << 20) + 1];
    let headers = [
        ("Host", served.address.as_str()),
        ("Authorization", &bearer),
        ("Content-Type", "application/json"),
    ];
    assert_eq!(served.send_request("POST", "/api/ask", &headers, &huge).status, 413);
}

#[test]
fn every_answer_has_the_headers_that_protect_the_page() {
    let program = TestProgram::new();
    let served = HttpServerProcess::new(&program);
    for path in ["/", "/index.html", "/api/health", "/api/dialogues", "/nothing", "/mcp"] {
        let result = served.send_request("GET", path, &[("Host", &served.address)], b"");
        let policy = result.header("content-security-policy").unwrap();
        assert!(policy.contains("default-src 'none'; script-src 'self';"), "{policy}");
        assert!(
            policy.contains("require-trusted-types-for 'script'; trusted-types lit-html"),
            "{policy}"
        );
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
        ] {
            assert_eq!(result.header(name).as_deref(), Some(value), "{path} {name}");
        }
    }
    for path in ["/", "/app.js", "/mcp"] {
        let strangers = [
            vec![("Host", "evil.example")],
            vec![("Host", served.address.as_str()), ("Origin", "http://evil.example")],
        ];
        for headers in strangers {
            let result = served.send_request("GET", path, &headers, b"");
            assert_eq!(result.status, 403, "{path} {headers:?}: {result:?}");
        }
    }
    let page = served.send_request("GET", "/", &[("Host", &served.address)], b"");
    assert_eq!(
        (page.status, page.header("content-type").as_deref()),
        (200, Some("text/html; charset=utf-8"))
    );
}

#[test]
fn a_start_that_is_repeated_with_its_key_starts_nothing() {
    let program = TestProgram::new();
    let served = HttpServerProcess::new(&program);
    let bearer = format!("Bearer {}", served.token);
    let ask = |key: &str, question: &str| {
        let body = serde_json::json!({ "question": question, "rehearse": true }).to_string();
        let headers = [
            ("Host", served.address.as_str()),
            ("Authorization", &bearer),
            ("Content-Type", "application/json"),
            ("Idempotency-Key", key),
        ];
        served.send_request("POST", "/api/ask", &headers, body.as_bytes())
    };
    let first = ask("one", "Tea?");
    assert_eq!((first.status, &first.body), (202, &ask("one", "Tea?").body));
    check_problem(&ask("one", "Coffee?"), 422);
    assert_ne!(first.body, ask("two", "Tea?").body);
    check_problem(&ask(&"x".repeat(300), "Tea?"), 400);
    assert_eq!(
        send(&served, "GET", "/api/dialogues", &Value::Null).body.matches("short_id").count(),
        2
    );
}

#[test]
fn a_head_over_the_limits_is_refused_and_the_server_still_answers() {
    let program = TestProgram::new();
    let served = HttpServerProcess::new(&program);
    let bearer = format!("Bearer {}", served.token);
    let own = [("Host", served.address.as_str()), ("Authorization", bearer.as_str())];
    let long = "x".repeat(1 << 20);
    let names: Vec<String> = (0..200).map(|number| format!("X-{number}")).collect();
    let many: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "y")).collect();
    for extra in [vec![("X-Long", long.as_str())], many] {
        let headers: Vec<(&str, &str)> = own.into_iter().chain(extra).collect();
        let result = served.send_request("GET", "/api/dialogues", &headers, b"");
        assert_eq!(result.status, 431, "{result:?}");
    }
    let result = served.send_request("GET", &format!("/{}", "a".repeat(100_000)), &own, b"");
    assert_eq!(result.status, 414, "{result:?}");
    let deep = format!("/api/dialogues?q={}", "%00".repeat(5_000));
    let result = served.send_request("GET", &deep, &own, b"");
    assert!(result.status == 200 || (400..500).contains(&result.status), "{result:?}");
    assert_eq!(served.send_request("GET", "/api/dialogues", &own, b"").status, 200);
}
