//! What a reader learns about a store that cannot be read, is empty, or was forged.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use rusqlite::Connection;
use serde_json::Value;

use crate::kit::{TestProgram, plenary_binary};

fn rehearsed_program() -> TestProgram {
    let program = TestProgram::new();
    assert_eq!(program.run_command(&["ask", "Shall we?", "--rehearse", "--quiet"]).code, 0);
    program
}

#[test]
fn a_store_without_read_permission_is_denied_and_not_missing() {
    let program = rehearsed_program();
    let path = program.path();
    let set_mode = |path: &std::path::Path, mode: u32| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    set_mode(path, 0o755);
    // The administrator may read everything, so the program runs as another user.
    let is_admin = rustix::process::geteuid().is_root();
    let run = |arguments: &[&str]| {
        let mut command = Command::new(plenary_binary());
        if is_admin {
            command = Command::new("setpriv");
            command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
            command.arg(plenary_binary());
        }
        command.current_dir(path).env_clear().env("PATH", "/usr/bin:/bin").args(arguments);
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    if is_admin && run(&["--version"]).0 != Some(0) {
        // Another user cannot reach the program here.
        return;
    }
    let store = path.join(".plenary/plenary.db");
    for (closed, mode) in [(&store, 0o000), (&path.join(".plenary"), 0o000)] {
        set_mode(&path.join(".plenary"), 0o755);
        set_mode(closed, mode);
        for command in ["list", "verify"] {
            let (code, message) = run(&[command]);
            assert_eq!(code, Some(4), "{command}: {message}");
            assert!(message.contains("permission denied"), "{command}: {message}");
            assert!(!message.contains("does not exist"), "{command}: {message}");
        }
    }
    set_mode(&path.join(".plenary"), 0o700);
}

#[test]
fn an_empty_store_is_not_called_missing() {
    let program = TestProgram::new();
    program.write_text(".plenary/plenary.db", "");
    let ran = program.run_command(&["verify", "--json"]);
    let result: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((ran.code, &result["error_code"]), (4, &Value::from("store_empty")), "{result}");
    assert!(result["message"].as_str().unwrap().contains("0 bytes"), "{result}");
}

/// Changes the store as a forger does: without the guards of the schema.
fn forge(program: &TestProgram, sql: &str) {
    let connection = Connection::open(program.path().join(".plenary/plenary.db")).unwrap();
    connection.pragma_update(None, "foreign_keys", false).unwrap();
    connection.execute_batch(sql).unwrap();
}

#[test]
fn a_forged_row_is_not_cited_without_an_alarm() {
    for (sql, id) in [
        (
            "DROP TRIGGER IF EXISTS conclusions_are_immutable;
             UPDATE conclusions SET recommendation = 'Buy everything now.'",
            "latest/conclusion.recommendation",
        ),
        ("UPDATE recommendations SET content = 'Buy everything now.'", "latest/R0101"),
    ] {
        let program = rehearsed_program();
        let honest = program.run_command(&["cite", id]);
        assert_eq!(honest.code, 0, "{honest:?}");
        forge(&program, sql);
        let ran = program.run_command(&["cite", id]);
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.stderr.contains("differs from its journal"), "{ran:?}");
        assert!(ran.stderr.contains("plenary verify"), "{ran:?}");
        let ran = program.run_command(&["cite", id, "--json"]);
        let result: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(result["errors"][0]["error_code"], "record_changed", "{result}");
        let ran = program.run_command(&["verify", "--json"]);
        let result: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(result["error_code"], "record_changed", "{result}");
        assert!(result["findings"].as_array().is_some_and(|found| !found.is_empty()), "{result}");
    }
}

#[test]
fn verify_says_what_it_can_know() {
    let program = rehearsed_program();
    let ran = program.run_command(&["verify"]);
    assert!(ran.stdout.starts_with("The record is consistent: 1 dialogue, "), "{ran:?}");
    assert!(ran.stderr.contains("plenary verify --head HASH"), "{ran:?}");
    let head = ran.stdout.trim().rsplit(' ').next().unwrap();
    let ran = program.run_command(&["verify", "--head", head]);
    assert!(ran.stdout.starts_with("The record is unchanged since that head: "), "{ran:?}");
    assert!(ran.stdout.contains("\nhead of the store "), "{ran:?}");
    let ran = program.run_command(&["verify", "latest"]);
    assert!(ran.stdout.contains("\nhead of this dialogue "), "{ran:?}");
}

#[test]
fn the_record_names_the_files_that_the_panel_read() {
    let program = TestProgram::new();
    program.write_text("ok.md", "The cache is warm.\n");
    let ran = program.run_command(&["ask", "Shall we?", "--rehearse", "--context", "ok.md"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let sha256 = plenary_core::model::hash::sha256_hex([b"The cache is warm.\n".as_slice()]);
    for arguments in [
        ["show", "latest"].as_slice(),
        &["show", "latest", "--full"],
        &["export", "latest"],
        &["export", "latest", "--format", "markdown"],
        &["export", "latest", "--format", "html"],
    ] {
        let printed: String =
            program.run_command(arguments).stdout.split_whitespace().collect::<Vec<_>>().concat();
        assert!(printed.contains("ok.md"), "{arguments:?}: {printed}");
        assert!(printed.contains(&sha256), "{arguments:?}: {printed}");
    }
}

#[test]
fn a_passage_is_listed_once() {
    let program = rehearsed_program();
    let printed = program.run_command(&["cite", "latest/verdict.report"]).stdout;
    assert_eq!(printed.matches("/call/").count(), 1, "{printed}");
    let printed = program.run_command(&["cite", "latest/conclusion.key_condition"]).stdout;
    assert!(printed.contains("optimist, revision"), "{printed}");
}
