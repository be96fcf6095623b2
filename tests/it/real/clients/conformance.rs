//! The protocol's own conformance scenarios, against `plenary serve`.
//!
//! They request their own tools, prompts and resources by name and check the shape of the answer.
//! Where we have something of that shape, we substitute it; `conformance.txt` lists the rest with
//! the reason why it does not apply.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Value, json};

use super::forwarder::TokenForwarder;
use super::harness::{ClientProject, ServeProcess, installed_path};
use crate::kit::{ScriptedReply, TestProgram};

/// All scenarios by default, then all scenarios of each version.
const RUNS: [&[&str]; 4] = [
    &[],
    &["--spec-version", "2025-06-18"],
    &["--spec-version", "2025-11-25"],
    &["--spec-version", "2026-07-28"],
];

const QUESTION: &str = "Should reads go through a cache?";

/// Replaces a requested tool, prompt or resource by one of ours.
fn substitute_name(message: &mut Value) -> Option<(String, String)> {
    let params = message.get_mut("params")?;
    let key = if params.get("uri").is_some() { "uri" } else { "name" };
    let asked = params.get(key)?.as_str()?.to_owned();
    let counts = || json!({ "op": "stats" });
    let (ours, arguments) = match asked.as_str() {
        "greet" | "test_simple_text" | "test_reconnection" => {
            ("blue_dialogue_search", Some(counts()))
        }
        "test_error_handling" => {
            ("blue_dialogue_progress", Some(json!({ "dialogue_id": "nobody" })))
        }
        "test_tool_with_progress" => (
            "council_ask",
            Some(json!({ "question": QUESTION, "rehearse": true, "wait_seconds": 30 })),
        ),
        // The rehearsal panel answers at once; the real council runs for a long time.
        "slow_compute" => {
            let is_long = params.pointer("/arguments/seconds").and_then(Value::as_u64) > Some(10);
            ("council_ask", Some(json!({ "question": QUESTION, "rehearse": !is_long })))
        }
        // As a task that starts, not as one that fails.
        "failing_job" => ("council_ask", Some(json!({ "question": QUESTION, "rehearse": true }))),
        "test_simple_prompt" => ("judge_protocol", None),
        "test://static-text" => ("plenary://dialogues/number-123/transcript", None),
        "test://template/123/data" => ("plenary://dialogues/number-123", None),
        _ => return None,
    };
    params[key] = ours.into();
    if let Some(arguments) = arguments {
        params["arguments"] = arguments;
    }
    Some((asked, ours.to_owned()))
}

/// Runs scenarios and returns `scenario/check` with the result of each check.
fn run_scenarios(house: &ClientProject, url: &str, options: &[&str]) -> BTreeMap<String, String> {
    let results = tempfile::tempdir().unwrap();
    let mut conformance = house.client_command(&installed_path("NODE22"));
    conformance.arg(installed_path("CONFORMANCE")).args(["server", "--suite", "all", "--url", url]);
    conformance.arg("-o").arg(results.path()).args(options);
    // The command fails if any scenario fails; the results say which.
    let output = conformance.output().unwrap();
    let checked: BTreeMap<String, String> = std::fs::read_dir(results.path())
        .unwrap()
        .flat_map(|entry| read_checks(&entry.unwrap().path()))
        .collect();
    assert!(!checked.is_empty(), "{options:?}: {output:?}");
    checked
}

/// The checks of a folder such as `server-ping-2026-11-17T00-51-00-921Z`.
fn read_checks(folder: &Path) -> Vec<(String, String)> {
    let name = folder.file_name().unwrap().to_str().unwrap();
    let dated = name.strip_prefix("server-").unwrap();
    let scenario = &dated[..dated.len() - "-2026-11-17T00-51-00-921Z".len()];
    let text = std::fs::read_to_string(folder.join("checks.json")).unwrap();
    let checks: Vec<Value> = serde_json::from_str(&text).unwrap();
    let outcome = |check: &Value| {
        let id = format!("{scenario}/{}", check["id"].as_str().unwrap());
        let printed = check["errorMessage"].as_str().unwrap_or_default();
        (id, format!("{} {printed}", check["status"].as_str().unwrap()))
    };
    checks.iter().map(outcome).collect()
}

/// Scenarios and checks that do not apply, without their reasons.
fn exempt_checks() -> Vec<&'static str> {
    let lines = include_str!("conformance.txt").lines();
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let (place, reason) = line.split_once(": ").unwrap_or((line, ""));
            assert!(!reason.is_empty(), "no reason is given for {line}");
            place
        })
        .collect()
}

fn applies_to(place: &str, check: &str) -> bool {
    place == check || check.split('/').next() == Some(place)
}

#[test]
#[ignore = "needs the MCP clients that `./check real` installs"]
fn the_server_keeps_to_the_protocol_by_its_own_scenarios() {
    let house = ClientProject::with_replies(|| ScriptedReply::Hang);
    open_dialogue(&house.program);
    let served = ServeProcess::new(&house.program);
    let url = TokenForwarder::start_forwarder(&served, substitute_name);
    let exempt = exempt_checks();

    let (mut passed, mut wrong) = (0, Vec::new());
    let (mut failing, mut scenarios) = (BTreeSet::new(), BTreeSet::new());
    for options in RUNS {
        for (check, outcome) in run_scenarios(&house, &url, options) {
            scenarios.insert(check.split('/').next().unwrap_or_default().to_owned());
            match outcome.split(' ').next() {
                Some("SUCCESS") => passed += 1,
                Some("INFO") => {}
                _ if exempt.iter().any(|place| applies_to(place, &check)) => {
                    failing.insert(check);
                }
                _ => wrong.push(format!("{options:?} {check}: {outcome}")),
            }
        }
    }
    for place in exempt {
        if !failing.iter().any(|check| applies_to(place, check)) {
            wrong.push(format!("{place} is listed in conformance.txt, but does not fail"));
        }
    }
    #[expect(clippy::print_stdout, reason = "how much was looked at is worth knowing")]
    {
        println!("{} scenarios, {passed} checks passed, {} exempt", scenarios.len(), failing.len());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(scenarios.len() >= 65 && passed >= 250, "{} scenarios, {passed}", scenarios.len());
    drop(served);
    house.assert_verified();
}

/// Creates the record for the resource scenarios.
fn open_dialogue(program: &TestProgram) {
    let (code, answer) = program.run_operation("create", &json!({ "title": "Number 123" }));
    assert_eq!((code, &answer["dialogue_id"]), (0, &json!("number-123")));
}
