//! Which files an export replaces: our own, any other with `--force`, and some never.

use serde_json::json;

use crate::kit::{CommandOutput, TestProgram, value_at};
use crate::mcp::stdio_client::StdioClient;

const COUNCIL_YAML: &str = "\
review:
  log_path: logs/verdicts.jsonl
  deliberators:
    - {name: editor, prompt: prompts/editor.md, context_refs: [docs/style.md, docs/later.md]}
    - {name: skeptic, version: 'by bin/ask.sh with settings/model.json'}
    - {name: strategy}
";

/// A dialogue `talk`, and a council.yaml that names files.
fn program_with_talk() -> TestProgram {
    let program = TestProgram::new();
    program.write_text("council.yaml", COUNCIL_YAML);
    program.write_text("prompts/editor.md", "You are the editor.");
    program.write_text("docs/style.md", "Short words.");
    program.write_text("bin/ask.sh", "#!/bin/sh\n");
    program.write_text("settings/model.json", "{}");
    let (code, created) = program.run_operation(
        "create",
        &json!({ "title": "Talk", "expert_pool": crate::kit::make_pool(&["ann", "bob"]) }),
    );
    assert_eq!(code, 0, "{created:#}");
    program
}

fn export_to(program: &TestProgram, path: &str, more: &[&str]) -> CommandOutput {
    let is_export =
        [".json", ".md", ".markdown"].iter().any(|ending| path.to_lowercase().ends_with(ending));
    let format: &[&str] = if is_export { &[] } else { &["--format", "json"] };
    let arguments = [&["export", "talk", "--output", path], format, more].concat();
    program.run_command(&arguments)
}

fn read_text(program: &TestProgram, path: &str) -> String {
    std::fs::read_to_string(program.path().join(path)).unwrap()
}

/// Checks that an export there is rejected and the file is unchanged.
#[track_caller]
fn check_refused(program: &TestProgram, path: &str, more: &[&str], message: &str) {
    let place = program.path().join(path);
    let before = std::fs::read(&place).ok();
    let ran = export_to(program, path, more);
    assert_eq!(ran.code, 1, "{path}: {ran:?}");
    assert!(ran.stderr.contains(message), "{path}: {ran:?}");
    assert_eq!(std::fs::read(&place).ok(), before, "{path}");
}

#[test]
fn a_file_that_is_not_an_export_is_replaced_by_force_only() {
    let program = program_with_talk();
    let files = [
        ("notes.md", "# Notes\n\nMine.\n"),
        ("data.json", r#"{"id":"talk","title":"Talk"}"#),
        ("empty.json", ""),
        ("AGENTS.md", "Be kind.\n"),
        ("Makefile", "all:\n"),
        (".mcp.json", "{}"),
        ("plain", "text"),
    ];
    for (path, before) in files {
        program.write_text(path, before);
        check_refused(&program, path, &[], "--force");
        assert_eq!(read_text(&program, path), before);
        assert_eq!(export_to(&program, path, &["--force"]).code, 0, "{path}");
        assert_ne!(read_text(&program, path), before);
    }
    let ran = export_to(&program, "again.json", &[]);
    assert_eq!(ran.code, 0, "{ran:?}");
    program.write_text("again.json", "mine now");
    let ran = export_to(&program, "again.json", &[]);
    assert!(ran.stderr.contains("again.json` exists and Plenary did not write it"), "{ran:?}");
}

#[test]
fn an_export_is_replaced_by_a_later_one() {
    let program = program_with_talk();
    for path in ["talk.json", "talk.md", "deep/talk.markdown"] {
        for _ in 0..2 {
            let ran = export_to(&program, path, &[]);
            assert_eq!(ran.code, 0, "{path}: {ran:?}");
        }
    }
    // The other format is an export too.
    for format in ["markdown", "json"] {
        let ran = program.run_command(&["export", "talk", "--output", "talk", "--format", format]);
        assert_eq!(ran.code, 0, "{format}: {ran:?}");
    }
    let ran = program.run_command(&["ask", "--rehearse", "--json", "Which cache?"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let council: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let id = value_at(&council, "dialogue_id").as_str().unwrap().to_owned();
    for path in ["council.json", "council.md"] {
        for _ in 0..2 {
            let ran = program.run_command(&["export", &id, "--output", path]);
            assert_eq!(ran.code, 0, "{path}: {ran:?}");
        }
    }
    // Text before or after an export is not ours.
    let markdown = read_text(&program, "council.md");
    for joined in [format!("# My report\n\n{markdown}"), format!("{markdown}\nMy notes.\n")] {
        program.write_text("council.md", &joined);
        check_refused(&program, "council.md", &[], "--force");
    }
}

#[test]
fn a_file_that_the_configuration_names_is_never_replaced() {
    let program = program_with_talk();
    let named = [
        "council.yaml",
        "prompts/editor.md",
        "docs/style.md",
        "docs/later.md",
        "logs/verdicts.jsonl",
        "bin/ask.sh",
        "settings/model.json",
        ".councilignore",
        "docs/.councilignore",
        "docs/council.yaml",
        "docs/../prompts/EDITOR.md",
    ];
    for path in named {
        check_refused(&program, path, &[], "not allowed");
        check_refused(&program, path, &["--force"], "not allowed");
    }
    // Not even as an export.
    assert_eq!(export_to(&program, "mine.json", &[]).code, 0);
    std::fs::copy(program.path().join("mine.json"), program.path().join("settings/model.json"))
        .unwrap();
    check_refused(&program, "settings/model.json", &["--force"], "not allowed");
}

#[test]
fn a_file_of_the_store_is_never_replaced() {
    let program = program_with_talk();
    let owned = [
        ".plenary/plenary.db",
        ".plenary/plenary.db-wal",
        ".plenary/plenary.db-shm",
        ".plenary/plenary.db-locks/1-0000000000000007",
        ".plenary/runs/1-0000000000000007",
        ".plenary/runs/x.json",
        ".plenary/token",
        ".plenary/TOKEN",
    ];
    for path in owned {
        check_refused(&program, path, &[], "it is a file of the store");
        check_refused(&program, path, &["--force"], "it is a file of the store");
    }
    // Through another name of the same file.
    std::fs::hard_link(
        program.path().join(".plenary/plenary.db"),
        program.path().join("other-name.json"),
    )
    .unwrap();
    check_refused(&program, "other-name.json", &["--force"], "the store");
    assert_eq!(program.run_command(&["verify"]).code, 0);
}

#[test]
fn a_name_that_tools_act_on_is_not_taken() {
    let program = program_with_talk();
    let names = ["AGENTS.md", "docs/CLAUDE.md", ".envrc", ".mcp.json", "Makefile", "package.json"];
    for path in names.into_iter().chain([".github/workflows/x.md", ".claude/commands/x.md"]) {
        check_refused(&program, path, &[], "act on");
        assert!(!program.path().join(path).exists(), "{path}");
    }
    assert_eq!(export_to(&program, "docs/CLAUDE.md", &["--force"]).code, 0);
    let hidden = json!({ "title": "Hidden", "output_dir": ".claude/commands" });
    let (code, refused) = program.run_operation("create", &hidden);
    assert_eq!(
        (code, value_at(&refused, "error_code")),
        (1, &json!("path_not_allowed")),
        "{refused:#}"
    );
}

#[test]
fn a_remote_caller_cannot_force_and_names_files_as_what_they_are() {
    let program = program_with_talk();
    program.write_text("notes.md", "Mine.\n");
    let mut agent = StdioClient::new(&program);
    let to = |path: &str| json!({ "dialogue_id": "talk", "output_path": path, "force": true });
    for path in ["notes.md", "prompts/editor.md", "docs/later.md", "AGENTS.md", ".mcp.json"] {
        let refused = agent.call_tool_error("blue_dialogue_export", &to(path));
        assert_eq!(value_at(&refused, "error_code"), "path_not_allowed", "{path}: {refused:#}");
        let hint = value_at(&refused, "suggestion").as_str().unwrap();
        assert!(!hint.contains("--force"), "{path}: {hint}");
    }
    for path in ["out.txt", "run.sh", "x.yaml", "x", "x.json.bak"] {
        let refused = agent.call_tool_error("blue_dialogue_export", &to(path));
        assert_eq!(
            value_at(&refused, "suggestion"),
            "end the name in `.json`",
            "{path}: {refused:#}"
        );
        assert!(!program.path().join(path).exists(), "{path}");
    }
    let markdown = json!({ "dialogue_id": "talk", "output_path": "x.json", "format": "markdown" });
    let refused = agent.call_tool_error("blue_dialogue_export", &markdown);
    assert_eq!(
        value_at(&refused, "suggestion"),
        "end the name in `.md` or `.markdown`",
        "{refused:#}"
    );
    assert_eq!(read_text(&program, "notes.md"), "Mine.\n");
    for path in ["x.json", "x.md", "docs/x.JSON", "x.json"] {
        agent.call_tool_ok("blue_dialogue_export", &to(path));
    }
    for _ in 0..2 {
        agent.call_tool_ok("blue_dialogue_export", &json!({ "dialogue_id": "talk" }));
    }
}

#[test]
fn an_expert_prompt_replaces_an_earlier_one_and_nothing_else() {
    let program = program_with_talk();
    for _ in 0..2 {
        let ran = program.run_command(&["dialogue", "prompts", "talk"]);
        assert_eq!(ran.code, 0, "{ran:?}");
    }
    let folder = ".plenary/dialogues/talk/round-0";
    let first = read_text(&program, &format!("{folder}/prompt-ann.md"));
    for name in ["prompt-bob.md", "context-bob.json"] {
        let path = format!("{folder}/{name}");
        let before = read_text(&program, &path);
        program.write_text(&path, "mine");
        program
            .write_text(&format!("{folder}/prompt-ann.md"), &format!("{first}\nan older prompt"));
        let ran = program.run_command(&["dialogue", "prompts", "talk"]);
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.stderr.contains(name) && ran.stderr.contains("--force"), "{ran:?}");
        assert_eq!(read_text(&program, &path), "mine");
        let ann = read_text(&program, &format!("{folder}/prompt-ann.md"));
        assert!(ann.ends_with("an older prompt"), "where one is refused, none is written");
        assert_eq!(program.run_command(&["dialogue", "prompts", "talk", "--force"]).code, 0);
        assert_eq!(read_text(&program, &path), before);
    }
}
