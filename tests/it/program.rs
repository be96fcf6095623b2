//! The program from outside: exit codes, streams, options and store location.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "tests look at files themselves, and one that cannot set itself up should say so loudly"
)]

use std::collections::BTreeSet;
use std::io::Write;
use std::process::{Output, Stdio};

use serde_json::{Value, json};

use crate::kit::{TestProgram, make_batch, make_item, make_pool};

/// A project with a dialogue `talk` of one round.
fn program_with_dialogue() -> TestProgram {
    let program = TestProgram::new();
    program.run_operation(
        "create",
        &json!({ "title": "Talk", "expert_pool": make_pool(&["ann", "bob"]) }),
    );
    let fields = json!({ "perspectives": [make_item("ANN-P0001", "")], "tensions": [make_item("BOB-T0001", "")] });
    assert_eq!(program.run_operation("register", &make_batch(0, fields)).0, 0);
    program
}

fn split_words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// A text error: this exit code, empty stdout, and this message on stderr.
#[track_caller]
fn check_text(program: &TestProgram, line: &str, code: i32, says: &str) {
    let ran = program.run_command(&split_words(line));
    assert_eq!((ran.code, ran.stdout.as_str()), (code, ""), "{line}: {ran:?}");
    assert!(ran.stderr.contains(says), "{line}: {ran:?}");
}

/// An error with `--json`: this exit code, and a document with this error code on stdout.
#[track_caller]
fn check_json(program: &TestProgram, line: &str, code: i32, error_code: &str) {
    let ran = program.run_command(&split_words(&format!("{line} --json")));
    let document = parse_single_line(&ran.stdout);
    let found = document.pointer("/errors/0/error_code").unwrap_or(&document["error_code"]);
    assert_eq!((ran.code, found.as_str()), (code, Some(error_code)), "{line}: {ran:?}");
    assert!(document["message"].is_string() && document["status"] == "error", "{line}: {ran:?}");
}

/// Exactly one line, and that line is JSON.
#[track_caller]
fn parse_single_line(stdout: &str) -> Value {
    let line = stdout.strip_suffix('\n').unwrap_or_else(|| panic!("no line: {stdout:?}"));
    assert!(!line.contains('\n'), "several lines: {stdout}");
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {stdout}"))
}

#[test]
fn a_mistake_of_usage_is_64() {
    let program = TestProgram::new();
    check_text(&program, "unknown", 64, "unrecognized subcommand");
    check_text(&program, "dialogue", 64, "Usage:");
    check_text(&program, "dialogue unknown", 64, "unrecognized subcommand");
    check_text(&program, "list --unknown", 64, "unexpected argument");
    check_text(&program, "list --limit many", 64, "invalid value");
    check_text(&program, "list -v -q", 64, "cannot be used with");
    check_text(&program, "show", 64, "required");
    check_text(&program, "completions klingon", 64, "invalid value");
    check_text(&program, "health --since 10000-01-01", 64, "a day until 9999-12-31");
}

#[test]
fn what_is_not_there_is_4() {
    let program = program_with_dialogue();
    for line in [
        "show nobody",
        "export nobody",
        "verify nobody",
        "dialogue progress nobody",
        "dialogue context nobody",
        "dialogue abandon nobody",
        "dialogue register nobody --data register.json",
        "show ../../etc/passwd",
    ] {
        check_text(&program, line, 4, "not found");
        check_json(&program, line, 4, "dialogue_not_found");
    }
    check_text(&program, "dialogue create --data missing.json", 4, "missing.json");
    check_json(&program, "dialogue create --data missing.json", 4, "unreadable");
    check_json(&program, "dialogue create --data .", 4, "unreadable");
    check_json(&program, "dialogue create --data /dev/zero", 4, "unreadable");
}

#[test]
fn a_refusal_is_1() {
    let program = program_with_dialogue();
    check_text(&program, "dialogue create", 1, "TITLE is missing");
    check_json(&program, "dialogue create", 1, "missing_field");
    check_json(&program, "dialogue register talk", 1, "missing_field");
    check_json(
        &program,
        "dialogue expert talk Ann --role R --tier Core --reason w",
        1,
        "invalid_slug",
    );
    check_json(&program, "export talk --output ../x.json", 1, "path_not_allowed");
    check_json(&program, "list --status asleep", 64, "usage");
    std::fs::write(program.path().join("broken.json"), "{").unwrap();
    check_json(&program, "dialogue create --data broken.json", 1, "invalid_json");
}

#[test]
fn what_is_set_wrong_is_5() {
    let program = TestProgram::new();
    check_json(&program, "list --config missing.yaml", 5, "invalid_configuration");
    check_text(&program, "list --store postgres://team/plenary", 5, "postgres");
    check_text(&program, "list --allow missing", 5, "missing");
}

#[test]
fn a_citation_that_fails_says_so_on_stderr_alone() {
    let program = program_with_dialogue();
    check_text(&program, "cite talk/P0099", 4, "P0099");
    check_text(&program, "cite nonsense", 1, "nonsense");
    // `-q` suppresses progress lines, not errors.
    check_text(&program, "cite nonsense -q", 1, "nonsense");
    // The valid citation is printed.
    let ran = program.run_command(&["cite", "talk/P0001", "talk/P0099"]);
    assert_eq!(ran.code, 0);
    assert!(ran.stdout.contains("P0001") && ran.stderr.contains("P0099"), "{ran:?}");
}

/// Commands and their subcommands, as the help lists them.
fn collect_commands(program: &TestProgram, path: &[&str], found: &mut BTreeSet<String>) -> String {
    let mut arguments = path.to_vec();
    arguments.push("--help");
    let ran = program.run_command(&arguments);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{path:?}");
    let mut text = ran.stdout.clone();
    // The main page lists the commands in groups, other pages under one heading.
    let (start, end) = match path {
        [] => ("\nAsk:\n", "\nGlobal options:"),
        _ => ("\nCommands:\n", "\n\n"),
    };
    let listed = ran.stdout.split(start).nth(1).and_then(|rest| rest.split(end).next());
    for line in listed.unwrap_or_default().lines() {
        let Some(name) = line.strip_prefix("  ").filter(|line| !line.starts_with(' ')) else {
            continue;
        };
        let name = name.split_whitespace().next().unwrap();
        if name != "help" {
            let path: Vec<&str> = path.iter().copied().chain([name]).collect();
            found.insert(path.join(" "));
            text.push_str(&collect_commands(program, &path, found));
        }
    }
    text
}

#[test]
fn help_speaks_of_commands_that_exist() {
    let program = TestProgram::new();
    let mut found = BTreeSet::new();
    let text = collect_commands(&program, &[], &mut found);
    for expected in
        ["dialogue", "dialogue create", "dialogue abandon", "list", "verify", "completions"]
    {
        assert!(found.contains(expected), "{expected} is missing from {found:?}");
    }
    // `plenary x y` in any sentence: `x` must be a command, and `dialogue y` a subcommand.
    let message: Vec<&str> = text.split(|c: char| c.is_whitespace() || c == '`').collect();
    for words in message.windows(3) {
        let &[name, command, operation] = words else { continue };
        let is_word = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase());
        if name != "plenary" || !is_word(command) || command == "help" {
            continue;
        }
        assert!(found.contains(command), "the help mentions `plenary {command}`");
        if command == "dialogue" && is_word(operation) {
            assert!(found.contains(&format!("dialogue {operation}")), "`dialogue {operation}`");
        }
    }
    assert!(!found.contains("eval"));
    let ran = program.run_command(&["--version"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (0, concat!("plenary ", env!("CARGO_PKG_VERSION"), "\n"))
    );
}

#[test]
fn the_main_help_fits_the_terminal() {
    let program = TestProgram::new();
    for columns in ["60", "80", "120"] {
        let mut command = program.command();
        let output = command.arg("--help").env("COLUMNS", columns).output().unwrap();
        let page = String::from_utf8(output.stdout).unwrap();
        let width: usize = columns.parse().unwrap();
        assert!(page.lines().all(|line| line.chars().count() <= width), "{columns}:\n{page}");
        let groups = ["\nAsk:\n", "\nReview:\n", "\nDialogues:\n", "\nRecord:\n", "\nSet up:\n"];
        assert!(groups.iter().all(|group| page.contains(group)), "{page}");
        assert!(page.contains("\nExit codes:\n"), "{page}");
    }
}

#[test]
fn help_and_manual_explain_one_command_and_suggest_the_nearest_name() {
    let program = TestProgram::new();
    for line in ["help resume", "resume --help", "man resume"] {
        let ran = program.run_command(&split_words(line));
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{line}");
        assert!(ran.stdout.contains("Resume an interrupted run"), "{line}: {ran:?}");
        assert!(ran.stdout.to_lowercase().contains("examples"), "{line}: {ran:?}");
    }
    check_text(&program, "resme", 64, "plenary resume");
    check_text(&program, "dialogue registr", 64, "plenary dialogue register");
    check_text(&program, "man resme", 64, "did you mean `resume`?");
    let main = program.run_command(&["man"]).stdout;
    assert!(main.contains(".TH plenary 1") && main.contains(".SH \"EXIT CODES\""), "{main}");
}

#[test]
fn man_writes_a_page_for_every_command() {
    let program = TestProgram::new();
    let ran = program.run_command(&["man", "--dir", "pages/man1", "--json"]);
    assert_eq!(parse_single_line(&ran.stdout)["status"], "success");
    let mut found = BTreeSet::new();
    collect_commands(&program, &[], &mut found);
    for name in found {
        let page = format!("pages/man1/plenary-{}.1", name.replace(' ', "-"));
        assert!(program.path().join(&page).is_file(), "{page}");
    }
    assert!(program.path().join("pages/man1/plenary.1").is_file());
}

#[test]
fn a_wrong_trust_variable_says_what_it_must_be() {
    let program = TestProgram::new();
    std::fs::write(program.path().join("council.yaml"), "budget: {usd_max: 1}\n").unwrap();
    let output = program.command().arg("config").env("PLENARY_TRUST", "yes").output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(5), "{message}");
    assert!(message.contains("PLENARY_TRUST must be `all` or unset"), "{message}");
}

#[test]
fn verify_of_a_damaged_store_does_not_advise_itself() {
    let program = program_with_dialogue();
    let path = program.path().join(".plenary/plenary.db");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes.truncate(5_000);
    std::fs::write(&path, bytes).unwrap();
    let ran = program.run_command(&["verify"]);
    assert_eq!(ran.code, 4, "{ran:?}");
    assert!(ran.stderr.contains("backup") && !ran.stderr.contains("plenary verify"), "{ran:?}");
}

#[test]
fn the_command_that_resumes_a_run_names_the_store_of_the_run() {
    let program = TestProgram::new();
    program.write_text("script.yaml", "- {fail: auth}\n");
    let ask = ["ask", "Tea?", "--rehearse", "script.yaml", "--store", "my store.db"];
    let ran = program.run_command(&ask);
    assert_eq!(ran.code, 3, "{ran:?}");
    let command = ran.stderr.lines().find_map(|line| line.strip_prefix("to resume, run "));
    let command = command.unwrap_or_else(|| panic!("no command: {ran:?}"));
    assert!(command.starts_with("`plenary resume tea-"), "{command}");
    assert!(command.ends_with(" --store 'my store.db'`"), "{command}");
}

#[test]
fn a_pipe_sees_no_colour() {
    let program = program_with_dialogue();
    for line in [
        "list",
        "show talk",
        "cite talk/P0001",
        "dialogue progress talk",
        "verify",
        "--help",
        "show nobody",
        "unknown",
    ] {
        for (name, value) in
            [("NO_COLOR", "1"), ("TERM", "xterm-256color"), ("COLORTERM", "truecolor")]
        {
            let output =
                program.command().args(split_words(line)).env(name, value).output().unwrap();
            let Output { stdout, stderr, .. } = output;
            assert!(!stdout.contains(&0x1b) && !stderr.contains(&0x1b), "{line} with {name}");
        }
    }
    // Colour can be forced; otherwise the test above would prove nothing.
    let forced = program.command().arg("list").env("CLICOLOR_FORCE", "1").output().unwrap();
    assert!(forced.stdout.contains(&0x1b));
}

#[test]
fn hostile_text_cannot_draw_on_the_terminal() {
    let program = TestProgram::new();
    let text = "\u{1b}[31mred\u{1b}]0;title\u{7}\u{9b}2J\r\u{8}\u{202e}";
    let title = format!("Talk {text}");
    program.run_operation(
        "create",
        &json!({ "title": title, "question": text, "expert_pool": make_pool(&["ann"]) }),
    );
    let id = parse_single_line(&program.run_command(&["list", "--json"]).stdout)["dialogues"][0]["dialogue_id"]
        .clone();
    let id = id.as_str().unwrap();
    let mut perspective = make_item("ANN-P0001", "");
    (perspective["label"], perspective["content"]) = (json!(text), json!(text));
    let fields =
        json!({ "dialogue_id": id, "title": text, "summary": text, "perspectives": [perspective] });
    program.run_operation("register", &make_batch(0, fields));
    let cited = format!("{id}/P0001");
    for arguments in [
        vec!["list"],
        vec!["show", id],
        vec!["cite", &cited],
        vec!["dialogue", "similar", "talk"],
        vec!["show", text],
        vec!["cite", text],
        vec!["dialogue", "abandon", text],
        vec!["list", "--status", text],
    ] {
        let ran = program.run_command(&arguments);
        for stream in [&ran.stdout, &ran.stderr] {
            let control = |c: &char| (c.is_control() && *c != '\n') || *c == '\u{202e}';
            assert_eq!(stream.chars().find(control), None, "{arguments:?}: {stream:?}");
        }
    }
}

#[test]
fn every_operation_prints_one_document() {
    let program = program_with_dialogue();
    let batch = program.write_json("round.json", &make_batch(1, json!({})));
    let verdict = "--type interim --recommendation Do --description Because";
    for line in [
        "dialogue create Other".to_owned(),
        "dialogue expert talk cid --role R --tier Core --reason gap".to_owned(),
        "dialogue panel talk --round 1 --seat ann --seat cid:created".to_owned(),
        "dialogue context talk".to_owned(),
        format!("dialogue register --data {batch}"),
        format!("dialogue verdict talk --verdict-id V01 {verdict}"),
        "dialogue export talk".to_owned(),
        "dialogue export talk --output out.json".to_owned(),
        "dialogue progress talk".to_owned(),
        "dialogue list".to_owned(),
        "dialogue show talk".to_owned(),
        "dialogue cite talk/P0001".to_owned(),
        "dialogue similar talk".to_owned(),
        "dialogue stats".to_owned(),
        "list".to_owned(),
        "show talk".to_owned(),
        "cite talk/P0001 talk/T0001".to_owned(),
        "export talk".to_owned(),
        "verify".to_owned(),
        "verify talk".to_owned(),
        "health".to_owned(),
        "due".to_owned(),
        "due --within 30d".to_owned(),
        "dialogue abandon talk".to_owned(),
    ] {
        let ran = program.run_command(&split_words(&format!("{line} --json")));
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{line}: {ran:?}");
        assert!(parse_single_line(&ran.stdout).is_object(), "{line}");
    }
}

#[test]
fn arguments_come_from_standard_input_too() {
    let program = TestProgram::new();
    let pipe = |text: &[u8]| {
        let mut command = program.command();
        command.args(["dialogue", "create", "--data", "-", "--json"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(text).unwrap();
        let output = child.wait_with_output().unwrap();
        (output.status.code(), parse_single_line(&String::from_utf8(output.stdout).unwrap()))
    };
    let (code, created) = pipe(br#"{"title": "From a pipe"}"#);
    assert_eq!((code, created["dialogue_id"].as_str()), (Some(0), Some("from-a-pipe")));
    let (code, refusal) = pipe(b"");
    assert_eq!((code, refusal["error_code"].as_str()), (Some(1), Some("invalid_json")));
    let (code, refusal) = pipe(b"{\"title\": \"\xff\"}");
    assert_eq!((code, refusal["error_code"].as_str()), (Some(4), Some("unreadable")));
}

#[test]
fn options_win_over_data() {
    let program = TestProgram::new();
    let file =
        program.write_json("create.json", &json!({ "title": "In the file", "question": "Kept?" }));
    let ran =
        program.run_command(&["dialogue", "create", "On the line", "--data", &file, "--json"]);
    assert_eq!(parse_single_line(&ran.stdout)["dialogue_id"], "on-the-line");
    let exported = parse_single_line(&program.run_command(&["export", "on-the-line"]).stdout);
    assert_eq!(
        (&exported["title"], &exported["question"]),
        (&json!("On the line"), &json!("Kept?"))
    );
}

#[test]
fn a_reader_that_went_away_is_no_failure() {
    let program = program_with_dialogue();
    for line in [
        "list",
        "export talk",
        "list --json",
        "show talk --json",
        "--help",
        "completions bash",
        "verify",
        "show nobody --json",
        "dialogue context talk",
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = program.command();
        command.args(split_words(line)).stdout(writer).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        // Drop our copy of the pipe's writing end.
        drop(command);
        let output = child.wait_with_output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        let expected = if line.contains("nobody") { 4 } else { 0 };
        assert_eq!(output.status.code(), Some(expected), "{line}: {message}");
        assert!(!message.contains("panicked"), "{line}: {message}");
    }
}

#[test]
fn shells_get_their_completions() {
    let program = TestProgram::new();
    for shell in ["bash", "zsh", "fish"] {
        let ran = program.run_command(&["completions", shell]);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        assert!(ran.stdout.contains("dialogue") && ran.stdout.len() > 1_000, "{shell}");
    }
}

#[test]
fn looking_leaves_nothing_behind() {
    let program = TestProgram::new();
    for line in [
        "list",
        "dialogue stats",
        "dialogue similar x",
        "verify",
        "show x",
        "export x",
        "cite x/P0001",
        "dialogue progress x",
        "dialogue context x",
        "export x --output y.json",
        "health",
        "due",
        "due record x held",
    ] {
        program.run_command(&split_words(line));
        let left: Vec<_> = std::fs::read_dir(program.path()).unwrap().collect();
        assert!(left.is_empty(), "{line} left {left:?}");
    }
}

#[test]
fn a_flag_wins_over_the_environment_and_that_over_the_default() {
    let program = TestProgram::new();
    let create = |title: &str, flag: Option<&str>, variable: Option<&str>| {
        let mut command = program.command();
        command.args(["dialogue", "create", title, "-q"]);
        command.args(flag.map(|path| format!("--store={path}")));
        command.envs(variable.map(|path| ("PLENARY_STORE", path)));
        assert!(command.status().unwrap().success());
    };
    create("By default", None, None);
    create("By variable", None, Some("sqlite:variable.db"));
    create("By flag", Some("sub/flag.db"), Some("variable.db"));
    create("By empty variable", None, Some(""));
    let listed = |store: &str| {
        let listed =
            parse_single_line(&program.run_command(&["list", "--json", "--store", store]).stdout);
        let dialogues = listed["dialogues"].as_array().unwrap().clone();
        dialogues.iter().map(|one| one["title"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(listed(".plenary/plenary.db"), ["By empty variable", "By default"]);
    assert_eq!(listed("variable.db"), ["By variable"]);
    assert_eq!(listed("sqlite:sub/flag.db"), ["By flag"]);
}

#[test]
fn a_council_file_upward_anchors_the_store() {
    let program = TestProgram::new();
    let deep = program.path().join("project/src/deep");
    std::fs::create_dir_all(&deep).unwrap();
    std::fs::write(program.path().join("project/council.yaml"), "").unwrap();
    let run = |arguments: &[&str]| {
        let mut command = program.command();
        command.current_dir(&deep).args(arguments).stdout(Stdio::null());
        assert!(command.status().unwrap().success());
    };
    run(&["dialogue", "create", "Anchored", "-q"]);
    assert!(program.path().join("project/.plenary/plenary.db").is_file());
    // A path on the command line is relative to the current folder.
    run(&["dialogue", "create", "Here", "-q", "--store", "here.db"]);
    assert!(deep.join("here.db").is_file());
    run(&["dialogue", "create", "Named", "-q", "--config", "../../council.yaml"]);
    let listed = program.run_command(&["list", "--json", "--store", "project/.plenary/plenary.db"]);
    assert_eq!(parse_single_line(&listed.stdout)["dialogues"].as_array().unwrap().len(), 2);
    assert!(!deep.join(".plenary").exists() && !program.path().join(".plenary").exists());
}

#[test]
fn a_mistake_of_usage_is_a_document_too() {
    let program = TestProgram::new();
    for line in [
        &["dialogue", "list", "--limit", "x", "--json"][..],
        &["bogus", "--json"],
        &["--json", "show"],
    ] {
        let ran = program.run_command(line);
        let document: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!((ran.code, &document["error_code"]), (64, &json!("usage")), "{line:?}");
    }
}

#[test]
fn what_is_not_there_is_not_called_untouched() {
    let program = TestProgram::new();
    check_text(&program, "verify", 4, "does not exist");
    std::fs::write(program.path().join("empty.db"), "").unwrap();
    check_text(&program, "--store empty.db verify", 4, "is empty: it has 0 bytes");
    let program = program_with_dialogue();
    check_text(&program, "verify --head abc", 64, "64 hex digits");
    let head = |arguments: &[&str]| {
        let ran = program.run_command(arguments);
        ran.stdout.lines().last().unwrap().rsplit(' ').next().unwrap().to_owned()
    };
    let (store, dialogue) = (head(&["verify"]), head(&["verify", "talk"]));
    assert_ne!(store, dialogue);
    assert_eq!(program.run_command(&["verify", "talk", "--head", &dialogue]).code, 0);
    program.run_command(&["dialogue", "create", "Another"]);
    let later = head(&["verify"]);
    let mixed = program.run_command(&["verify", "talk", "--head", &later]);
    assert_eq!(mixed.code, 1);
    assert!(mixed.stdout.contains("head of another chain"), "{mixed:?}");
    assert_eq!(
        program.run_command(&["verify", "--head", &store]).code,
        0,
        "an older head is still part"
    );
}
