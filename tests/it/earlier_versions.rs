//! A store that an earlier version wrote opens, verifies, exports the same bytes and resumes.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that cannot set itself up should fail loudly"
)]

use std::collections::BTreeMap;
use std::path::Path;

use plenary_core::model::hash::sha256_hex;
use serde::Deserialize;
use serde_json::Value;

use crate::kit::TestProgram;

/// What the earlier version printed for one dialogue.
#[derive(Debug, Deserialize)]
struct ExpectedDialogue {
    json: String,
    markdown: String,
    /// None for a dialogue without a run.
    events: Option<String>,
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
fn a_store_of_an_earlier_version_verifies_and_exports_the_same_bytes() {
    let program = earlier_project();
    let verified = program.run_command(&["verify", "--json"]);
    assert_eq!(verified.code, 0, "{verified:?}");
    let log = program.run_command(&["log", "repair"]);
    assert_eq!(log.code, 0, "{log:?}");
    let digest =
        |arguments: &[&str]| sha256_hex([program.run_command(arguments).stdout.as_bytes()]);
    for (id, expected) in expected_dialogues() {
        assert_eq!(digest(&["export", &id]), expected.json, "export {id}");
        let markdown = digest(&["export", &id, "--format", "markdown"]);
        assert_eq!(markdown, expected.markdown, "export --format markdown {id}");
        if let Some(events) = expected.events {
            assert_eq!(digest(&["replay", &id, "--json"]), events, "replay {id}");
        }
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
