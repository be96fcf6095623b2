//! Each real agent program against a scripted model server.

use std::path::Path;
use std::sync::Arc;

use plenary_core::model::ask::{CallErrorType, FinishReason, TokenUsage};
use plenary_engine::providers::cli::transport::CliTransport;
use plenary_engine::providers::transport::{CallError, CallReply};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::server::{AgentModelServer, AgentReply, ModelCall};
use crate::kit::{find_processes_with, make_environment, make_provider, make_request, wait_until};

const AGENTS: [&str; 3] = ["claude", "codex", "gemini"];

const SYSTEM: &str = "You are the Chair. Answer in one word.";
const USER: &str = "Say «pong», please.\nNothing else.";

/// An agent program with its own home folder, in front of a scripted server.
struct AgentHarness {
    name: &'static str,
    home: TempDir,
    server: AgentModelServer,
}

impl AgentHarness {
    async fn new(name: &'static str, behaviour: AgentReply) -> Self {
        let home = tempfile::tempdir().unwrap();
        let settings = json!({"security": {"auth": {"selectedType": "gemini-api-key"}}});
        write_file(&home.path().join(".gemini/settings.json"), &settings.to_string());
        Self { name, home, server: AgentModelServer::start(behaviour).await }
    }

    /// With keys in the environment, and the server at the address that each program uses.
    fn make_transport(&self) -> CliTransport {
        self.transport_with(&[
            ("ANTHROPIC_API_KEY", "sk-test-key"),
            ("GEMINI_API_KEY", "sk-test-key"),
            ("CANARY", "sings"),
        ])
    }

    fn transport_with(&self, variables: &[(&str, &str)]) -> CliTransport {
        let url = self.server.base_url();
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
        let mut provider = make_provider(self.name, &command);
        provider.key_variable = (self.name == "codex").then(|| "LOOP_KEY".to_owned());
        provider.key = (self.name == "codex").then(|| "sk-test-key".into());
        let base = [("ANTHROPIC_BASE_URL", url.as_str()), ("GOOGLE_GEMINI_BASE_URL", url.as_str())];
        let variables: Vec<(&str, &str)> =
            base.into_iter().chain(variables.iter().copied()).collect();
        CliTransport::with_environment(
            Arc::new(provider),
            make_environment(self.home.path(), &variables),
        )
    }

    async fn send_request(&self) -> Result<CallReply, CallError> {
        self.make_transport().send(&make_request(SYSTEM, USER)).await
    }

    /// Its only call to the model.
    fn only_call(&self) -> ModelCall {
        let calls = self.server.recorded_calls();
        assert_eq!(calls.len(), 1, "{} made {} calls", self.name, calls.len());
        calls[0].clone()
    }

    fn home(&self) -> &str {
        self.home.path().to_str().unwrap()
    }

    async fn assert_gone(&self) {
        let gone = wait_until(|| find_processes_with(self.home()).is_empty()).await;
        assert!(gone, "{} left {:?}", self.name, find_processes_with(self.home()));
    }
}

fn write_file(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// All texts of a document, at any depth.
fn collect_texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(values) => values.iter().flat_map(collect_texts).collect(),
        Value::Object(fields) => fields.values().flat_map(collect_texts).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

#[tokio::test]
#[ignore = "needs the programs that `./check real` installs"]
async fn every_agent_answers_and_counts_its_tokens() {
    for name in AGENTS {
        let agent = AgentHarness::new(name, AgentReply::Answer).await;
        let received = agent.send_request().await.unwrap();
        assert_eq!(received.text, "PONG", "{name}");
        assert_eq!(received.usage, Some(TokenUsage::new(11, 7)), "{name}");
        assert_eq!((received.finish, received.cost_usd), (FinishReason::Stop, None), "{name}");
        let call = agent.only_call();
        assert!(call.headers.contains("sk-test-key"), "{name} sent no key");
        assert!(format!("{call:?}").contains("test-model"), "{name} asked another model");
        agent.assert_gone().await;
    }
}

#[tokio::test]
#[ignore = "needs the programs that `./check real` installs"]
async fn claude_and_gemini_put_the_instructions_where_instructions_go_and_offer_no_tools() {
    let claude = AgentHarness::new("claude", AgentReply::Answer).await;
    claude.send_request().await.unwrap();
    let body = claude.only_call().body;
    assert!(collect_texts(&body["system"]).contains(&SYSTEM));
    assert!(collect_texts(&body["messages"]).contains(&USER));
    assert_eq!(body["tools"], json!([]));

    let gemini = AgentHarness::new("gemini", AgentReply::Answer).await;
    gemini.send_request().await.unwrap();
    let body = gemini.only_call().body;
    assert_eq!(collect_texts(&body["systemInstruction"]["parts"]), [SYSTEM]);
    assert!(collect_texts(&body["contents"]).contains(&USER));
    assert_eq!(body["tools"], json!([{"functionDeclarations": []}]));
}

#[tokio::test]
#[ignore = "needs the programs that `./check real` installs"]
async fn codex_gets_the_instructions_first_and_keeps_only_the_tool_that_asks_people() {
    let codex = AgentHarness::new("codex", AgentReply::Answer).await;
    codex.send_request().await.unwrap();
    let body = codex.only_call().body;
    let prompt = format!("{SYSTEM}\n\n{USER}");
    assert!(collect_texts(&body["input"]).contains(&prompt.as_str()));
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
        let agent = AgentHarness::new(name, AgentReply::Answer).await;
        let received = agent.make_transport().send(&make_request(SYSTEM, &long)).await.unwrap();
        assert_eq!(received.text, "PONG", "{name}");
        let body = agent.only_call().body;
        assert!(
            collect_texts(&body).iter().any(|text| text.ends_with(&long)),
            "{name} cut the prompt"
        );
    }
}

#[tokio::test]
#[ignore = "needs the programs that `./check real` installs"]
async fn every_agent_tells_what_the_server_refused() {
    let expected = [
        (401, CallErrorType::Auth),
        (429, CallErrorType::RateLimit),
        (500, CallErrorType::ServerError),
    ];
    for name in AGENTS {
        for (status, error_type) in expected {
            let agent = AgentHarness::new(name, AgentReply::Refuse(status)).await;
            let error = agent.send_request().await.unwrap_err();
            assert_eq!(error.error_type, error_type, "{name} {status}: {error}");
            assert!(!error.message.contains("sk-test-key"), "{error}");
            assert!(!error.message.contains("pong"), "{error}");
            agent.only_call();
        }
    }
}

#[tokio::test]
#[ignore = "needs the programs that `./check real` installs"]
async fn every_agent_tells_that_there_is_no_server() {
    for name in AGENTS {
        let mut agent = AgentHarness::new(name, AgentReply::Answer).await;
        // No server listens on this privileged port of loopback.
        agent.server.port = 9;
        let error = agent.send_request().await.unwrap_err();
        assert_eq!(error.error_type, CallErrorType::Network, "{name}: {error}");
    }
}

#[tokio::test]
#[ignore = "needs the programs that `./check real` installs"]
async fn every_agent_dies_with_its_call() {
    for name in AGENTS {
        let agent = AgentHarness::new(name, AgentReply::Hang).await;
        tokio::select! {
            outcome = agent.send_request() => panic!("{name} ended by itself: {outcome:?}"),
            arrived = wait_until(|| !agent.server.recorded_calls().is_empty()) => assert!(arrived, "{name} never called"),
        }
        agent.assert_gone().await;
    }
}

#[tokio::test]
#[ignore = "needs the programs that `./check real` installs"]
async fn an_agent_without_a_login_says_so() {
    for name in ["claude", "gemini"] {
        let agent = AgentHarness::new(name, AgentReply::Answer).await;
        let error = agent.transport_with(&[]).send(&make_request(SYSTEM, USER)).await.unwrap_err();
        assert_eq!(error.error_type, CallErrorType::Auth, "{name}: {error}");
        assert!(agent.server.recorded_calls().is_empty());
    }
}

#[tokio::test]
#[ignore = "needs the programs that `./check real` installs"]
async fn claude_uses_its_users_login_but_not_their_memory_and_hooks() {
    let agent = AgentHarness::new("claude", AgentReply::Answer).await;
    let config = agent.home.path().join(".claude");
    let far_future_ms: u64 = 4_000_000_000_000;
    let login = json!({"claudeAiOauth": {"accessToken": "login-token", "refreshToken": "refresh-token", "expiresAt": far_future_ms, "scopes": ["user:inference"], "subscriptionType": "max"}});
    let ran = agent.home.path().join("hook-ran");
    let hook =
        json!([{"hooks": [{"type": "command", "command": format!("touch {}", ran.display())}]}]);
    write_file(&config.join(".credentials.json"), &login.to_string());
    write_file(&config.join("CLAUDE.md"), "Always mention the canary.");
    write_file(
        &config.join("settings.json"),
        &json!({"hooks": {"UserPromptSubmit": hook}}).to_string(),
    );

    let received = agent.transport_with(&[]).send(&make_request(SYSTEM, USER)).await.unwrap();
    assert_eq!(received.text, "PONG");
    let call = agent.only_call();
    assert!(call.headers.contains("bearer login-token"), "the login was not used");
    assert!(!call.body.to_string().contains("canary"), "the user's memory is in the prompt");
    assert!(!ran.exists(), "a hook ran");
}

#[tokio::test]
#[ignore = "needs the programs that `./check real` installs"]
async fn servers_and_hooks_of_the_user_are_not_started_by_codex_and_gemini() {
    for name in ["codex", "gemini"] {
        let agent = AgentHarness::new(name, AgentReply::Answer).await;
        let ran = agent.home.path().join("ran");
        let touch = format!("touch {}", ran.display());
        write_file(
            &agent.home.path().join(".codex/config.toml"),
            &format!("[mcp_servers.evil]\ncommand = \"/bin/sh\"\nargs = [\"-c\", \"{touch}\"]\n"),
        );
        let settings = json!({
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "mcpServers": {"evil": {"command": "/bin/sh", "args": ["-c", touch]}},
            "hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": touch}]}]},
        });
        write_file(&agent.home.path().join(".gemini/settings.json"), &settings.to_string());
        assert_eq!(agent.send_request().await.unwrap().text, "PONG", "{name}");
        assert!(!ran.exists(), "{name} started something of the user's");
    }
}

/// Whether any file under a folder contains a text.
fn folder_contains(folder: &Path, text: &str) -> bool {
    std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path()).any(|path| {
        if path.is_dir() && !path.is_symlink() {
            return folder_contains(&path, text);
        }
        let bytes = std::fs::read(path).unwrap_or_default();
        bytes.windows(text.len()).any(|window| window == text.as_bytes())
    })
}

#[tokio::test]
#[ignore = "needs the programs that `./check real` installs"]
async fn only_gemini_keeps_the_prompt_in_its_users_home() {
    for name in AGENTS {
        let agent = AgentHarness::new(name, AgentReply::Answer).await;
        let asked = make_request("You are the Chair.", "the-prompt-of-this-test");
        agent.make_transport().send(&asked).await.unwrap();
        agent.assert_gone().await;
        // Gemini's leak is a known flaw and proves that the search would find the others.
        let kept = folder_contains(agent.home.path(), "the-prompt-of-this-test");
        assert_eq!(kept, name == "gemini", "{name}");
    }
}
