//! A store that an earlier version wrote opens, verifies, exports what it exported and resumes.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot set itself up should fail loudly"
)]

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use crate::kit::TestProgram;

/// What the earlier version printed for one dialogue.
#[derive(Debug, Deserialize)]
struct ExpectedDialogue {
    resume_exit: i32,
}

fn fixture_path(name: &str) -> std::path::PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .join("tests/fixtures/stores")
        .join(name)
}

fn expected_dialogues() -> BTreeMap<String, ExpectedDialogue> {
    let text = std::fs::read_to_string(fixture_path("version-0.1.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// A project whose store and verdict log the earlier version wrote.
fn earlier_project() -> TestProgram {
    let program = TestProgram::new();
    std::fs::create_dir(program.path().join(".plenary")).unwrap();
    let copies = [
        ("version-0.1.db", ".plenary/plenary.db"),
        ("version-0.1.council_log.jsonl", "council_log.jsonl"),
    ];
    for (from, to) in copies {
        std::fs::copy(fixture_path(from), program.path().join(to)).unwrap();
    }
    program
}

#[test]
fn a_store_of_an_earlier_version_verifies_and_its_events_only_gain_fields() {
    let program = earlier_project();
    let verified = program.run_command(&["verify", "--json"]);
    assert_eq!(verified.code, 0, "{verified:?}");
    let log = program.run_command(&["log", "repair"]);
    assert_eq!(log.code, 0, "{log:?}");
    for id in expected_dialogues().keys() {
        let id = id.as_str();
        let markdown = program.run_command(&["export", id, "--format", "markdown"]);
        assert!(markdown.code == 0 && markdown.stdout.contains(id), "{markdown:?}");
    }
    let lines = std::fs::read_to_string(fixture_path("version-0.1.events.jsonl")).unwrap();
    for line in lines.lines() {
        let earlier: Value = serde_json::from_str(line).unwrap();
        let id = earlier["id"].as_str().unwrap();
        let replayed = program.run_command(&["replay", id, "--json"]).stdout;
        let now = replayed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(find_difference(&earlier["events"], &Value::Array(now), id), None);
    }
}

#[test]
fn exports_of_an_earlier_version_only_gain_fields() {
    let program = earlier_project();
    assert_eq!(program.run_command(&["log", "repair"]).code, 0);
    let lines = std::fs::read_to_string(fixture_path("version-0.1.exports.jsonl")).unwrap();
    for line in lines.lines() {
        let earlier: Value = serde_json::from_str(line).unwrap();
        let id = earlier["id"].as_str().unwrap();
        let exported = program.run_command(&["export", id]).stdout;
        let now: Value = serde_json::from_str(&exported).unwrap();
        assert_eq!(find_difference(&earlier["export"], &now, id), None);
    }
}

/// The first place where the later document lacks or changes what the earlier one says.
fn find_difference(earlier: &Value, now: &Value, path: &str) -> Option<String> {
    match (earlier, now) {
        // The wording of a hint is no promise.
        (Value::Object(earlier), Value::Object(now)) => earlier.iter().find_map(|(key, value)| {
            let there = now.get(key).unwrap_or(&Value::Null);
            let is_hint =
                key == "suggestion" && there.as_str().is_some_and(|hint| !hint.is_empty());
            if is_hint { None } else { find_difference(value, there, &format!("{path}.{key}")) }
        }),
        (Value::Array(earlier), Value::Array(now)) if earlier.len() == now.len() => {
            let pairs = earlier.iter().zip(now).enumerate();
            pairs
                .map(|(place, (a, b))| find_difference(a, b, &format!("{path}[{place}]")))
                .find_map(|found| found)
        }
        (earlier, now) => (earlier != now).then(|| format!("{path}: {earlier} became {now}")),
    }
}

#[test]
fn runs_that_an_earlier_version_left_at_any_stage_resume_to_their_end() {
    let program = earlier_project();
    for (id, expected) in expected_dialogues() {
        let resumed = program.run_command(&["resume", &id, "--json"]);
        assert_eq!(resumed.code, expected.resume_exit, "{id}: {resumed:?}");
        let document: Value = serde_json::from_str(&resumed.stdout).unwrap();
        let status = if expected.resume_exit == 0 { "done" } else { "error" };
        assert_eq!(document.get("status"), Some(&Value::from(status)), "{id}");
    }
    let verified = program.run_command(&["verify", "--json"]);
    assert_eq!(verified.code, 0, "{verified:?}");
}
