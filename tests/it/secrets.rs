//! Secrets given to the program, and every place where they must not occur.

use std::path::Path;
use std::process::Output;
use std::sync::Arc;
use std::time::Duration;

use plenary_core::model::ask::CallErrorType;
use plenary_engine::providers::http::HttpTransport;
use plenary_engine::providers::http_clients::HttpClients;
use plenary_engine::providers::mcp::McpTransport;
use plenary_engine::providers::transport::{Dialect, McpTool, Transport};
use serde_json::{Value, json};

use crate::kit::{ModelRequest, ModelServer, ScriptedReply, TestProgram, valid_reply};

/// One for each way in which a provider gets a secret.
const KEYS: [(&str, &str); 4] = [
    ("OPEN_CANARY", "sk-canary-open-4f9d1c77e0ab"),
    ("ANTHRO_CANARY", "sk-ant-canary-88aa02b1d9ce"),
    ("GEM_CANARY", "AIzaCanary-51d7c0ffee93be"),
    ("TOLD_CANARY", "tok-canary-cli-0d3f6a9c2e"),
];
const SERVER_SECRET: &str = "srv-canary-mcp-7b1e5d80aa";

fn all_secrets() -> impl Iterator<Item = &'static str> {
    KEYS.iter().map(|(_, key)| *key).chain([SERVER_SECRET])
}

/// Repeats its input as its reply and in its log, and fails on request.
const AGENT: &str = r#"cat > /dev/null; echo "agent log: $TOLD_CANARY" >&2
echo "I was given $TOLD_CANARY"; exit "$(cat "$HOME/code")""#;

const SERVER: &str = r#"
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
  case "$line" in
    *'"method":"initialize"'*)
      answer '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"t","version":"1"}}' ;;
    *'"method":"tools/call"'*)
      echo "server log: $WORD" >&2
      answer "{\"isError\":$(cat "$HOME/fails"),\"content\":[{\"type\":\"text\",\"text\":\"I was given $WORD\"}]}" ;;
  esac
done
"#;

struct SecretsProject {
    program: TestProgram,
    server: ModelServer,
}

impl SecretsProject {
    /// A panel of five with different transports and a scripted model server.
    fn new(play: impl Fn(&ModelRequest) -> ScriptedReply + Send + Sync + 'static) -> Self {
        let (program, server) = (TestProgram::new(), ModelServer::start(play));
        let url = server.base_url();
        let write = |name: &str, text: &str| {
            std::fs::write(program.path().join(name), text).unwrap();
        };
        write("agent.sh", AGENT);
        write("server.sh", SERVER);
        write("code", "0");
        write("fails", "false");
        let home = program.path().to_str().unwrap();
        write(
            "council.yaml",
            &format!(
                r#"
council:
  providers:
    - {{name: open, role: [participant, chair], model: m-1, family: one, dialect: openai, base_url: "{url}", api_key_env: OPEN_CANARY}}
    - {{name: anthro, role: [participant, chair], model: m-2, family: two, dialect: anthropic, base_url: "{url}", api_key_env: ANTHRO_CANARY}}
    - {{name: gem, role: [participant], model: m-3, family: three, dialect: gemini, base_url: "{url}", api_key_env: GEM_CANARY}}
    - {{name: told, role: [participant], model: m-4, family: four, transports: [cli], command: [/bin/sh, "{home}/agent.sh"], api_key_env: TOLD_CANARY}}
    - {{name: served, role: [participant], model: m-5, family: five, transports: [mcp], mcp: {{command: /bin/sh, args: ["{home}/server.sh"], env: {{WORD: {SERVER_SECRET}}}, tool: ask, argument: prompt}}}}
  timeouts: {{r1_per_provider: 3000, r2_per_provider: 3000, r3_chair: 3000}}
"#
            ),
        );
        Self { program, server }
    }

    fn run_command(&self, line: &[&str]) -> (Output, Value) {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut command = self.program.command();
        command.args(line).env("PATH", path).env("HOME", self.program.path());
        let output = command.envs(KEYS).output().unwrap();
        let document = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
        let code = output.status.code().unwrap();
        assert!([0, 1, 3].contains(&code), "{line:?} ended with {code}: {output:?}");
        check_bytes(&format!("{line:?} to stdout"), &output.stdout);
        check_bytes(&format!("{line:?} to stderr"), &output.stderr);
        (output, document)
    }

    /// Runs `ask`, checks every stored and printed form, and returns the document.
    fn ask_and_check(&self) -> Value {
        let (_, document) = self.run_command(&["ask", "Shall we?", "--json"]);
        let id = document["run_id"].as_str().or(document["dialogue_id"].as_str());
        let id = id.unwrap_or_else(|| panic!("no id in {document:#}")).to_owned();
        for line in [
            &["show", &id][..],
            &["show", &id, "--json"],
            &["show", &id, "--full"],
            &["replay", &id, "--json"],
            &["replay", &id],
            &["export", &id],
            &["export", &id, "--format", "markdown"],
            &["resume", &id, "--json"],
            &["config"],
            &["config", "--json"],
            &["ask", "Shall we?", "--dry-run", "--json"],
            &["list", "--json"],
            &["verify"],
        ] {
            self.run_command(line);
        }
        check_files(self.program.path());
        document
    }
}

#[track_caller]
fn check_bytes(place: &str, bytes: &[u8]) {
    for secret in all_secrets() {
        // Half of a key counts as a leak.
        for part in [&secret[..secret.len() / 2 + 4], &secret[secret.len() / 2 - 4..]] {
            let found = bytes.windows(part.len()).position(|window| window == part.as_bytes());
            if let Some(found) = found {
                let around = &bytes[found.saturating_sub(120)..(found + 60).min(bytes.len())];
                panic!("{place} holds `{part}`: …{}…", String::from_utf8_lossy(around));
            }
        }
    }
}

/// Checks the database with its log, and all other files.
fn check_files(folder: &Path) {
    let mut looked_at = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            check_files(&path);
        } else if !path.ends_with("council.yaml") {
            check_bytes(&path.display().to_string(), &std::fs::read(&path).unwrap());
            looked_at += 1;
        }
    }
    assert!(looked_at > 0, "nothing in {}", folder.display());
}

/// A careless server's reply: the headers and the prompt of the request.
fn echo_request(seen: &ModelRequest) -> String {
    let headers: Vec<String> =
        seen.headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    format!("you sent {} and {}", headers.join(", "), seen.system)
}

fn failing_reply(seen: &ModelRequest, error_type: CallErrorType) -> ScriptedReply {
    let message = |status: u16| {
        let body = json!({ "error": { "message": echo_request(seen) } });
        ScriptedReply::Status(status, vec![("x-echo", "1".to_owned())], body.to_string())
    };
    match error_type {
        CallErrorType::Timeout => {
            ScriptedReply::Slow(Duration::from_secs(4), Box::new(ScriptedReply::Valid))
        }
        CallErrorType::Auth => message(401),
        CallErrorType::RateLimit => message(429),
        CallErrorType::Network => ScriptedReply::Disconnect,
        CallErrorType::ParseError => ScriptedReply::RawBody(echo_request(seen).into_bytes()),
        CallErrorType::ServerError => message(500),
        CallErrorType::BadRequest => message(400),
        CallErrorType::Refused => ScriptedReply::Refusal,
        CallErrorType::ContextTooLong => message(413),
        CallErrorType::Unknown => message(600),
    }
}

#[test]
fn a_failure_tells_no_key() {
    // One error type for each seat and run, until every type occurred in every dialect.
    let classes = CallErrorType::ALL;
    std::thread::scope(|scope| {
        for (number, class) in classes.iter().enumerate() {
            scope.spawn(move || {
                let second = classes[(number + 3) % classes.len()];
                let third = classes[(number + 6) % classes.len()];
                let bench = SecretsProject::new(move |seen| match seen.dialect {
                    Dialect::OpenAi => failing_reply(seen, *class),
                    Dialect::Anthropic => failing_reply(seen, second),
                    Dialect::Gemini => failing_reply(seen, third),
                });
                std::fs::write(bench.program.path().join("code"), "3").unwrap();
                std::fs::write(bench.program.path().join("fails"), "true").unwrap();
                let document = bench.ask_and_check();
                assert_eq!(document["status"], "failed", "{document:#}");
                let shown = document.to_string();
                for met in [*class, second, third] {
                    let expected = format!("\"error_type\":\"{met}\"");
                    assert!(shown.contains(&expected), "no {met}: {document:#}");
                }
            });
        }
    });
}

#[test]
fn a_reply_that_repeats_the_key_is_kept_without_it() {
    let bench = SecretsProject::new(|seen| {
        let mut document = valid_reply(seen);
        let fields = document.as_object_mut().unwrap();
        for name in ["summary", "would_change_my_opinion", "consensus_points"] {
            if let Some(field) = fields.get_mut(name) {
                *field = if field.is_array() {
                    json!([echo_request(seen)])
                } else {
                    json!(echo_request(seen))
                };
            }
        }
        ScriptedReply::Reply(document.to_string())
    });
    let document = bench.ask_and_check();
    let shown = document.to_string();
    assert!(shown.contains("authorization: Bearer ***"), "{document:#}");
    assert!(shown.contains("x-api-key: ***"), "{document:#}");
}

#[test]
fn prose_that_repeats_the_key_is_kept_without_it() {
    let bench = SecretsProject::new(|seen| ScriptedReply::Reply(echo_request(seen)));
    let document = bench.ask_and_check();
    assert_eq!(document["status"], "failed", "{document:#}");
}

#[test]
fn a_file_with_a_key_of_this_run_is_not_sent() {
    let bench = SecretsProject::new(|_| ScriptedReply::Valid);
    for (number, secret) in all_secrets().enumerate() {
        let text = format!("first line\nsee {secret} for it\n");
        bench.program.write_text(&format!("notes-{number}.md"), &text);
    }
    bench.program.write_text("kept.md", "a blue door");
    let line = ["ask", "Shall we?", "--context", ".", "--json"];
    let (_, planned) = bench.run_command(&[&line[..], &["--dry-run"]].concat());
    let excluded = planned["context"]["excluded"].as_array().unwrap();
    let mut expected = vec![("council.yaml".to_owned(), "configuration of this program")];
    let notes = (0..all_secrets().count()).map(|number| format!("notes-{number}.md"));
    expected.extend(notes.map(|path| (path, "line 2 contains the value of a key in use")));
    for (path, reason) in expected {
        let entry = json!({ "path": path, "reason": reason });
        assert!(excluded.contains(&entry), "{path} is not left out: {planned:#}");
    }
    let (_, document) = bench.run_command(&line);
    assert_eq!(document["status"], "done", "{document:#}");
    let seen = bench.server.requests();
    assert!(seen.iter().any(|seen| seen.user.contains("a blue door")), "nothing was sent");
    for seen in seen {
        check_bytes("a message", seen.user.as_bytes());
        check_bytes("a message", seen.system.as_bytes());
    }
}

#[test]
fn a_provider_can_be_printed() {
    let server = ModelServer::start(|_| ScriptedReply::Valid);
    let mut provider = server.make_provider("open", Dialect::OpenAi);
    provider.key = Some(KEYS[0].1.into());
    provider.mcp = Some(McpTool {
        command: "x".to_owned(),
        args: Vec::new(),
        env: vec![("WORD".to_owned(), SERVER_SECRET.into())],
        tool: "ask".to_owned(),
        argument: "prompt".to_owned(),
    });
    check_bytes("a provider", format!("{provider:#?}").as_bytes());
    let provider = Arc::new(provider);
    let clients = Arc::new(HttpClients::new());
    let http = Transport::Http(HttpTransport::new(Arc::clone(&provider), clients));
    let mcp = Transport::Mcp(McpTransport::new(provider));
    check_bytes("transports", format!("{http:#?} {mcp:#?}").as_bytes());
}
