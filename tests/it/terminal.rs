//! Foreign text never controls the terminal: names, titles, questions, paths, replies and messages
//! full of control sequences, through every command that prints.

use std::process::Output;

use serde_json::{Value, json};

use crate::kit::TestProgram;

/// Clears the screen, sets the clipboard, writes a link, paints, reorders, hides.
const PAYLOAD: &str = "\u{1b}[2J\u{1b}]52;c;eA==\u{7}\u{1b}]8;;https://evil.example\u{1b}\\x\u{1b}[31m\u{1b}[1;5mRED\u{9b}31m\u{8}\r\u{202e}\u{200b}\u{e0041}";

/// The same without the characters that a file name cannot contain.
fn file_name(end: &str) -> String {
    format!("{}{end}", PAYLOAD.replace('/', "_"))
}

/// Our style codes; `\u{1b}[31m` is one of them and occurs in the payload too.
const STYLES: [&str; 10] = ["0", "1", "2", "4", "31", "32", "33", "34", "35", "36"];

#[track_caller]
fn check_output(what: &str, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    // The output never contains the payload or a part of it unchanged.
    for part in ["\u{1b}[31m\u{1b}[1;5m", "\u{1b}[31mRED", "x\u{1b}[31m", "\u{1b}]", "\u{1b}[2J"] {
        assert!(!text.contains(part), "{what} holds {part:?} raw: {text:?}");
    }
    let mut rest: &str = &text;
    while let Some(place) = rest.find(|letter: char| letter.is_control() || is_hidden(letter)) {
        let found = &rest[place..];
        let letter = found.chars().next().unwrap();
        let is_style = || {
            let code = found.strip_prefix("\u{1b}[").and_then(|code| code.split_once('m'));
            code.is_some_and(|(code, _)| STYLES.contains(&code))
        };
        assert!(
            matches!(letter, '\n' | '\t') || (letter == '\u{1b}' && is_style()),
            "{what} holds {letter:?}: {:?}",
            &rest[rest.floor_char_boundary(place.saturating_sub(80))
                ..rest.floor_char_boundary(place + 40)]
        );
        rest = &found[letter.len_utf8()..];
    }
}

fn is_hidden(letter: char) -> bool {
    matches!(u32::from(letter), 0x200b..=0x200f | 0x2028..=0x202e | 0x2060..=0x206f | 0xe0000..=0xe0fff)
}

struct TerminalProject {
    program: TestProgram,
    output_count: usize,
}

impl TerminalProject {
    /// With colours, as on a terminal.
    fn run_command(&mut self, line: &[&str]) -> Output {
        let mut command = self.program.command();
        let output = command.args(line).env("CLICOLOR_FORCE", "1").output().unwrap();
        // Data output is exact.
        let is_data = ["--json", "export", "github"].iter().any(|word| line.contains(word));
        if !is_data {
            check_output(&format!("{line:?} on standard output"), &output.stdout);
        }
        check_output(&format!("{line:?} on standard error"), &output.stderr);
        let code = output.status.code().unwrap();
        assert_ne!(code, 70, "{line:?}: {output:?}");
        self.output_count += 1;
        output
    }

    /// Runs it as text and with `--json`; returns the exact data.
    fn run_document(&mut self, line: &[&str]) -> Value {
        self.run_command(line);
        let line: Vec<&str> = line.iter().copied().chain(["--json"]).collect();
        serde_json::from_slice(&self.run_command(&line).stdout).unwrap_or(Value::Null)
    }
}

fn terminal_project() -> TerminalProject {
    TerminalProject { program: TestProgram::new(), output_count: 0 }
}

#[test]
fn names_of_files_do_not_drive_the_terminal() {
    let mut bench = terminal_project();
    let (left_out, sent) = (file_name(".pem"), file_name(".md"));
    bench.program.write_text(&left_out, "x");
    bench.program.write_text(&sent, "x");
    bench.program.write_text("folder/a.md", "x");
    for (path, status) in [(".", "planned"), (&left_out, "error"), (&sent, "planned")] {
        let planned =
            bench.run_document(&["ask", "--dry-run", "--rehearse", "x?", "--context", path]);
        assert_eq!(planned["status"], status, "{planned}");
    }
    let planned = bench.run_document(&["ask", "--dry-run", "--rehearse", "x?", "--context", "."]);
    let excluded = planned["context"]["excluded"].to_string();
    assert!(excluded.contains(&json!(left_out).to_string()), "{excluded}");
    let asked =
        bench.run_document(&["ask", "--rehearse", PAYLOAD, "--context", ".", "--mode", "review"]);
    let id = asked["dialogue_id"].as_str().unwrap_or_else(|| panic!("{asked}")).to_owned();
    for line in [&["show", &id][..], &["show", &id, "--full"], &["replay", &id]] {
        bench.run_document(line);
    }
    for line in [
        &["review", "--rehearse", &sent, "missing.md", &left_out][..],
        &["review", "--rehearse", "--format", "github", &sent],
        &["sweep", ".", "--dry-run"],
        &["sweep", ".", "--rehearse"],
        &["check-modularity", "."],
        &["ask", "--rehearse", "x?", "--context", &file_name("gone")],
        &["ask", "--batch", &file_name("gone")],
        &["init", "--skills", &sent],
        &["init", "--skills", &file_name("skills")],
        &["export", &id, "--output", &file_name("out.md")],
        &["export", &id, "--output", &format!("../../{}", file_name(""))],
        &["log", "import", &file_name("gone")],
        &["log", "export", "--output", &file_name("log.jsonl")],
        &["log", "repair"],
        &["log", "tail"],
        &["audit"],
    ] {
        bench.run_document(line);
    }
    assert!(bench.output_count > 40, "{}", bench.output_count);
}

#[test]
fn arguments_do_not_drive_the_terminal() {
    let mut bench = terminal_project();
    let question = format!("Shall we {PAYLOAD}?");
    bench.run_document(&["ask", "--rehearse", &question]);
    for line in [
        &[PAYLOAD][..],
        &["ask", PAYLOAD, PAYLOAD, PAYLOAD],
        &["ask", &format!("--{PAYLOAD}")],
        &["ask", "x?", "--mode", PAYLOAD],
        &["ask", "x?", "--providers", PAYLOAD],
        &["ask", "x?", "--budget-usd", PAYLOAD],
        &["show", PAYLOAD],
        &["cite", PAYLOAD],
        &["export", PAYLOAD],
        &["resume", PAYLOAD],
        &["watch", PAYLOAD],
        &["replay", PAYLOAD],
        &["stop", PAYLOAD],
        &["whisper", PAYLOAD, PAYLOAD],
        &["direct", PAYLOAD, PAYLOAD, "--yes"],
        &["conclude", PAYLOAD],
        &["verify", PAYLOAD],
        &["verify", "--head", PAYLOAD],
        &["due", "record", PAYLOAD, "held"],
        &["override", PAYLOAD, "--as", "SHIP", "--why", PAYLOAD],
        &["review", "--rehearse", PAYLOAD],
        &["review", "--type", PAYLOAD, "x"],
        &["sweep", PAYLOAD],
        &["check-modularity", PAYLOAD],
        &["log", "tail", "--type", PAYLOAD],
        &["completions", PAYLOAD],
        &["--store", PAYLOAD, "list"],
        &["--store", PAYLOAD, "-v", "list"],
        &["--config", PAYLOAD, "config"],
        &["--config", PAYLOAD, "doctor"],
        &["--config", PAYLOAD, "init"],
        &["dialogue", "show", PAYLOAD],
        &["dialogue", "similar", PAYLOAD],
        &["dialogue", "register", "--data", PAYLOAD],
        &["dialogue", "extract", PAYLOAD],
        &["dialogue", "progress", PAYLOAD],
    ] {
        bench.run_document(line);
    }
}

#[test]
fn what_a_record_holds_does_not_drive_the_terminal() {
    let mut bench = terminal_project();
    let created = bench.run_document(&[
        "dialogue",
        "create",
        &format!("Title {PAYLOAD}"),
        "--question",
        PAYLOAD,
    ]);
    let id = created["dialogue_id"].as_str().unwrap_or_else(|| panic!("{created}")).to_owned();
    bench.run_document(&[
        "dialogue", "expert", &id, "ann", "--role", PAYLOAD, "--tier", "Core", "--reason", PAYLOAD,
    ]);
    bench.program.write_text("reply.md", &format!("[ANN-P0001: {PAYLOAD}]\n\n{PAYLOAD}\n"));
    bench
        .program
        .write_text("council.yaml", &format!("council:\n  providers: {}\n", json!(PAYLOAD)));
    bench.run_document(&["config"]);
    bench.run_document(&["doctor"]);
    bench.program.write_text("council.yaml", &format!("{}: 1\n", json!(PAYLOAD)));
    bench.run_document(&["config"]);
    bench.program.write_text("council.yaml", &format!("\u{7f}{PAYLOAD}: [\n"));
    bench.run_document(&["config"]);
    let provider = json!({
        "name": "odd", "role": ["participant", "chair"], "model": PAYLOAD, "family": PAYLOAD,
        "dialect": "openai", "base_url": "http://127.0.0.1:1/v1",
    });
    bench.program.write_text("council.yaml", &format!("council: {{providers: [{provider}]}}\n"));
    bench.run_document(&["config"]);
    bench.run_document(&["doctor"]);
    bench.run_document(&["ask", "x?", "--dry-run"]);
    std::fs::remove_file(bench.program.path().join("council.yaml")).unwrap();
    for line in [
        &["list"][..],
        &["show", &id],
        &["dialogue", "list"],
        &["dialogue", "similar", "Title"],
        &["dialogue", "stats"],
        &["dialogue", "context", &id],
        &["dialogue", "prompts", &id],
        &["dialogue", "panel", &id],
        &["dialogue", "progress", &id],
        &["dialogue", "extract", "--expert", "ann", "--round", "0", "reply.md"],
        &["export", &id],
        &["export", &id, "--format", "markdown"],
        &["verify"],
        &["health"],
        &["due"],
        &["abandon", &id],
    ] {
        bench.run_document(line);
    }
}
