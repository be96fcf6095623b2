//! Every command that takes a dialogue takes a short form of its id.

use std::process::Command;

use serde_json::{Value, json};

use crate::kit::{CommandOutput, TestProgram};

/// A project with two councils and two led dialogues whose ids begin alike.
fn program_with_records() -> TestProgram {
    let program = TestProgram::new();
    for question in ["Should reads go through a cache?", "Tea or coffee?"] {
        assert_eq!(program.run_command(&["ask", question, "--rehearse"]).code, 0);
    }
    for title in ["Talk", "Talk of the Town"] {
        assert_eq!(program.run_command(&["dialogue", "create", title]).code, 0);
    }
    program
}

/// The ids of the dialogues, newest first.
fn list_ids(program: &TestProgram) -> Vec<String> {
    let listed: Value =
        serde_json::from_str(&program.run_command(&["list", "--json"]).stdout).unwrap();
    let rows = listed["dialogues"].as_array().unwrap();
    rows.iter().map(|row| row["dialogue_id"].as_str().unwrap().to_owned()).collect()
}

/// `show` with this id shows that dialogue.
#[track_caller]
fn check(program: &TestProgram, typed: &str, expected: &str) {
    let shown = program.run_command(&["show", typed, "--json"]);
    assert_eq!(shown.code, 0, "{typed}: {shown:?}");
    let document: Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!(document["id"], expected, "{typed}");
}

#[test]
fn a_dialogue_is_named_by_prefix_digits_or_place() {
    let program = program_with_records();
    let ids = list_ids(&program);
    let [town, talk, tea, cache] = ids.as_slice() else { panic!("{ids:?}") };
    let digits = tea.rsplit_once('-').unwrap().1;
    check(&program, tea, tea);
    check(&program, "tea", tea);
    check(&program, digits, tea);
    check(&program, &digits[..4], tea);
    check(&program, &digits.to_uppercase(), tea);
    check(&program, "should-reads", cache);
    // A whole id is that dialogue, although another id begins with it.
    check(&program, "talk", talk);
    check(&program, "talk-o", town);
    check(&program, "latest", town);
    check(&program, "latest~2", tea);
}

#[test]
fn an_ambiguous_id_lists_the_candidates_and_an_unknown_one_does_not_exist() {
    let program = program_with_records();
    let ran = program.run_command(&["show", "tal"]);
    assert_eq!(ran.code, 4, "{ran:?}");
    for part in
        ["'tal' fits several dialogues", "\n  talk  Talk\n", "talk-of-the-town  Talk of the Town"]
    {
        assert!(ran.stderr.contains(part), "{part}: {ran:?}");
    }
    let ran = program.run_command(&["show", "tal", "--json"]);
    let document: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(document["error_code"], "ambiguous_id");
    assert_eq!(document["valid_options"], json!(["talk-of-the-town", "talk"]));
    for typed in ["latest~9", "nothing", "../x", "00000000", "latest~"] {
        let ran = program.run_command(&["show", typed]);
        assert!(ran.code == 4 && ran.stderr.contains("not found"), "{typed}: {ran:?}");
    }
}

#[test]
fn every_command_takes_a_short_id() {
    let program = program_with_records();
    let whole = list_ids(&program);
    let ok = |arguments: &[&str]| -> CommandOutput {
        let ran = program.run_command(arguments);
        assert_eq!(ran.code, 0, "{arguments:?}: {ran:?}");
        ran
    };
    for command in ["show", "export", "resume", "watch", "replay", "verify", "conclude"] {
        ok(&[command, "latest~2"]);
    }
    ok(&["cite", "tea/call/1", "latest~2/P0101"]);
    ok(&["cite", "P0101", "--dialogue", "tea"]);
    ok(&["list", "--after", "latest"]);
    ok(&["due", "record", "tea", "held"]);
    ok(&["dialogue", "expert", "talk-of", "ann", "--role", "R", "--tier", "Core", "--reason", "x"]);
    let progress = ok(&["dialogue", "progress", "talk-of", "--json"]);
    assert!(progress.stdout.contains("talk-of-the-town"), "{progress:?}");
    ok(&["dialogue", "panel", "talk-of", "--round", "0", "--seat", "ann:created"]);
    ok(&["dialogue", "context", "talk-of"]);
    let round = program.write_json(
        "round.json",
        &json!({"dialogue_id": "talk-of", "round": 0, "score": 1, "expert_scores": {"ann": 1}}),
    );
    ok(&["dialogue", "register", "--data", &round]);
    ok(&["dialogue", "abandon", "talk-of", "--why", "x"]);
    // A whisper to a finished run is refused by its whole id.
    let ran = program.run_command(&["whisper", "tea", "x"]);
    assert!(ran.stderr.contains(&whole[2]), "{ran:?}");
}

#[test]
fn a_verdict_is_named_by_the_short_id_of_its_review() {
    let program = TestProgram::new();
    program.write_text("post.md", "# Launch\n\nWe ship on Monday.\n");
    let ran = program.run_command(&["review", "post.md", "--rehearse"]);
    assert!(ran.code < 3, "{ran:?}");
    for typed in ["latest", "latest/1", "post"] {
        let ran = program.run_command(&["override", typed, "--as", "SHIP", "--why", "Checked."]);
        assert_eq!(ran.code, 0, "{typed}: {ran:?}");
    }
}

#[test]
fn the_list_of_ids_feeds_the_completion_of_a_shell() {
    let program = program_with_records();
    let listed = program.run_command(&["list", "--ids"]).stdout;
    let lines: Vec<Vec<&str>> = listed.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(lines[0], ["talk-of", "Talk of the Town"]);
    assert_eq!((lines[2][0].len(), lines[2][1]), (8, "Tea or coffee?"));
    let script = program.run_command(&["completions", "bash"]).stdout;
    program.write_text("complete.bash", &script);
    let offered = complete(&program, &["show", ""]);
    assert!(offered.contains("  Tea or coffee?\n"), "{offered}");
    assert_eq!(offered.lines().count(), 4, "{offered}");
}

/// What the shell offers for the last of these words.
fn complete(program: &TestProgram, words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    let typed = format!(
        "plenary() {{ '{}' \"$@\"; }}; source ./complete.bash 2>/dev/null; \
         COMP_WORDS=(plenary {}); COMP_CWORD={}; _plenary_ids plenary '' ''; \
         printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        crate::kit::plenary_binary().display(),
        quoted.join(" "),
        words.len()
    );
    let ran =
        Command::new("bash").arg("-c").arg(typed).current_dir(program.path()).output().unwrap();
    String::from_utf8(ran.stdout).unwrap()
}

#[test]
fn a_shell_completes_ids_in_every_place_that_takes_one() {
    let program = program_with_records();
    let script = program.run_command(&["completions", "bash"]).stdout;
    program.write_text("complete.bash", &script);
    for words in [
        &["show", "talk-of-the"] as &[&str],
        &["ask", "--after", "talk-of"],
        &["list", "--after", "talk-of"],
        &["cite", "--dialogue", "talk-of"],
        &["--json", "show", "talk-of"],
        &["--store", ".plenary/plenary.db", "show", "talk-of"],
        &["dialogue", "show", "talk-of"],
    ] {
        let offered = complete(&program, words);
        assert!(offered.contains("talk-of-the-town"), "{words:?}: {offered}");
    }
    assert_eq!(complete(&program, &["show", "lat"]).trim(), "latest");
    assert!(!complete(&program, &["ask", "--chair", "talk-of"]).contains("talk-of-the-town"));
}
