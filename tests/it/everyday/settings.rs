//! Settings that a first user gets wrong: times without a unit, providers by name, the file of `init`.

use serde_json::{Value, json};

use crate::councils::harness::TestCouncil;
use crate::kit::{ScriptedReply, TestProgram};

#[test]
fn a_timeout_under_a_second_is_a_warning_that_says_what_it_means() {
    let program = TestProgram::new();
    program.write_text("council.yaml", "council:\n  timeouts: {r1_per_provider: 60}\n");
    let ran = program.run_command(&["config"]);
    let message =
        "`council.timeouts.r1_per_provider` is 60 milliseconds; write `60s` if you mean seconds";
    assert!(ran.code == 0 && ran.stderr.contains(message), "{ran:?}");
}

#[test]
fn a_short_time_of_a_run_or_of_a_provider_is_a_warning() {
    let program = TestProgram::new();
    let provider = "{name: a, model: m, dialect: openai, base_url: \"http://127.0.0.1:9/v1\", timeouts: {r3_chair: 90}}";
    let yaml = format!("council:\n  providers: [{provider}]\nbudget: {{wall_max: 15}}\n");
    program.write_text("council.yaml", &yaml);
    let ran = program.run_command(&["config"]);
    for message in [
        "`council.providers.a.timeouts.r3_chair` is 90 milliseconds; write `90s`",
        "`budget.wall_max` is 15 milliseconds; write `15s`",
    ] {
        assert!(ran.stderr.contains(message), "{ran:?}");
    }
    let mut command = program.command();
    let ran = command.arg("config").env("PLENARY_DEADLINE", "500ms").output().unwrap();
    assert!(!String::from_utf8(ran.stderr).unwrap().contains("wall_max"), "it has a unit");
}

#[test]
fn a_deadline_in_a_variable_needs_a_unit() {
    let program = TestProgram::new();
    let mut command = program.command();
    let ran =
        command.args(["ask", "--rehearse", "Is it so?"]).env("PLENARY_DEADLINE", "5").output();
    let ran = ran.unwrap();
    let message = String::from_utf8(ran.stderr).unwrap();
    assert!(ran.status.code() == Some(5) && message.contains("with a unit, such as"), "{message}");
}

#[test]
fn a_wrong_option_is_a_mistake_on_the_command_line() {
    let program = TestProgram::new();
    program.write_text("council.yaml", "tier_rules: {tier_1: {post: [\"*.md\"]}}\n");
    program.write_text("a.md", "# A\n");
    for (arguments, part) in [
        (["review", "--type", "blogpost", "a.md"], "use one of: post"),
        (["ask", "--deadline", "0s", "Is it so?"], "a time from 1ms"),
        (["ask", "--model", "zed=1", "Is it so?"], "there is no provider `zed`"),
    ] {
        let ran = program.run_command(&arguments);
        assert!(ran.code == 64 && ran.stderr.contains(part), "{arguments:?}: {ran:?}");
    }
}

#[test]
fn chosen_providers_are_the_only_ones_that_are_called() {
    let council = TestCouncil::with_settings(
        |_| ScriptedReply::Valid,
        |settings| settings["conclusion"] = json!({"critic": "cid"}),
    );
    let ran =
        council.program.run_command(&["ask", "Is it so?", "--providers", "ann,bob", "--json"]);
    let document: Value = serde_json::from_str(&ran.stdout).unwrap();
    let names: Vec<&str> = document["transparency"]["providers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|seat| seat["provider"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["ann", "bob"], "{ran:?}");
}

/// Runs `init` with these variables and returns the file and what was said.
fn run_init(variables: &[(&str, &str)]) -> (TestProgram, String, String) {
    let program = TestProgram::new();
    let mut command = program.command();
    // No server listens on this port of this machine.
    command.env("OLLAMA_HOST", "127.0.0.1:9").envs(variables.iter().copied());
    let ran = command.arg("init").output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
    let file = std::fs::read_to_string(program.path().join("council.yaml")).unwrap();
    (program, file, String::from_utf8(ran.stderr).unwrap())
}

#[test]
fn init_lists_what_it_found_and_comments_the_rest() {
    let keys = [("ANTHROPIC_API_KEY", "k"), ("OPENAI_API_KEY", "k")];
    let (program, file, message) = run_init(&keys);
    assert!(
        message.contains("found: claude (key ANTHROPIC_API_KEY), openai (key OPENAI_API_KEY)"),
        "{message}"
    );
    assert!(
        file.contains("\n  providers:\n    # key ANTHROPIC_API_KEY\n    - name: claude\n"),
        "{file}"
    );
    assert!(file.contains("\n      model: latest   # claude-"), "{file}");
    assert!(file.contains("\n    - name: openai\n      role: [participant]\n"), "{file}");
    assert!(file.contains("\n  #   - name: gemini\n"), "{file}");
    let mut doctor = program.command();
    let ran = doctor.args(["doctor", "--offline"]).envs(keys).output().unwrap();
    let page = String::from_utf8(ran.stdout).unwrap();
    assert!(ran.status.success() && page.contains("2 of 2 providers configured"), "{page}");
    assert!(page.contains("host   api.anthropic.com"), "{page}");
}

#[test]
fn init_leaves_out_a_program_that_is_not_logged_in() {
    let programs = tempfile::tempdir().unwrap();
    let claude = programs.path().join("claude");
    let reply = r#"{"type":"result","is_error":true,"result":"Not logged in, run /login"}"#;
    std::fs::write(&claude, format!("#!/bin/sh\necho '{reply}'\n")).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&claude, mode).unwrap();
    let path = ("PATH", programs.path().to_str().unwrap());
    let (program, file, message) = run_init(&[("OPENAI_API_KEY", "k"), path]);
    assert!(message.contains("testing the login of claude"), "{message}");
    assert!(message.contains("found: openai (key OPENAI_API_KEY)\nleft out claude: "), "{message}");
    assert!(file.contains("\n  # program claude: `claude`: Not logged in"), "{file}");
    assert!(file.contains("\n  #   - name: claude\n"), "{file}");
    assert!(file.contains("    lenses: [pragmatist, skeptic, optimist]"), "{file}");
    // Without a file the program is found, so there is nothing to remove from one.
    std::fs::remove_file(program.path().join("council.yaml")).unwrap();
    let mut doctor = program.command();
    let ran = doctor.arg("doctor").env("OLLAMA_HOST", "127.0.0.1:9").envs([path]).output().unwrap();
    let page = String::from_utf8(ran.stdout).unwrap();
    assert!(page.contains("· start `claude` and log in, or set ANTHROPIC_API_KEY"), "{page}");
    assert!(!page.contains("remove the provider"), "{page}");
}

#[test]
fn init_with_one_key_or_none_is_not_a_dead_end() {
    let lenses = "    lenses: [pragmatist, skeptic, optimist]   # one model, three seats";
    for (keys, written) in
        [(&[("OPENAI_API_KEY", "k")] as &[_], lenses), (&[], "`plenary init` found no provider.")]
    {
        let (program, file, _) = run_init(keys);
        assert!(file.contains(written), "{file}");
        let mut plan = program.command();
        plan.env("OLLAMA_HOST", "127.0.0.1:9").envs(keys.iter().copied());
        let ran = plan.args(["ask", "Is it so?", "--dry-run", "--json"]).output().unwrap();
        let document: Value = serde_json::from_slice(&ran.stdout).unwrap();
        if keys.is_empty() {
            assert_eq!(ran.status.code(), Some(5), "{document}");
        } else {
            let seats = document["seats"].as_array().unwrap();
            let lens = |seat: &Value| format!("{} {}", seat["seat"], seat["lens"]).replace('"', "");
            let lenses: Vec<String> = seats.iter().map(lens).collect();
            assert_eq!(lenses, ["openai pragmatist", "openai-2 skeptic", "openai-3 optimist"]);
        }
    }
}

#[test]
fn every_agent_client_has_its_configuration() {
    let program = TestProgram::new();
    for (client, key) in [("claude", "mcpServers"), ("cursor", "mcpServers"), ("vscode", "servers")]
    {
        let ran = program.run_command(&["init", "--mcp", client, "--json"]);
        let document: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(document[key]["plenary"]["args"], json!(["mcp"]), "{client}: {ran:?}");
    }
}
