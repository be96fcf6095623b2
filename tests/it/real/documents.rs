//! Documents of `tests/fixtures/artifacts`, reviewed with a real small model: five of them, all ten
//! with `PLENARY_CHECK_LONG`. Its judgements are worthless; the test checks that the review handles
//! them correctly.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::model_process::{start_local_model, with_short_replies};
use crate::kit::{TestProgram, pick_repeats, value_at};

/// Reviewed by deliberators with short instructions, because input tokens dominate the time.
const SHORT_REVIEWS: [&str; 9] = [
    "announcement.md",
    "readme.md",
    "incident-report.md",
    "memory-note.md",
    "policy.md",
    "email.md",
    "abstract.md",
    "changelog.md",
    "contract-clause.md",
];
/// Reviewed with the built-in instructions.
const FULL_REVIEW: &str = "post.md";

const SHORT_INSTRUCTIONS: [(&str, &str); 4] = [
    (
        "skeptic",
        "Look for promises that nobody can keep, and for numbers that contradict each other.",
    ),
    ("voice_identity", "Look for advertising, shouting, and words that were left to fill in."),
    ("evidence", "Look for figures and claims without a source."),
    ("strategy", "Look for secrets, and for promises without a date."),
];

/// How many of the short reviews run; each takes a minute on two cores.
fn short_reviews() -> &'static [&'static str] {
    let count = pick_repeats(4, SHORT_REVIEWS.len() as u32);
    &SHORT_REVIEWS[..count as usize]
}

/// Reviews that may end without a decision: an unreadable seat is asked again, and two seats of one
/// review have never failed twice.
const UNDECIDED_MAX: usize = 2;

/// Two readings by four seats, and the adjudicator.
const CALLS_PER_REVIEW: u64 = 9;

fn fixtures_folder() -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("tests/fixtures/artifacts")
}

/// The documents, and two configurations with one store and one log.
fn review_folder(providers: &str) -> TestProgram {
    let program = TestProgram::new();
    let write = |name: &str, text: &str| std::fs::write(program.path().join(name), text).unwrap();
    for name in SHORT_REVIEWS.iter().chain([&FULL_REVIEW]) {
        std::fs::copy(fixtures_folder().join(name), program.path().join(name)).unwrap();
    }
    let rules = std::fs::read_to_string(fixtures_folder().join("council.yaml")).unwrap();
    let full = format!("{providers}{rules}");
    let names = SHORT_INSTRUCTIONS.map(|(name, _)| name).join(", ");
    let entries = SHORT_INSTRUCTIONS
        .map(|(name, _)| format!("{{name: {name}, prompt: {name}.md}}"))
        .join(", ");
    let short = full.replace(&format!("[{names}]"), &format!("[{entries}]"));
    assert_ne!(short, full);
    write("in-full.yaml", &full);
    write("council.yaml", &short);
    SHORT_INSTRUCTIONS.iter().for_each(|(name, part)| write(&format!("{name}.md"), part));
    program
}

/// The exit code and one document per file.
#[track_caller]
fn run_review(program: &TestProgram, arguments: &[&str]) -> (i32, Vec<Value>) {
    let ran = program.run_command(&[&["review", "--json"], arguments].concat());
    let result = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap());
    let result: Vec<Value> = result.collect();
    let named = arguments.iter().filter(|word| word.ends_with(".md")).count();
    assert_eq!(result.len(), named, "{ran:?}");
    (ran.code, result)
}

fn expected_exit_code(result: &Value) -> i32 {
    match value_at(result, "verdict").as_str().unwrap() {
        "SHIP" => 0,
        "REVISE" => 1,
        "HOLD" => 2,
        "INCOMPLETE" => 3,
        other => panic!("{other}: {result:#}"),
    }
}

#[test]
#[ignore = "needs the model that `./check real` installs"]
fn documents_before_a_real_small_model_are_reviewed_to_the_end() {
    let (_served, yaml) = start_local_model(&["--quick"]);
    let program = review_folder(&with_short_replies(&yaml, 300));
    let (first_code, mut result) = run_review(&program, short_reviews());
    assert_eq!(first_code, result.iter().map(expected_exit_code).max().unwrap());
    let (last_code, last) = run_review(&program, &["--config", "in-full.yaml", FULL_REVIEW]);
    assert_eq!(last_code, expected_exit_code(&last[0]));
    result.extend(last);

    for (name, result) in short_reviews().iter().chain([&FULL_REVIEW]).zip(&result) {
        assert_eq!(
            (value_at(result, "artifact"), value_at(result, "rehearsal")),
            (&(*name).into(), &false.into())
        );
        check_calls(result);
        check_seats(result);
        assert_eq!(value_at(result, "verdict"), expected_verdict(result), "{result:#}");
        if value_at(result, "verdict") == "INCOMPLETE" {
            assert!(value_at(result, "error.suggestion").is_string(), "{result:#}");
        }
    }
    let undecided = result.iter().filter(|result| expected_exit_code(result) == 3).count();
    assert!(undecided <= UNDECIDED_MAX, "{undecided} were not decided: {result:#?}");
    check_log(&program, &result);
    let verified = program.run_command(&["verify"]);
    assert_eq!(verified.code, 0, "{verified:?}");
}

/// Each seat is asked once or twice per round; each call counts its tokens.
#[track_caller]
fn check_calls(result: &Value) {
    let session = value_at(result, "metrics.session");
    let calls = value_at(session, "calls").as_u64().unwrap();
    let least = if value_at(result, "verdict") == "INCOMPLETE" { 4 } else { CALLS_PER_REVIEW };
    assert!((least..=2 * CALLS_PER_REVIEW).contains(&calls), "{calls} calls: {result:#}");
    for count in ["total_tokens_in", "total_tokens_out"] {
        assert!(value_at(session, count).as_u64().unwrap() >= calls, "{result:#}");
    }
}

/// Four seats in each completed round; an absent seat has a reason, and the panel repeats it.
#[track_caller]
fn check_seats(result: &Value) {
    for round in ["round1", "round2"] {
        let seats = value_at(result, round).as_array().unwrap();
        assert!([0, SHORT_INSTRUCTIONS.len()].contains(&seats.len()), "{result:#}");
        for seat in seats.iter().filter(|seat| seat.get("absent").is_some()) {
            assert!(value_at(seat, "error_type").is_string(), "{result:#}");
        }
    }
    let failed = value_at(result, "panel.failed").as_array().unwrap();
    let is_said = |failed: &Value| {
        ["error_type", "error_message"]
            .iter()
            .all(|field| value_at(failed, field).as_str().is_some_and(|text| !text.is_empty()))
    };
    assert!(failed.iter().all(is_said), "{result:#}");
    let absent = |round: &str| {
        let seats = value_at(result, round).as_array().unwrap().iter();
        seats.filter(|seat| seat.get("absent").or(seat.get("fallback")).is_some()).count()
    };
    assert!(failed.len() >= absent("round1").max(absent("round2")), "{result:#}");
}

/// The policy `strict`, implemented a second time: counts each seat's last position, then applies
/// the adjudicator's verdict.
#[track_caller]
fn expected_verdict(result: &Value) -> &'static str {
    let present: Vec<&Value> = value_at(result, "round2")
        .as_array()
        .unwrap()
        .iter()
        .filter(|seat| seat.get("absent").is_none())
        .collect();
    let holds = |seat: &Value, word: &str| value_at(seat, word).as_bool().unwrap();
    let blocking = present.iter().filter(|seat| holds(seat, "would_block"));
    let (blocks, lasting) = blocking.fold((0, 0), |(blocks, lasting), seat| {
        (blocks + 1, lasting + i32::from(holds(seat, "irreducible")))
    });
    let word = value_at(result, "adjudicator");
    if present.len() < 3 || word.is_null() || word.get("absent").is_some() {
        return "INCOMPLETE";
    }
    let message = |field: &str| word.get(field).and_then(Value::as_str).unwrap_or_default();
    let lifted =
        value_at(word, "downgrade") == true && !message("downgrade_reason").trim().is_empty();
    let counted = match (lasting, blocks) {
        (0, 0) => 0,
        (0, 1 | 2) => 1,
        (0, _) if lifted => 1,
        _ => 2,
    };
    let words = ["SHIP", "REVISE", "HOLD"];
    let asked = words.iter().position(|known| *known == message("final_verdict")).unwrap();
    words[counted.max(asked)]
}

/// One log line per review, equal to its document and to the store.
#[track_caller]
fn check_log(program: &TestProgram, result: &[Value]) {
    let log = std::fs::read_to_string(program.path().join("council_log.jsonl")).unwrap();
    let rows: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), result.len(), "{log}");
    // Reviews run concurrently, so the log is in the order in which they ended.
    for result in result {
        let id = value_at(result, "verdict_id");
        let row = rows.iter().find(|row| value_at(row, "verdict_id") == id).unwrap();
        assert_eq!(
            value_at(row, "adjudicator.final_verdict"),
            value_at(result, "verdict"),
            "{row:#}"
        );
        for field in ["artifact", "artifact_type", "artifact_sha256", "rehearsal"] {
            assert_eq!(value_at(row, field), value_at(result, field), "{row:#}");
        }
    }
    let exported = program.run_command(&["log", "export"]);
    assert_eq!((exported.code, exported.stdout), (0, log));
}
