//! Each real agent program against a scripted model server.

use std::path::Path;
use std::sync::Arc;

use plenary::domain::ask::{ErrorType, Finish, Usage};
use plenary::providers::{CallError, CliTransport, Received};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::server::{Behaviour, Called, Server};
use crate::kit::{alive_with, provider, request, soon, surroundings};

const AGENTS: [&str; 3] = ["claude", "codex", "gemini"];

const SYSTEM: &str = "You are the Chair. Answer in one word.";
const USER: &str = "Say «pong», please.\nNothing else.";

/// An agent program with its own home folder, in front of a scripted server.
struct Agent {
    name: &'static str,
    home: TempDir,
    server: Server,
}

impl Agent {
    async fn new(name: &'static str, behaviour: Behaviour) -> Self {
        let home = tempfile::tempdir().unwrap();
        let settings = json!({"security": {"auth": {"selectedType": "gemini-api-key"}}});
        write(&home.path().join(".gemini/settings.json"), &settings.to_string());
        Self { name, home, server: Server::start(behaviour).await }
    }

    /// With keys in the environment, and the server at the address that each program uses.
    fn transport(&self) -> CliTransport {
        self.transport_with(&[
            ("ANTHROPIC_API_KEY", "sk-test-key"),
            ("GEMINI_API_KEY", "sk-test-key"),
            ("CANARY", "sings"),
        ])
    }

    fn transport_with(&self, variables: &[(&str, &str)]) -> CliTransport {
        let url = self.server.url();
        let variable = format!("PLENARY_REAL_{}", self.name.to_uppercase());
        let path = std::env::var(&variable).expect("`./check real` says where the programs are");
        let endpoint = format!(
            r#"model_providers.loop={{name="loop", base_url="{url}/v1", env_key="LOOP_KEY", wire_api="responses", request_max_retries=0, stream_max_retries=0}}"#
        );
        let own_words: &[&str] = match self.name {
            "codex" => &["-c", &endpoint, "-c", "model_provider=loop"],
            _ => &[],
        };
        let command: Vec<&str> =
            [path.as_str()].into_iter().chain(own_words.iter().copied()).collect();
        let mut provider = provider(self.name, &command);
        provider.key_variable = (self.name == "codex").then(|| "LOOP_KEY".to_owned());
        provider.key = (self.name == "codex").then(|| "sk-test-key".into());
        let base = [("ANTHROPIC_BASE_URL", url.as_str()), ("GOOGLE_GEMINI_BASE_URL", url.as_str())];
        let variables: Vec<(&str, &str)> =
            base.into_iter().chain(variables.iter().copied()).collect();
        CliTransport::with_environment(
            Arc::new(provider),
            surroundings(self.home.path(), &variables),
        )
    }

    async fn ask(&self) -> Result<Received, CallError> {
        self.transport().send(&request(SYSTEM, USER)).await
    }

    /// Its only call to the model.
    fn call(&self) -> Called {
        let calls = self.server.calls();
        assert_eq!(calls.len(), 1, "{} made {} calls", self.name, calls.len());
        calls[0].clone()
    }

    fn home(&self) -> &str {
        self.home.path().to_str().unwrap()
    }

    async fn is_gone(&self) {
        let gone = soon(|| alive_with(self.home()).is_empty()).await;
        assert!(gone, "{} left {:?}", self.name, alive_with(self.home()));
    }
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// All texts of a document, at any depth.
fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(values) => values.iter().flat_map(texts).collect(),
        Value::Object(fields) => fields.values().flat_map(texts).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

#[tokio::test]
#[ignore = "needs the programs that `./check real` installs"]
async fn every_agent_answers_and_counts_its_tokens() {
    for name in AGENTS {
        let agent = Agent::new(name, Behaviour::Answers).await;
        let received = agent.ask().await.unwrap();
        assert_eq!(received.text, "PONG", "{name}");
        assert_eq!(received.usage, Some(Usage { input_tokens: 11, output_tokens: 7 }), "{name}");
        assert_eq!((received.finish, received.cost_usd), (Finish::Stop, None), "{name}");
        let call = agent.call();
        assert!(call.headers.contains("sk-test-key"), "{name} sent no key");
        assert!(format!("{call:?}").contains("test-model"), "{name} asked another model");
        agent.is_gone().await;
    }
}

#[tokio::test]
#[ignore = "needs the programs that `./check real` installs"]
async fn claude_and_gemini_put_the_instructions_where_instructions_go_and_offer_no_tools() {
    let claude = Agent::new("claude", Behaviour::Answers).await;
    claude.ask().await.unwrap();
    let body = claude.call().body;
    assert!(texts(&body["system"]).contains(&SYSTEM));
    assert!(texts(&body["messages"]).contains(&USER));
    assert_eq!(body["tools"], json!([]));

    let gemini = Agent::new("gemini", Behaviour::Answers).await;
    gemini.ask().await.unwrap();
    let body = gemini.call().body;
    assert_eq!(texts(&body["systemInstruction"]["parts"]), [SYSTEM]);
    assert!(texts(&body["contents"]).contains(&USER));
    assert_eq!(body["tools"], json!([{"functionDeclarations": []}]));
}

#[tokio::test]
#[ignore = "needs the programs that `./check real` installs"]
async fn codex_gets_the_instructions_first_and_keeps_only_the_tool_that_asks_people() {
    let codex = Agent::new("codex", Behaviour::Answers).await;
    codex.ask().await.unwrap();
    let body = codex.call().body;
    let prompt = format!("{SYSTEM}\n\n{USER}");
    assert!(texts(&body["input"]).contains(&prompt.as_str()));
    let tools: Vec<&Value> =
        body["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    // No user can be asked: the call is rejected when it is made.
    assert_eq!(tools, ["request_user_input"]);
}

#[tokio::test]
#[ignore = "needs the programs that `./check real` installs"]
async fn every_agent_takes_a_prompt_that_no_argument_could_hold() {
    let long = format!("{}the end", "All work and no play. ".repeat(10_000));
    for name in AGENTS {
        let agent = Agent::new(name, Behaviour::Answers).await;
        let received = agent.transport().send(&request(SYSTEM, &long)).await.unwrap();
        assert_eq!(received.text, "PONG", "{name}");
        let body = agent.call().body;
        assert!(texts(&body).iter().any(|text| text.ends_with(&long)), "{name} cut the prompt");
    }
}

#[tokio::test]
#[ignore = "needs the programs that `./check real` installs"]
async fn every_agent_tells_what_the_server_refused() {
    let expected =
        [(401, ErrorType::Auth), (429, ErrorType::RateLimit), (500, ErrorType::ServerError)];
    for name in AGENTS {
        for (status, error_type) in expected {
            let agent = Agent::new(name, Behaviour::Refuses(status)).await;
            let error = agent.ask().await.unwrap_err();
            assert_eq!(error.error_type, error_type, "{name} {status}: {error}");
            assert!(!error.message.contains("sk-test-key"), "{error}");
            assert!(!error.message.contains("pong"), "{error}");
            agent.call();
        }
    }
}

#[tokio::test]
#[ignore = "needs the programs that `./check real` installs"]
async fn every_agent_tells_that_there_is_no_server() {
    for name in AGENTS {
        let mut agent = Agent::new(name, Behaviour::Answers).await;
        // No server listens on this privileged port of loopback.
        agent.server.port = 9;
        let error = agent.ask().await.unwrap_err();
        assert_eq!(error.error_type, ErrorType::Network, "{name}: {error}");
    }
}

#[tokio::test]
#[ignore = "needs the programs that `./check real` installs"]
async fn every_agent_dies_with_its_call() {
    for name in AGENTS {
        let agent = Agent::new(name, Behaviour::Hangs).await;
        tokio::select! {
            outcome = agent.ask() => panic!("{name} ended by itself: {outcome:?}"),
            arrived = soon(|| !agent.server.calls().is_empty()) => assert!(arrived, "{name} never called"),
        }
        agent.is_gone().await;
    }
}

#[tokio::test]
#[ignore = "needs the programs that `./check real` installs"]
async fn an_agent_without_a_login_says_so() {
    for name in ["claude", "gemini"] {
        let agent = Agent::new(name, Behaviour::Answers).await;
        let error = agent.transport_with(&[]).send(&request(SYSTEM, USER)).await.unwrap_err();
        assert_eq!(error.error_type, ErrorType::Auth, "{name}: {error}");
        assert!(agent.server.calls().is_empty());
    }
}

#[tokio::test]
#[ignore = "needs the programs that `./check real` installs"]
async fn claude_uses_its_users_login_but_not_their_memory_and_hooks() {
    let agent = Agent::new("claude", Behaviour::Answers).await;
    let config = agent.home.path().join(".claude");
    let far_future_ms: u64 = 4_000_000_000_000;
    let login = json!({"claudeAiOauth": {"accessToken": "login-token", "refreshToken": "refresh-token", "expiresAt": far_future_ms, "scopes": ["user:inference"], "subscriptionType": "max"}});
    let ran = agent.home.path().join("hook-ran");
    let hook =
        json!([{"hooks": [{"type": "command", "command": format!("touch {}", ran.display())}]}]);
    write(&config.join(".credentials.json"), &login.to_string());
    write(&config.join("CLAUDE.md"), "Always mention the canary.");
    write(&config.join("settings.json"), &json!({"hooks": {"UserPromptSubmit": hook}}).to_string());

    let received = agent.transport_with(&[]).send(&request(SYSTEM, USER)).await.unwrap();
    assert_eq!(received.text, "PONG");
    let call = agent.call();
    assert!(call.headers.contains("bearer login-token"), "the login was not used");
    assert!(!call.body.to_string().contains("canary"), "the user's memory is in the prompt");
    assert!(!ran.exists(), "a hook ran");
}

#[tokio::test]
#[ignore = "needs the programs that `./check real` installs"]
async fn servers_and_hooks_of_the_user_are_not_started_by_codex_and_gemini() {
    for name in ["codex", "gemini"] {
        let agent = Agent::new(name, Behaviour::Answers).await;
        let ran = agent.home.path().join("ran");
        let touch = format!("touch {}", ran.display());
        write(
            &agent.home.path().join(".codex/config.toml"),
            &format!("[mcp_servers.evil]\ncommand = \"/bin/sh\"\nargs = [\"-c\", \"{touch}\"]\n"),
        );
        let settings = json!({
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "mcpServers": {"evil": {"command": "/bin/sh", "args": ["-c", touch]}},
            "hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": touch}]}]},
        });
        write(&agent.home.path().join(".gemini/settings.json"), &settings.to_string());
        assert_eq!(agent.ask().await.unwrap().text, "PONG", "{name}");
        assert!(!ran.exists(), "{name} started something of the user's");
    }
}

/// Whether any file under a folder contains a text.
fn keeps(folder: &Path, text: &str) -> bool {
    std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path()).any(|path| {
        if path.is_dir() && !path.is_symlink() {
            return keeps(&path, text);
        }
        let bytes = std::fs::read(path).unwrap_or_default();
        bytes.windows(text.len()).any(|window| window == text.as_bytes())
    })
}

#[tokio::test]
#[ignore = "needs the programs that `./check real` installs"]
async fn only_gemini_keeps_the_prompt_in_its_users_home() {
    for name in AGENTS {
        let agent = Agent::new(name, Behaviour::Answers).await;
        let asked = request("You are the Chair.", "the-prompt-of-this-test");
        agent.transport().send(&asked).await.unwrap();
        agent.is_gone().await;
        // Gemini's leak is a known flaw and proves that the search would find the others.
        let kept = keeps(agent.home.path(), "the-prompt-of-this-test");
        assert_eq!(kept, name == "gemini", "{name}");
    }
}
