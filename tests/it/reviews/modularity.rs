//! `check-modularity`: finds agents that mention the gate, and never skips an unreadable one.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::kit::TestProgram;

/// A host project with these agents and their prompts.
fn host_project(agents: &[(&str, &str)]) -> TestProgram {
    let program = TestProgram::new();
    for (agent, prompt) in agents {
        write_bytes(&program, &format!("host/agents/{agent}/prompt.md"), prompt.as_bytes());
    }
    program
}

fn write_bytes(program: &TestProgram, path: &str, bytes: &[u8]) {
    let path = program.path().join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

#[track_caller]
fn run_check(program: &TestProgram, options: &str, code: i32) -> Value {
    let words = options.split_whitespace();
    let line: Vec<&str> = ["check-modularity", "host", "--json"].into_iter().chain(words).collect();
    let ran = program.run_command(&line);
    assert_eq!(ran.code, code, "{ran:?}");
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

/// The references as `agent:line:name`.
fn reference_lines(document: &Value) -> Vec<String> {
    let references = document["references"].as_array().unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    references
        .iter()
        .map(|one| format!("{}:{}:{}", text(&one["agent"]), one["line"], text(&one["name"])))
        .collect()
}

const CLEAN_PROMPT: &str = "You write posts.\nYou are no councillor.\n";
const KNOWING_PROMPT: &str =
    "You write posts.\n\nThe Council reads them, see council_log.jsonl.\nBe bold.\n";

#[test]
fn agents_that_do_not_know_pass_and_are_counted() {
    let program = host_project(&[("writer", CLEAN_PROMPT), ("editor", "")]);
    let document = run_check(&program, "", 0);
    let expected = json!({
        "status": "success", "names": ["council", "plenary"], "scanned": 2, "references": [],
        "unlisted": 0, "unscanned": [], "exempt": [], "without_prompt": [], "unknown_exempt": [],
    });
    assert_eq!(document, expected);
}

#[test]
fn a_line_that_names_the_gate_is_printed_with_its_place() {
    let program = host_project(&[
        ("writer", KNOWING_PROMPT),
        ("editor", CLEAN_PROMPT),
        ("aide", "run `plenary review`"),
    ]);
    let ran = program.run_command(&["check-modularity", "host"]);
    assert_eq!(ran.code, 1);
    insta::assert_snapshot!(ran.stdout, @r"
    host/agents/aide/prompt.md:1: run `plenary review`
    host/agents/writer/prompt.md:3: The Council reads them, see council_log.jsonl.
    2 lines mention the review, in 3 prompts; searched for: council, plenary
    ");
    assert_eq!(
        reference_lines(&run_check(&program, "", 1)),
        ["aide:1:plenary", "writer:3:council"]
    );
}

#[test]
fn the_names_can_be_chosen() {
    let program = host_project(&[("writer", KNOWING_PROMPT), ("aide", "Past the GATE.")]);
    assert_eq!(reference_lines(&run_check(&program, "--name gate", 1)), ["aide:1:gate"]);
    let both = run_check(&program, "--name gate --name council", 1);
    assert_eq!(reference_lines(&both), ["aide:1:gate", "writer:3:council"]);
    run_check(&program, "--name adjudicator", 0);
    let ran = program.run_command(&["check-modularity", "host", "--name", " "]);
    assert_eq!(ran.code, 64, "{ran:?}");
}

#[test]
fn a_router_may_know() {
    let program = host_project(&[("router", KNOWING_PROMPT), ("writer", CLEAN_PROMPT)]);
    let document = run_check(&program, "--exempt router", 0);
    assert_eq!((&document["scanned"], &document["exempt"]), (&json!(1), &json!(["router"])));
    // A misspelled name exempts no agent and causes a warning.
    let document = run_check(&program, "--exempt ruoter", 1);
    assert_eq!(document["unknown_exempt"], json!(["ruoter"]));
    let ran = program.run_command(&["check-modularity", "host", "--exempt", "ruoter"]);
    assert!(ran.stderr.contains("`--exempt ruoter`: there is no such agent"), "{ran:?}");
}

#[test]
fn an_unchecked_host_does_not_pass() {
    let program = TestProgram::new();
    let error = |code: &str| {
        let document = run_check(&program, "", 4);
        assert_eq!((&document["status"], &document["error_code"]), (&json!("error"), &json!(code)));
        assert!(document["suggestion"].as_str().unwrap().contains("agents/NAME/prompt.md"));
    };
    error("unreadable");
    std::fs::create_dir(program.path().join("host")).unwrap();
    error("unreadable");
    std::fs::create_dir(program.path().join("host/agents")).unwrap();
    error("nothing_scanned");
    // A folder without a prompt, and a file that is no agent.
    write_bytes(&program, "host/agents/writer/notes.md", b"x");
    write_bytes(&program, "host/agents/README.md", b"the council");
    error("nothing_scanned");
    write_bytes(&program, "host/agents/router/prompt.md", b"x");
    let ran = program.run_command(&["check-modularity", "host", "--exempt", "router"]);
    assert_eq!(ran.code, 4, "{ran:?}");
    assert!(ran.stderr.contains("every agent in `host/agents` is exempt"), "{ran:?}");
    // Beside a readable agent, one without a prompt is only counted.
    let document = run_check(&program, "", 0);
    assert_eq!(document["without_prompt"], json!(["writer"]));
    std::fs::remove_dir_all(program.path().join("host")).unwrap();
    write_bytes(&program, "host/agents", b"no folder");
    error("unreadable");
}

#[test]
fn a_prompt_that_cannot_be_read_is_never_a_pass() {
    let program = host_project(&[("clean", CLEAN_PROMPT)]);
    write_bytes(&program, "host/agents/binary/prompt.md", b"a\0b");
    write_bytes(&program, "host/agents/latin/prompt.md", b"caf\xe9");
    write_bytes(&program, "host/agents/huge/prompt.md", &vec![b'x'; 1_000_001]);
    std::fs::create_dir_all(program.path().join("host/agents/folder/prompt.md")).unwrap();
    let ran = program.run_command(&["check-modularity", "host"]);
    assert_eq!(ran.code, 4);
    insta::assert_snapshot!(ran.stdout, @r"
    host/agents/binary/prompt.md: not scanned: it is binary
    host/agents/folder/prompt.md: not scanned: it is not a regular file
    host/agents/huge/prompt.md: not scanned: it is over 1000 KB
    host/agents/latin/prompt.md: not scanned: it is not UTF-8 text
    No mention of the review in 1 prompt, 4 not scanned; searched for: council, plenary
    ");
    // Other findings do not hide it: the exit code is the higher one.
    write_bytes(&program, "host/agents/knowing/prompt.md", KNOWING_PROMPT.as_bytes());
    let document = run_check(&program, "", 4);
    assert_eq!(document["unscanned"].as_array().unwrap().len(), 4);
    assert_eq!(reference_lines(&document), ["knowing:3:council"]);
    // If no agent can be read, the error says so.
    std::fs::remove_dir_all(program.path().join("host/agents/clean")).unwrap();
    std::fs::remove_dir_all(program.path().join("host/agents/knowing")).unwrap();
    run_check(&program, "", 4);
}

#[test]
fn what_a_prompt_says_does_not_drive_the_terminal() {
    let escape = "\u{1b}[2J council \u{202e}lla";
    let long = format!("{} council {}", "x".repeat(500), "y".repeat(500));
    let program = host_project(&[("wr\u{1b}iter", escape), ("long", &long)]);
    let ran = program.run_command(&["check-modularity", "host"]);
    assert!(!ran.stdout.contains(['\u{1b}', '\u{202e}']), "{ran:?}");
    assert!(ran.stdout.contains(r"\u{1b}[2J council \u{202e}lla"), "{ran:?}");
    let cut = ran.stdout.lines().next().unwrap();
    assert!(cut.contains(": …xxx") && cut.contains(" council yyy") && cut.ends_with("y…"), "{cut}");
    assert!(cut.chars().count() < 250, "{cut}");
}

#[test]
fn a_prompt_full_of_names_is_summed_up() {
    let program = host_project(&[("writer", &"council\n".repeat(1_234))]);
    let document = run_check(&program, "", 1);
    assert_eq!(reference_lines(&document).len(), 100);
    assert_eq!(document["unlisted"], 1_134);
    let ran = program.run_command(&["check-modularity", "host"]);
    assert!(ran.stdout.contains("… and 1134 lines more\n1234 lines mention the review"), "{ran:?}");
}

#[cfg(unix)]
#[test]
fn links_lead_nowhere_else() {
    use std::os::unix::fs::symlink;
    let program = host_project(&[("writer", CLEAN_PROMPT)]);
    let agents = program.path().join("host/agents");
    let link = |target: &str, agent: &str| {
        std::fs::create_dir_all(agents.join(agent)).unwrap();
        symlink(target, agents.join(agent).join("prompt.md")).unwrap();
    };
    write_bytes(&program, "host/shared.md", KNOWING_PROMPT.as_bytes());
    write_bytes(&program, "outside.md", b"council");
    write_bytes(&program, "elsewhere/prompt.md", b"council");
    link("../../shared.md", "inside");
    link("../../../outside.md", "outside");
    link("gone.md", "broken");
    link("prompt.md", "loop");
    symlink("../../elsewhere", agents.join("visitor")).unwrap();
    symlink("writer", agents.join("same")).unwrap();
    let made = std::process::Command::new("mkfifo")
        .arg(agents.join("writer/../pipe.md"))
        .status()
        .unwrap();
    assert!(made.success());
    link("../pipe.md", "piped");
    let document = run_check(&program, "", 4);
    assert_eq!(reference_lines(&document), ["inside:3:council"]);
    assert_eq!(document["scanned"], 3);
    let reasons: Vec<(&str, &str)> = document["unscanned"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["agent"].as_str().unwrap(), one["reason"].as_str().unwrap()))
        .collect();
    let expected = [
        ("broken", "a link that leads nowhere"),
        ("loop", "a link that leads nowhere"),
        ("outside", "a link that leads out of the folder"),
        ("piped", "it is not a regular file"),
        ("visitor", "a link that leads out of the folder"),
    ];
    assert_eq!(reasons, expected);
    // The agents' folder itself must not be a link either.
    std::fs::rename(&agents, program.path().join("agents")).unwrap();
    symlink("../agents", &agents).unwrap();
    run_check(&program, "", 4);
}

#[test]
fn a_closed_pipe_changes_no_finding() {
    let program = host_project(&[("writer", KNOWING_PROMPT)]);
    let mut command = program.command();
    command.args(["check-modularity", "host"]).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(1));
}
