//! `list`: states, filters and widths.

use serde_json::Value;

use crate::kit::TestProgram;

fn rows(program: &TestProgram, arguments: &[&str]) -> Vec<Value> {
    let ran = program.run_command(&[&["list", "--json"], arguments].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
    let listed: Value = serde_json::from_str(&ran.stdout).unwrap();
    listed["dialogues"].as_array().unwrap().clone()
}

/// A council that is done, one that failed, one that ran out of time, a led dialogue, an abandoned
/// one, and a review.
fn program_with_states() -> TestProgram {
    let program = TestProgram::new();
    program.write_text("fail.yaml", "- {fail: server_error}\n");
    program.write_text("slow.yaml", "- {round: 2, reply: '{}', delay_ms: 20000}\n");
    program.write_text("post.md", "# Launch\n\nWe ship on Monday.\n");
    let run = |arguments: &[&str]| program.run_command(arguments).code;
    assert_eq!(run(&["ask", "Is it done?", "--rehearse"]), 0);
    assert_eq!(run(&["ask", "Does it fail?", "--rehearse", "fail.yaml"]), 3);
    assert_eq!(run(&["ask", "Is it slow?", "--rehearse", "slow.yaml", "--deadline", "1s"]), 3);
    assert_eq!(run(&["dialogue", "create", "Talk"]), 0);
    assert_eq!(run(&["dialogue", "create", "Chatter"]), 0);
    assert_eq!(run(&["dialogue", "abandon", "chatter"]), 0);
    assert!(run(&["review", "post.md", "--rehearse"]) < 3);
    program
}

#[test]
fn a_row_has_state_cost_and_short_id() {
    let program = program_with_states();
    let states: Vec<String> = rows(&program, &[])
        .iter()
        .map(|row| format!("{} {}", row["title"].as_str().unwrap(), row["state"].as_str().unwrap()))
        .collect();
    let expected = [
        "post.md done",
        "Chatter abandoned",
        "Talk open",
        "Is it slow? incomplete",
        "Does it fail? failed",
        "Is it done? done",
    ];
    assert_eq!(states, expected);
    let done = rows(&program, &["--state", "done", "--protocol", "council"]).remove(0);
    let (id, short) = (done["dialogue_id"].as_str().unwrap(), done["short_id"].as_str().unwrap());
    assert!(id.ends_with(&format!("-{short}")) && short.len() == 8, "{id} {short}");
    assert!(done.as_object().unwrap().contains_key("cost_usd"), "{done}");
}

#[test]
fn filters_select_and_pages_continue() {
    let program = program_with_states();
    let count = |arguments: &[&str]| rows(&program, arguments).len();
    assert_eq!(count(&["--state", "incomplete"]), 1);
    assert_eq!(count(&["--state", "running"]), 0);
    assert_eq!(count(&["--protocol", "review"]), 1);
    assert_eq!(count(&["--since", "1h"]), 6);
    assert_eq!(count(&["--since", "2999-01-01"]), 0);
    assert_eq!(count(&["--grep", "IS IT"]), 2);
    assert_eq!((count(&["--limit", "2"]), count(&["--all"])), (2, 6));
    let second = rows(&program, &["--limit", "2", "--after", "latest~1"]);
    assert_eq!(second[0]["title"], "Talk");
    for bad in [["--state", "gone"], ["--protocol", "x"], ["--limit", "0"], ["--since", "5"]] {
        let ran = program.run_command(&["list", bad[0], bad[1]]);
        assert_eq!(ran.code, 64, "{bad:?}: {ran:?}");
    }
    let ran = program.run_command(&["list", "--grep", "zebra"]);
    assert!(ran.stderr.contains("no dialogue fits these filters"), "{ran:?}");
}

#[test]
fn a_killed_run_is_interrupted_and_a_live_one_is_running() {
    let program = TestProgram::new();
    program.write_text("slow.yaml", "- {round: 1, reply: '{}', delay_ms: 60000}\n");
    let arguments = ["ask", "Is it slow?", "--rehearse", "slow.yaml", "--quiet"];
    let mut child = program.command().args(arguments).spawn().unwrap();
    let state = || rows(&program, &[]).first().map(|row| row["state"].clone());
    crate::kit::wait_until_blocking(|| state().is_some());
    assert_eq!(state().unwrap(), "running");
    let id = rows(&program, &[])[0]["dialogue_id"].as_str().unwrap().to_owned();
    let page = || program.run_command(&["show", "latest"]).stdout;
    let running = page();
    assert!(running.contains("RUNNING") && !running.contains("INCOMPLETE"), "{running}");
    assert!(running.contains(&format!("\n  plenary watch {id}\n")), "{running}");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(state().unwrap(), "interrupted");
    let stopped = page();
    assert!(stopped.contains(&format!("\n  plenary resume {id}\n")), "{stopped}");
}

#[test]
fn an_overridden_verdict_says_so_in_the_list() {
    let program = program_with_states();
    let ran = program.run_command(&["override", "latest", "--as", "HOLD", "--why", "Wait."]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(rows(&program, &["--protocol", "review"])[0]["overridden"], "HOLD");
    let page = program.run_command(&["list", "--protocol", "review"]).stdout;
    assert!(page.contains("done · HOLD, overridden"), "{page}");
}
