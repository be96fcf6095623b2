//! `override`: a person replaces a verdict.

use plenary_core::model::journal::JournalEntryKind;
use plenary_core::protocols::review::policy::{ReviewDecision, ReviewVerdict};
use plenary_engine::store::traits::Store;
use serde_json::json;

use super::program_harness::LogProgram;

fn override_first(program: &LogProgram) {
    let decision = ["--as", "SHIP", "--why", "Read again.", "--by", "Ann"];
    program.run_ok(&[&["override", "review/1"], &decision[..]].concat());
}

#[test]
fn a_decision_stands_over_the_gates() {
    let program = LogProgram::with_verdicts(1);
    let before = program.read_log_file();
    let by = ["--by", "Ann"];
    let ran = program.run_ok(
        &[&["override", "review/1", "--as", "ship", "--why", "Read again."], &by[..]].concat(),
    );
    insta::assert_snapshot!(ran.stdout, @r"
    posts/review-1.md
    review/1
      The review said HOLD; SHIP now applies, decided by Ann.
      `plenary review` gives this decision for the same content.
      `--force` judges it again.
    ");
    let third = ["override", "review", "--as", "REVISE", "--why", "Read a third time."];
    let ran = program.run_ok(&[&third, &by[..]].concat());
    let applied =
        "The review said HOLD; SHIP applied until now; REVISE now applies, decided by Ann.\n";
    assert!(ran.stdout.contains(applied), "{}", ran.stdout);
    let after = program.read_log_file();
    let added: Vec<serde_json::Value> = after
        .strip_prefix(&before)
        .expect("the verdict's row does not change")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let added: Vec<_> = added
        .iter()
        .map(|row| [&row["kind"], &row["overrides"], &row["decision"], &row["by"]])
        .collect();
    assert_eq!(
        added,
        [["override", "review/1", "SHIP", "Ann"], ["override", "review/1", "REVISE", "Ann"]]
    );
    program.assert_verified();
    let store = program.open_store();
    let words = store.list_overrides("review/1").unwrap();
    let kept: Vec<_> = words.iter().map(|word| (word.decision, word.why.as_str())).collect();
    let expected =
        [(ReviewDecision::Ship, "Read again."), (ReviewDecision::Revise, "Read a third time.")];
    assert_eq!(kept, expected);
    let kinds: Vec<JournalEntryKind> = store
        .load_entries(&"review".parse().unwrap(), 0)
        .unwrap()
        .iter()
        .map(|entry| entry.kind)
        .collect();
    assert_eq!(
        kinds.iter().filter(|kind| **kind == JournalEntryKind::VerdictOverridden).count(),
        2
    );
}

#[test]
fn its_document_says_what_stood_and_what_stands() {
    let program = LogProgram::new();
    program.insert_verdict(1, ReviewVerdict::Incomplete);
    let (code, document) = program.run_json(&[
        "override",
        "review/1",
        "--as",
        "HOLD",
        "--why",
        "Nobody answered.",
        "--by",
        "Ann",
    ]);
    assert_eq!(code, 0);
    let expected = json!({
        "status": "success", "verdict_id": "review/1", "dialogue_id": "review",
        "artifact": "posts/review-1.md", "artifact_type": "post",
        "gate": "INCOMPLETE", "stood": "INCOMPLETE", "stands": "HOLD", "why": "Nobody answered.",
        "by": "Ann",
    });
    assert_eq!(document, expected);
}

#[test]
fn what_is_not_there_is_not_found() {
    let program = LogProgram::with_verdicts(2);
    let path = program.open_store().find_logged("review/2").unwrap().unwrap().row.artifact;
    for (named, hint) in [
        ("review/3", "plenary log tail"),
        ("nobody", "plenary log tail"),
        ("no such id", "plenary log tail"),
        ("../x", "plenary log tail"),
        (&path, "its newest verdict is review/2"),
    ] {
        let (code, document) = program.run_json(&["override", named, "--as", "SHIP", "--why", "w"]);
        assert_eq!((code, &document["error_code"]), (4, &json!("verdict_not_found")), "{named}");
        assert!(document["suggestion"].as_str().unwrap().contains(hint), "{document:#}");
    }
    let (code, document) = program.run_json(&["override", "review", "--as", "SHIP", "--why", "w"]);
    assert_eq!((code, &document["valid_options"]), (1, &json!(["review/1", "review/2"])));
}

#[test]
fn a_decision_needs_a_reason_and_a_word() {
    let program = LogProgram::with_verdicts(1);
    assert_eq!(program.run_command(&["override", "", "--as", "SHIP", "--why", "w"]).code, 64);
    for arguments in [
        ["--as", "SHIP", "--why", " \n"].as_slice(),
        &["--as", "INCOMPLETE", "--why", "w"],
        &["--as", "SHIP"],
        &["--why", "w"],
    ] {
        let ran = program.run_command(&[&["override", "review/1"], arguments].concat());
        assert_eq!(ran.code, 64, "{arguments:?}");
    }
    assert!(program.open_store().list_overrides("review/1").unwrap().is_empty());
}

#[test]
fn overrides_travel_with_the_file() {
    let program = LogProgram::with_verdicts(2);
    override_first(&program);
    let other = LogProgram::new();
    other.write_file("theirs.jsonl", program.read_log_file());
    let (code, document) = other.run_json(&["log", "import", "theirs.jsonl"]);
    assert_eq!((code, &document["imported"], &document["overrides"]), (0, &json!(2), &json!(1)));
    let [ours, theirs] =
        [&program, &other].map(|program| program.open_store().list_overrides("review/1").unwrap());
    assert_eq!(ours, theirs, "also the time of the decision");
    other.assert_verified();
    // A second import, also of an export, changes nothing.
    let exported = program.run_ok(&["log", "export"]).stdout;
    assert!(exported.contains("\"kind\":\"override\""), "{exported}");
    other.write_file("theirs.jsonl", exported);
    let (_, document) = other.run_json(&["log", "import", "theirs.jsonl"]);
    assert_eq!([&document["imported"], &document["overrides"], &document["known"]], [0, 0, 3]);
    // A newer decision here is not replaced by an older one.
    other.run_ok(&["override", "review/1", "--as", "HOLD", "--why", "No.", "--by", "Bob"]);
    other.run_ok(&["log", "import", "theirs.jsonl"]);
    assert_eq!(other.open_store().list_overrides("review/1").unwrap().len(), 2);
    other.assert_verified();
}

#[test]
fn an_override_without_its_verdict_is_reported() {
    let program = LogProgram::with_verdicts(1);
    override_first(&program);
    let lines = program.read_log_file();
    let other = LogProgram::new();
    other.write_file("theirs.jsonl", lines.lines().last().unwrap());
    let ran = other.run_command(&["log", "import", "theirs.jsonl"]);
    assert!(ran.code == 1 && ran.stderr.contains("line 1: it overrides a verdict"), "{ran:?}");
}

#[test]
fn the_log_is_repaired_with_its_overrides() {
    let program = LogProgram::with_verdicts(2);
    override_first(&program);
    let whole = program.read_log_file();
    assert_eq!(whole.lines().count(), 3);
    for damaged in ["", whole.lines().next().unwrap(), &whole.replace("Read again", "Not read")] {
        program.write_file("council_log.jsonl", damaged);
        program.run_ok(&["log", "repair"]);
        assert_eq!(program.read_log_file(), whole, "after {damaged:?}");
    }
    let ran = program.run_ok(&["log", "repair"]);
    assert!(!ran.stdout.contains("unknown"), "{ran:?}");
}

#[test]
fn the_line_of_an_override_needs_no_artifact_and_a_wrong_one_is_explained() {
    let program = LogProgram::with_verdicts(1);
    let row = |change: (&str, serde_json::Value)| {
        let mut row = json!({ "v": 2, "kind": "override", "ts": "2026-05-19T10:00:00Z",
            "overrides": "review/1", "decision": "SHIP", "why": "Read again." });
        row[change.0] = change.1;
        row.to_string()
    };
    let lines = [
        row(("by", json!("Ann"))),
        row(("decision", json!("MAYBE"))),
        row(("v", json!(7))),
        row(("why", json!(" "))),
        row(("ts", json!("2999-01-01T00:00:00Z"))),
        row(("overrides", json!("review/9"))),
    ];
    program.write_file("theirs.jsonl", lines.join("\n") + "\n");
    let (code, document) = program.run_json(&["log", "import", "theirs.jsonl"]);
    assert_eq!((code, &document["overrides"], &document["malformed"]), (1, &json!(1), &json!(5)));
    let reasons: Vec<&str> = document["malformed_lines"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| line["reason"].as_str().unwrap())
        .collect();
    assert_eq!(reasons.len(), 5);
    for word in ["`decision`", "`v`", "`why`", "`ts`", "neither in the file nor in the store"] {
        assert!(reasons.iter().any(|reason| reason.contains(word)), "{word}: {reasons:?}");
    }
    assert_eq!(
        program.open_store().list_overrides("review/1").unwrap()[0].by.as_deref(),
        Some("Ann")
    );
    // The file has the whole line, and the export the same bytes.
    assert_eq!(program.run_ok(&["log", "export"]).stdout, program.read_log_file());
}
