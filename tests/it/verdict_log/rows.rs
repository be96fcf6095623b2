//! Verdict rows in the store, and the queries on them.

use plenary_core::model::hash::sha256_hex;
use plenary_core::protocols::review::log_row::{ContentQuery, LogQuery, LogRange, LogRow};
use plenary_core::protocols::review::policy::{ReviewDecision, ReviewVerdict};
use plenary_core::protocols::review::types::PriorVerdict;
use plenary_engine::store::traits::Store;

use crate::kit::{
    TestProject, insert_log_rows, insert_override, insert_verdict, make_log_row,
    try_insert_log_rows,
};

fn row_ids(rows: &[LogRow]) -> Vec<&str> {
    rows.iter().map(|row| row.verdict_id.as_deref().unwrap()).collect()
}

fn paged_ids(store: &dyn Store, query: &LogQuery) -> Vec<String> {
    store.load_log_page(query).unwrap().into_iter().map(|found| found.verdict_id).collect()
}

#[test]
fn lines_come_in_the_order_in_which_they_were_committed() {
    let bench = TestProject::new();
    let store = bench.store();
    let mut expected = Vec::new();
    for (dialogue, n) in [("b", 1), ("a", 1), ("b", 2), ("a", 2)] {
        let row = insert_verdict(store, dialogue, n, ReviewVerdict::Hold);
        expected.push(serde_json::to_string(&row).unwrap());
    }
    let together = ["c/2", "c/1", "c/3"].map(|id| make_log_row(id, "post", ReviewVerdict::Ship, 9));
    insert_log_rows(store, "c", &together);
    expected.extend(together.iter().map(|row| serde_json::to_string(row).unwrap()));
    let (mut after, mut seen) = (0, Vec::new());
    loop {
        let lines = store.load_log_lines(after, 3).unwrap();
        let Some(last) = lines.last() else { break };
        after = last.seq;
        seen.extend(lines.into_iter().map(|line| line.line));
    }
    assert_eq!(seen, expected);
    bench.assert_verified();
}

#[test]
fn a_verdict_has_one_id() {
    let bench = TestProject::new();
    insert_verdict(bench.store(), "a", 1, ReviewVerdict::Hold);
    let again = make_log_row("a/1", "post", ReviewVerdict::Ship, 2);
    let refused = try_insert_log_rows(bench.store(), "b", &[again]).unwrap_err();
    assert!(format!("{refused:?}").contains("UNIQUE"), "{refused:?}");
    assert_eq!(bench.store().load_log_lines(0, 9).unwrap().len(), 1);
    bench.assert_verified();
}

#[test]
fn priors_are_decided_real_and_of_the_type_newest_first() {
    let bench = TestProject::new();
    let store = bench.store();
    let row = |id: &str, verdict, seconds| make_log_row(id, "post", verdict, seconds);
    let rehearsed = LogRow { rehearsal: true, ..row("r/5", ReviewVerdict::Hold, 5) };
    let imported = LogRow { imported: true, ..row("r/6", ReviewVerdict::Revise, 1) };
    insert_log_rows(
        store,
        "r",
        &[
            row("r/1", ReviewVerdict::Hold, 2),
            row("r/2", ReviewVerdict::Ship, 3),
            row("r/3", ReviewVerdict::Incomplete, 4),
            make_log_row("r/4", "memo", ReviewVerdict::Hold, 4),
            rehearsed,
            imported,
        ],
    );
    assert_eq!(row_ids(&store.prior_verdicts("post", 5).unwrap()), ["r/2", "r/1", "r/6"]);
    assert_eq!(row_ids(&store.prior_verdicts("post", 2).unwrap()), ["r/2", "r/1"]);
    assert_eq!(row_ids(&store.prior_verdicts("memo", 5).unwrap()), ["r/4"]);
    assert_eq!(row_ids(&store.prior_verdicts("none", 5).unwrap()), [""; 0]);
    let prior = PriorVerdict::from_row(&store.prior_verdicts("memo", 1).unwrap()[0]);
    assert_eq!(prior.concerns, ["skeptic: skeptic doubts r/4 (L1)"]);
}

#[test]
fn a_page_holds_what_was_asked_for() {
    let bench = TestProject::new();
    let store = bench.store();
    // A rehearsed or imported verdict is an ordinary row.
    let rehearsed =
        LogRow { rehearsal: true, ..make_log_row("r/2", "post", ReviewVerdict::Hold, 2) };
    let imported = LogRow { imported: true, ..make_log_row("r/3", "memo", ReviewVerdict::Hold, 3) };
    let rows = [make_log_row("r/1", "post", ReviewVerdict::Ship, 1), rehearsed, imported];
    insert_log_rows(store, "r", &rows);
    let all = LogQuery::from_start(9);
    let check = |query: LogQuery, expected: &[&str]| assert_eq!(paged_ids(store, &query), expected);
    check(all.clone(), &["r/1", "r/2", "r/3"]);
    check(LogQuery { limit: 2, ..all.clone() }, &["r/1", "r/2"]);
    check(LogQuery { limit: 2, range: LogRange::Last, ..all.clone() }, &["r/2", "r/3"]);
    check(LogQuery { artifact_type: Some("post".into()), ..all.clone() }, &["r/1", "r/2"]);
    check(LogQuery { since: Some(rows[1].ts), ..all.clone() }, &["r/2", "r/3"]);
    let first = store.load_log_page(&all).unwrap().remove(0);
    check(LogQuery { range: LogRange::After(first.seq), ..all }, &["r/2", "r/3"]);
}

#[test]
fn a_content_is_decided_once_it_is_not_incomplete() {
    let bench = TestProject::new();
    let store = bench.store();
    let content = |id: &str, rehearsal| {
        let sha256 = sha256_hex([id.as_bytes()]);
        let found = store.find_decided(&ContentQuery { sha256, rehearsal }).unwrap();
        found.map(|decided| (decided.verdict_id, decided.verdict))
    };
    insert_verdict(store, "r", 1, ReviewVerdict::Incomplete);
    assert_eq!(content("r/1", false), None);
    let rehearsed =
        LogRow { rehearsal: true, ..make_log_row("r/2", "post", ReviewVerdict::Hold, 2) };
    insert_log_rows(store, "r", &[rehearsed]);
    assert_eq!(content("r/2", false), None);
    assert_eq!(content("r/2", true), Some(("r/2".into(), ReviewVerdict::Hold)));
    insert_verdict(store, "r", 3, ReviewVerdict::Ship);
    assert_eq!(content("r/3", false), Some(("r/3".into(), ReviewVerdict::Ship)));
    assert_eq!(content("r/3", true), None);
}

#[test]
fn the_last_word_over_a_verdict_stands_and_all_are_kept() {
    let bench = TestProject::new();
    let store = bench.store();
    insert_verdict(store, "r", 1, ReviewVerdict::Hold);
    insert_verdict(store, "r", 2, ReviewVerdict::Hold);
    let standing = |id: &str| store.find_logged(id).unwrap().unwrap().effective_verdict();
    assert_eq!(standing("r/1"), ReviewVerdict::Hold);
    insert_override(store, "r", 1, ReviewDecision::Ship);
    insert_override(store, "r", 1, ReviewDecision::Revise);
    assert_eq!((standing("r/1"), standing("r/2")), (ReviewVerdict::Revise, ReviewVerdict::Hold));
    let words = store.list_overrides("r/1").unwrap();
    let decisions: Vec<ReviewDecision> = words.iter().map(|word| word.decision).collect();
    assert_eq!(decisions, [ReviewDecision::Ship, ReviewDecision::Revise]);
    assert!(store.list_overrides("r/2").unwrap().is_empty());
    let page = store.load_log_page(&LogQuery::from_start(9)).unwrap();
    assert_eq!(page.len(), 2, "a row is told once, however often it was overridden");
    assert_eq!(page[0].overridden.as_ref(), words.last());
    bench.assert_verified();
}

#[test]
fn what_says_the_same_is_known_whatever_its_id() {
    let bench = TestProject::new();
    let row = insert_verdict(bench.store(), "r", 1, ReviewVerdict::Hold);
    let alike =
        |row: &LogRow| bench.store().find_same_row(&row.content_hash().unwrap()).unwrap().is_some();
    assert!(alike(&LogRow { verdict_id: None, imported: true, ..row.clone() }));
    assert!(!alike(&LogRow { producer: None, ..row.clone() }));
    assert!(!alike(&LogRow { rehearsal: true, ..row }));
}
