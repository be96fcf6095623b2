//! Tests of the review statistics on small logs, one line per row.

use serde_json::{Value, json};

use crate::model::time::Day;
use crate::protocols::review::drift::{DriftSubject, DriftSubjectKind, DriftVerdict};
use crate::protocols::review::log_row::{LogRow, LoggedVerdict, RecordedOverride};
use crate::protocols::review::policy::{ReviewDecision, ReviewVerdict};
use crate::protocols::review::statistics::{RemarkCode, ReviewStatistics, StatisticsBuilder};
use crate::protocols::review::verdict_counts::{OverrideCounts, VerdictTally};

/// A seat in a round: `skeptic ship`, `skeptic hold!` blocks, `skeptic hold!!` blocks irreducibly,
/// `skeptic -` is absent; a trailing `~` means uncited, `=` a fallback.
fn seat(text: &str) -> Value {
    let (deliberator, held) = text.split_once(' ').unwrap();
    if held == "-" {
        return json!({"deliberator": deliberator, "absent": true, "error_type": "timeout"});
    }
    let verdict = held.trim_end_matches(['!', '~', '=']);
    json!({
        "deliberator": deliberator, "verdict": verdict, "scores": {"soundness": 3},
        "would_block": held.contains('!'), "irreducible": held.contains("!!"),
        "uncited": held.contains('~'), "fallback": held.contains('='),
    })
}

fn round(text: &str) -> Vec<Value> {
    text.split(',').map(str::trim).filter(|seat| !seat.is_empty()).map(seat).collect()
}

fn row(day: &str, artifact_type: &str, verdict: &str) -> LogRow {
    let row = json!({
        "v": 2, "ts": format!("{day}T12:00:00Z"), "artifact": "a.md",
        "artifact_type": artifact_type, "round1": [], "round2": [],
        "adjudicator": {"final_verdict": verdict, "reasoning": "r"},
    });
    serde_json::from_value(row).unwrap()
}

fn held(first: &str, second: &str, verdict: &str) -> LogRow {
    let of = |text: &str| serde_json::from_value(Value::from(round(text))).unwrap();
    LogRow { round1: of(first), round2: of(second), ..row("2026-05-18", "post", verdict) }
}

fn scored(day: &str, score: u8) -> LogRow {
    let mut row = row(day, "post", "SHIP");
    let seat = json!([{"deliberator": "skeptic", "verdict": "ship", "would_block": false,
                       "irreducible": false, "scores": {"soundness": score}}]);
    row.round2 = serde_json::from_value(seat).unwrap();
    row
}

fn today() -> Day {
    "2026-06-30".parse().unwrap()
}

fn audit_on(today: Day, rows: impl IntoIterator<Item = LogRow>) -> ReviewStatistics {
    let mut auditor = StatisticsBuilder::default();
    rows.into_iter().for_each(|row| auditor.add_row(&row, None));
    auditor.into_statistics(today)
}

fn audit(rows: impl IntoIterator<Item = LogRow>) -> ReviewStatistics {
    audit_on(today(), rows)
}

fn spread(ship: usize, revise: usize, hold: usize, incomplete: usize) -> VerdictTally {
    VerdictTally { ship, revise, hold, incomplete }
}

#[test]
fn an_artifact_shows_its_newest_verdict_and_who_overrode_it() {
    let mut auditor = StatisticsBuilder::default();
    let decided = RecordedOverride {
        decision: ReviewDecision::Ship,
        why: "checked by hand".to_owned(),
        by: Some("ann".to_owned()),
        at: "2026-05-20T12:00:00Z".parse().unwrap(),
    };
    let mut rehearsed = row("2026-05-21", "post", "HOLD");
    rehearsed.rehearsal = true;
    let rows = [
        (row("2026-05-18", "post", "REVISE"), None),
        (row("2026-05-19", "post", "HOLD"), Some(decided.clone())),
        (rehearsed, Some(decided)),
    ];
    for (seq, (row, overridden)) in (1..).zip(rows) {
        auditor.add_verdict(&LoggedVerdict {
            seq,
            verdict_id: format!("log/{seq}"),
            dialogue_id: "log".parse().unwrap(),
            row,
            line: String::new(),
            overridden,
        });
    }
    let result = auditor.into_statistics(today());
    let [artifact] = result.by_artifact.as_slice() else { panic!("{result:?}") };
    assert_eq!((artifact.spread, artifact.newest.name()), (spread(0, 1, 1, 0), "SHIP"));
    let [given] = result.overridden_verdicts.as_slice() else { panic!("{result:?}") };
    assert_eq!((given.verdict_id.as_str(), given.verdict.name()), ("log/2", "HOLD"));
    assert_eq!(given.decided.by.as_deref(), Some("ann"));
}

#[test]
fn verdicts_are_spread_by_type_and_producer_and_week() {
    let mut rows = vec![
        row("2026-05-18", "post", "SHIP"),
        row("2026-05-19", "post", "HOLD"),
        row("2026-05-24", "memo", "REVISE"),
        row("2026-05-25", "post", "INCOMPLETE"),
    ];
    rows[0].producer = Some("ann".into());
    rows[1].imported = true;
    let found = audit(rows);
    assert_eq!(found.spread, spread(1, 1, 1, 1));
    assert_eq!(
        (found.spread.count_decided(), found.spread.count_logged(), found.imported),
        (3, 4, 1)
    );
    let types: Vec<_> =
        found.by_type.iter().map(|one| (one.artifact_type.as_str(), one.spread)).collect();
    assert_eq!(types, [("post", spread(1, 0, 1, 1)), ("memo", spread(0, 1, 0, 0))]);
    let producers: Vec<_> =
        found.by_producer.iter().map(|one| (one.producer.as_str(), one.spread)).collect();
    assert_eq!(producers, [("ann", spread(1, 0, 0, 0))]);
    let weeks: Vec<_> = found.by_week.iter().map(|one| (one.week.as_str(), one.spread)).collect();
    // The 24th is a Sunday.
    assert_eq!(weeks, [("2026-W22", spread(0, 0, 0, 1)), ("2026-W21", spread(1, 1, 1, 0))]);
    let period = [found.from, found.to].map(|moment| moment.unwrap().utc_day().to_string());
    assert_eq!(period, ["2026-05-18", "2026-05-25"]);
}

#[test]
fn weeks_belong_to_the_year_of_their_thursday() {
    let days = [
        ("2024-12-29", "2024-W52"),
        ("2024-12-30", "2025-W01"),
        ("2026-12-31", "2026-W53"),
        ("2027-01-03", "2026-W53"),
        ("2027-01-04", "2027-W01"),
    ];
    for (day, week) in days {
        assert_eq!(audit([row(day, "post", "SHIP")]).by_week[0].week, week, "{day}");
    }
    // Weeks stay sorted across the turn of the year.
    let found = audit(days.map(|(day, _)| row(day, "post", "SHIP")));
    let weeks: Vec<&str> = found.by_week.iter().map(|one| one.week.as_str()).collect();
    assert_eq!(weeks, ["2027-W01", "2026-W53", "2025-W01", "2024-W52"]);
}

#[test]
fn rehearsals_are_left_out_and_counted() {
    let rehearsed = LogRow { rehearsal: true, ..held("a hold!", "a hold!", "HOLD") };
    let found = audit([rehearsed.clone(), rehearsed, row("2026-05-18", "post", "SHIP")]);
    assert_eq!((found.spread, found.rehearsals_left_out), (spread(1, 0, 0, 0), 2));
    assert!(found.deliberators.is_empty());
}

#[test]
fn an_empty_log_says_nothing() {
    let found = audit([]);
    assert_eq!((found.spread, found.from, found.remarks.len()), (VerdictTally::default(), None, 0));
    assert_eq!(found.drift.verdict, DriftVerdict::CannotTell);
    let result = serde_json::to_value(&found).unwrap();
    assert_eq!(result["not_ship_percent"], Value::Null);
    assert_eq!(result["overrides"]["overridden_percent"], Value::Null);
}

#[test]
fn blocks_are_a_share_of_those_that_were_heard() {
    let found = audit([
        held("a ship, b hold!", "a ship, b hold!!", "SHIP"),
        held("a ship, b ship", "a hold!, b -", "SHIP"),
        held("a -, b ship", "a -, b ship", "SHIP"),
        // An undecided review counts the absence but no block.
        held("a hold!, b -", "", "INCOMPLETE"),
    ]);
    let seats: Vec<_> = found
        .deliberators
        .iter()
        .map(|seat| (seat.asked, seat.absent, seat.answered, seat.blocks, seat.irreducible))
        .collect();
    // Round 2 of `b` failed once, so its round 1 counted.
    assert_eq!(seats, [(4, 1, 2, 1, 0), (4, 1, 3, 1, 1)]);
    let result = serde_json::to_value(&found.deliberators).unwrap();
    let shares = [&result[0]["block_percent"], &result[1]["block_percent"]];
    assert_eq!(shares, [50.0, 33.3]);
    assert_eq!(found.deliberators[1].change.fallback, 1);
}

/// Expected counts: compared, changed, softened, hardened, uncited, fallback.
#[track_caller]
fn check_change(first: &str, second: &str, expected: [usize; 6]) {
    let change = audit([held(first, second, "SHIP")]).change;
    let found = [
        change.compared,
        change.changed,
        change.softened,
        change.hardened,
        change.uncited,
        change.fallback,
    ];
    assert_eq!(found, expected, "{first} then {second}");
}

#[test]
fn a_change_of_mind_has_a_direction() {
    check_change("a ship", "a ship", [1, 0, 0, 0, 0, 0]);
    check_change("a ship", "a revise", [1, 1, 0, 1, 0, 0]);
    check_change("a hold", "a revise~", [1, 1, 1, 0, 1, 0]);
    check_change("a revise!", "a revise", [1, 1, 1, 0, 0, 0]);
    check_change("a revise", "a revise!", [1, 1, 0, 1, 0, 0]);
    // A block counts more than a verdict.
    check_change("a revise!", "a hold", [1, 1, 1, 0, 0, 0]);
    check_change("a hold", "a ship!", [1, 1, 0, 1, 0, 0]);
    // An irreducible block may decide alone.
    check_change("a hold!", "a hold!!", [1, 1, 0, 1, 0, 0]);
    check_change("a hold!!", "a hold!", [1, 1, 1, 0, 0, 0]);
    // A missing round cannot be compared.
    check_change("a hold!", "a hold!=", [0, 0, 0, 0, 0, 1]);
    check_change("a hold!", "a -", [0, 0, 0, 0, 0, 1]);
    check_change("a -", "a hold!", [0, 0, 0, 0, 0, 0]);
    check_change("a hold!", "", [0, 0, 0, 0, 0, 0]);
    check_change("a ship, b hold!", "a revise~, b hold", [2, 2, 1, 1, 1, 0]);
}

#[test]
fn a_deliberator_that_is_listed_twice_is_one() {
    let found = audit([held("a ship, a hold!", "a ship, a hold!", "SHIP")]);
    assert_eq!((found.deliberators.len(), found.deliberators[0].asked), (1, 1));
    assert_eq!(found.deliberators[0].blocks, 0);
}

#[test]
fn scores_have_a_mean_by_week_and_those_off_the_scale_have_none() {
    let days = [("2026-05-18", 2), ("2026-05-19", 3), ("2026-05-25", 5)];
    let mut rows: Vec<LogRow> = days.map(|(day, score)| scored(day, score)).into();
    rows.extend([0, 6, 255].map(|score| scored("2026-05-25", score)));
    rows.push(LogRow { ..scored("2026-05-25", 1) });
    rows.last_mut().unwrap().adjudicator.final_verdict = ReviewVerdict::Incomplete;
    let found = audit(rows);
    let [score] = found.scores.as_slice() else { panic!("{:?}", found.scores) };
    assert_eq!((score.deliberator.as_str(), score.score.as_str()), ("skeptic", "soundness"));
    assert_eq!((score.count, score.mean), (3, Some(3.33)));
    let weeks: Vec<_> =
        score.by_week.iter().map(|one| (one.week.as_str(), one.count, one.mean)).collect();
    assert_eq!(weeks, [("2026-W22", 1, Some(5.0)), ("2026-W21", 2, Some(2.5))]);
}

#[test]
fn overrides_soften_or_harden() {
    let mut auditor = StatisticsBuilder::default();
    let (ship, revise, hold) = (ReviewDecision::Ship, ReviewDecision::Revise, ReviewDecision::Hold);
    for (verdict, person) in [
        ("HOLD", Some(ship)),
        ("REVISE", Some(ship)),
        ("SHIP", Some(hold)),
        ("REVISE", Some(revise)),
        ("SHIP", None),
        ("INCOMPLETE", Some(ship)),
        ("INCOMPLETE", None),
    ] {
        auditor.add_row(&row("2026-05-18", "post", verdict), person);
    }
    let rehearsed = LogRow { rehearsal: true, ..row("2026-05-18", "post", "HOLD") };
    auditor.add_row(&rehearsed, Some(ship));
    let expected = OverrideCounts {
        decided: 5,
        overridden: 4,
        softened: 2,
        hardened: 1,
        confirmed: 1,
        of_incomplete: 1,
    };
    let found = auditor.into_statistics(today()).overrides;
    assert_eq!(found, expected);
    assert_eq!(serde_json::to_value(found).unwrap()["overridden_percent"], 80.0);
}

/// Rows from week 2026-W21 on; each pair is (not shipped, all).
fn weeks(shares: &[(usize, usize)]) -> Vec<LogRow> {
    let first: Day = "2026-05-18".parse().unwrap();
    let days = (0..).map(|week| first.plus_days(7 * week).to_string());
    let rows = shares.iter().zip(days).flat_map(|((not_ship, all), day)| {
        (0..*all)
            .map(move |place| row(&day, "post", if place < *not_ship { "HOLD" } else { "SHIP" }))
    });
    rows.collect()
}

/// Checks the drift verdict on type `post` and its message.
#[track_caller]
fn check_drift(found: &ReviewStatistics, verdict: DriftVerdict, says: &str) {
    let subject = &found.drift.subjects[0];
    let messages = found.remarks.iter().filter(|remark| remark.code == RemarkCode::Drift);
    let printed: Vec<&str> = messages.map(|remark| remark.message.as_str()).collect();
    let printed = subject.reason.clone().unwrap_or(printed.join("; "));
    assert_eq!((subject.verdict, printed.as_str()), (verdict, says));
    assert_eq!(found.drift.verdict, verdict);
}

#[test]
fn drift_is_a_share_that_moves_for_three_weeks() {
    let found = audit(weeks(&[(9, 9), (1, 10), (4, 10), (7, 10)]));
    let says = "post: not SHIP rose from 10 % to 70 %, 2026-W22 to 2026-W24";
    check_drift(&found, DriftVerdict::Drift, says);
    let found = audit(weeks(&[(7, 10), (4, 10), (1, 10)]));
    let says = "post: not SHIP fell from 70 % to 10 %, 2026-W21 to 2026-W23";
    check_drift(&found, DriftVerdict::Drift, says);
    check_drift(&audit(weeks(&[(3, 10), (4, 10), (3, 10)])), DriftVerdict::Steady, "");
    check_drift(&audit(weeks(&[(1, 10), (9, 10), (7, 10)])), DriftVerdict::Steady, "");
}

#[test]
fn with_too_few_weeks_or_verdicts_it_cannot_tell_and_says_why() {
    let cannot = DriftVerdict::CannotTell;
    let found = audit(weeks(&[(1, 10), (9, 10)]));
    check_drift(&found, cannot, "it needs 3 weeks with verdicts and has 2");
    let found = audit(weeks(&[(1, 10), (3, 4), (9, 10)]));
    check_drift(&found, cannot, "4 decided verdicts in 2026-W22; it needs 5 in each of 3 weeks");
    // Five verdicts per week are enough.
    let found = audit(weeks(&[(0, 5), (3, 5), (5, 5)]));
    assert_eq!(found.drift.verdict, DriftVerdict::Drift);
    // An undecided subject has no share.
    let found = audit([row("2026-05-18", "post", "INCOMPLETE")]);
    assert_eq!((found.drift.subjects.len(), found.drift.verdict), (0, cannot));
}

#[test]
fn the_week_that_runs_counts_once_it_has_enough() {
    let rows = || weeks(&[(1, 10), (4, 10), (7, 10), (0, 4)]);
    let monday: Day = "2026-06-08".parse().unwrap();
    assert_eq!(audit_on(monday, rows()).drift.verdict, DriftVerdict::Drift);
    // A week later it is a complete week.
    assert_eq!(audit_on(monday.plus_days(7), rows()).drift.verdict, DriftVerdict::CannotTell);
    let five = weeks(&[(1, 10), (4, 10), (7, 10), (0, 5)]);
    assert_eq!(audit_on(monday, five).drift.verdict, DriftVerdict::Steady);
}

#[test]
fn weeks_without_verdicts_are_passed_over() {
    let found = audit(weeks(&[(1, 10), (0, 0), (4, 10), (0, 0), (0, 0), (7, 10)]));
    let says = "post: not SHIP rose from 10 % to 70 %, 2026-W21 to 2026-W26";
    check_drift(&found, DriftVerdict::Drift, says);
}

#[test]
fn a_producer_may_drift_where_its_types_do_not() {
    let mut rows = weeks(&[(1, 10), (4, 10), (7, 10)]);
    for (place, row) in rows.iter_mut().enumerate() {
        row.producer = Some("ann".into());
        row.artifact_type = format!("type {place}");
    }
    let found = audit(rows);
    let drifting: Vec<&DriftSubject> = found
        .drift
        .subjects
        .iter()
        .filter(|subject| subject.verdict == DriftVerdict::Drift)
        .collect();
    assert_eq!(drifting.len(), 1);
    assert_eq!((drifting[0].of, drifting[0].name.as_str()), (DriftSubjectKind::Producer, "ann"));
    assert!(found.remarks[0].message.starts_with("producer ann: not SHIP rose"));
}

#[test]
fn a_score_drifts_like_a_share() {
    let week = |day: &'static str, score: u8| (0..6).map(move |_| scored(day, score));
    let three = |scores: [u8; 3]| {
        let [first, second, third] = scores;
        let rows = week("2026-05-18", first).chain(week("2026-05-25", second));
        audit(rows.chain(week("2026-06-01", third)))
    };
    let says = "post: soundness of skeptic fell from 4.0 to 2.0, 2026-W21 to 2026-W23";
    check_drift(&three([4, 3, 2]), DriftVerdict::Drift, says);
    check_drift(&three([4, 2, 3]), DriftVerdict::Steady, "");
    // A score with too few values is counted but not compared.
    let rows = week("2026-05-18", 4).chain(week("2026-05-25", 3)).chain(week("2026-06-01", 2));
    let rows = rows.enumerate().map(|(place, mut row)| {
        if place % 6 > 3 {
            row.round2.clear();
        }
        row
    });
    let found = audit(rows);
    check_drift(&found, DriftVerdict::Steady, "");
    assert_eq!(found.drift.subjects[0].scores_untold, 1);
}

/// Checks the remarks on about ten rows.
#[track_caller]
fn check_remarks(rows: &[(LogRow, Option<ReviewDecision>)], expected: &[&str]) {
    let mut auditor = StatisticsBuilder::default();
    rows.iter().for_each(|(row, person)| auditor.add_row(row, *person));
    let found = auditor.into_statistics(today());
    let messages: Vec<&str> = found.remarks.iter().map(|one| one.message.as_str()).collect();
    assert_eq!(messages, expected);
}

#[test]
fn what_stands_out_is_said_beyond_its_limit_and_not_at_it() {
    let times = |count: usize, row: LogRow, person| vec![(row, person); count];
    let plain = || row("2026-05-18", "post", "SHIP");
    let mixed = |some: usize, odd: LogRow, person| {
        [times(some, odd, person), times(10 - some, plain(), None)].concat()
    };
    let held_back = || row("2026-05-18", "post", "HOLD");
    check_remarks(&mixed(2, held_back(), Some(ReviewDecision::Ship)), &[]);
    let says = "people overrode 3 of 10 verdicts (3 softened, 0 hardened)";
    check_remarks(&mixed(3, held_back(), Some(ReviewDecision::Ship)), &[says]);
    check_remarks(&mixed(10, held_back(), Some(ReviewDecision::Hold)), &[]);
    let undecided = || row("2026-05-18", "post", "INCOMPLETE");
    check_remarks(&mixed(2, undecided(), None), &[]);
    check_remarks(&mixed(3, undecided(), None), &["3 of 10 reviews were INCOMPLETE"]);
    let [gone, there] = ["a -", "a ship"].map(|seat| held(seat, seat, "SHIP"));
    let absent = |count| [times(count, gone.clone(), None), times(10 - count, there.clone(), None)];
    check_remarks(&absent(2).concat(), &[]);
    check_remarks(&absent(3).concat(), &["a was absent from 3 of 10 reviews"]);
    let [cited, uncited] = ["a revise", "a revise~"].map(|second| held("a ship", second, "SHIP"));
    let changed =
        |count| [times(count, uncited.clone(), None), times(10 - count, cited.clone(), None)];
    check_remarks(&changed(5).concat(), &[]);
    let says = "a changed its mind 10 times, 6 of them without naming a concern";
    check_remarks(&changed(6).concat(), &[says]);
    // Nine rows are too few for a remark.
    check_remarks(&times(9, held_back(), Some(ReviewDecision::Ship)), &[]);
}
