//! The reference library for Python, over stdio and HTTP. `sdk.py` contains its scenarios.

use serde_json::{Value, json};

use super::harness::{ClientProject, installed_path, run_client};
use crate::kit::{read_fixture, value_at};

const SDK_TRANSPORTS: [&str; 2] = ["stdio", "http"];

/// The negotiated version, then every version.
const VERSIONS: [&str; 6] =
    ["auto", "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

/// One version with a handshake and one without; they cancel differently.
const CANCEL_VERSIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

#[track_caller]
fn run_scenario(house: &ClientProject, play: &str, door: &str, versions: &[&str]) -> Vec<Value> {
    let mut python = house.client_command(&installed_path("PYTHON"));
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/it/real/clients/sdk.py");
    python.args([script, play, door]).args(versions);
    let (result, message) = run_client(python);
    // Only a client whose server was killed may report an error.
    if !["killed", "tasks"].contains(&play) {
        assert_eq!(message, "", "{play} by {door}");
    }
    let spoken: Vec<&Value> = result.iter().map(|result| value_at(result, "version")).collect();
    let expected = versions.iter().map(|version| match *version {
        "auto" => "2026-07-28",
        version => version,
    });
    assert_eq!(spoken, expected.collect::<Vec<&str>>(), "{play} by {door}");
    result
}

#[test]
#[ignore = "needs the Python that `./check real` installs"]
fn the_reference_library_plays_the_dialogue_by_every_version_and_door() {
    for door in SDK_TRANSPORTS {
        let house = ClientProject::new();
        let stats = json!({"rounds": 3, "experts": 13, "perspectives": 24, "recommendations": 8, "tensions": 12, "evidence": 6, "claims": 4, "totalAlignment": 290});
        for played in run_scenario(&house, "dialogue", door, &VERSIONS) {
            assert_eq!(value_at(&played, "stats"), &stats, "{door}");
            let written = read_fixture(value_at(&played, "path").as_str().unwrap());
            assert_eq!(value_at(&written, "id"), value_at(&played, "dialogue_id"));
            assert_eq!(value_at(&written, "experts.12.slug"), "palmier");
        }
        house.assert_verified();
    }
}

#[test]
#[ignore = "needs the Python that `./check real` installs"]
fn the_reference_library_polls_a_council_and_hears_how_another_goes() {
    for door in SDK_TRANSPORTS {
        let house = ClientProject::new();
        for played in run_scenario(&house, "council", door, &VERSIONS) {
            let received = value_at(&played, "heard").as_array().unwrap();
            assert!(received[0].as_str().unwrap().contains("rehearsal panel of 3"), "{received:?}");
            let tells =
                |of: &str| received.iter().any(|result| result.as_str().unwrap().contains(of));
            assert!(tells("R1: 3 answered") && tells("R2: 3 answered"), "{door}: {received:?}");
        }
        assert!(house.models.requests().is_empty(), "a rehearsal asked somebody");
        house.assert_verified();
    }
}

#[test]
#[ignore = "needs the Python that `./check real` installs"]
fn a_call_that_is_cancelled_ends_its_council_which_goes_on_when_asked() {
    for door in SDK_TRANSPORTS {
        let house = ClientProject::new();
        run_scenario(&house, "cancelled", door, &CANCEL_VERSIONS);
        house.assert_verified();
    }
}

#[test]
#[ignore = "needs the Python that `./check real` installs"]
fn the_next_server_goes_on_with_what_a_killed_one_began() {
    for door in SDK_TRANSPORTS {
        let house = ClientProject::new();
        run_scenario(&house, "killed", door, &CANCEL_VERSIONS);
        house.assert_verified();
    }
}

#[test]
#[ignore = "needs the Python that `./check real` installs"]
fn a_task_is_polled_to_its_end_and_known_to_the_next_server() {
    for door in SDK_TRANSPORTS {
        let house = ClientProject::new();
        run_scenario(&house, "tasks", door, &["2026-07-28"]);
        house.assert_verified();
    }
}
