//! `init --mcp`: the settings written for agent programs, and that a server starts from them.

use serde_json::{Value, json};

use super::stdio_client::StdioClient;
use crate::kit::{TestProgram, plenary_binary, value_at};

#[test]
fn each_program_is_told_in_its_own_format() {
    let program = TestProgram::new();
    let command = json!(plenary_binary());
    for client in ["claude", "gemini"] {
        let ran = program.run_command(&["init", "--mcp", client]);
        let entry: Value = serde_json::from_str(&ran.stdout).unwrap();
        let server = json!({ "command": command, "args": ["mcp"] });
        assert_eq!(entry, json!({ "mcpServers": { "plenary": server } }));
        assert!(ran.stdout.lines().count() > 1 && ran.stderr.contains("merge it into"), "{ran:?}");
    }
    let result = program.run_command(&["init", "--mcp", "codex"]).stdout;
    let expected = format!("[mcp_servers.plenary]\ncommand = {command}\nargs = [\"mcp\"]\n");
    assert_eq!(result, expected);
    assert_eq!(std::fs::read_dir(program.path()).unwrap().count(), 0);
}

#[test]
fn with_json_it_is_one_document_on_one_line() {
    let program = TestProgram::new();
    for (client, section) in
        [("claude", "mcpServers"), ("gemini", "mcpServers"), ("codex", "mcp_servers")]
    {
        let ran = program.run_command(&["init", "--mcp", client, "--json"]);
        assert_eq!((ran.code, ran.stdout.lines().count()), (0, 1), "{ran:?}");
        let entry: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(value_at(&entry, section)["plenary"]["args"], json!(["mcp"]), "{client}");
    }
}

#[test]
fn what_was_typed_here_is_meant_wherever_the_server_is_started() {
    let program = TestProgram::new();
    let here = program.path().canonicalize().unwrap();
    std::fs::create_dir(here.join("more")).unwrap();
    std::fs::create_dir(here.join("elsewhere")).unwrap();
    std::fs::write(here.join("house.yaml"), "alignment: {convergence_percent: 80}\n").unwrap();
    let flags =
        ["--store", "sqlite:records.db", "--config", "house.yaml", "--allow", "more", "--json"];
    let path = |name: &str| here.join(name).to_str().unwrap().to_owned();
    let (config, store, allow) = (path("house.yaml"), path("records.db"), path("more"));
    let args = ["mcp", "--config", &config, "--store", &store, "--allow", &allow];
    for client in ["claude", "codex", "gemini"] {
        let ran = program.run_command(&[&["init", "--mcp", client], &flags[..]].concat());
        let entry: Value = serde_json::from_str(&ran.stdout).unwrap();
        let server = &entry.as_object().unwrap().values().next().unwrap()["plenary"];
        assert_eq!(server["args"], json!(args), "{client}");
    }
    let toml = program.run_command(&[&["init", "--mcp", "codex"], &flags[..6]].concat()).stdout;
    assert!(toml.ends_with(&format!("args = {}\n", json!(args))), "{toml}");

    let mut agent = StdioClient::in_subfolder_with(&program, &here.join("elsewhere"), &args);
    agent.call_tool_ok("blue_dialogue_create", &json!({ "title": "Talk" }));
    assert!(here.join("records.db").exists() && !here.join("elsewhere/.plenary").exists());
}
