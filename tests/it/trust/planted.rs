//! Files that were planted in a project or above it, against the real program.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use serde_json::{Value, json};

use super::harness::{UntrustedProject, parse_document, run_output};

#[test]
fn a_planted_program_is_never_started() {
    let project = UntrustedProject::new();
    let rules = "tier_rules: {tier_1: {post: ['*.md']}}\n";
    project.write_settings(&format!("{}{rules}", project.planted_settings()));
    std::fs::write(project.path_at("project/post.md"), "We ship today.").unwrap();
    for arguments in [
        &["ask", "Is it so?"][..],
        &["ask", "Is it so?", "--dry-run"],
        &["ask", "Is it so?", "--providers", "mine"],
        &["doctor"],
        &["review", "../post.md"],
        &["sweep", ".."],
    ] {
        let ran = project.expect_refused(arguments);
        let message = "`council.providers.mine.command` on line 3 runs a program";
        assert!(ran.stderr.contains(message), "{arguments:?}: {ran:?}");
    }
    // Commands that call no provider need no trust.
    for arguments in
        [&["list"][..], &["ask", "Is it so?", "--rehearse"], &["verify"], &["config"], &["health"]]
    {
        let ran = project.run_command(arguments);
        assert_eq!(ran.code, 0, "{arguments:?}: {ran:?}");
        project.assert_untouched();
    }
}

#[test]
fn a_run_that_began_in_a_trusted_state_is_not_resumed_by_a_planted_program() {
    let project = UntrustedProject::with_settings(
        "council:\n  providers: [{name: claude}]\n  quorum: {r1_min: 1}\n",
    );
    let mut command = project.untrusted_command();
    // The key is set and the provider is unreachable: the run stays incomplete.
    command.envs([("ANTHROPIC_API_KEY", "canary"), ("HTTPS_PROXY", "http://127.0.0.1:9")]);
    let began = run_output(command.args(["ask", "Is it so?", "--json", "--deadline", "20s"]));
    let id = parse_document(&began)["dialogue_id"].as_str().unwrap().to_owned();
    project.write_settings(&project.planted_settings());
    project.expect_refused(&["resume", &id]);
}

#[test]
fn a_variable_of_the_user_is_never_sent() {
    let project = UntrustedProject::new();
    project.write_settings(&project.stealing_settings());
    for arguments in [&["ask", "Is it so?"][..], &["doctor"]] {
        project.expect_refused(arguments);
    }
}

#[test]
fn the_refusal_is_a_document_that_holds_no_value_of_the_file() {
    let project = UntrustedProject::new();
    let mcp =
        "    - {name: tool, mcp: {command: canary-server, env: {T: canary-value}, tool: t}}\n";
    let text = project.stealing_settings().replace("  quorum", &format!("{mcp}  quorum"));
    project.write_settings(&text);
    let refused = project.run_command(&["ask", "Is it so?", "--json"]);
    assert_eq!(refused.code, 5);
    let document = parse_document(&refused);
    assert_eq!(document["error_code"], "config_not_trusted");
    let problems: Vec<(&Value, &Value)> = document["problems"]
        .as_array()
        .unwrap()
        .iter()
        .map(|problem| (&problem["key"], &problem["line"]))
        .collect();
    let expected =
        [json!("council.providers.thief.api_key_env"), json!("council.providers.tool.mcp")];
    assert_eq!(problems, [(&expected[0], &json!(3)), (&expected[1], &json!(4))]);
    let message = format!("{}{}", refused.stdout, refused.stderr);
    assert!(!message.contains("canary"), "{message}");
    project.assert_untouched();
}

#[test]
fn an_agent_cannot_use_a_file_that_is_not_trusted() {
    let project = UntrustedProject::new();
    project.write_settings(&project.planted_settings());
    let mut command = project.untrusted_command();
    command.arg("mcp").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } } });
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
        "name": "council_ask", "arguments": { "question": "Is it so?" } } });
    writeln!(input, "{hello}\n{ready}\n{call}").unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut answers = lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    let answer = answers.find(|answer| answer["id"] == 2).unwrap();
    assert!(answer.to_string().contains("config_not_trusted"), "{answer}");
    drop(input);
    child.wait().unwrap();
    project.assert_untouched();
}

#[test]
fn a_file_above_the_repository_or_the_home_folder_does_not_count() {
    let project = UntrustedProject::new();
    project.write_settings(&project.planted_settings());
    let file_of = |command: &mut std::process::Command| {
        let shown = parse_document(&run_output(command.args(["config", "--json"])));
        let settings = shown["settings"].as_array().unwrap().clone();
        settings.into_iter().find(|setting| setting["key"] == "config").unwrap()["value"].clone()
    };
    assert_eq!(file_of(&mut project.untrusted_command()), json!(project.settings_path()));
    assert_eq!(
        file_of(project.untrusted_command().env("HOME", project.path_at("project/inner"))),
        Value::Null
    );
    std::fs::create_dir(project.path_at("project/inner/.git")).unwrap();
    assert_eq!(file_of(&mut project.untrusted_command()), Value::Null);
}

#[test]
fn a_store_or_a_log_outside_the_project_is_not_touched() {
    let project = UntrustedProject::new();
    let outside = project.path_at("home/.bashrc");
    for text in [
        format!("storage:\n  url: sqlite:{}\n", outside.display()),
        "storage:\n  url: ../home/.bashrc\n".to_owned(),
        "storage:\n  url: link/x.db\n".to_owned(),
    ] {
        project.write_settings(&text);
        let link = project.path_at("project/link");
        let _ = std::os::unix::fs::symlink(project.path_at("home"), link);
        for arguments in [&["list"][..], &["ask", "Is it so?", "--rehearse"], &["verify"]] {
            project.expect_refused(arguments);
        }
    }
    project.write_settings("review:\n  log_path: ../home/.bashrc\n");
    project.expect_refused(&["log", "repair"]);
    project.expect_refused(&["list"]);
    let left: Vec<_> = std::fs::read_dir(project.path_at("home")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_private_file_is_not_read_as_a_prompt_or_as_context() {
    let project = UntrustedProject::new();
    std::fs::write(project.path_at("home/secret"), "canary").unwrap();
    std::os::unix::fs::symlink(project.path_at("home/secret"), project.path_at("project/notes.md"))
        .unwrap();
    std::fs::write(project.path_at("project/post.md"), "We ship today.").unwrap();
    for seat in [
        "{name: legal, prompt: ../home/secret}",
        "{name: legal, prompt: notes.md}",
        "{name: skeptic, context_refs: [notes.md]}",
    ] {
        project.write_settings(&format!(
            "review:\n  deliberators: [{seat}]\n  policy: {{min_deliberators: 1}}\n"
        ));
        project.expect_refused(&["review", "../post.md", "--rehearse"]);
        // Record commands do not depend on it.
        assert_eq!(project.run_command(&["list"]).code, 0, "{seat}");
    }
}
