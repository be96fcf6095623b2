//! Input that a command rejects before a model is asked: the exit code, and the true reason.

use std::io::Write;
use std::process::Stdio;

use crate::kit::TestProgram;

/// Each command fails with this code, and prints this part of its message.
#[track_caller]
fn check(program: &TestProgram, arguments: &[&str], code: i32, part: &str) {
    let ran = program.run_command(arguments);
    let is_said = ran.stderr.contains(part) || ran.stdout.contains(part);
    assert!(ran.code == code && is_said, "{arguments:?} lacks `{part}`: {ran:?}");
}

#[test]
fn a_dry_run_rejects_what_the_run_would_reject() {
    let program = TestProgram::new();
    program.write_text("large.txt", &"A line of a log.\n".repeat(40_000));
    program.write_text("empty.md", "");
    program.write_text(".env", "TOKEN=x");
    std::fs::write(program.path().join("latin1.txt"), b"caf\xe9").unwrap();
    std::fs::create_dir(program.path().join("folder")).unwrap();
    for (file, part) in [
        ("large.txt", "it has 680.0 kB, and at most 500.0 kB are sent whole"),
        ("empty.md", "it is empty"),
        (".env", "cannot be sent"),
        ("latin1.txt", "cannot be sent"),
        ("folder", "it has no file that can be sent"),
    ] {
        let run = ["ask", "Is it so?", "--rehearse", "--context", file];
        check(&program, &run, 4, part);
        check(&program, &[&run[..], &["--dry-run"]].concat(), 4, part);
    }
    assert!(!program.path().join(".plenary").exists(), "no dialogue was begun");
}

#[test]
fn files_that_are_too_large_together_are_announced_as_sent_by_name() {
    let program = TestProgram::new();
    for name in ["a.txt", "b.txt"] {
        program.write_text(name, &"A line of a log.\n".repeat(20_000));
    }
    let run = ["ask", "Is it so?", "--rehearse", "--context", "a.txt", "b.txt"];
    let reason =
        "1 file is sent by name only: at most 200 files and 500.0 kB in all are sent whole";
    check(&program, &run, 0, reason);
    check(&program, &[&run[..], &["--dry-run"]].concat(), 0, reason);
}

#[test]
fn a_pipe_that_is_too_large_is_not_called_a_review() {
    let program = TestProgram::new();
    let mut command = program.command();
    command.args(["ask", "Is it so?", "--rehearse"]).stdin(Stdio::piped());
    let mut running = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let text = "A line of a log.\n".repeat(40_000);
    running.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = running.wait_with_output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(4), "{message}");
    assert!(message.contains("standard input cannot be sent: it has 680.0 kB"), "{message}");
}

#[test]
fn standard_input_is_the_question_or_a_file_but_not_both() {
    let program = TestProgram::new();
    check(&program, &["ask", "-", "--context", "-", "--rehearse"], 64, "cannot be both");
}

#[test]
fn a_line_of_a_batch_is_rejected_for_its_true_reason() {
    let program = TestProgram::new();
    let check = |line: &str, code: &str, part: &str| {
        program.write_text("batch.jsonl", line);
        let ran = program.run_command(&["ask", "--rehearse", "--batch", "batch.jsonl", "--json"]);
        assert!(ran.stdout.contains(&format!("\"{code}\"")), "{line}: {ran:?}");
        assert!(ran.stdout.contains(part), "{line}: {ran:?}");
    };
    check(r#"{"question":"x","mode":"foo"}"#, "invalid_enum", "`foo` is not a mode; use general");
    check("42", "invalid_json", "line 1: it is neither a JSON string nor an object");
    check(r#"{"question":7}"#, "invalid_json", "a field has a value of the wrong type");
    check(r#""""#, "missing_field", "line 1: the question is empty");
}

#[test]
fn an_export_has_the_ending_of_its_format_and_all_dialogues_can_be_exported() {
    let program = TestProgram::new();
    for question in ["Shall we?", "Shall we not?"] {
        check(&program, &["ask", question, "--rehearse", "--quiet"], 0, "REHEARSAL");
    }
    let mismatched = ["export", "latest", "--format", "html", "--output", "y.md"];
    check(&program, &mismatched, 64, "has the ending of markdown");
    check(&program, &["export", "--all", "archive"], 0, "Wrote 2 dialogues to archive");
    check(&program, &["export", "--all", "archive", "--format", "md"], 0, "Wrote 2 dialogues");
    let names: Vec<String> = std::fs::read_dir(program.path().join("archive"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    for ending in [".json", ".md"] {
        assert_eq!(names.iter().filter(|name| name.ends_with(ending)).count(), 2, "{names:?}");
    }
}

#[test]
fn an_argument_that_names_the_wrong_thing_is_explained() {
    let program = TestProgram::new();
    check(&program, &["ask", "Shall we?", "--rehearse", "--quiet"], 0, "REHEARSAL");
    check(&program, &["cite", "latest"], 1, "'latest' is a dialogue");
    check(&program, &["cite"], 64, "required");
    check(&program, &["show", "20"], 4, "a short id has four hex digits or more");
    check(&program, &["verify", ".plenary/plenary.db"], 4, "`--store FILE`");
    check(&program, &["due", "record", "latest", "held"], 0, "this conclusion is a rehearsal");
}

#[test]
fn a_faulty_question_or_panel_is_rejected_for_its_own_reason() {
    let program = TestProgram::new();
    let ran = program.run_command(&["ask", ""]);
    assert!(ran.stderr.contains("the question is empty"), "{ran:?}");
    assert!(!ran.stderr.contains("REHEARSAL"), "{ran:?}");
    let ran = program.run_command(&["ask", "Shall we?", "--rehearse", "--providers", "claude"]);
    assert!(ran.stderr.contains("leave out `--rehearse` to ask real providers"), "{ran:?}");
}

#[test]
fn amounts_times_and_filters_without_a_meaning_are_rejected() {
    let program = TestProgram::new();
    check(&program, &["ask", "Is it so?", "--budget-usd", "0"], 64, "must be above 0");
    check(&program, &["list", "--grep", ""], 64, "--grep");
    check(&program, &["cost", "--since", "2090-01-01"], 0, "No answered call since 2090-01-01.");
    check(&program, &["cost", "--since", "2090-01-01"], 0, "`--since` is in the future");
    check(&program, &["list", "--since", "2090-01-01"], 0, "`--since` is in the future");
}
