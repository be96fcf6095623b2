//! `ask --after` and text that is piped into `ask`.

use std::io::Write;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;

use crate::kit::TestProgram;

fn ask_piped(program: &TestProgram, arguments: &[&str], text: &str) -> (i32, Value, String) {
    let mut command = program.command();
    command.args([&["ask", "--json", "--rehearse"], arguments].concat());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let ran = child.wait_with_output().unwrap();
    let document = serde_json::from_slice(&ran.stdout).unwrap_or(Value::Null);
    (ran.status.code().unwrap(), document, String::from_utf8(ran.stderr).unwrap())
}

fn prompts(program: &TestProgram) -> String {
    program.run_command(&["show", "latest", "--prompts"]).stdout
}

#[test]
fn standard_input_goes_with_the_question() {
    let program = TestProgram::new();
    let (code, document, message) =
        ask_piped(&program, &["Is this safe to merge?"], "+ let x = unsafe_call();\n");
    assert_eq!(code, 0, "{message}");
    assert_eq!(document["transparency"]["context"]["files"], 1);
    assert!(message.contains("standard input (25 B) is sent with the question"), "{message}");
    assert!(prompts(&program).contains("unsafe_call"), "{}", prompts(&program));
}

#[test]
fn a_text_that_comes_late_goes_with_the_question_as_well() {
    let program = TestProgram::new();
    let mut command = program.command();
    command.args(["ask", "--rehearse", "-q", "--no-conclusion", "Is this safe to merge?"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    std::thread::sleep(Duration::from_millis(1_500));
    pipe.write_all(b"+ let x = unsafe_call();\n").unwrap();
    drop(pipe);
    let ran = child.wait_with_output().unwrap();
    let message = String::from_utf8(ran.stderr).unwrap();
    assert_eq!(ran.status.code(), Some(0), "{message}");
    // `--quiet` does not hide what the command waits for.
    assert!(message.contains("waiting for the end of standard input"), "{message}");
    assert!(prompts(&program).contains("unsafe_call"), "{}", prompts(&program));
}

#[test]
fn a_standard_input_that_stays_open_ends_with_the_deadline() {
    let program = TestProgram::new();
    let mut command = program.command();
    command.args(["ask", "--rehearse", "Is this safe to merge?", "--deadline", "2s"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let pipe = child.stdin.take().unwrap();
    let ran = child.wait_with_output().unwrap();
    drop(pipe);
    let message = String::from_utf8(ran.stderr).unwrap();
    assert_eq!(ran.status.code(), Some(64), "{message}");
    assert!(
        message.contains("did not end within 2 s") && message.contains("</dev/null"),
        "{message}"
    );
}

#[test]
fn an_empty_standard_input_sends_nothing_and_a_key_is_refused() {
    let program = TestProgram::new();
    let (code, document, message) = ask_piped(&program, &["Is it so?"], "");
    assert_eq!(
        (code, &document["transparency"]["context"]["files"]),
        (0, &Value::from(0)),
        "{message}"
    );
    assert!(message.contains("standard input is empty"), "{message}");
    let key = format!("key = ghp_{}\n", "Ab3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dF2hJ4");
    let (code, document, _) = ask_piped(&program, &["Is it so?"], &key);
    assert_eq!(code, 1, "{document}");
    assert!(
        document["message"].as_str().unwrap().contains("not sent to any provider"),
        "{document}"
    );
}

#[test]
fn a_question_from_standard_input_is_not_sent_twice() {
    let program = TestProgram::new();
    let (code, document, message) = ask_piped(&program, &["-"], "Is it so?");
    assert_eq!(
        (code, &document["transparency"]["context"]["files"]),
        (0, &Value::from(0)),
        "{message}"
    );
}

#[test]
fn a_follow_up_reads_the_earlier_conclusion_and_the_records_link_both_ways() {
    let program = TestProgram::new();
    let run = |arguments: &[&str]| {
        let ran = program.run_command(arguments);
        assert_eq!(ran.code, 0, "{arguments:?}: {ran:?}");
        ran.stdout
    };
    run(&["ask", "Tea or coffee?", "--rehearse"]);
    run(&["due", "record", "tea", "failed", "--note", "Nobody drank it."]);
    run(&["ask", "And with milk?", "--after", "tea", "--rehearse"]);
    let prompts = prompts(&program);
    for part in [
        "REHEARSAL: no model was asked",
        "Earlier question: Tea or coffee?",
        "failed (Nobody drank it.)",
        "Key condition:",
    ] {
        assert!(prompts.contains(part), "{part}:\n{prompts}");
    }
    let later = run(&["show", "latest"]);
    assert!(later.contains("follows up") && later.contains("tea-or-coffee-"), "{later}");
    let earlier = run(&["show", "tea"]);
    assert!(earlier.contains("followed up by") && earlier.contains("And with milk?"), "{earlier}");
    let document =
        |id: &str| -> Value { serde_json::from_str(&run(&["show", id, "--json"])).unwrap() };
    assert_eq!(document("tea")["followed_by"][0]["title"], "And with milk?");
    assert_eq!(document("latest")["follows"], document("tea")["id"]);
    let record: Value = serde_json::from_str(&run(&["export", "latest"])).unwrap();
    assert!(record["background"]["follows"].as_str().unwrap().starts_with("tea-or-coffee-"));
    run(&["verify"]);
}

#[test]
fn a_follow_up_of_a_review_reads_the_decision_of_a_person() {
    let program = TestProgram::new();
    std::fs::write(program.path().join("post.md"), "Our cache never fails, we promise.\n").unwrap();
    program.run_command(&["review", "--rehearse", "post.md"]);
    let why = "Legal approved it.";
    let ran =
        program.run_command(&["override", "latest", "--as", "SHIP", "--why", why, "--by", "Ann"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let ran = program.run_command(&["ask", "What next?", "--after", "latest", "--rehearse"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let prompts = prompts(&program);
    for part in ["Overridden on", "Ann decided SHIP", "Legal"] {
        assert!(prompts.contains(part), "{part}:\n{prompts}");
    }
}

#[test]
fn a_follow_up_of_an_unfinished_run_says_so() {
    let program = TestProgram::new();
    let script = "- {contains: You are the Synthesizer, fail: network}\n";
    std::fs::write(program.path().join("panel.yaml"), script).unwrap();
    let ran = program.run_command(&["ask", "Tea or coffee?", "--rehearse", "panel.yaml"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    let ran = program.run_command(&["ask", "And with milk?", "--after", "latest", "--rehearse"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let prompts = prompts(&program);
    assert!(prompts.contains("The run did not finish: this is its report"), "{prompts}");
}

#[test]
fn a_follow_up_needs_a_conclusion() {
    let program = TestProgram::new();
    assert_eq!(program.run_command(&["dialogue", "create", "Talk"]).code, 0);
    let ran = program.run_command(&["ask", "And then?", "--after", "talk", "--rehearse"]);
    assert!(ran.code == 1 && ran.stderr.contains("has no conclusion"), "{ran:?}");
    let ran = program.run_command(&["ask", "And then?", "--after", "nothing", "--rehearse"]);
    assert_eq!(ran.code, 4, "{ran:?}");
}

#[test]
fn control_characters_stay_in_the_json_of_a_pipe() {
    let program = TestProgram::new();
    let title = "Del\u{7f} and \u{9b}bell";
    assert_eq!(program.run_command(&["dialogue", "create", title]).code, 0);
    let listed: Value =
        serde_json::from_str(&program.run_command(&["list", "--json"]).stdout).unwrap();
    assert_eq!(listed["dialogues"][0]["title"], title);
    let coloured = program.run_command(&["list", "--color", "always"]).stdout;
    assert!(coloured.contains("\u{1b}[1m"), "{coloured:?}");
    let plain =
        program.command().args(["list", "--color", "never"]).env("CLICOLOR_FORCE", "1").output();
    assert!(!String::from_utf8(plain.unwrap().stdout).unwrap().contains('\u{1b}'));
}
