//! A review as a record: shown, listed, cited, exported, watched and replayed; and imported
//! verdicts, which have no run.

use std::path::Path;

use serde_json::{Value, json};

use crate::kit::{CommandOutput, TestProgram};

/// A folder in which the rehearsal panel has reviewed `post.md`, and the dialogue id.
fn reviewed_program() -> (TestProgram, String) {
    let program = TestProgram::new();
    for name in ["council.yaml", "post.md"] {
        let fixtures = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
            .join("tests/fixtures/artifacts");
        std::fs::copy(fixtures.join(name), program.path().join(name)).unwrap();
    }
    let ran = program.run_command(&["review", "--rehearse", "--json", "post.md"]);
    let id = parse_json(&ran.stdout)["dialogue_id"].as_str().unwrap().to_owned();
    (program, id)
}

/// A folder with one verdict imported from another log, and its dialogue id.
fn imported_program() -> (TestProgram, String) {
    let program = TestProgram::new();
    let row = json!({
        "v": 2, "ts": "2026-05-18T10:00:00Z", "artifact": "posts/a.md",
        "artifact_type": "linkedin_post", "round1": [], "round2": [],
        "adjudicator": { "final_verdict": "HOLD", "reasoning": "bare figures" },
    });
    std::fs::write(program.path().join("theirs.jsonl"), format!("{row}\n")).unwrap();
    let ran = program.run_command(&["log", "import", "theirs.jsonl", "--json"]);
    let id = parse_json(&ran.stdout)["dialogue_id"].as_str().unwrap().to_owned();
    (program, id)
}

#[track_caller]
fn parse_json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[track_caller]
fn run_ok(program: &TestProgram, arguments: &[&str]) -> String {
    let ran = program.run_command(arguments);
    assert_eq!(ran.code, 0, "{arguments:?}: {ran:?}");
    ran.stdout
}

#[test]
fn show_draws_the_review_and_then_its_record() {
    let (program, id) = reviewed_program();
    let page = run_ok(&program, &["show", &id]);
    for part in ["◐ REVISE · REHEARSAL", "REVISION BRIEF", "CONCERNS", "TENSIONS", "ROUND 2 ·"]
    {
        assert!(page.contains(part), "no {part} in:\n{page}");
    }
    assert!(page.contains(&format!("{id}/1")), "{page}");
    let full = run_ok(&program, &["show", &id, "--full"]);
    assert!(full.contains("REPLIES"), "{full}");
    let round = run_ok(&program, &["show", &id, "--round", "1"]);
    assert!(round.contains("ROUND 1") && !round.contains("REVISION BRIEF"), "{round}");
}

#[test]
fn the_document_of_a_review_is_the_same_everywhere() {
    let (program, id) = reviewed_program();
    let exported = parse_json(&run_ok(&program, &["export", &id]));
    let shown = parse_json(&run_ok(&program, &["show", &id, "--json"]));
    assert_eq!(exported, shown);
    let review = &exported["review"];
    assert_eq!(review["verdict"], "REVISE");
    assert_eq!(review["verdict_id"], format!("{id}/1"));
    assert_eq!(exported["protocol"], "review");
    assert_eq!(exported.get("council"), None);
    let again = program.run_command(&["resume", &id, "--json"]);
    assert_eq!((again.code, &parse_json(&again.stdout)), (1, review));
    let markdown = run_ok(&program, &["export", &id, "--format", "markdown"]);
    for part in ["◐ **REVISE** · REHEARSAL", "## Revision brief", "## Decision"] {
        assert!(markdown.contains(part), "no {part} in:\n{markdown}");
    }
}

#[test]
fn a_review_is_listed_with_its_verdict_and_its_claims_can_be_cited() {
    let (program, id) = reviewed_program();
    let listed = parse_json(&run_ok(&program, &["list", "--protocol", "review", "--json"]));
    assert_eq!(listed["dialogues"][0]["verdict"], "REVISE");
    assert!(run_ok(&program, &["list"]).contains("REVISE"));
    let cited = run_ok(&program, &["cite", &format!("{id}/T0101"), &format!("{id}/C0101")]);
    assert!(cited.contains("skeptic blocks") && cited.contains("At: "), "{cited}");
}

#[test]
fn a_review_is_played_back_in_its_own_events() {
    let (program, id) = reviewed_program();
    let ran = program.run_command(&["replay", &id, "--json"]);
    assert_eq!(ran.code, 1, "a replay ends as the review did: {ran:?}");
    let events: Vec<Value> = ran.stdout.lines().map(parse_json).collect();
    let of = |name: &str| events.iter().filter(|event| event["event"] == name).count();
    let counts = ["judged", "adjudicated", "ruled", "logged", "read"].map(of);
    assert_eq!(counts, [8, 1, 1, 1, 0]);
    let judged = events.iter().find(|event| event["event"] == "judged").unwrap();
    assert_eq!(judged["ask"]["purpose"], "judgement");
    assert_eq!(judged["would_block"], true);
    let watched = program.run_command(&["watch", &id]);
    assert!(watched.stdout.contains("REVISION BRIEF"), "{watched:?}");
    assert!(watched.stderr.contains("revise, blocks, 3 concerns"), "{watched:?}");
    assert!(watched.stderr.contains("the policy strict gives HOLD"), "{watched:?}");
}

#[test]
fn a_persons_decision_is_shown_and_told_and_takes_no_time() {
    let (program, id) = reviewed_program();
    let before = parse_json(&run_ok(&program, &["export", &id]));
    let verdict = format!("{id}/1");
    let decide = ["override", &verdict, "--as", "SHIP", "--why", "the board has seen it"];
    // Without `USER` and a name in Git, the name is that of the system's user.
    let ran = program.run_command(&decide);
    assert!(ran.code == 0 && ran.stdout.contains("decided by "), "{ran:?}");
    let page = run_ok(&program, &["show", &id]);
    assert!(page.contains("OVERRIDDEN: ") && page.contains(" decided SHIP on "), "{page}");
    let after = parse_json(&run_ok(&program, &["export", &id]));
    assert_eq!(after["review"]["verdict"], "REVISE");
    assert_eq!(after["review"]["overrides"][0]["why"], "the board has seen it");
    assert_eq!(after["review"]["metrics"], before["review"]["metrics"]);
    let result = program.run_command(&["replay", &id, "--json"]).stdout;
    assert!(result.lines().last().unwrap().contains(r#""event":"overridden""#), "{result}");
}

#[track_caller]
fn check_refused(ran: &CommandOutput, part: &str) {
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains(part), "{ran:?}");
}

#[test]
fn a_review_rejects_interventions() {
    let (program, id) = reviewed_program();
    let hears = "which accepts no interventions";
    check_refused(&program.run_command(&["whisper", &id, "let it pass"]), hears);
    check_refused(&program.run_command(&["direct", &id, "let it pass", "--yes"]), hears);
    check_refused(&program.run_command(&["stop", &id]), hears);
    check_refused(&program.run_command(&["conclude", &id]), "which `conclude` does not support");
}

#[test]
fn imported_verdicts_are_a_record_without_a_run() {
    let (program, id) = imported_program();
    let page = run_ok(&program, &["show", &id]);
    assert!(page.contains("IMPORTED VERDICTS") && page.contains("posts/a.md"), "{page}");
    let exported = parse_json(&run_ok(&program, &["export", &id]));
    assert_eq!(exported["imported"][0]["artifact"], "posts/a.md");
    assert_eq!(exported, parse_json(&run_ok(&program, &["show", &id, "--json"])));
    let markdown = run_ok(&program, &["export", &id, "--format", "markdown"]);
    assert!(markdown.contains("## Imported verdicts (1 "), "{markdown}");
    run_ok(&program, &["verify"]);
    let listed = parse_json(&run_ok(&program, &["list", "--json"]));
    assert_eq!(listed["dialogues"][0].get("verdict"), None, "it has many, and none of its own");
    for command in ["resume", "watch", "replay", "stop"] {
        check_refused(&program.run_command(&[command, &id]), "has no run to ");
    }
    check_refused(&program.run_command(&["conclude", &id]), "which `conclude` does not support");
}
