//! Verdict rows in the store, and the queries on them.

use plenary::domain::gate::{
    ContentQuery, Decision, GateVerdict, LogQuery, LogRow, LogStretch, PriorVerdict,
};
use plenary::store::Store;

use crate::kit::{Bench, log_row, log_rows, log_verdict, override_verdict, try_log_rows};

fn ids(rows: &[LogRow]) -> Vec<&str> {
    rows.iter().map(|row| row.verdict_id.as_deref().unwrap()).collect()
}

fn paged(store: &dyn Store, query: &LogQuery) -> Vec<String> {
    store.log_page(query).unwrap().into_iter().map(|found| found.verdict_id).collect()
}

#[test]
fn lines_come_in_the_order_in_which_they_were_committed() {
    let bench = Bench::new();
    let store = bench.store();
    let mut expected = Vec::new();
    for (dialogue, n) in [("b", 1), ("a", 1), ("b", 2), ("a", 2)] {
        let row = log_verdict(store, dialogue, n, GateVerdict::Hold);
        expected.push(serde_json::to_string(&row).unwrap());
    }
    let together = ["c/2", "c/1", "c/3"].map(|id| log_row(id, "post", GateVerdict::Ship, 9));
    log_rows(store, "c", &together);
    expected.extend(together.iter().map(|row| serde_json::to_string(row).unwrap()));
    let (mut after, mut seen) = (0, Vec::new());
    loop {
        let lines = store.log_lines(after, 3).unwrap();
        let Some(last) = lines.last() else { break };
        after = last.seq;
        seen.extend(lines.into_iter().map(|line| line.line));
    }
    assert_eq!(seen, expected);
    bench.verify();
}

#[test]
fn a_verdict_has_one_id() {
    let bench = Bench::new();
    log_verdict(bench.store(), "a", 1, GateVerdict::Hold);
    let again = log_row("a/1", "post", GateVerdict::Ship, 2);
    let refused = try_log_rows(bench.store(), "b", &[again]).unwrap_err();
    assert!(format!("{refused:?}").contains("UNIQUE"), "{refused:?}");
    assert_eq!(bench.store().log_lines(0, 9).unwrap().len(), 1);
    bench.verify();
}

#[test]
fn priors_are_decided_real_and_of_the_type_newest_first() {
    let bench = Bench::new();
    let store = bench.store();
    let row = |id: &str, verdict, seconds| log_row(id, "post", verdict, seconds);
    let rehearsed = LogRow { rehearsal: true, ..row("r/5", GateVerdict::Hold, 5) };
    let imported = LogRow { imported: true, ..row("r/6", GateVerdict::Revise, 1) };
    log_rows(
        store,
        "r",
        &[
            row("r/1", GateVerdict::Hold, 2),
            row("r/2", GateVerdict::Ship, 3),
            row("r/3", GateVerdict::Incomplete, 4),
            log_row("r/4", "memo", GateVerdict::Hold, 4),
            rehearsed,
            imported,
        ],
    );
    assert_eq!(ids(&store.priors("post", 5).unwrap()), ["r/2", "r/1", "r/6"]);
    assert_eq!(ids(&store.priors("post", 2).unwrap()), ["r/2", "r/1"]);
    assert_eq!(ids(&store.priors("memo", 5).unwrap()), ["r/4"]);
    assert_eq!(ids(&store.priors("none", 5).unwrap()), [""; 0]);
    let prior = PriorVerdict::of(&store.priors("memo", 1).unwrap()[0]);
    assert_eq!(prior.concerns, ["skeptic: skeptic doubts r/4 (L1)"]);
}

#[test]
fn a_page_holds_what_was_asked_for() {
    let bench = Bench::new();
    let store = bench.store();
    // A rehearsed or imported verdict is an ordinary row.
    let rehearsed = LogRow { rehearsal: true, ..log_row("r/2", "post", GateVerdict::Hold, 2) };
    let imported = LogRow { imported: true, ..log_row("r/3", "memo", GateVerdict::Hold, 3) };
    let rows = [log_row("r/1", "post", GateVerdict::Ship, 1), rehearsed, imported];
    log_rows(store, "r", &rows);
    let all = LogQuery::from_the_start(9);
    let check = |query: LogQuery, expected: &[&str]| assert_eq!(paged(store, &query), expected);
    check(all.clone(), &["r/1", "r/2", "r/3"]);
    check(LogQuery { limit: 2, ..all.clone() }, &["r/1", "r/2"]);
    check(LogQuery { limit: 2, stretch: LogStretch::Last, ..all.clone() }, &["r/2", "r/3"]);
    check(LogQuery { artifact_type: Some("post".into()), ..all.clone() }, &["r/1", "r/2"]);
    check(LogQuery { since: Some(rows[1].ts), ..all.clone() }, &["r/2", "r/3"]);
    let first = store.log_page(&all).unwrap().remove(0);
    check(LogQuery { stretch: LogStretch::After(first.seq), ..all }, &["r/2", "r/3"]);
}

#[test]
fn a_content_is_decided_once_it_is_not_incomplete() {
    let bench = Bench::new();
    let store = bench.store();
    let content = |id: &str, rehearsal| {
        let sha256 = plenary::domain::digest::sha256_hex([id.as_bytes()]);
        let found = store.decided(&ContentQuery { sha256, rehearsal }).unwrap();
        found.map(|decided| (decided.verdict_id, decided.verdict))
    };
    log_verdict(store, "r", 1, GateVerdict::Incomplete);
    assert_eq!(content("r/1", false), None);
    let rehearsed = LogRow { rehearsal: true, ..log_row("r/2", "post", GateVerdict::Hold, 2) };
    log_rows(store, "r", &[rehearsed]);
    assert_eq!(content("r/2", false), None);
    assert_eq!(content("r/2", true), Some(("r/2".into(), GateVerdict::Hold)));
    log_verdict(store, "r", 3, GateVerdict::Ship);
    assert_eq!(content("r/3", false), Some(("r/3".into(), GateVerdict::Ship)));
    assert_eq!(content("r/3", true), None);
}

#[test]
fn the_last_word_over_a_verdict_stands_and_all_are_kept() {
    let bench = Bench::new();
    let store = bench.store();
    log_verdict(store, "r", 1, GateVerdict::Hold);
    log_verdict(store, "r", 2, GateVerdict::Hold);
    let standing = |id: &str| store.logged(id).unwrap().unwrap().standing();
    assert_eq!(standing("r/1"), GateVerdict::Hold);
    override_verdict(store, "r", 1, Decision::Ship);
    override_verdict(store, "r", 1, Decision::Revise);
    assert_eq!((standing("r/1"), standing("r/2")), (GateVerdict::Revise, GateVerdict::Hold));
    let words = store.overrides("r/1").unwrap();
    let decisions: Vec<Decision> = words.iter().map(|word| word.decision).collect();
    assert_eq!(decisions, [Decision::Ship, Decision::Revise]);
    assert!(store.overrides("r/2").unwrap().is_empty());
    let page = store.log_page(&LogQuery::from_the_start(9)).unwrap();
    assert_eq!(page.len(), 2, "a row is told once, however often it was overridden");
    assert_eq!(page[0].overridden.as_ref(), words.last());
    bench.verify();
}

#[test]
fn what_says_the_same_is_known_whatever_its_id() {
    let bench = Bench::new();
    let row = log_verdict(bench.store(), "r", 1, GateVerdict::Hold);
    let alike =
        |row: &LogRow| bench.store().logged_alike(&row.fingerprint().unwrap()).unwrap().is_some();
    assert!(alike(&LogRow { verdict_id: None, imported: true, ..row.clone() }));
    assert!(!alike(&LogRow { producer: None, ..row.clone() }));
    assert!(!alike(&LogRow { rehearsal: true, ..row }));
}
