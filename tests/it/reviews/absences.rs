//! Absent seats count against the quorum, and never as a vote.

use std::time::Duration;

use plenary_core::model::ask::AskPurpose;
use serde_json::{Value, json};

use super::harness::{
    ADJUDICATOR, ARTIFACT, SEATS, blocking_judgement, expect_verdict, read_log, review_council,
    review_council_with, run_review, write_artifact,
};
use crate::councils::harness::{TestCouncil, check_all};
use crate::kit::ScriptedReply;

/// A reason for absence, its name in the log, and the resulting number of calls.
#[derive(Debug, Clone, Copy)]
struct AbsenceKind {
    name: &'static str,
    error_type: &'static str,
    calls: usize,
}

const ABSENCE_KINDS: [AbsenceKind; 8] = [
    AbsenceKind { name: "down", error_type: "server_error", calls: 2 },
    AbsenceKind { name: "forbidden", error_type: "auth", calls: 1 },
    AbsenceKind { name: "prose", error_type: "parse_error", calls: 2 },
    AbsenceKind { name: "empty", error_type: "parse_error", calls: 2 },
    AbsenceKind { name: "refusal", error_type: "refused", calls: 1 },
    AbsenceKind { name: "truncated", error_type: "parse_error", calls: 2 },
    AbsenceKind { name: "cut without a word", error_type: "parse_error", calls: 2 },
    AbsenceKind { name: "slow", error_type: "timeout", calls: 1 },
];

fn absent_reply(way: AbsenceKind) -> ScriptedReply {
    match way.name {
        "down" => ScriptedReply::Status(500, Vec::new(), "{}".to_owned()),
        "forbidden" => ScriptedReply::Status(401, Vec::new(), "{}".to_owned()),
        "prose" => ScriptedReply::Reply("I would ship it, all told.".to_owned()),
        "empty" => ScriptedReply::Empty,
        "refusal" => ScriptedReply::Refusal,
        "truncated" => ScriptedReply::Truncated,
        "cut without a word" => ScriptedReply::Shortened(1),
        "slow" => ScriptedReply::Hang,
        other => panic!("{other}"),
    }
}

/// A timeout that only a hanging seat exceeds.
fn set_timeouts(settings: &mut Value) {
    settings["council"]["timeouts"] =
        json!({ "r1_per_provider": 2_000, "r2_per_provider": 2_000, "r3_chair": 2_000 });
}

/// A review in which these seats are absent from some round on.
fn council_without(
    seats: &'static [&'static str],
    way: AbsenceKind,
    from: AskPurpose,
) -> TestCouncil {
    let is_absent = move |seat: &str, purpose: AskPurpose| seats.contains(&seat) && purpose >= from;
    review_council_with(
        move |asked| {
            if is_absent(asked.seat, asked.purpose) {
                absent_reply(way)
            } else {
                ScriptedReply::Valid
            }
        },
        set_timeouts,
    )
}

#[test]
fn one_of_four_may_be_absent() {
    let rows: Vec<(usize, AbsenceKind)> =
        (0..SEATS.len()).flat_map(|seat| ABSENCE_KINDS.map(|way| (seat, way))).collect();
    check_all(&rows, |(seat, way)| {
        let seats = &SEATS[*seat..=*seat];
        let council = council_without(seats, *way, AskPurpose::Judgement);
        let result = run_review(&council, &["post.md"]);
        expect_verdict(&result, "SHIP", 0);
        assert_eq!(result.value_at("policy/present"), 3, "{way:?}");
        let row = &read_log(&council)[0];
        for round in ["round1", "round2"] {
            let absent =
                json!({ "deliberator": seats[0], "absent": true, "error_type": way.error_type });
            assert_eq!(row[round][*seat], absent, "{way:?}");
        }
        let asked =
            council.server.requests().iter().filter(|seen| seen.model.ends_with(seats[0])).count();
        assert_eq!(asked, way.calls * 2, "{way:?} {}", seats[0]);
    });
}

#[test]
fn with_two_absent_nothing_is_decided() {
    const PAIRS: [&[&str]; 3] =
        [&["skeptic", "evidence"], &["voice_identity", "strategy"], &["skeptic", "strategy"]];
    let rows: Vec<(&'static [&'static str], AbsenceKind)> =
        PAIRS.iter().flat_map(|pair| ABSENCE_KINDS.map(|way| (*pair, way))).collect();
    check_all(&rows, |(pair, way)| {
        let council = council_without(pair, *way, AskPurpose::Judgement);
        let result = run_review(&council, &["post.md"]);
        expect_verdict(&result, "INCOMPLETE", 3);
        assert_eq!(result.value_at("error/error_code"), "quorum_not_met");
        // A second round that cannot decide anything is not paid for.
        assert_eq!(
            (
                council.call_count(AskPurpose::CrossReading),
                council.call_count(AskPurpose::Adjudication)
            ),
            (0, 0)
        );
        let row = &read_log(&council)[0];
        assert_eq!(row["adjudicator"]["final_verdict"], "INCOMPLETE");
        assert_eq!(row["round2"], json!([]));
    });
}

#[test]
fn who_is_silent_in_the_second_round_is_held_to_the_first() {
    check_all(&ABSENCE_KINDS, |way| {
        let way = *way;
        let council = review_council_with(
            move |asked| match (asked.seat, asked.purpose) {
                ("evidence", AskPurpose::Judgement) => blocking_judgement(asked, true),
                ("evidence", AskPurpose::CrossReading) => absent_reply(way),
                _ => ScriptedReply::Valid,
            },
            set_timeouts,
        );
        let result = run_review(&council, &["post.md"]);
        // The block of the first round counts, and `strict` returns HOLD for one irreducible block.
        expect_verdict(&result, "HOLD", 2);
        assert_eq!(result.value_at("round2/2/fallback"), true, "{way:?}");
        assert_eq!(result.value_at("policy/present"), 4);
        assert_eq!(read_log(&council)[0]["round2"][2]["fallback"], true);
    });
}

#[test]
fn without_an_adjudicator_the_gate_stays_closed() {
    check_all(&ABSENCE_KINDS, |way| {
        let council = council_without(&[ADJUDICATOR], *way, AskPurpose::Judgement);
        let result = run_review(&council, &["post.md"]);
        expect_verdict(&result, "INCOMPLETE", 3);
        assert_eq!(result.value_at("error/error_code"), "adjudication_unavailable", "{way:?}");
        assert_eq!(result.value_at("adjudicator"), &Value::Null);
    });
}

#[test]
fn an_incomplete_review_resumes_where_it_stopped() {
    let council = review_council(|asked| match (asked.seat, asked.nth) {
        (ADJUDICATOR, 1 | 2) => ScriptedReply::Reply("Ship it!".to_owned()),
        _ => ScriptedReply::Valid,
    });
    let result = run_review(&council, &["post.md"]);
    expect_verdict(&result, "INCOMPLETE", 3);
    let judged =
        council.call_count(AskPurpose::Judgement) + council.call_count(AskPurpose::CrossReading);
    let resumed = council.run_command(&["resume", result.dialogue_id(), "--json"]);
    expect_verdict(&resumed, "SHIP", 0);
    // Existing judgements are not repeated.
    assert_eq!(
        council.call_count(AskPurpose::Judgement) + council.call_count(AskPurpose::CrossReading),
        judged
    );
    let ids: Vec<String> = read_log(&council)
        .iter()
        .map(|row| row["verdict_id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(ids, [1, 2].map(|number| format!("{}/{number}", result.dialogue_id())));
    assert_eq!(resumed.value_at("verdict_id"), ids[1].as_str());
    // The result can be printed again with the same exit code.
    expect_verdict(&council.run_command(&["resume", result.dialogue_id(), "--json"]), "SHIP", 0);
    assert_eq!(read_log(&council).len(), 2);
}

#[test]
fn a_document_that_changed_meanwhile_is_told_of() {
    let council = review_council(|asked| match (asked.seat, asked.nth) {
        (ADJUDICATOR, 1 | 2) => ScriptedReply::Reply("Ship it!".to_owned()),
        _ => ScriptedReply::Valid,
    });
    let result = run_review(&council, &["post.md"]);
    let resume = |says: Option<&str>| {
        let resumed = council.run_command(&["resume", result.dialogue_id(), "--json"]);
        expect_verdict(&resumed, "SHIP", 0);
        assert_eq!(resumed.value_at("artifact_sha256"), result.value_at("artifact_sha256"));
        let message = says
            .map(|says| format!("`post.md` {says}; the review continues with the earlier content"));
        assert_eq!(
            resumed.stderr.lines().find(|line| line.contains("post.md`")),
            message.as_deref()
        );
    };
    write_artifact(&council, "post.md", "Something else.\n");
    resume(Some("has changed since the review read it"));
    // Also when it is finished.
    resume(Some("has changed since the review read it"));
    std::fs::remove_file(council.program.path().join("post.md")).unwrap();
    resume(Some("cannot be read now"));
    write_artifact(&council, "post.md", ARTIFACT);
    resume(None);
}

#[test]
fn a_review_that_was_given_up_is_called_that() {
    let council = review_council(|asked| match asked.seat {
        ADJUDICATOR => ScriptedReply::Reply("Ship it!".to_owned()),
        _ => ScriptedReply::Valid,
    });
    let result = run_review(&council, &["post.md"]);
    assert_eq!(council.program.run_command(&["dialogue", "abandon", result.dialogue_id()]).code, 0);
    let page = council.program.run_command(&["show", result.dialogue_id()]).stdout;
    assert!(page.contains("INCOMPLETE · ABANDONED"), "{page}");
    assert!(
        page.contains("the dialogue was abandoned") && !page.contains("plenary resume"),
        "{page}"
    );
    let shown = council.program.run_command(&["show", result.dialogue_id(), "--json"]).stdout;
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown["review"]["error"]["error_code"], "abandoned");
    assert_eq!(shown["review"]["verdict"], "INCOMPLETE");
    // Nor can it be resumed.
    assert_eq!(council.program.run_command(&["resume", result.dialogue_id()]).code, 1);
}

#[test]
fn a_deadline_leaves_the_gate_closed() {
    let council = review_council(|asked| match asked.seat {
        "strategy" => ScriptedReply::Slow(Duration::from_secs(20), Box::new(ScriptedReply::Valid)),
        _ => ScriptedReply::Valid,
    });
    let result = run_review(&council, &["post.md", "--deadline", "1s"]);
    expect_verdict(&result, "INCOMPLETE", 3);
    assert_eq!(result.value_at("error/error_code"), "deadline_exceeded");
    assert_eq!(read_log(&council)[0]["round1"][3]["absent"], true);
}
