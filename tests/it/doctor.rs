//! `doctor` against a real server, an unreachable one, programs, and no provider.

use std::net::TcpListener;

use serde_json::{Value, json};

use crate::kit::{ModelServer, ScriptedReply, TestProgram, value_at};

/// No server listens there: the port was free a moment ago.
fn unused_address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}

fn model_server() -> ModelServer {
    ModelServer::start(|_| ScriptedReply::Valid)
}

fn write_settings(program: &TestProgram, providers: &[String]) {
    let providers: String = providers.iter().map(|line| format!("    - {line}\n")).collect();
    // One provider is a panel here.
    let text = format!("council:\n  quorum: {{r1_min: 1}}\n  providers:\n{providers}");
    std::fs::write(program.path().join("council.yaml"), text).unwrap();
}

fn provider_yaml(server: &ModelServer, model: &str) -> String {
    let url = server.base_url();
    format!(
        r#"{{name: house, dialect: openai, base_url: "{url}", api_key_env: HOUSE_KEY, model: {model}}}"#
    )
}

const KEY: (&str, &str) = ("HOUSE_KEY", "sk-canary-7");

/// Exit code, stdout and stderr, without values that differ between runs.
fn run_doctor(
    program: &TestProgram,
    variables: &[(&str, &str)],
    arguments: &[&str],
) -> (i32, String, String) {
    let mut command = program.command();
    // Ignore a server that runs on the developer's machine.
    command.env("OLLAMA_HOST", unused_address()).envs(variables.iter().copied());
    let output = command.args(arguments).output().unwrap();
    let home = program.path().canonicalize().unwrap();
    let text = |bytes| {
        let text = String::from_utf8(bytes).unwrap();
        assert!(!text.contains("canary"), "{text}");
        let text = text.replace(home.to_str().unwrap(), "HERE");
        // Ports differ between runs.
        let hidden = regex::Regex::new(r"127\.0\.0\.1:\d+").unwrap();
        hidden.replace_all(&text, "LOOPBACK").into_owned()
    };
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn a_provider_that_can_be_asked_is_well() {
    let (program, server) = (TestProgram::new(), model_server());
    write_settings(&program, &[provider_yaml(&server, "gpt-4o")]);
    let (code, result, talk) = run_doctor(&program, &[KEY], &["doctor"]);
    assert_eq!((code, talk.as_str()), (0, ""));
    assert!(result.contains("1 of 1 provider usable"), "{result}");
    assert!(result.contains("  ✓ config  HERE/council.yaml\n  · store   HERE/"), "{result}");
    let house = result.split_once("✓ house").unwrap().1;
    insta::assert_snapshot!(format!("  ✓ house{house}"), @r"
      ✓ house  usable  gpt-4o · council.yaml, line 4
        ✓ key    HOUSE_KEY is set
        · host   LOOPBACK
        ✓ http   answers; 3 models offered; a test call got a reply
        ✓ model  offered
        ✓ price  free: it runs on this machine
    ");
    assert_eq!(server.requests().len(), 1, "one call of one word");
    assert!(!program.path().join(".plenary").exists(), "looking leaves nothing behind");
    let (code, result, _) = run_doctor(&program, &[KEY], &["doctor", "--offline"]);
    assert!(code == 0 && result.contains("not called (--offline)"), "{result}");
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_model_that_does_not_reply_is_not_usable_and_one_that_is_not_listed_may_be() {
    let (program, server) = (TestProgram::new(), model_server());
    write_settings(&program, &[provider_yaml(&server, "gpt-4-o")]);
    let (code, result, _) = run_doctor(&program, &[KEY], &["doctor"]);
    assert!(code == 0 && result.contains("not listed, but it replies"), "{result}");
    let server = ModelServer::start(|_| ScriptedReply::Status(404, Vec::new(), "{}".to_owned()));
    write_settings(&program, &[provider_yaml(&server, "gpt-4-o")]);
    let (code, result, _) = run_doctor(&program, &[KEY], &["doctor"]);
    assert_eq!((code, result.matches("answered 404").count()), (1, 1), "{result}");
}

#[test]
fn offline_nothing_is_called_usable() {
    let (program, server) = (TestProgram::new(), model_server());
    write_settings(&program, &[provider_yaml(&server, "gpt-4-o")]);
    let (code, result, _) = run_doctor(&program, &[KEY], &["doctor", "--offline"]);
    assert_eq!(code, 0, "{result}");
    assert!(result.contains("house  configured, not checked"), "{result}");
    assert!(!result.contains("usable"), "{result}");
}

#[test]
fn what_is_wrong_is_said_of_each_provider_with_what_to_do() {
    let (program, server) = (TestProgram::new(), model_server());
    let dead = unused_address();
    write_settings(
        &program,
        &[
            "{name: claude, role: [participant, chair]}".to_owned(),
            provider_yaml(&server, "gpt-4-o"),
            format!(r#"{{name: away, dialect: openai, base_url: "http://{dead}/v1", model: m-1}}"#),
        ],
    );
    let (code, result, _) = run_doctor(&program, &[KEY], &["doctor"]);
    assert_eq!(code, 1);
    for part in [
        "  × claude  NOT USABLE",
        "× key    ANTHROPIC_API_KEY is not set",
        "· host   api.anthropic.com",
        "  ✓ house  usable  gpt-4-o",
        "  × away  NOT USABLE  m-1",
        "· host   LOOPBACK",
        "set ANTHROPIC_API_KEY for `claude`, or remove the provider from council.yaml",
        "`away` does not answer at LOOPBACK;",
    ] {
        assert!(result.contains(part), "{part}: {result}");
    }
}

/// What `doctor` and `ask` say of a file with seats named `a`, `b` and `c`: those in `answering` get
/// replies.
fn exit_codes(settings: &str, answering: &'static [&'static str]) -> (i32, i32, String) {
    let server = ModelServer::start(|asked| {
        let model = asked.body["model"].as_str().unwrap_or_default();
        match answering.contains(&model) {
            true => ScriptedReply::Valid,
            false => ScriptedReply::Status(401, Vec::new(), "{}".to_owned()),
        }
    });
    let program = TestProgram::new();
    std::fs::write(
        program.path().join("council.yaml"),
        settings.replace("URL", &server.base_url()),
    )
    .unwrap();
    let (code, result, _) = run_doctor(&program, &[KEY], &["doctor"]);
    let ask = run_doctor(&program, &[KEY], &["ask", "Tea or coffee?"]).0;
    (code, ask, result)
}

const THREE_SEATS: &str = r#"
council:
  providers:
    - {name: a, dialect: openai, base_url: "URL", api_key_env: HOUSE_KEY, model: a, role: [participant, chair]}
    - {name: b, dialect: openai, base_url: "URL", api_key_env: HOUSE_KEY, model: b}
    - {name: c, dialect: openai, base_url: "URL", api_key_env: HOUSE_KEY, model: c}
"#;

#[test]
fn it_passes_where_ask_finishes_and_fails_where_ask_fails() {
    let (doctor, ask, result) = exit_codes(THREE_SEATS, &["a", "b", "c"]);
    assert_eq!((doctor, ask), (0, 0), "{result}");
    // A seat that no one waits for is no reason to fail.
    let (doctor, ask, result) = exit_codes(THREE_SEATS, &["a", "b"]);
    assert_eq!((doctor, ask), (0, 0), "{result}");
    assert!(result.contains("× c  NOT USABLE"), "{result}");
    assert!(result.contains("the server of `c` refuses the key in HOUSE_KEY"), "{result}");
    let (doctor, ask, result) = exit_codes(THREE_SEATS, &["a", "c"]);
    assert_eq!((doctor, ask), (1, 3), "{result}");
    assert!(result.contains("the critic is `b`, which does not answer"), "{result}");
    let (doctor, ask, result) = exit_codes(THREE_SEATS, &["c"]);
    assert_eq!((doctor, ask), (1, 3), "{result}");
    let one: String = THREE_SEATS.lines().take(4).map(|line| format!("{line}\n")).collect();
    let (doctor, ask, result) = exit_codes(&one, &["a"]);
    assert_eq!((doctor, ask), (1, 5), "{result}");
    assert!(result.contains("give one provider several seats"), "{result}");
}

#[test]
fn a_program_reads_the_same_as_one_document() {
    let (program, server) = (TestProgram::new(), model_server());
    let dead = unused_address();
    write_settings(
        &program,
        &[
            provider_yaml(&server, "gpt-4-o"),
            format!(r#"{{name: away, dialect: openai, base_url: "http://{dead}/v1", model: m-1}}"#),
        ],
    );
    let (code, result, talk) = run_doctor(&program, &[KEY], &["doctor", "--json"]);
    assert_eq!((code, talk.as_str()), (1, ""));
    let document: Value = serde_json::from_str(&result).unwrap();
    let expected = [
        ("status", json!("findings")),
        ("config.file", json!("HERE/council.yaml")),
        ("store.opens", Value::Null),
        ("providers.0.key", json!({ "variable": "HOUSE_KEY", "present": true })),
        ("providers.0.reachable", json!(true)),
        ("providers.0.model_exists", json!(false)),
        ("providers.0.offered.0", json!("gpt-4o")),
        ("providers.0.transports.0.kind", json!("http")),
        ("providers.0.transports.0.usable", json!(true)),
        ("providers.0.host", json!("LOOPBACK")),
        ("providers.1.reachable", json!(false)),
        ("providers.1.model_exists", Value::Null),
        ("providers.1.price.source", json!("loopback")),
    ];
    for (path, value) in expected {
        assert_eq!(value_at(&document, path), &value, "{path}");
    }
    assert_eq!(document["advice"].as_array().unwrap().len(), 2);
}

#[test]
fn with_nobody_there_it_says_that_ask_rehearses() {
    let program = TestProgram::new();
    let (code, result, _) = run_doctor(&program, &[], &["doctor"]);
    assert_eq!(code, 1);
    for words in
        ["no provider", "rehearses with an offline panel", "exit code 0", "ANTHROPIC_API_KEY"]
    {
        assert!(result.contains(words), "{words}: {result}");
    }
}

#[test]
fn a_program_on_the_path_tells_its_version() {
    let program = TestProgram::new();
    let folder = program.path().join("bin");
    std::fs::create_dir(&folder).unwrap();
    let script = |reply: &str| {
        let version = "test \"$1\" = --version && echo '2.0.1 (Claude Code)' && exit";
        let text = format!("#!/bin/sh\n{version}\necho '{reply}'\n");
        std::fs::write(folder.join("claude"), text).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(folder.join("claude"), mode).unwrap();
    };
    let path = folder.to_str().unwrap();
    let check = |more: &[&str], expected: i32, detail: &str| {
        let arguments = [&["doctor", "--json"], more].concat();
        let (code, result, _) = run_doctor(&program, &[("PATH", path)], &arguments);
        let document: Value = serde_json::from_str(&result).unwrap();
        let status = if expected == 0 { "success" } else { "findings" };
        assert_eq!((code, value_at(&document, "status")), (expected, &json!(status)), "{result}");
        let found_by = value_at(&document, "providers.0.found_by");
        assert_eq!(found_by, &json!("found by its program claude"));
        let cli = document["providers"][0]["transports"].as_array().unwrap().iter();
        let cli = cli.rev().find(|transport| transport["kind"] == "cli").unwrap();
        assert!(cli["detail"].as_str().unwrap().contains(detail), "{cli}");
    };
    let found = "program found: 2.0.1 (Claude Code)";
    script(r#"{"type":"result","is_error":false,"result":"OK"}"#);
    check(&[], 0, &format!("{found}; a test call got a reply"));
    script(r#"{"type":"result","is_error":true,"result":"Not logged in, please run /login"}"#);
    check(&[], 1, &format!("{found}; a test call failed: `claude`: Not logged in"));
    check(&["--offline"], 0, "program found");
}

#[test]
fn what_a_run_does_without_is_no_finding() {
    let check = |refusal: fn(&Value, usize) -> Option<(u16, &'static str)>| {
        let program = TestProgram::new();
        let seen = std::sync::atomic::AtomicUsize::new(0);
        let server = ModelServer::start(move |asked| {
            let before = seen.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            match refusal(&asked.body, before) {
                Some((status, text)) => ScriptedReply::Status(status, Vec::new(), text.to_owned()),
                None => ScriptedReply::Valid,
            }
        });
        write_settings(&program, &[provider_yaml(&server, "gpt-4o")]);
        let (code, result, _) = run_doctor(&program, &[KEY], &["doctor"]);
        assert!(code == 0 && result.contains("a test call got a reply"), "{result}");
        assert_eq!(server.requests().len(), 2, "one repetition");
    };
    check(|body, _| body.get("stream").is_some().then_some((400, "stream is not supported")));
    check(|body, _| body.get("max_tokens").is_some().then_some((400, "unknown max_tokens")));
    check(|_, before| (before == 0).then_some((503, "busy")));
}

#[test]
fn with_a_file_it_does_not_say_that_ask_rehearses() {
    let program = TestProgram::new();
    std::fs::write(program.path().join("council.yaml"), "budget: {usd_max: 1}\n").unwrap();
    let (code, result, _) = run_doctor(&program, &[], &["doctor"]);
    assert_eq!(code, 1);
    assert!(result.contains("`plenary ask` ends with exit code 5"), "{result}");
    assert!(!result.contains("calls no model"), "{result}");
}

#[test]
fn mistakes_in_the_file_are_errors_of_configuration() {
    let program = TestProgram::new();
    std::fs::write(program.path().join("council.yaml"), "council: {quorom: {}}\n").unwrap();
    let (code, result, talk) = run_doctor(&program, &[], &["doctor"]);
    assert_eq!((code, result.as_str()), (5, ""));
    assert!(talk.contains("did you mean `quorum`?"), "{talk}");
}

#[test]
fn a_store_that_does_not_open_is_a_finding() {
    let (program, server) = (TestProgram::new(), model_server());
    write_settings(&program, &[provider_yaml(&server, "gpt-4o")]);
    std::fs::write(
        program.path().join("notes.txt"),
        "not a database, but long enough\n".repeat(40),
    )
    .unwrap();
    let (code, result, _) = run_doctor(&program, &[KEY], &["doctor", "--store", "notes.txt"]);
    assert_eq!(code, 1, "{result}");
    assert!(result.contains("× store"), "{result}");
}
