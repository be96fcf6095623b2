//! Snapshots of the `audit` page at several widths, from a log with drift.

use plenary_core::model::time::Day;
use plenary_core::protocols::review::log_row::LogRow;
use plenary_core::protocols::review::policy::ReviewDecision;
use plenary_core::protocols::review::statistics::{ReviewStatistics, StatisticsBuilder};
use plenary_core::protocols::review::types::BuiltInDeliberator;
use plenary_core::report::terminal::layout::PageCanvas;
use plenary_engine::app::checks::{AuditResult, AuditWindow};
use serde_json::json;
use unicode_width::UnicodeWidthStr;

use crate::cli::audit::draw_audit_page;

fn log_row(day: Day, artifact_type: &str, verdict: &str, score: u8) -> LogRow {
    let seat = |one: &BuiltInDeliberator| {
        let scores = one.score_fields().map(|name| (name.to_owned(), json!(score)));
        let blocks = verdict != "SHIP";
        json!({"deliberator": one, "verdict": if blocks { "hold" } else { "ship" },
               "would_block": blocks, "irreducible": verdict == "HOLD" && *one == BuiltInDeliberator::Evidence,
               "scores": serde_json::Map::from_iter(scores)})
    };
    let held: Vec<_> = BuiltInDeliberator::ALL.iter().map(seat).collect();
    let mut first = held.clone();
    first[0]["would_block"] = json!(true);
    serde_json::from_value(json!({
        "v": 2, "ts": format!("{day}T12:00:00Z"), "artifact": "a.md", "round1": first,
        "artifact_type": artifact_type, "round2": held, "producer": "press",
        "adjudicator": {"final_verdict": verdict, "reasoning": "r"},
    }))
    .unwrap()
}

/// Three weeks of posts with a rising share of HOLD, and a memo with a hostile name.
fn drifting_audit() -> AuditResult {
    let first: Day = "2026-05-04".parse().unwrap();
    let mut auditor = StatisticsBuilder::default();
    for (week, held_back) in [(0, 1), (1, 4), (2, 8)] {
        for place in 0..10 {
            let verdict = if place < held_back { "HOLD" } else { "SHIP" };
            let score = 5 - u8::try_from(week).unwrap();
            let row = log_row(first.plus_days(7 * week), "linkedin_post", verdict, score);
            auditor.add_row(&row, (place < week).then_some(ReviewDecision::Ship));
        }
    }
    let name = "memo \u{1b}[31mwith a very long name that does not end here";
    auditor.add_row(&log_row(first, name, "INCOMPLETE", 3), None);
    auditor.add_row(&log_row(first, name, "REVISE", 3), None);
    auditor.add_row(&LogRow { rehearsal: true, ..log_row(first, name, "SHIP", 3) }, None);
    to_audit_result(auditor.into_statistics(first.plus_days(60)))
}

fn to_audit_result(audit: ReviewStatistics) -> AuditResult {
    AuditResult { status: "success", window: AuditWindow::default(), audit }
}

fn draw_plain(audited: &AuditResult, width: usize) -> String {
    let canvas = PageCanvas { width };
    anstream::adapter::strip_str(&draw_audit_page(audited, canvas)).to_string()
}

#[test]
fn every_width_is_kept_to() {
    let audited = drifting_audit();
    for width in [40, 53, 60, 72, 80, 120] {
        let page = draw_plain(&audited, width);
        assert!(page.lines().all(|line| line.width() <= width), "{width}:\n{page}");
        assert!(!page.contains('\u{1b}'), "{page:?}");
        assert!(!page.contains("\n\n\n"), "{page}");
    }
}

#[test]
fn a_page_of_eighty_columns() {
    insta::assert_snapshot!(draw_plain(&drifting_audit(), 80), @r#"

    AUDIT ──────────────────────────────────── 32 verdicts, 2026-05-04 to 2026-05-18

      ▲ DRIFT: linkedin_post: not SHIP rose from 10 % to 80 %, 12 scores moved
        (most: confidence_calibration of evidence fell from 5.0 to 3.0), 2026-W19 to
        2026-W21.
      ▲ DRIFT: producer press: not SHIP rose from 18 % to 80 %, 12 scores moved
        (most: confidence_calibration of evidence fell from 4.8 to 3.0), 2026-W19 to
        2026-W21.
      ○ 1 rehearsal left out.

      SHIP          54.8 %  █████████████▋ 17
      REVISE         3.2 %  ▊ 1
      HOLD          41.9 %  ██████████▍ 13
      INCOMPLETE             1 apart

    DRIFT ─────────────────────────────────────────────────── not SHIP, week by week

      linkedin_post               ▲ drift: 10 % → 40 % → 80 %; 12 scores moved
      by press                    ▲ drift: 18 % → 40 % → 80 %; 12 scores moved
      memo \u{1b}[31mwith a ver…  ○ cannot tell: it needs 3 weeks with verdicts and
                                  has 1

    BY TYPE ────────────────────────────────────────────────────────────────────────

                             all  SHIP  REVISE  HOLD  INCOMPLETE  not SHIP
      linkedin_post           30    17       0    13           0    43.3 %  ███▍
      memo \u{1b}[31mwith…     2     0       1     0           1   100.0 %  ████████

    BY PRODUCER ────────────────────────────────────────────────────────────────────

             all  SHIP  REVISE  HOLD  INCOMPLETE  not SHIP
      press   32    17       1    13           1    45.2 %  █████████

    BY WEEK ────────────────────────────────────────────────────────────────────────

                all  SHIP  REVISE  HOLD  INCOMPLETE  not SHIP
      2026-W21   10     2       0     8           0    80.0 %  ████████████████
      2026-W20   10     6       0     4           0    40.0 %  ████████
      2026-W19   12     9       1     1           1    18.2 %  ███▋

    DELIBERATORS ───────────────────────────────────────────────────────────────────

                      answered  irreducible  absent  blocks
      evidence              31       41.9 %   0.0 %  45.2 %  █████████
      skeptic               31        0.0 %   0.0 %  45.2 %  █████████
      strategy              31        0.0 %   0.0 %  45.2 %  █████████
      voice_identity        31        0.0 %   0.0 %  45.2 %  █████████

    FROM ROUND 1 TO ROUND 2 ────────────────────────────────────────────────────────

                      compared  changed  softened  hardened  uncited  fallback
      evidence              31    0.0 %         0         0        0         0
      skeptic               31   54.8 %        17         0        0         0
      strategy              31    0.0 %         0         0        0         0
      voice_identity        31    0.0 %         0         0        0         0
      all                  124   13.7 %        17         0        0         0

    MEAN SCORES ─────────────────────────────────────────────── 2026-W19 to 2026-W21

                                all  W19  W20  W21
      evidence
        confidence_calibration  4.0  4.8  4.0  3.0
        source_verification     4.0  4.8  4.0  3.0
        tier_classification     4.0  4.8  4.0  3.0
      skeptic
        argument_soundness      4.0  4.8  4.0  3.0
        evidence_completeness   4.0  4.8  4.0  3.0
        objection_pre_emption   4.0  4.8  4.0  3.0
      strategy
        goal_fit                4.0  4.8  4.0  3.0
        opportunity_cost        4.0  4.8  4.0  3.0
        stake_calibration       4.0  4.8  4.0  3.0
      voice_identity
        reader_test             4.0  4.8  4.0  3.0
        register_fit            4.0  4.8  4.0  3.0
        voice_match             4.0  4.8  4.0  3.0

    OVERRIDDEN BY PEOPLE ───────────────────────────────────────────────────────────

      People overrode 3 of 31 decided verdicts (9.7 %): 3 softened, 0 hardened, 0
      confirmed.
    "#);
}

#[test]
fn a_narrow_page_sets_numbers_below_their_names() {
    let page = draw_plain(&drifting_audit(), 40);
    let row = "  linkedin_post\n    all 30 · SHIP 17 · REVISE 0\n    HOLD 13 · INCOMPLETE 0\n    not SHIP 43.3 %\n";
    assert!(page.contains(row), "{page}");
}

#[test]
fn a_log_without_verdicts_says_so() {
    let page = draw_plain(
        &to_audit_result(
            StatisticsBuilder::default().into_statistics("2026-05-04".parse().unwrap()),
        ),
        80,
    );
    insta::assert_snapshot!(page, @r#"

    AUDIT ─────────────────────────────────────────────────────────────── 0 verdicts

      ○ There is no verdict to count.
    "#);
}
