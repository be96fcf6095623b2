//! Secrets given to the program, and every place where they must not occur.

use std::path::Path;
use std::process::Output;
use std::sync::Arc;
use std::time::Duration;

use plenary::domain::ask::ErrorType;
use plenary::providers::{Dialect, HttpClients, HttpTransport, McpTool, McpTransport, Transport};
use serde_json::{Value, json};

use crate::kit::{ModelServer, Play, Program, Seen, fitting};

/// One for each way in which a provider gets a secret.
const KEYS: [(&str, &str); 4] = [
    ("OPEN_CANARY", "sk-canary-open-4f9d1c77e0ab"),
    ("ANTHRO_CANARY", "sk-ant-canary-88aa02b1d9ce"),
    ("GEM_CANARY", "AIzaCanary-51d7c0ffee93be"),
    ("TOLD_CANARY", "tok-canary-cli-0d3f6a9c2e"),
];
const SERVED: &str = "srv-canary-mcp-7b1e5d80aa";

fn secrets() -> impl Iterator<Item = &'static str> {
    KEYS.iter().map(|(_, key)| *key).chain([SERVED])
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

struct Bench {
    program: Program,
    server: ModelServer,
}

impl Bench {
    /// A panel of five with different transports and a scripted model server.
    fn new(play: impl Fn(&Seen) -> Play + Send + Sync + 'static) -> Self {
        let (program, server) = (Program::new(), ModelServer::start(play));
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
    - {{name: served, role: [participant], model: m-5, family: five, transports: [mcp], mcp: {{command: /bin/sh, args: ["{home}/server.sh"], env: {{WORD: {SERVED}}}, tool: ask, argument: prompt}}}}
  timeouts: {{r1_per_provider: 3000, r2_per_provider: 3000, r3_chair: 3000}}
"#
            ),
        );
        Self { program, server }
    }

    fn run(&self, line: &[&str]) -> (Output, Value) {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut command = self.program.command();
        command.args(line).env("PATH", path).env("HOME", self.program.path());
        let output = command.envs(KEYS).output().unwrap();
        let document = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
        let code = output.status.code().unwrap();
        assert!([0, 1, 3].contains(&code), "{line:?} ended with {code}: {output:?}");
        check(&format!("{line:?} to stdout"), &output.stdout);
        check(&format!("{line:?} to stderr"), &output.stderr);
        (output, document)
    }

    /// Runs `ask`, checks every stored and printed form, and returns the document.
    fn ask(&self) -> Value {
        let (_, document) = self.run(&["ask", "Shall we?", "--json"]);
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
            self.run(line);
        }
        check_files(self.program.path());
        document
    }
}

#[track_caller]
fn check(place: &str, bytes: &[u8]) {
    for secret in secrets() {
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
            check(&path.display().to_string(), &std::fs::read(&path).unwrap());
            looked_at += 1;
        }
    }
    assert!(looked_at > 0, "nothing in {}", folder.display());
}

/// A careless server's reply: the headers and the prompt of the request.
fn echo(seen: &Seen) -> String {
    let headers: Vec<String> =
        seen.headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    format!("you sent {} and {}", headers.join(", "), seen.system)
}

fn failing(seen: &Seen, error_type: ErrorType) -> Play {
    let said = |status: u16| {
        let body = json!({ "error": { "message": echo(seen) } });
        Play::Status(status, vec![("x-echo", "1".to_owned())], body.to_string())
    };
    match error_type {
        ErrorType::Timeout => Play::Slow(Duration::from_secs(4), Box::new(Play::Fitting)),
        ErrorType::Auth => said(401),
        ErrorType::RateLimit => said(429),
        ErrorType::Network => Play::Cut,
        ErrorType::ParseError => Play::Raw(echo(seen).into_bytes()),
        ErrorType::ServerError => said(500),
        ErrorType::BadRequest => said(400),
        ErrorType::Refused => Play::Refusal,
        ErrorType::ContextTooLong => said(413),
        ErrorType::Unknown => said(600),
    }
}

#[test]
fn a_failure_tells_no_key() {
    // One error type for each seat and run, until every type occurred in every dialect.
    let classes = ErrorType::ALL;
    std::thread::scope(|scope| {
        for (number, class) in classes.iter().enumerate() {
            scope.spawn(move || {
                let second = classes[(number + 3) % classes.len()];
                let third = classes[(number + 6) % classes.len()];
                let bench = Bench::new(move |seen| match seen.dialect {
                    Dialect::OpenAi => failing(seen, *class),
                    Dialect::Anthropic => failing(seen, second),
                    Dialect::Gemini => failing(seen, third),
                });
                std::fs::write(bench.program.path().join("code"), "3").unwrap();
                std::fs::write(bench.program.path().join("fails"), "true").unwrap();
                let document = bench.ask();
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
    let bench = Bench::new(|seen| {
        let mut document = fitting(seen);
        let fields = document.as_object_mut().unwrap();
        for name in ["summary", "would_change_my_opinion", "consensus_points"] {
            if let Some(field) = fields.get_mut(name) {
                *field = if field.is_array() { json!([echo(seen)]) } else { json!(echo(seen)) };
            }
        }
        Play::Reply(document.to_string())
    });
    let document = bench.ask();
    let shown = document.to_string();
    assert!(shown.contains("authorization: Bearer ***"), "{document:#}");
    assert!(shown.contains("x-api-key: ***"), "{document:#}");
}

#[test]
fn prose_that_repeats_the_key_is_kept_without_it() {
    let bench = Bench::new(|seen| Play::Reply(echo(seen)));
    let document = bench.ask();
    assert_eq!(document["status"], "failed", "{document:#}");
}

#[test]
fn a_file_with_a_key_of_this_run_is_not_sent() {
    let bench = Bench::new(|_| Play::Fitting);
    for (number, secret) in secrets().enumerate() {
        let text = format!("first line\nsee {secret} for it\n");
        bench.program.write(&format!("notes-{number}.md"), &text);
    }
    bench.program.write("kept.md", "a blue door");
    let line = ["ask", "Shall we?", "--context", ".", "--json"];
    let (_, planned) = bench.run(&[&line[..], &["--dry-run"]].concat());
    let excluded = planned["context"]["excluded"].as_array().unwrap();
    let mut expected = vec![("council.yaml".to_owned(), "configuration of this program")];
    let notes = (0..secrets().count()).map(|number| format!("notes-{number}.md"));
    expected.extend(notes.map(|path| (path, "line 2 holds the value of a key in use")));
    for (path, reason) in expected {
        let entry = json!({ "path": path, "reason": reason });
        assert!(excluded.contains(&entry), "{path} is not left out: {planned:#}");
    }
    let (_, document) = bench.run(&line);
    assert_eq!(document["status"], "done", "{document:#}");
    let seen = bench.server.seen();
    assert!(seen.iter().any(|seen| seen.user.contains("a blue door")), "nothing was sent");
    for seen in seen {
        check("a message", seen.user.as_bytes());
        check("a message", seen.system.as_bytes());
    }
}

#[test]
fn a_provider_can_be_printed() {
    let server = ModelServer::start(|_| Play::Fitting);
    let mut provider = server.provider("open", Dialect::OpenAi);
    provider.key = Some(KEYS[0].1.into());
    provider.mcp = Some(McpTool {
        command: "x".to_owned(),
        args: Vec::new(),
        env: vec![("WORD".to_owned(), SERVED.into())],
        tool: "ask".to_owned(),
        argument: "prompt".to_owned(),
    });
    check("a provider", format!("{provider:#?}").as_bytes());
    let provider = Arc::new(provider);
    let clients = Arc::new(HttpClients::new());
    let http = Transport::Http(HttpTransport::new(Arc::clone(&provider), clients));
    let mcp = Transport::Mcp(McpTransport::new(provider));
    check("transports", format!("{http:#?} {mcp:#?}").as_bytes());
}
