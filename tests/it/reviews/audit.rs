//! `audit`: statistics of the verdict log, through the program.

use plenary_core::model::dialogue::{DialogueOpening, ProtocolKind};
use plenary_core::model::ids::DialogueId;
use plenary_core::model::journal::{JournalEntryKind, JournalEvent};
use plenary_core::model::time::{Day, Moment};
use plenary_core::protocols::review::log_row::LogRow;
use plenary_core::protocols::review::policy::{ReviewDecision, VerdictOverride};
use plenary_engine::store::error::StoreError;
use plenary_engine::store::sqlite::store::SqliteStore;
use plenary_engine::store::traits::{Store, in_transaction};
use serde_json::{Value, json};

use crate::kit::TestProgram;

const DIALOGUE: &str = "reviews";

/// A verdict, and the overrides of it, oldest first.
struct LoggedSample {
    row: LogRow,
    overrides: Vec<ReviewDecision>,
}

fn make_sample(day: &str, artifact_type: &str, decided: &str) -> LoggedSample {
    let seat = |name: &str, blocks: bool| {
        json!({"deliberator": name, "verdict": if blocks { "hold" } else { "ship" },
               "scores": {"soundness": 3}, "would_block": blocks, "irreducible": blocks})
    };
    let blocks = decided == "HOLD";
    let row = json!({
        "v": 2, "ts": format!("{day}T12:00:00Z"), "artifact": "a.md", "producer": "ann",
        "artifact_type": artifact_type, "round1": [seat("skeptic", false), seat("evidence", blocks)],
        "round2": [seat("skeptic", blocks), seat("evidence", blocks)],
        "adjudicator": {"final_verdict": decided, "reasoning": "r"},
    });
    LoggedSample { row: serde_json::from_value(row).unwrap(), overrides: Vec::new() }
}

/// A folder whose store has logged these.
fn program_with_log(verdicts: Vec<LoggedSample>) -> TestProgram {
    let program = TestProgram::new();
    let store = SqliteStore::open(&program.path().join(".plenary/plenary.db")).unwrap();
    let id: DialogueId = DIALOGUE.parse().unwrap();
    let at: Moment = "2026-02-02T09:00:00Z".parse().unwrap();
    let opening = DialogueOpening {
        dialogue_id: id.clone(),
        title: "Reviews".to_owned(),
        question: None,
        background: None,
        protocol: ProtocolKind::Review,
        rehearsal: false,
        convergence_percent: 100,
        panel_seed: None,
        output_dir: format!("dialogues/{id}"),
        calibrated: false,
        domain_id: None,
    };
    apply_events(
        &store,
        &id,
        JournalEntryKind::DialogueCreated,
        at,
        &[JournalEvent::DialogueOpened(opening)],
    );
    let mut changes = Vec::new();
    for (number, LoggedSample { mut row, overrides: words }) in (1..).zip(verdicts) {
        let verdict_id = format!("{id}/{number}");
        row.verdict_id = Some(verdict_id.clone());
        changes.push(JournalEvent::VerdictLogged(Box::new(row)));
        changes.extend(words.into_iter().map(|decision| {
            let verdict_id = verdict_id.clone();
            JournalEvent::VerdictOverridden(VerdictOverride {
                verdict_id,
                decision,
                why: "seen".to_owned(),
                by: None,
                decided_at: None,
            })
        }));
    }
    apply_events(&store, &id, JournalEntryKind::VerdictLogged, at, &changes);
    program
}

fn apply_events(
    store: &dyn Store,
    id: &DialogueId,
    kind: JournalEntryKind,
    at: Moment,
    changes: &[JournalEvent],
) {
    let done: Result<u64, StoreError> =
        in_transaction(store, |unit| unit.append_entry(id, kind, at, changes));
    done.unwrap();
}

#[track_caller]
fn run_audit(program: &TestProgram, options: &str, code: i32) -> Value {
    let words = options.split_whitespace();
    let ran =
        program.run_command(&["audit", "--json"].into_iter().chain(words).collect::<Vec<_>>());
    assert_eq!(ran.code, code, "{ran:?}");
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

/// Three weeks of posts with a rising rate of HOLD, and a memo.
fn drifting_samples() -> Vec<LoggedSample> {
    let first: Day = "2026-01-05".parse().unwrap();
    let mut verdicts = vec![make_sample("2026-01-05", "memo", "REVISE")];
    for (week, held_back) in [(0, 1), (1, 4), (2, 8)] {
        let day = first.plus_days(7 * week).to_string();
        let decided = |place| if place < held_back { "HOLD" } else { "SHIP" };
        verdicts.extend((0..10).map(|place| make_sample(&day, "post", decided(place))));
    }
    verdicts
}

#[test]
fn the_shape_that_programs_read_is_kept() {
    let mut held_back = make_sample("2026-01-01", "post", "HOLD");
    held_back.overrides = vec![ReviewDecision::Ship];
    let program = program_with_log(vec![held_back]);
    let document = run_audit(&program, "", 0);
    let spread = |of: Value| {
        let mut document = json!({"logged": 1, "decided": 1, "ship": 0, "revise": 0, "hold": 1,
                                  "incomplete": 0, "not_ship_percent": 100.0});
        let (Value::Object(all), Value::Object(more)) = (&mut document, of) else { unreachable!() };
        all.extend(more);
        document
    };
    let change = |changed: usize| {
        json!({"compared": 1, "changed": changed, "changed_percent": changed as f64 * 100.0,
               "softened": 0, "hardened": changed, "uncited": 0, "fallback": 0})
    };
    let seat = |name: &str, changed| {
        json!({"deliberator": name, "asked": 1, "absent": 0, "absent_percent": 0.0, "heard": 1,
               "blocks": 1, "block_percent": 100.0, "irreducible": 1,
               "irreducible_percent": 100.0, "change": change(changed)})
    };
    let score = |name: &str| {
        json!({"deliberator": name, "score": "soundness", "count": 1, "mean": 3.0,
               "by_week": [{"week": "2026-W01", "count": 1, "mean": 3.0}]})
    };
    let subject = |of: &str, name: &str| {
        json!({"of": of, "name": name, "verdict": "cannot_tell",
               "reason": "it needs 3 weeks with verdicts and has 1", "movements": [],
               "scores_untold": 0,
               "weeks": [{"week": "2026-W01", "decided": 1, "not_ship_percent": 100.0}]})
    };
    let expected = spread(json!({
        "status": "success", "window": {"since": null, "type": null, "producer": null},
        "imported": 0, "rehearsals_left_out": 0,
        "from": "2026-01-01T12:00:00.000000Z", "to": "2026-01-01T12:00:00.000000Z",
        "drift": {"verdict": "cannot_tell", "weeks": 3, "verdicts_per_week_min": 5,
                  "share_points_min": 20, "score_points_min": 0.5,
                  "subjects": [subject("type", "post"), subject("producer", "ann")]},
        "remarks": [],
        "by_type": [spread(json!({"artifact_type": "post"}))],
        "by_producer": [spread(json!({"producer": "ann"}))],
        "by_week": [spread(json!({"week": "2026-W01"}))],
        "deliberators": [seat("evidence", 0), seat("skeptic", 1)],
        "change": {"compared": 2, "changed": 1, "changed_percent": 50.0, "softened": 0,
                   "hardened": 1, "uncited": 0, "fallback": 0},
        "scores": [score("evidence"), score("skeptic")],
        "overrides": {"decided": 1, "overridden": 1, "overridden_percent": 100.0, "softened": 1,
                      "hardened": 0, "confirmed": 0, "of_incomplete": 0},
        "by_artifact": [spread(json!({"artifact": "a.md", "newest": "SHIP",
                                      "newest_at": "2026-01-01T12:00:00.000000Z"}))],
        "overridden_verdicts": [{"verdict_id": "reviews/1", "artifact": "a.md", "verdict": "HOLD",
                                 "decision": "SHIP", "why": "seen",
                                 "at": "2026-02-02T09:00:00.000000Z"}],
    }));
    assert_eq!(document, expected, "{document:#}");
}

#[test]
fn drift_is_a_finding() {
    let program = program_with_log(drifting_samples());
    let document = run_audit(&program, "", 1);
    assert_eq!(document["drift"]["verdict"], "drift");
    let moved = &document["drift"]["subjects"][1]["movements"][0];
    let expected = json!({"measure": "not_ship", "direction": "rising", "from": 10.0, "to": 80.0});
    assert_eq!(moved, &expected, "{document:#}");
    let ran = program.run_command(&["audit"]);
    assert_eq!(ran.code, 1);
    let says = "DRIFT: post: not SHIP rose from 10 % to 80 %, 2026-W02 to 2026-W04.";
    assert!(ran.stdout.contains(says), "{}", ran.stdout);
}

#[test]
fn a_part_of_the_log_can_be_looked_at() {
    let mut verdicts = drifting_samples();
    verdicts[5].row.producer = Some("bob".to_owned());
    verdicts[6].row.producer = None;
    verdicts[7].row.imported = true;
    verdicts[8].row.rehearsal = true;
    let program = program_with_log(verdicts);
    let whole = run_audit(&program, "", 1);
    assert_eq!((&whole["logged"], &whole["imported"]), (&json!(30), &json!(1)));
    assert_eq!(whole["rehearsals_left_out"], 1);
    let memo = run_audit(&program, "--type memo", 0);
    assert_eq!((&memo["logged"], &memo["revise"]), (&json!(1), &json!(1)));
    assert_eq!(memo["window"]["type"], "memo");
    assert_eq!(run_audit(&program, "--producer bob", 0)["logged"], 1);
    assert_eq!(run_audit(&program, "--since 2026-01-12", 0)["logged"], 20);
    assert_eq!(run_audit(&program, "--since 2026-01-12 --producer bob", 0)["logged"], 0);
    assert_eq!(run_audit(&program, "--type nothing", 0)["logged"], 0);
    assert_eq!(program.run_command(&["audit", "--since", "soon"]).code, 64);
}

#[test]
fn of_several_words_over_a_verdict_the_newest_counts() {
    let (ship, hold) = (ReviewDecision::Ship, ReviewDecision::Hold);
    let mut verdicts = vec![make_sample("2026-01-05", "post", "REVISE")];
    verdicts[0].overrides = vec![ship, hold];
    let overrides = run_audit(&program_with_log(verdicts), "", 0)["overrides"].clone();
    assert_eq!((&overrides["overridden"], &overrides["softened"]), (&json!(1), &json!(0)));
    assert_eq!(overrides["hardened"], 1);
}

#[test]
fn a_log_of_several_pages_is_counted_whole() {
    let days = (0..1_234).map(|day| {
        let first: Day = "2020-01-01".parse().unwrap();
        first.plus_days(day).to_string()
    });
    let program = program_with_log(days.map(|day| make_sample(&day, "post", "SHIP")).collect());
    let document = run_audit(&program, "", 0);
    assert_eq!(document["logged"], 1_234);
    let weeks = document["by_week"].as_array().unwrap();
    assert_eq!(weeks.iter().map(|week| week["logged"].as_u64().unwrap()).sum::<u64>(), 1_234);
}

#[test]
fn without_a_store_there_is_nothing_to_say_and_none_is_made() {
    let program = TestProgram::new();
    assert_eq!(run_audit(&program, "", 0)["logged"], 0);
    let ran = program.run_command(&["audit"]);
    assert!(ran.stdout.contains("There is no verdict to count."), "{ran:?}");
    assert!(!program.path().join(".plenary").exists());
}
