//! `override`: a person replaces a verdict.

use plenary_core::model::journal::JournalEntryKind;
use plenary_core::protocols::review::policy::{ReviewDecision, ReviewVerdict};
use plenary_engine::store::traits::Store;
use serde_json::json;

use super::program_harness::LogProgram;

#[test]
fn a_decision_stands_over_the_gates() {
    let desk = LogProgram::with_verdicts(1);
    let before = desk.read_log_file();
    let ran = desk.run_ok(&["override", "review/1", "--as", "ship", "--why", "Read again."]);
    let again = "  `plenary review` of the same content now gives this decision; `--force` judges it again\n";
    assert_eq!(
        ran.stdout,
        format!(
            "posts/review-1.md (review/1)\n  the gate's verdict was HOLD; SHIP now applies\n{again}"
        )
    );
    let ran = desk.run_ok(&["override", "review", "--as", "REVISE", "--why", "Read a third time."]);
    let applied = "the gate's verdict was HOLD; SHIP applied until now; REVISE now applies\n";
    assert!(ran.stdout.contains(applied), "{}", ran.stdout);
    assert_eq!(desk.read_log_file(), before, "the log is what the gate said");
    desk.assert_verified();
    let store = desk.open_store();
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
    let desk = LogProgram::new();
    desk.insert_verdict(1, ReviewVerdict::Incomplete);
    let (code, document) =
        desk.run_json(&["override", "review/1", "--as", "HOLD", "--why", "Nobody answered."]);
    assert_eq!(code, 0);
    let expected = json!({
        "status": "success", "verdict_id": "review/1", "dialogue_id": "review",
        "artifact": "posts/review-1.md", "artifact_type": "post",
        "gate": "INCOMPLETE", "stood": "INCOMPLETE", "stands": "HOLD", "why": "Nobody answered.",
    });
    assert_eq!(document, expected);
}

#[test]
fn what_is_not_there_is_not_found() {
    let desk = LogProgram::with_verdicts(2);
    for named in ["review/3", "nobody", "no such id", "../x", ""] {
        let (code, document) = desk.run_json(&["override", named, "--as", "SHIP", "--why", "w"]);
        let expected =
            if named.is_empty() { (1, "missing_field") } else { (4, "verdict_not_found") };
        assert_eq!((code, document["error_code"].as_str().unwrap()), expected, "{named}");
        assert!(document["suggestion"].is_string());
    }
    let (code, document) = desk.run_json(&["override", "review", "--as", "SHIP", "--why", "w"]);
    assert_eq!((code, &document["valid_options"]), (1, &json!(["review/1", "review/2"])));
}

#[test]
fn a_decision_needs_a_reason_and_a_word() {
    let desk = LogProgram::with_verdicts(1);
    let (code, document) = desk.run_json(&["override", "review/1", "--as", "SHIP", "--why", " \n"]);
    assert_eq!((code, document["field"].as_str()), (1, Some("why")));
    for arguments in
        [["--as", "INCOMPLETE", "--why", "w"].as_slice(), &["--as", "SHIP"], &["--why", "w"]]
    {
        let ran = desk.run_command(&[&["override", "review/1"], arguments].concat());
        assert_eq!(ran.code, 64, "{arguments:?}");
    }
    assert!(desk.open_store().list_overrides("review/1").unwrap().is_empty());
}
