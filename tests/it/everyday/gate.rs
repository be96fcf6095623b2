//! The gate, rehearsals and exports as a new user tries them.

use std::io::Write;
use std::process::Stdio;

use serde_json::Value;

use crate::kit::{CommandOutput, TestProgram};

/// A project with a rehearsed review of the type `blogpost`, and the id of its verdict.
fn program_with_verdict() -> (TestProgram, String) {
    let program = TestProgram::new();
    program.write_text("posts/b.md", "# Launch\n\nWe ship on Monday.\n");
    let arguments = ["review", "posts/b.md", "--type", "blogpost", "--rehearse", "--json"];
    let document: Value = serde_json::from_str(&program.run_command(&arguments).stdout).unwrap();
    let id = document["verdict_id"].as_str().unwrap().to_owned();
    (program, id)
}

#[test]
fn the_id_of_a_verdict_is_shown_and_cited() {
    let (program, id) = program_with_verdict();
    let short = id.rsplit_once('-').unwrap().1;
    for typed in [id.as_str(), short, "latest/1"] {
        let ran = program.run_command(&["show", typed]);
        assert!(ran.code == 0 && ran.stdout.contains(&id), "{typed}: {ran:?}");
    }
    let ran = program.run_command(&["show", &id, "--json"]);
    let document: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(
        (&document["verdict_id"], &document["artifact"]),
        (&id.clone().into(), &"posts/b.md".into())
    );
    let ran = program.run_command(&["cite", &id]);
    assert!(ran.code == 0 && ran.stdout.contains("posts/b.md"), "{ran:?}");
    let ran = program.run_command(&["show", "posts-00000000/9"]);
    assert!(ran.code == 4 && ran.stderr.contains("plenary log tail"), "{ran:?}");
}

#[test]
fn an_imported_verdict_is_shown_by_its_own_id() {
    let (program, id) = program_with_verdict();
    let other = TestProgram::new();
    let log = program.path().join("council_log.jsonl");
    assert_eq!(other.run_command(&["log", "import", log.to_str().unwrap()]).code, 0);
    let review = id.strip_suffix("/1").unwrap();
    for typed in [id.as_str(), review] {
        let ran = other.run_command(&["show", typed]);
        assert!(ran.code == 0 && ran.stdout.contains("IMPORTED"), "{typed}: {ran:?}");
    }
    let ran = other.run_command(&["resume", "latest"]);
    assert!(ran.stderr.contains("imported from another log"), "{ran:?}");
}

#[test]
fn a_type_that_is_nearly_that_of_an_earlier_verdict_is_a_warning() {
    let (program, _) = program_with_verdict();
    let review = |named: &str| {
        program.run_command(&["review", "posts/b.md", "--type", named, "--rehearse"]).stderr
    };
    assert!(review("blogpst").contains("did you mean `blogpost`?"));
    assert!(!review("speech").contains("did you mean"));
}

fn ask_with_input(program: &TestProgram, arguments: &[&str], input: &[u8]) -> CommandOutput {
    let mut command = program.command();
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let ended = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let (stdout, stderr) = (text(ended.stdout), text(ended.stderr));
    CommandOutput { code: ended.status.code().unwrap(), stdout, stderr }
}

#[test]
fn standard_input_is_not_called_a_file() {
    let program = TestProgram::new();
    let ask = ["ask", "--rehearse", "Is it so?"];
    let large = vec![b'x'; 3 << 20];
    for (arguments, input, parts) in [
        (&ask[..], &b"\xff\xfe"[..], ["standard input is not UTF-8", "iconv"]),
        (&ask, &large, ["standard input cannot be sent", "standard input through `head"]),
        (&["review", "--rehearse", "--force", "-"], b"\xff", ["standard input", "UTF-8"]),
    ] {
        let message = ask_with_input(&program, arguments, input).stderr;
        assert!(parts.iter().all(|part| message.contains(part)), "{arguments:?}: {message}");
        assert!(
            !message.contains("`-`") && !message.contains("--context"),
            "{arguments:?}: {message}"
        );
    }
}

#[test]
fn a_selection_has_no_third_round_in_its_estimate() {
    let program = TestProgram::new();
    let calls = |more: &[&str]| {
        let arguments = [&["ask", "Is it so?", "--rehearse", "--dry-run", "--json"], more].concat();
        let document: Value =
            serde_json::from_str(&program.run_command(&arguments).stdout).unwrap();
        document["estimate"]["calls"].as_u64().unwrap()
    };
    assert_eq!(calls(&["--select"]) + 1, calls(&[]));
}

#[test]
fn cues_that_fit_no_call_are_named() {
    let program = TestProgram::new();
    program
        .write_text("cues.yaml", "- {round: 1, times: 1, reply: no}\n- {seat: nobody, reply: x}\n");
    program.write_text("empty.yaml", "[]\n");
    let message = |script| program.run_command(&["ask", "Is it so?", "--rehearse", script]).stderr;
    let cues = message("cues.yaml");
    assert!(cues.contains("cue 2 of the script fits no call") && !cues.contains("cue 1"), "{cues}");
    assert!(message("empty.yaml").contains("the script has no cue"));
    program.write_text("post.md", "# Launch\n");
    let ran = program.run_command(&["review", "post.md", "--rehearse", "cues.yaml"]);
    assert!(ran.stderr.contains("cue 2 of the script fits no call"), "{ran:?}");
}

#[test]
fn small_commands_do_what_their_words_say() {
    let (program, _) = program_with_verdict();
    let ran = program.run_command(&["export", "latest", "--output", "-"]);
    assert!(ran.code == 0 && ran.stdout.starts_with('{'), "{ran:?}");
    assert!(!program.path().join("-").exists());
    for arguments in [
        &["audit", "--since", "1h"][..],
        &["log", "replay", "--policy", "strict", "--since", "1h"],
        &["log", "export", "--since", "1h"],
        &["health", "--since", "1h"],
    ] {
        let ran = program.run_command(arguments);
        assert_eq!(ran.code, 0, "{arguments:?}: {ran:?}");
    }
    let ran = program.run_command(&["cost"]);
    assert!(ran.stdout.contains("Rehearsals do not count."), "{ran:?}");
    assert_eq!(program.run_command(&["dialogue", "create", "Talk"]).code, 0);
    let ran = program.run_command(&["dialogue", "register", "latest"]);
    assert!(ran.code == 1 && ran.stderr.contains("plenary dialogue extract"), "{ran:?}");
    assert!(!ran.stderr.contains("field"), "{ran:?}");
}
