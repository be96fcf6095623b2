//! Commands on conclusions: `health`, `due`, `due record`, and lists and counts.

use plenary_core::model::dialogue::{ProtocolKind, TerminalState};
use plenary_core::model::time::DayCount;
use plenary_core::protocols::conclusion::types::OutcomeKind;
use plenary_engine::app::checks::list_due;
use plenary_engine::store::sqlite::store::SqliteStore;
use plenary_engine::store::traits::Store;
use serde_json::{Value, json};

use crate::kit::{
    ConclusionSpec, TestProgram, TestProject, insert_conclusion, insert_outcome,
    open_spec_dialogue, value_at,
};

const CLEAN: TerminalState = TerminalState::Clean;
const REVISED: TerminalState = TerminalState::Revised;
const UNCONVERGED: TerminalState = TerminalState::Unconverged;

/// A project whose store contains these conclusions.
fn project_with_conclusions(fates: &[ConclusionSpec<'_>]) -> TestProgram {
    let program = TestProgram::new();
    let store = open_store(&program);
    for fate in fates {
        insert_conclusion(&store, fate);
    }
    program
}

fn open_store(program: &TestProgram) -> SqliteStore {
    SqliteStore::open(&program.path().join(".plenary/plenary.db")).unwrap()
}

/// Conclusions of each state, one per day.
fn project_with_counts(clean: usize, revised: usize, unconverged: usize) -> TestProgram {
    let states = [vec![CLEAN; clean], vec![REVISED; revised], vec![UNCONVERGED; unconverged]];
    let program = TestProgram::new();
    let store = open_store(&program);
    for (place, state) in states.concat().into_iter().enumerate() {
        let id = format!("ended-{place}");
        let day = format!("2026-01-{:02}T09:00:00Z", 1 + place % 28);
        let fate = ConclusionSpec {
            id: &id,
            title: &id,
            state: Some(state),
            concluded_at: &day,
            ..ConclusionSpec::default()
        };
        insert_conclusion(&store, &fate);
    }
    program
}

/// Runs with `--json` and returns the exit code and the document.
#[track_caller]
fn run_json(program: &TestProgram, arguments: &[&str]) -> (i32, Value) {
    let ran = program.run_command(&[arguments, &["--json"]].concat());
    let document = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran:?}"));
    assert_eq!(ran.stdout.lines().count(), 1, "one compact document: {ran:?}");
    (ran.code, document)
}

#[test]
fn health_is_one_document() {
    let program = project_with_conclusions(&[
        ConclusionSpec { id: "one", state: Some(REVISED), ..ConclusionSpec::default() },
        ConclusionSpec { id: "played", rehearsal: true, ..ConclusionSpec::default() },
        ConclusionSpec { id: "unseen", state: None, ..ConclusionSpec::default() },
    ]);
    let (code, document) = run_json(&program, &["health"]);
    assert_eq!(code, 0);
    let counts = json!({ "considered": 1, "clean": 0, "revised": 1, "unconverged": 0 });
    let with = |mut names: Value| {
        names.as_object_mut().unwrap().extend(counts.as_object().unwrap().clone());
        json!([names])
    };
    let expected = json!({
        "status": "success",
        "window": { "last": 50, "since": null },
        "considered": 1,
        "shares": [
            { "state": "clean", "count": 0, "percent": 0.0, "target": 60 },
            { "state": "revised", "count": 1, "percent": 100.0, "target": 30 },
            { "state": "unconverged", "count": 0, "percent": 0.0, "target": 10 },
        ],
        "verdict": "too_few",
        "alarms": [],
        "by_protocol": with(json!({ "protocol": "council" })),
        "by_critic": with(json!({ "seat": "openai", "model": "gpt-4o" })),
        "by_week": with(json!({ "week": "2026-W06" })),
    });
    assert_eq!(document, expected);
}

/// Checks exit code, verdict and alarms for these counts of each state.
#[track_caller]
fn check_health(counts: [usize; 3], code: i32, verdict: &str, alarms: &[&str]) {
    let [clean, revised, unconverged] = counts;
    let program = project_with_counts(clean, revised, unconverged);
    let (found, document) = run_json(&program, &["health"]);
    let codes: Vec<&str> = value_at(&document, "alarms")
        .as_array()
        .unwrap()
        .iter()
        .map(|alarm| value_at(alarm, "code").as_str().unwrap())
        .collect();
    assert_eq!(
        (found, value_at(&document, "verdict").as_str()),
        (code, Some(verdict)),
        "{document:#}"
    );
    assert_eq!(codes, alarms);
    assert_eq!(program.run_command(&["health"]).code, code, "in words the same");
}

#[test]
fn an_alarm_is_exit_code_one() {
    check_health([8, 0, 2], 0, "healthy", &[]);
    check_health([7, 0, 3], 1, "alarm", &["synthesizer_off_course"]);
    check_health([9, 0, 0], 0, "too_few", &[]);
}

#[test]
fn health_looks_at_the_newest_fifty_unless_told_otherwise() {
    let bench = TestProject::new();
    for place in 0..60 {
        let id = format!("ended-{place}");
        // The ten oldest are Unconverged; the test clock is in February.
        let state = Some(if place < 10 { UNCONVERGED } else { CLEAN });
        let day = format!("2026-01-{:02}T{:02}:00:00Z", 1 + place / 2, 9 + place % 2);
        insert_conclusion(
            bench.store(),
            &ConclusionSpec {
                id: &id,
                title: &id,
                state,
                concluded_at: &day,
                ..ConclusionSpec::default()
            },
        );
    }
    let considered = |last: Option<usize>, since: Option<&str>| {
        let since = since.map(|since| since.parse().unwrap());
        let examined =
            plenary_engine::app::checks::check_health(&bench.project, last, since).unwrap();
        let unconverged = examined.health.shares.last().unwrap().count;
        (examined.health.considered, unconverged)
    };
    assert_eq!(considered(None, None), (50, 0));
    assert_eq!(considered(Some(60), None), (60, 10));
    assert_eq!(considered(Some(12), None), (12, 0));
    assert_eq!(considered(None, Some("2026-01-05")), (52, 2), "all of that time");
    assert_eq!(considered(Some(7), Some("2026-01-05")), (7, 0));
    assert_eq!(considered(None, Some("4w")), (52, 2), "from the fifth of January");
    assert_eq!(considered(None, Some("3d")), (2, 0), "the thirtieth of January");
    assert_eq!(considered(None, Some("2026-02-02")), (0, 0));
}

#[test]
fn health_reads_well_at_eighty_columns() {
    let mut fates: Vec<(String, String, TerminalState)> = Vec::new();
    for place in 0..12 {
        let state = [CLEAN, CLEAN, CLEAN, REVISED][place % 4];
        let day = format!("2026-01-{:02}T09:00:00Z", 2 + place * 2);
        fates.push((format!("ended-{place}"), day, if place == 11 { UNCONVERGED } else { state }));
    }
    let model = "a-model-whose-name-is-longer-than-any-table-would-like";
    let fates: Vec<ConclusionSpec<'_>> = fates
        .iter()
        .enumerate()
        .map(|(place, (id, at, state))| ConclusionSpec {
            id,
            title: id,
            concluded_at: at,
            state: Some(*state),
            protocol: if place % 3 == 0 { ProtocolKind::Alignment } else { ProtocolKind::Council },
            critic: if place % 5 == 0 { ("gemini", model) } else { ("openai", "gpt-4o") },
            ..ConclusionSpec::default()
        })
        .collect();
    let ran = project_with_conclusions(&fates).run_command(&["health"]);
    assert!(ran.stdout.lines().all(|line| line.chars().count() <= 80), "{}", ran.stdout);
    insta::assert_snapshot!(ran.stdout, @r"

    HEALTH ────────────────────────────────────────────────────────── 12 conclusions

      ● No alarm.

                       share  healthy
      clean           75.0 %     60 %  ██████████████████▊ 9
      revised         16.7 %     30 %  ████▏ 2
      unconverged      8.3 %     10 %  ██ 1

    BY PROTOCOL ────────────────────────────────────────────────────────────────────

                                                  all  clean  revised  unconverged
      council                                       8      6        1            1
      alignment                                     4      3        1            0

    BY CRITIC ──────────────────────────────────────────────────────────────────────

                                                  all  clean  revised  unconverged
      openai · gpt-4o                               9      6        2            1
      gemini · a-model-whose-name-is-longer-t…      3      3        0            0

    BY WEEK ────────────────────────────────────────────────────────────────────────

                                                  all  clean  revised  unconverged
      2026-W04                                      3      2        0            1
      2026-W03                                      4      3        1            0
      2026-W02                                      3      2        1            0
      2026-W01                                      2      2        0            0
    ");
}

#[test]
fn an_alarm_and_too_few_are_said_in_words() {
    let message = |program: &TestProgram, start: &str| {
        let page = program.run_command(&["health"]).stdout;
        let line = page.lines().find(|line| line.trim_start().starts_with(start));
        line.unwrap_or_else(|| panic!("{page}")).trim().to_owned()
    };
    insta::assert_snapshot!(message(&project_with_counts(41, 9, 0), "▲"), @"▲ ALARM: 41 of 50 ended clean, over 80 %: the Blind Critic may be too lenient.");
    insta::assert_snapshot!(message(&project_with_counts(5, 1, 0), "○"), @"○ Too few to judge: 6 conclusions with a terminal state; 10 are needed.");
    insta::assert_snapshot!(message(&TestProgram::new(), "○"), @"○ Too few to judge: 0 conclusions with a terminal state; 10 are needed.");
}

#[test]
fn what_health_and_due_do_not_understand_is_usage() {
    let program = project_with_conclusions(&[]);
    for line in [
        &["health", "--last", "0"][..],
        &["health", "--last", "10001"],
        &["health", "--last", "many"],
        &["health", "--since", "yesterday"],
        &["health", "--since", "2026-02-30"],
        &["health", "--since", "30"],
        &["due", "--within", "2026-01-01"],
        &["due", "--within", "30"],
        &["due", "record", "ended"],
        &["due", "record", "ended", "forgotten"],
        &["due", "record"],
        &["due", "--within", "30d", "record", "ended", "held"],
    ] {
        let (code, document) = run_json(&program, line);
        assert_eq!(
            (code, value_at(&document, "error_code").as_str()),
            (64, Some("usage")),
            "{line:?}"
        );
    }
}

#[test]
fn conclusions_are_due_from_their_day_on() {
    // The test clock is on 2 February.
    let bench = TestProject::new();
    for (id, review_by) in [
        ("overdue", "2026-01-30"),
        ("today", "2026-02-02"),
        ("tomorrow", "2026-02-03"),
        ("later", "2026-03-04"),
        ("far", "2026-03-05"),
    ] {
        insert_conclusion(
            bench.store(),
            &ConclusionSpec { id, title: id, review_by, ..ConclusionSpec::default() },
        );
    }
    let due = |days: u32| -> Vec<(String, i64)> {
        let all = list_due(&bench.project, DayCount { days }).unwrap();
        all.due.iter().map(|due| (due.dialogue_id.to_string(), due.days_overdue)).collect()
    };
    let all: Vec<(String, i64)> = [("overdue", 3), ("today", 0), ("tomorrow", -1), ("later", -30)]
        .map(|(id, days)| (id.to_owned(), days))
        .to_vec();
    assert_eq!(due(0), all[..2]);
    assert_eq!(due(1), all[..3]);
    assert_eq!(due(29), all[..3]);
    assert_eq!(due(30), all);
}

#[test]
fn a_recorded_outcome_takes_a_conclusion_off_the_list_and_stays_with_it() {
    let program = project_with_conclusions(&[
        ConclusionSpec { id: "ended", review_by: "2020-01-01", ..ConclusionSpec::default() },
        ConclusionSpec {
            id: "other",
            title: "Other",
            review_by: "2020-01-02",
            state: None,
            ..ConclusionSpec::default()
        },
        ConclusionSpec {
            id: "ahead",
            title: "Ahead",
            review_by: "2999-01-01",
            ..ConclusionSpec::default()
        },
        ConclusionSpec {
            id: "torn",
            review_by: "2020-01-01",
            state: Some(UNCONVERGED),
            ..ConclusionSpec::default()
        },
        ConclusionSpec {
            id: "played",
            review_by: "2020-01-01",
            rehearsal: true,
            ..ConclusionSpec::default()
        },
    ]);
    let (code, document) = run_json(&program, &["due"]);
    assert_eq!((code, value_at(&document, "status").as_str()), (0, Some("success")));
    assert_eq!(value_at(&document, "due.0.dialogue_id"), "ended");
    assert_eq!(value_at(&document, "due.0.title"), "Should reads go through a cache?");
    assert_eq!(value_at(&document, "due.0.review_by"), "2020-01-01");
    assert_eq!(value_at(&document, "due.0.terminal_state"), "clean");
    assert!(value_at(&document, "due.0.days_overdue").as_i64().unwrap() > 2_000);
    assert!(
        value_at(&document, "due.0.recommendation").as_str().unwrap().starts_with("Put a cache")
    );
    assert_eq!(value_at(&document, "due.1.terminal_state"), &Value::Null);
    assert_eq!(value_at(&document, "due").as_array().unwrap().len(), 2, "{document:#}");

    let arguments = ["due", "record", "ended", "mixed", "--note", "writes suffered"];
    let (code, recorded) = run_json(&program, &arguments);
    let expected = json!({
        "status": "success", "dialogue_id": "ended", "outcome": "mixed", "note": "writes suffered",
    });
    assert_eq!((code, recorded), (0, expected));
    let ran = program.run_command(&["due", "record", "ended", "held"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "Recorded: ended held\n"));
    assert_eq!(value_at(&run_json(&program, &["due"]).1, "due.0.dialogue_id"), "other");

    let store: &dyn Store = &open_store(&program);
    let concluded =
        store.load_record(&"ended".parse().unwrap()).unwrap().unwrap().conclusion.unwrap();
    let outcomes: Vec<_> = concluded
        .outcomes
        .iter()
        .map(|(_, outcome)| (outcome.outcome, outcome.note.as_deref()))
        .collect();
    let expected = [(OutcomeKind::Mixed, Some("writes suffered")), (OutcomeKind::Held, None)];
    assert_eq!(outcomes, expected);
    assert_eq!(program.run_command(&["verify"]).code, 0);
}

#[test]
fn an_outcome_is_recorded_of_what_was_delivered_only() {
    let program = project_with_conclusions(&[
        ConclusionSpec { id: "torn", state: Some(UNCONVERGED), ..ConclusionSpec::default() },
        ConclusionSpec { id: "ended", ..ConclusionSpec::default() },
    ]);
    open_spec_dialogue(
        &open_store(&program),
        &ConclusionSpec { id: "running", title: "Running", ..ConclusionSpec::default() },
    );
    let note = "x".repeat(100_001);
    let head = run_json(&program, &["verify"]).1["head"].clone();
    for (arguments, code, error_code) in [
        (&["nobody", "held"][..], 4, "dialogue_not_found"),
        (&["../x", "held"], 4, "dialogue_not_found"),
        (&["running", "held"], 1, "not_concluded"),
        (&["torn", "failed"], 1, "not_converged"),
        (&["ended", "held", "--note", &note], 1, "field_too_long"),
    ] {
        let (found, document) = run_json(&program, &[&["due", "record"], arguments].concat());
        let expected = (code, Some(error_code));
        assert_eq!((found, value_at(&document, "error_code").as_str()), expected, "{document:#}");
        assert!(document.get("suggestion").is_some(), "{document:#}");
    }
    assert_eq!(run_json(&program, &["verify"]).1["head"], head, "nothing was written");
}

#[test]
fn due_reads_well_and_shows_hostile_text_safely() {
    let long = "Put a cache before the catalogue.\nMeasure its hit rate, and take it away again \
                when it stays under a half for a month, which was what the panel could agree on \
                after two rounds.\nDo not cache prices.\nDo not cache stock.";
    let program = project_with_conclusions(&[
        ConclusionSpec {
            id: "reads",
            recommendation: long,
            review_by: "2020-01-01",
            ..ConclusionSpec::default()
        },
        ConclusionSpec {
            id: "hostile",
            title: "\u{1b}[2JGone\u{202e}",
            recommendation: "\u{1b}]0;owned\u{7} Trust\nme",
            review_by: "2020-01-02",
            state: None,
            ..ConclusionSpec::default()
        },
    ]);
    let page = program.run_command(&["due"]).stdout;
    assert!(page.lines().all(|line| line.chars().count() <= 80), "{page}");
    assert!(!page.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{page:?}");
    // The overdue days change from day to day.
    let still: Vec<String> = page
        .lines()
        .map(|line| match line.split_once(" days overdue") {
            Some((before, after)) => {
                format!("{}N days overdue{after}", before.trim_end_matches(char::is_numeric))
            }
            None if line.starts_with("DUE") => "DUE".to_owned(),
            None => line.to_owned(),
        })
        .collect();
    insta::assert_snapshot!(still.join("\n"), @r"

    DUE

      ▲ 2020-01-01  N days overdue  clean
        Should reads go through a cache?
        Put a cache before the catalogue.
        Measure its hit rate, and take it away again when it stays under a half for
        a month, which was what the panel could agree on after two rounds. …
        reads

      ▲ 2020-01-02  N days overdue  unaudited
        \u{1b}[2JGone\u{202e}
        \u{1b}]0;owned\u{7} Trust
        me
        hostile

      plenary due record ID held|failed|mixed [--note TEXT]
    ");
}

#[test]
fn nothing_due_is_said() {
    let program = project_with_conclusions(&[ConclusionSpec {
        review_by: "2999-01-01",
        ..ConclusionSpec::default()
    }]);
    let ran = program.run_command(&["due"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""));
    insta::assert_snapshot!(ran.stderr, @"no conclusion is due; `--within 30d` also lists those that are due soon");
    let (code, document) = run_json(&program, &["due"]);
    assert_eq!((code, value_at(&document, "due")), (0, &json!([])));
}

#[test]
fn lists_and_counts_tell_how_dialogues_ended() {
    let program = project_with_conclusions(&[
        ConclusionSpec { id: "ended", title: "Ended", ..ConclusionSpec::default() },
        ConclusionSpec {
            id: "torn",
            title: "Torn",
            state: Some(UNCONVERGED),
            ..ConclusionSpec::default()
        },
        ConclusionSpec { id: "unseen", title: "Unseen", state: None, ..ConclusionSpec::default() },
        ConclusionSpec {
            id: "played",
            title: "Played",
            rehearsal: true,
            ..ConclusionSpec::default()
        },
    ]);
    let page = program.run_command(&["list"]).stdout;
    let rows: Vec<String> = page
        .lines()
        .skip(1)
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    for (row, start) in rows.iter().zip([
        "unseen open council",
        "torn open council",
        "played done · clean council",
        "ended done · clean council",
    ]) {
        assert!(row.starts_with(start), "{start}: {page}");
    }
    assert!(rows[2].ends_with("REHEARSAL: Played"), "{page}");
    let (_, listed) = run_json(&program, &["list"]);
    assert_eq!(value_at(&listed, "dialogues.0.terminal_state"), &Value::Null);
    assert_eq!(value_at(&listed, "dialogues.1.terminal_state"), "unconverged");
    let (_, stats) = run_json(&program, &["dialogue", "stats"]);
    assert_eq!(value_at(&stats, "by_terminal_state"), &json!({ "clean": 1, "unconverged": 1 }));
    assert!(program.run_command(&["dialogue", "stats"]).stdout.contains("by terminal state"));
}

#[test]
fn a_dialogue_that_was_concluded_still_takes_outcomes_after_it_was_closed() {
    let bench = TestProject::new();
    let id = insert_conclusion(bench.store(), &ConclusionSpec::default());
    bench.run_ok("outcome", &json!({ "dialogue_id": id, "outcome": "failed", "note": "  " }));
    insert_outcome(bench.store(), &id, OutcomeKind::Held, "2027-01-01T00:00:00Z");
    let outcomes = bench.store().load_record(&id).unwrap().unwrap().conclusion.unwrap().outcomes;
    assert_eq!(outcomes.len(), 2);
    assert_eq!(
        outcomes.first().and_then(|(_, outcome)| outcome.note.clone()),
        None,
        "a blank note"
    );
    bench.assert_verified();
}
