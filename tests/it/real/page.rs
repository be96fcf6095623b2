//! The page in a real Chromium: each scenario of `tests/browser` runs in a project of its own.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;

use super::clients::installed_path;
use crate::kit::{TestProgram, make_pool, open_workspace, plenary_binary};
use plenary_engine::app::dialogues::create_dialogue;
use plenary_engine::app::rounds::register_round;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Rows of the longest list that a test scrolls.
const LIST_LENGTH: usize = 10_000;
const LARGE_ROUNDS: u8 = 100;
const LARGE_ITEMS: usize = 99;

/// Runs a scenario. Its pictures and figures stay in `target/real/pages`.
#[track_caller]
fn run_scenario(name: &str, program: &TestProgram) {
    let pictures = Path::new(ROOT).join("target/real/pages").join(name);
    let script = Path::new(ROOT).join("tests/browser").join(format!("{name}.mjs"));
    let mut command = Command::new("node");
    command
        .arg(script)
        .current_dir(program.path())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", program.path())
        .env("PLENARY", plenary_binary())
        .env("PLENARY_TRUST", "all")
        .env("PLENARY_SOURCES", Path::new(ROOT).canonicalize().unwrap())
        .env("PLENARY_PICTURES", &pictures)
        .env("PLENARY_REAL_BROWSER", installed_path("BROWSER"))
        .env("PLENARY_REAL_CHROMIUM", installed_path("CHROMIUM"))
        .stdin(Stdio::null());
    let output = command.output().unwrap();
    let shown = String::from_utf8_lossy(&output.stdout);
    let message = String::from_utf8_lossy(&output.stderr);
    std::fs::create_dir_all(&pictures).unwrap();
    std::fs::write(pictures.join("figures.txt"), shown.as_bytes()).unwrap();
    assert!(output.status.success(), "{name}\n{shown}\n{message}");
    let verified = program.run_command(&["verify"]);
    assert_eq!(verified.code, 0, "{verified:?}");
}

#[test]
#[ignore = "needs Chromium: `./check real`"]
fn every_screen_is_drawn_at_every_width_and_axe_finds_nothing_serious() {
    run_scenario("screens", &TestProgram::new());
}

#[test]
#[ignore = "needs Chromium: `./check real`"]
fn a_sentence_leads_to_the_passage_of_the_raw_reply() {
    run_scenario("provenance", &TestProgram::new());
}

#[test]
#[ignore = "needs Chromium: `./check real`"]
fn the_page_runs_a_council_and_survives_the_death_of_its_server() {
    run_scenario("live", &TestProgram::new());
}

#[test]
#[ignore = "needs Chromium: `./check real`"]
fn the_page_follows_a_judge_and_lets_a_person_decide_a_conflict() {
    run_scenario("alignment", &TestProgram::new());
}

#[test]
#[ignore = "needs Chromium: `./check real`"]
fn a_form_keeps_its_decision_and_its_errors_to_itself() {
    run_scenario("forms", &TestProgram::new());
}

#[test]
#[ignore = "needs Chromium: `./check real`"]
fn keys_alone_reach_everything() {
    run_scenario("keyboard", &TestProgram::new());
}

#[test]
#[ignore = "needs Chromium: `./check real`"]
fn hostile_text_runs_no_script() {
    run_scenario("hostile", &TestProgram::new());
}

#[test]
#[ignore = "needs Chromium: `./check real`"]
fn ten_thousand_dialogues_and_a_hundred_rounds_do_not_freeze_the_page() {
    let program = TestProgram::new();
    let project = open_workspace(program.path());
    let pool = json!({"title": "A hundred rounds", "question": "What does a long dialogue look like?", "expert_pool": make_pool(&["ann", "bob", "cid"])});
    let made = json!(create_dialogue(&project, &pool).unwrap());
    for round in 0..LARGE_ROUNDS {
        let mut batch = make_large_batch(round);
        batch["dialogue_id"] = made["dialogue_id"].clone();
        register_round(&project, &batch).unwrap();
    }
    for number in 0..LIST_LENGTH {
        let title = format!("Question {number} of the archive");
        create_dialogue(&project, &json!({ "title": title })).unwrap();
    }
    drop(project);
    run_scenario("large", &program);
}

/// A round in which each perspective supports the one of the round before.
fn make_large_batch(round: u8) -> serde_json::Value {
    let perspectives: Vec<_> = (1..=LARGE_ITEMS)
        .map(|number| {
            let slug = ["ann", "bob", "cid"][number % 3];
            let before = format!("P{:02}{number:02}", round.saturating_sub(1));
            let references = match round {
                0 => json!([]),
                _ => json!([{"type": "support", "target": before}]),
            };
            json!({
                "local_id": format!("{}-P{round:02}{number:02}", slug.to_uppercase()),
                "label": format!("Perspective {number} of round {round}"),
                "content": format!("In round {round}, step {number} follows from the steps before it."),
                "contributors": [slug],
                "references": references,
            })
        })
        .collect();
    json!({
        "round": round, "score": round, "title": format!("Round {round}"), "summary": "A round.",
        "perspectives": perspectives, "expert_scores": {"ann": 1, "bob": 2, "cid": 3},
    })
}

/// TypeScript checks the types in the comments of the modules.
#[test]
#[ignore = "needs TypeScript: `./check real`"]
fn the_types_of_the_modules_agree() {
    let mut command = Command::new(installed_path("TSC"));
    let output = command.args(["--noEmit", "-p", "web"]).current_dir(ROOT).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
