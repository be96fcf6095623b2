//! Lines of other programs, and the reasons for rejecting some.

use serde_json::{Value, json};

use super::*;
use crate::protocols::review::log_row::SeatRow;
use crate::protocols::review::policy::ReviewVerdict;

/// The row of the seed, without additions.
fn seed_row() -> Value {
    let seat = json!({"deliberator": "skeptic", "verdict": "revise", "scores": {"argument_soundness": 3},
                      "would_block": true, "irreducible": false, "revision_brief": "Name the source."});
    json!({
        "v": 2, "ts": "2026-05-18T10:00:00Z", "artifact": "posts/a.md", "artifact_type": "linkedin_post",
        "round1": [seat], "round2": [seat],
        "adjudicator": {"final_verdict": "REVISE", "reasoning": "One of four blocks.", "revision_brief": "Name the source.",
                        "applied_compounding": true, "prior_verdicts_consulted": 3},
    })
}

/// The seed's row with one value changed.
fn with_change(pointer: &str, value: Value) -> String {
    let mut row = seed_row();
    if let Some(there) = row.pointer_mut(pointer) {
        *there = value;
    } else {
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        row.pointer_mut(parent).unwrap()[key] = value;
    }
    row.to_string()
}

#[track_caller]
fn check(line: &str, reason: &str) {
    let found = ImportedRow::parse_line(line).map_err(|fault| fault.to_string());
    assert_eq!(found.err().as_deref(), Some(reason), "{line}");
}

#[test]
fn the_seeds_own_row_is_read_whole() {
    let read = ImportedRow::parse_line(&seed_row().to_string()).unwrap();
    assert!(read.is_complete);
    assert_eq!(read.row.adjudicator.final_verdict, ReviewVerdict::Revise);
    assert_eq!(read.row.verdict_id, None);
    let ours = serde_json::to_string(&read.row).unwrap();
    assert_eq!(
        ImportedRow::parse_line(&ours).unwrap().row,
        read.row,
        "and what we write of it too"
    );
}

#[test]
fn an_unknown_field_is_ignored_and_reported() {
    for (pointer, value) in [
        ("/host", json!("ci-7")),
        ("/round1/0/model", json!("gpt")),
        ("/adjudicator/cost", json!({"usd": 1})),
    ] {
        let read = ImportedRow::parse_line(&with_change(pointer, value)).unwrap();
        assert!(!read.is_complete, "{pointer}");
    }
    let plain = [
        ("/round1/0/concerns", json!([])),
        ("/producer", Value::Null),
        ("/rehearsal", json!(false)),
    ];
    for (pointer, value) in plain {
        assert!(
            ImportedRow::parse_line(&with_change(pointer, value)).unwrap().is_complete,
            "{pointer}"
        );
    }
}

#[test]
fn spellings_differ() {
    let read = |pointer, value| ImportedRow::parse_line(&with_change(pointer, value)).unwrap().row;
    assert_eq!(
        read("/adjudicator/final_verdict", json!("hold")).adjudicator.final_verdict,
        ReviewVerdict::Hold
    );
    assert_eq!(
        read("/ts", json!("2026-05-18T12:00:00.5+02:00")).ts.to_string(),
        "2026-05-18T10:00:00.500000Z"
    );
    assert_eq!(read("/round2", Value::Null).round2, []);
    let absent = json!([{"deliberator": "evidence", "absent": true}]);
    assert!(matches!(
        read("/round2", absent).round2.as_slice(),
        [SeatRow::Absent { error_type: CallErrorType::Unknown, .. }]
    ));
    assert!(ImportedRow::parse_line(&format!("\u{feff}{}", seed_row())).is_ok());
}

#[test]
fn what_is_no_row_says_why() {
    check("", "it is not JSON: EOF while parsing a value at column 0");
    check("{\"v\":2", "it is not JSON: EOF while parsing an object at column 6");
    check("[]", "it is not a JSON object");
    check("{\"v\":2,\"v\":2}", "it is not JSON: a key occurs twice at column 10");
    check(&with_change("/v", json!(1)), "`v` must be 2");
    check("{}", "`v` must be 2");
    let bad =
        |path: &str| format!("`{path}` has a missing field, a wrong type or an unknown value");
    let cases = [
        ("/ts", json!("yesterday"), bad("ts")),
        ("/ts", Value::Null, "`ts` is missing".to_owned()),
        ("/artifact", json!(7), bad("artifact")),
        ("/artifact_type", json!(" "), "`artifact_type` is empty".to_owned()),
        (
            "/artifact_type",
            json!("x".repeat(1_001)),
            "`artifact_type` is over 1000 characters".to_owned(),
        ),
        ("/round1", json!({}), bad("round1")),
        ("/round1/0", json!("skeptic"), bad("round1[0]")),
        ("/round1/0/verdict", json!("maybe"), bad("round1[0]")),
        ("/round1/0/would_block", Value::Null, bad("round1[0]")),
        ("/round2/0/scores/depth", json!(2.5), bad("round2[0]")),
        ("/round2/0/scores/depth", json!(999), bad("round2[0]")),
        ("/round2/0/concerns", json!([{"locus": "L1"}]), bad("round2[0]")),
        ("/round2/0/concerns", json!([{"issue": " "}]), "`issue` is empty".to_owned()),
        ("/round2/0/concessions", json!([1]), bad("round2[0]")),
        ("/adjudicator", Value::Null, "`adjudicator` is missing".to_owned()),
        ("/adjudicator/final_verdict", json!("PASS"), bad("adjudicator.final_verdict")),
        (
            "/adjudicator/final_verdict",
            Value::Null,
            "`adjudicator.final_verdict` is missing".to_owned(),
        ),
        (
            "/artifact_sha256",
            json!("ab"),
            "`artifact_sha256` must be 64 hexadecimal digits".to_owned(),
        ),
        ("/tier", json!(4), bad("tier")),
        (
            "/verdict_id",
            json!("a b"),
            "`verdict_id` must be 1 to 200 visible ASCII characters".to_owned(),
        ),
        ("/policy", json!("seed"), bad("policy")),
    ];
    for (pointer, value, reason) in cases {
        check(&with_change(pointer, value), &reason);
    }
    let deep = format!("{}{}", "[".repeat(70), "]".repeat(70));
    check(&deep, "it is not JSON: it is nested over 64 levels deep at column 65");
}

#[test]
fn a_reason_repeats_nothing_of_the_line() {
    for line in [
        with_change("/artifact", json!(["hunter2"])),
        with_change("/ts", json!("hunter2")),
        r#"{"hunter2":1,"hunter2":2}"#.to_owned(),
    ] {
        let reason = ImportedRow::parse_line(&line).unwrap_err().to_string();
        assert!(!reason.contains("hunter2"), "{reason}");
    }
}
