//! The agent programs as clients: a scripted model makes them call our tools.

use std::process::Command;

use serde_json::{Value, json};

use super::harness::{ClientProject, installed_path};
use crate::kit::{find_processes_with, plenary_binary, value_at, wait_until};
use crate::real::server::{AgentModelServer, AgentReply};
use crate::real::tool_script::{ToolStep, tool_results};

/// Opens a dialogue, searches it, makes a mistake, and runs a rehearsed council.
const STEPS: &[ToolStep] = &[
    ToolStep {
        tool: "blue_dialogue_create",
        arguments: r#"{"title": "Asked by an agent", "expert_pool": {"experts": [{"role": "Analyst", "tier": "Core"}]}}"#,
    },
    ToolStep { tool: "blue_dialogue_search", arguments: r#"{"op": "list"}"# },
    ToolStep { tool: "blue_dialogue_progress", arguments: r#"{"dialogue_id": "nobody"}"# },
    ToolStep {
        tool: "council_ask",
        arguments: r#"{"question": "Should we?", "rehearse": true, "wait_seconds": 30}"#,
    },
];

fn claude_command(house: &ClientProject, url: &str) -> Command {
    let servers =
        json!({ "mcpServers": { "plenary": { "command": plenary_binary(), "args": ["mcp"] } } });
    let mut claude = house.client_command(&installed_path("CLAUDE"));
    claude
        .args(["-p", "Lead a dialogue.", "--output-format", "json", "--model", "test-model"])
        .args(["--mcp-config", &servers.to_string(), "--strict-mcp-config"])
        .args(["--allowedTools", "mcp__plenary", "--no-session-persistence"])
        .env("ANTHROPIC_BASE_URL", url)
        .env("ANTHROPIC_API_KEY", "sk-test-key")
        .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        .env("DISABLE_AUTOUPDATER", "1");
    claude
}

fn codex_command(house: &ClientProject, url: &str) -> Command {
    let mut codex = house.client_command(&installed_path("CODEX"));
    let model = format!(
        r#"model_providers.loop={{name="loop", base_url="{url}/v1", env_key="LOOP_KEY", wire_api="responses", request_max_retries=0, stream_max_retries=0}}"#
    );
    // Record tools need no approval; tools that call models do.
    let server = format!(
        r#"mcp_servers.plenary={{command="{}", args=["mcp"], tools={{council_ask={{approval_mode="approve"}}}}}}"#,
        plenary_binary().display()
    );
    codex
        .args(["exec", "--json", "--skip-git-repo-check", "--ephemeral", "-m", "test-model"])
        .args(["-c", &model, "-c", "model_provider=loop", "-c", &server])
        .arg("Lead a dialogue.")
        .env("LOOP_KEY", "sk-test-key");
    codex
}

fn gemini_command(house: &ClientProject, url: &str) -> Command {
    let settings = json!({
        "security": { "auth": { "selectedType": "gemini-api-key" } },
        "mcpServers": { "plenary": { "command": plenary_binary(), "args": ["mcp"], "trust": true } },
    });
    let folder = house.program.path().join(".gemini");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("settings.json"), settings.to_string()).unwrap();
    let mut gemini = house.client_command(&installed_path("GEMINI"));
    gemini
        .args(["-p", "Lead a dialogue.", "-m", "test-model"])
        .args(["--output-format", "json", "--skip-trust"])
        .env("GEMINI_API_KEY", "sk-test-key")
        .env("GOOGLE_GEMINI_BASE_URL", url);
    gemini
}

/// Runs an agent to its end and checks its tool results and the store.
async fn check_agent(name: &str, agent: fn(&ClientProject, &str) -> Command) {
    let (house, server) =
        (ClientProject::new(), AgentModelServer::start(AgentReply::CallTools(STEPS)).await);
    let mut command = agent(&house, &server.base_url());
    let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    assert!(output.status.success(), "{name}: {output:?}");
    let calls = server.recorded_calls();
    assert_eq!(calls.len(), STEPS.len() + 1, "{name} made another number of calls");

    let result = tool_results(&calls[STEPS.len()].body);
    let result: Vec<String> = result.iter().map(ToString::to_string).collect();
    let expected = ["judge_protocol", "asked-by-an-agent", "dialogue_not_found", "conclusion"];
    for (result, expected) in result.iter().zip(expected) {
        assert!(result.contains(expected), "{name} was not told of {expected}: {result}");
    }
    let ran = house.program.run_command(&["list", "--json"]);
    let listed: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(value_at(&listed, "dialogues").as_array().unwrap().len(), 2, "{name}: {listed:#}");
    assert_eq!(value_at(&listed, "dialogues.1.dialogue_id"), "asked-by-an-agent", "{name}");
    assert_eq!(value_at(&listed, "dialogues.0.protocol"), "council", "{name}");
    house.assert_verified();
    let home = house.program.path().to_str().unwrap();
    assert!(
        wait_until(|| find_processes_with(home).is_empty()).await,
        "{name} left {:?}",
        find_processes_with(home)
    );
}

#[tokio::test]
#[ignore = "needs the programs that `./check real` installs"]
async fn claude_calls_our_tools() {
    check_agent("claude", claude_command).await;
}

#[tokio::test]
#[ignore = "needs the programs that `./check real` installs"]
async fn codex_calls_our_tools() {
    check_agent("codex", codex_command).await;
}

#[tokio::test]
#[ignore = "needs the programs that `./check real` installs"]
async fn gemini_calls_our_tools() {
    check_agent("gemini", gemini_command).await;
}
