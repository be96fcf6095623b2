//! Mistakes of a first day: each error says what happened and names the fix in words of the command
//! line.

use std::process::Stdio;

use crate::kit::{CommandOutput, TestProgram};

const QUESTION: &str = "Should reads go through a cache?";

/// A project with a file `notes.md`, a council and a led dialogue `talk`.
fn program_with_records() -> TestProgram {
    let program = TestProgram::new();
    program.write_text("notes.md", "Reads outnumber writes.\n");
    assert_eq!(program.run_command(&["ask", QUESTION, "--rehearse"]).code, 0);
    assert_eq!(program.run_command(&["dialogue", "create", "Talk"]).code, 0);
    program
}

#[track_caller]
fn check(program: &TestProgram, arguments: &[&str], code: i32, says: &[&str]) -> CommandOutput {
    let ran = program.run_command(arguments);
    assert_eq!(ran.code, code, "{arguments:?}: {ran:?}");
    for part in says {
        assert!(ran.stderr.contains(part), "{arguments:?} does not say {part:?}: {ran:?}");
    }
    ran
}

#[test]
fn a_question_behind_a_list_of_files_is_found_or_asked_for() {
    let program = program_with_records();
    let ran = check(&program, &["ask", "--context", "notes.md", QUESTION, "--rehearse"], 0, &[]);
    assert!(ran.stdout.contains(QUESTION), "{ran:?}");
    let fix = "write the question before the options:\n  plenary ask \"QUESTION\" --context FILE\n";
    check(&program, &["ask", "--context", "notes.md", "--rehearse"], 1, &["no question", fix]);
    check(&program, &["ask", "--context", "lost.md"], 1, &["no question", fix]);
}

#[test]
fn a_question_that_looks_like_a_file_is_asked_with_a_note() {
    let program = program_with_records();
    let note = "`plenary ask - < FILE` reads the question from one";
    let file = check(&program, &["ask", "notes.md", "--rehearse"], 0, &["`notes.md` looks", note]);
    assert!(file.stdout.contains("notes.md"), "{file:?}");
    for question in ["Is Node.js 20 safe?", "Is it so?", "v2.5"] {
        let ran = check(&program, &["ask", question, "--rehearse"], 0, &[]);
        assert!(!ran.stderr.contains("looks like a file"), "{ran:?}");
    }
}

#[test]
fn a_named_file_that_cannot_be_sent_ends_the_command_before_a_call() {
    let program = TestProgram::new();
    program.write_text("docs/notes.md", "Reads outnumber writes.\n");
    std::fs::write(program.path().join("docs/data.bin"), b"a\0b\xff").unwrap();
    program.write_text("docs/empty.md", "\n");
    program.write_text("bare/.env", "TOKEN=1\n");
    for (name, reason) in
        [("docs/data.bin", "binary"), ("docs/empty.md", "it is empty"), ("bare", "it has no file")]
    {
        let arguments = ["ask", QUESTION, "--rehearse", "--context", name];
        check(&program, &arguments, 4, &["cannot be sent", reason, name]);
    }
    assert!(!program.path().join(".plenary").exists(), "no dialogue was opened");
    // In a folder, such a file is left out.
    check(&program, &["ask", QUESTION, "--rehearse", "--context", "docs"], 0, &[]);
    check(&program, &["ask", QUESTION, "--rehearse", "--jobs", "3"], 64, &["needs `--batch FILE`"]);
}

#[test]
fn a_store_that_is_a_folder_is_refused_by_name() {
    let program = program_with_records();
    for command in [&["list"] as &[&str], &["ask", QUESTION, "--rehearse"], &["doctor"]] {
        let arguments = [command, &["--store", "."]].concat();
        check(&program, &arguments, 5, &["is a folder", "`--store plenary.db`"]);
    }
}

#[test]
fn a_time_without_a_unit_offers_units() {
    let program = program_with_records();
    let seconds = ["`5s` (seconds)", "`5m` (minutes)"];
    check(&program, &["ask", QUESTION, "--rehearse", "--deadline", "5"], 64, &seconds);
    check(&program, &["review", "notes.md", "--rehearse", "--deadline", "5"], 64, &seconds);
    let days = ["`5d` (days)", "`5w` (weeks)"];
    for command in [
        ["due", "--within", "5"],
        ["sweep", "--since", "5"],
        ["health", "--since", "5"],
        ["audit", "--since", "5"],
    ] {
        check(&program, &command, 64, &days);
    }
}

#[test]
fn an_export_goes_to_a_file_of_its_format() {
    let program = program_with_records();
    let ending = ["`record.pdf` names no export format", "`.json`, `.md` or `.html`"];
    check(&program, &["export", "talk", "--output", "record.pdf"], 1, &ending);
    assert!(!program.path().join("record.pdf").exists());
    for (name, start) in [("a.json", "{"), ("a.md", "# "), ("a.html", "<!"), ("plain", "{")] {
        check(&program, &["export", "talk", "--output", name], 0, &[]);
        let text = std::fs::read_to_string(program.path().join(name)).unwrap();
        assert!(text.starts_with(start), "{name}: {text}");
    }
    check(&program, &["export", "talk", "--output", "a.txt", "--format", "md"], 0, &[]);
    let outside = "--output is not allowed";
    check(&program, &["export", "talk", "--output", "/a.json"], 1, &[outside]);
}

#[test]
fn an_error_names_options_instead_of_fields() {
    let program = program_with_records();
    check(&program, &["dialogue", "create"], 1, &["TITLE is missing"]);
    let verdict = ["--verdict-id is missing", "--type is missing", "--recommendation is missing"];
    check(&program, &["dialogue", "verdict", "talk"], 1, &verdict);
    check(&program, &["dialogue", "register", "talk"], 1, &["with `--data FILE`"]);
    let ran = check(&program, &["cite", "latest~1/P9999"], 4, &["'P9999' not found"]);
    assert!(!ran.stderr.contains("target_id"), "{ran:?}");
    check(&program, &["review", "notes.md", "--rehearse"], 0, &[]);
    let ran = check(
        &program,
        &["override", "latest", "--as", "SHIP", "--why", ""],
        64,
        &["invalid value '' for '--why <TEXT>': expected the reason"],
    );
    assert!(!ran.stderr.contains("--data"), "`override` has no `--data`: {ran:?}");
    check(&program, &["override", "nope", "--as", "SHIP", "--why", "x"], 4, &["no verdict 'nope'"]);
}

#[test]
fn a_misspelled_command_gets_the_nearest_one() {
    let program = TestProgram::new();
    check(&program, &["aks", "x"], 64, &["\n  plenary ask x\n"]);
    check(&program, &["dialogue", "regster"], 64, &["\n  plenary dialogue register\n"]);
    // Names that other programs have for our commands; one tip each.
    for name in ["ls", "status", "history"] {
        let ran = check(&program, &[name], 64, &["\n  plenary list\n"]);
        assert_eq!(ran.stderr.matches("tip:").count(), 1, "{ran:?}");
    }
    check(&program, &["man", "reveiw"], 64, &["did you mean `review`?"]);
    let ran = check(&program, &["man", "foo"], 64, &["there is no command `foo`"]);
    assert!(!ran.stderr.contains("did you mean"), "{ran:?}");
}

#[test]
fn an_empty_store_says_how_to_begin_and_conclude_does_not_offer_what_it_lacks() {
    let program = TestProgram::new();
    check(&program, &["list"], 0, &["\n  plenary ask \"QUESTION\"\n"]);
    let program = program_with_records();
    let ran = check(&program, &["conclude", "talk"], 5, &["no provider is configured"]);
    assert!(ran.stderr.contains("ANTHROPIC_API_KEY"), "{ran:?}");
}

#[test]
fn a_document_from_standard_input_has_a_readable_name() {
    let program = program_with_records();
    let mut command = program.command();
    command.args(["review", "-", "--rehearse"]).stdout(Stdio::piped());
    let notes = std::fs::File::open(program.path().join("notes.md")).unwrap();
    let ran = command.stdin(notes).output().unwrap();
    let page = String::from_utf8(ran.stdout).unwrap();
    assert!(page.contains("  standard input\n"), "{page}");
}

#[test]
fn a_question_without_ask_or_without_quotes_shows_the_command_that_was_meant() {
    let program = TestProgram::new();
    let meant = ["\n  plenary ask 'Tea or coffee?'\n"];
    let ran = check(&program, &["Tea or coffee?"], 64, &meant);
    assert!(!ran.stderr.contains("similar subcommand"), "{ran:?}");
    check(&program, &["Tea", "or", "coffee?"], 64, &meant);
    check(&program, &["ask", "Tea", "or", "coffee?"], 64, &meant);
    let options = ["\n  plenary ask 'Tea or coffee?' --rehearse\n"];
    check(&program, &["ask", "Tea", "or", "coffee?", "--rehearse"], 64, &options);
    let ran = check(&program, &["ask", "Tea?", "--rehaerse"], 64, &["--rehearse"]);
    assert!(!ran.stderr.contains("probably meant"), "{ran:?}");
}

#[test]
fn the_program_alone_prints_a_short_guide() {
    let ran = TestProgram::new().run_command(&[]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    for command in ["ask", "review", "align", "list", "doctor"] {
        assert!(ran.stdout.contains(&format!("\n  plenary {command}")), "{command}: {ran:?}");
    }
    assert!(ran.stdout.lines().count() < 28, "{ran:?}");
}
