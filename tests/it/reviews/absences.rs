//! Absent seats count against the quorum, and never as a vote.

use std::time::Duration;

use plenary::domain::ask::Purpose;
use serde_json::{Value, json};

use super::harness::{
    ADJUDICATOR, ARTIFACT, SEATS, blocks, expect, gate, gate_with, log, review, write,
};
use crate::councils::harness::{Council, check_all};
use crate::kit::Play;

/// A reason for absence, its name in the log, and the resulting number of calls.
#[derive(Debug, Clone, Copy)]
struct Way {
    name: &'static str,
    error_type: &'static str,
    calls: usize,
}

const WAYS: [Way; 8] = [
    Way { name: "down", error_type: "server_error", calls: 2 },
    Way { name: "forbidden", error_type: "auth", calls: 1 },
    Way { name: "prose", error_type: "parse_error", calls: 2 },
    Way { name: "empty", error_type: "parse_error", calls: 2 },
    Way { name: "refusal", error_type: "refused", calls: 1 },
    Way { name: "truncated", error_type: "parse_error", calls: 2 },
    Way { name: "cut without a word", error_type: "parse_error", calls: 2 },
    Way { name: "slow", error_type: "timeout", calls: 1 },
];

fn play(way: Way) -> Play {
    match way.name {
        "down" => Play::Status(500, Vec::new(), "{}".to_owned()),
        "forbidden" => Play::Status(401, Vec::new(), "{}".to_owned()),
        "prose" => Play::Reply("I would ship it, all told.".to_owned()),
        "empty" => Play::Empty,
        "refusal" => Play::Refusal,
        "truncated" => Play::Truncated,
        "cut without a word" => Play::WithoutLast(1),
        "slow" => Play::Hang,
        other => panic!("{other}"),
    }
}

/// A timeout that only a hanging seat exceeds.
fn in_time(settings: &mut Value) {
    settings["council"]["timeouts"] =
        json!({ "r1_per_provider": 2_000, "r2_per_provider": 2_000, "r3_chair": 2_000 });
}

/// A review in which these seats are absent from some round on.
fn without(seats: &'static [&'static str], way: Way, from: Purpose) -> Council {
    let is_absent = move |seat: &str, purpose: Purpose| seats.contains(&seat) && purpose >= from;
    gate_with(
        move |asked| if is_absent(asked.seat, asked.purpose) { play(way) } else { Play::Fitting },
        in_time,
    )
}

#[test]
fn one_of_four_may_be_absent() {
    let rows: Vec<(usize, Way)> =
        (0..SEATS.len()).flat_map(|seat| WAYS.map(|way| (seat, way))).collect();
    check_all(&rows, |(seat, way)| {
        let seats = &SEATS[*seat..=*seat];
        let council = without(seats, *way, Purpose::Judgement);
        let told = review(&council, &["post.md"]);
        expect(&told, "SHIP", 0);
        assert_eq!(told.at("policy/present"), 3, "{way:?}");
        let row = &log(&council)[0];
        for round in ["round1", "round2"] {
            let absent =
                json!({ "deliberator": seats[0], "absent": true, "error_type": way.error_type });
            assert_eq!(row[round][*seat], absent, "{way:?}");
        }
        let asked =
            council.server.seen().iter().filter(|seen| seen.model.ends_with(seats[0])).count();
        assert_eq!(asked, way.calls * 2, "{way:?} {}", seats[0]);
    });
}

#[test]
fn with_two_absent_nothing_is_decided() {
    const PAIRS: [&[&str]; 3] =
        [&["skeptic", "evidence"], &["voice_identity", "strategy"], &["skeptic", "strategy"]];
    let rows: Vec<(&'static [&'static str], Way)> =
        PAIRS.iter().flat_map(|pair| WAYS.map(|way| (*pair, way))).collect();
    check_all(&rows, |(pair, way)| {
        let council = without(pair, *way, Purpose::Judgement);
        let told = review(&council, &["post.md"]);
        expect(&told, "INCOMPLETE", 3);
        assert_eq!(told.at("error/error_code"), "quorum_not_met");
        // A second round that cannot decide anything is not paid for.
        assert_eq!(
            (council.calls(Purpose::CrossReading), council.calls(Purpose::Adjudication)),
            (0, 0)
        );
        let row = &log(&council)[0];
        assert_eq!(row["adjudicator"]["final_verdict"], "INCOMPLETE");
        assert_eq!(row["round2"], json!([]));
    });
}

#[test]
fn who_is_silent_in_the_second_round_is_held_to_the_first() {
    check_all(&WAYS, |way| {
        let way = *way;
        let council = gate_with(
            move |asked| match (asked.seat, asked.purpose) {
                ("evidence", Purpose::Judgement) => blocks(asked, true),
                ("evidence", Purpose::CrossReading) => play(way),
                _ => Play::Fitting,
            },
            in_time,
        );
        let told = review(&council, &["post.md"]);
        // The block of the first round counts, and `strict` returns HOLD for one irreducible block.
        expect(&told, "HOLD", 2);
        assert_eq!(told.at("round2/2/fallback"), true, "{way:?}");
        assert_eq!(told.at("policy/present"), 4);
        assert_eq!(log(&council)[0]["round2"][2]["fallback"], true);
    });
}

#[test]
fn without_an_adjudicator_the_gate_stays_closed() {
    check_all(&WAYS, |way| {
        let council = without(&[ADJUDICATOR], *way, Purpose::Judgement);
        let told = review(&council, &["post.md"]);
        expect(&told, "INCOMPLETE", 3);
        assert_eq!(told.at("error/error_code"), "adjudication_unavailable", "{way:?}");
        assert_eq!(told.at("adjudicator"), &Value::Null);
    });
}

#[test]
fn an_undecided_review_goes_on_where_it_stopped() {
    let council = gate(|asked| match (asked.seat, asked.nth) {
        (ADJUDICATOR, 1 | 2) => Play::Reply("Ship it!".to_owned()),
        _ => Play::Fitting,
    });
    let told = review(&council, &["post.md"]);
    expect(&told, "INCOMPLETE", 3);
    let judged = council.calls(Purpose::Judgement) + council.calls(Purpose::CrossReading);
    let resumed = council.run(&["resume", told.id(), "--json"]);
    expect(&resumed, "SHIP", 0);
    // Existing judgements are not repeated.
    assert_eq!(council.calls(Purpose::Judgement) + council.calls(Purpose::CrossReading), judged);
    let ids: Vec<String> =
        log(&council).iter().map(|row| row["verdict_id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(ids, [1, 2].map(|number| format!("{}/{number}", told.id())));
    assert_eq!(resumed.at("verdict_id"), ids[1].as_str());
    // The result can be printed again with the same exit code.
    expect(&council.run(&["resume", told.id(), "--json"]), "SHIP", 0);
    assert_eq!(log(&council).len(), 2);
}

#[test]
fn a_document_that_changed_meanwhile_is_told_of() {
    let council = gate(|asked| match (asked.seat, asked.nth) {
        (ADJUDICATOR, 1 | 2) => Play::Reply("Ship it!".to_owned()),
        _ => Play::Fitting,
    });
    let told = review(&council, &["post.md"]);
    let resume = |says: Option<&str>| {
        let resumed = council.run(&["resume", told.id(), "--json"]);
        expect(&resumed, "SHIP", 0);
        assert_eq!(resumed.at("artifact_sha256"), told.at("artifact_sha256"));
        let said =
            says.map(|says| format!("`post.md` {says}; this review is about what it said then"));
        assert_eq!(resumed.stderr.lines().find(|line| line.contains("post.md`")), said.as_deref());
    };
    write(&council, "post.md", "Something else.\n");
    resume(Some("has changed since it was read"));
    // Also when it is finished.
    resume(Some("has changed since it was read"));
    std::fs::remove_file(council.program.path().join("post.md")).unwrap();
    resume(Some("cannot be read any more"));
    write(&council, "post.md", ARTIFACT);
    resume(None);
}

#[test]
fn a_review_that_was_given_up_is_called_that() {
    let council = gate(|asked| match asked.seat {
        ADJUDICATOR => Play::Reply("Ship it!".to_owned()),
        _ => Play::Fitting,
    });
    let told = review(&council, &["post.md"]);
    assert_eq!(council.program.run(&["dialogue", "abandon", told.id()]).code, 0);
    let page = council.program.run(&["show", told.id()]).stdout;
    assert!(page.contains("INCOMPLETE · ABANDONED"), "{page}");
    assert!(page.contains("it was abandoned") && !page.contains("plenary resume"), "{page}");
    let shown = council.program.run(&["show", told.id(), "--json"]).stdout;
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown["review"]["error"]["error_code"], "abandoned");
    assert_eq!(shown["review"]["verdict"], "INCOMPLETE");
    // Nor can it be resumed.
    assert_eq!(council.program.run(&["resume", told.id()]).code, 1);
}

#[test]
fn a_deadline_leaves_the_gate_closed() {
    let council = gate(|asked| match asked.seat {
        "strategy" => Play::Slow(Duration::from_secs(20), Box::new(Play::Fitting)),
        _ => Play::Fitting,
    });
    let told = review(&council, &["post.md", "--deadline", "1s"]);
    expect(&told, "INCOMPLETE", 3);
    assert_eq!(told.at("error/error_code"), "deadline_exceeded");
    assert_eq!(log(&council)[0]["round1"][3]["absent"], true);
}
