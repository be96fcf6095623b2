//! The contract that every store backend must meet. A second backend adds a line to `new_stores` and
//! runs all tests.

use plenary::ambient::Ambient;
use plenary::domain::catalogue::{EndingQuery, ListQuery};
use plenary::domain::change::{Change, EntryKind};
use plenary::domain::conclusion::OutcomeWord;
use plenary::domain::dialogue::{DialogueStatus, Opening, Protocol, TerminalState};
use plenary::domain::facts::Mentions;
use plenary::domain::ids::DialogueId;
use plenary::domain::intervention::Intervention;
use plenary::store::{SqliteStore, Store, StoreError, transact};
use tempfile::TempDir;

use crate::kit::{Fate, Still, conclude, ending, moment, open_for, record_outcome};

/// A new store of each backend.
fn stores() -> Vec<(TempDir, Box<dyn Store>)> {
    let folder = tempfile::tempdir().unwrap();
    let on_disk = SqliteStore::open(&folder.path().join("plenary.db")).unwrap();
    let in_memory = SqliteStore::in_memory().unwrap();
    vec![(folder, Box::new(on_disk)), (tempfile::tempdir().unwrap(), Box::new(in_memory))]
}

fn check(law: impl Fn(&dyn Store)) {
    for (_folder, store) in stores() {
        law(store.as_ref());
        let verification = store.verify(None, None).unwrap();
        assert_eq!(verification.findings, [], "{store:?}");
    }
}

fn opening(id: &str, title: &str) -> Change {
    Change::DialogueOpened(Opening {
        dialogue_id: id.parse().unwrap(),
        title: title.into(),
        question: None,
        background: None,
        protocol: Protocol::Alignment,
        rehearsal: false,
        convergence_percent: 100,
        panel_seed: None,
        output_dir: format!("dialogues/{id}"),
    })
}

fn open(store: &dyn Store, clock: &Still, id: &str) -> DialogueId {
    let dialogue_id: DialogueId = id.parse().unwrap();
    let at = clock.now();
    transact(store, |unit| {
        unit.apply(&dialogue_id, EntryKind::DialogueCreated, at, &[opening(id, "Same title")])
    })
    .map(|_| dialogue_id.clone())
    .unwrap_or_else(|error: StoreError| panic!("{error:?}"))
}

/// Records a stop by the Principal and returns the number of its entry.
fn intervene(store: &dyn Store, clock: &Still, id: &DialogueId) -> u64 {
    let change = Change::Intervened { round: 1, intervention: Intervention::Stop };
    let at = clock.now();
    transact(store, |unit| unit.apply(id, EntryKind::Intervened, at, &[change]))
        .unwrap_or_else(|error: StoreError| panic!("{error:?}"))
}

#[test]
fn what_is_applied_is_there() {
    check(|store| {
        let id = open(store, &Still::default(), "a");
        let dialogue = store.dialogue(&id).unwrap().unwrap();
        assert_eq!((dialogue.status, dialogue.next_round()), (DialogueStatus::Open, 0));
        assert!(store.dialogue(&"b".parse().unwrap()).unwrap().is_none());
    });
}

#[test]
fn an_entry_is_known_by_its_number_among_those_of_its_dialogue() {
    check(|store| {
        let clock = Still::default();
        let (a, b) = (open(store, &clock, "a"), open(store, &clock, "b"));
        let numbers = [&a, &b, &a, &a].map(|id| intervene(store, &clock, id));
        assert_eq!(numbers, [2, 2, 3, 4]);
        let newest = store.entries(&a, 0).unwrap().last().map(|entry| entry.seq);
        assert_eq!(newest, Some(4));
    });
}

#[test]
fn the_newest_intervention_is_found_whosever_it_is() {
    check(|store| {
        let clock = Still::default();
        assert_eq!(store.last_intervention().unwrap(), 0);
        let (a, b) = (open(store, &clock, "a"), open(store, &clock, "b"));
        assert_eq!(store.last_intervention().unwrap(), 0, "opening is none");
        intervene(store, &clock, &b);
        assert_eq!(store.last_intervention().unwrap(), 3);
        open(store, &clock, "c");
        assert_eq!(store.last_intervention().unwrap(), 3);
        intervene(store, &clock, &a);
        assert_eq!(store.last_intervention().unwrap(), 5);
    });
}

#[test]
fn a_refused_unit_leaves_nothing() {
    check(|store| {
        let clock = Still::default();
        let before = store.verify(None, None).unwrap().head;
        let refused: Result<(), StoreError> = transact(store, |unit| {
            unit.apply(
                &"a".parse().unwrap(),
                EntryKind::DialogueCreated,
                clock.now(),
                &[opening("a", "T")],
            )?;
            Err(StoreError::DiskFull)
        });
        assert!(matches!(refused, Err(StoreError::DiskFull)));
        assert!(store.dialogue(&"a".parse().unwrap()).unwrap().is_none());
        assert_eq!(store.verify(None, None).unwrap().head, before);
    });
}

#[test]
fn a_unit_sees_what_it_has_just_done() {
    check(|store| {
        let clock = Still::default();
        let id: DialogueId = "a".parse().unwrap();
        let seen: Result<bool, StoreError> = transact(store, |unit| {
            let before = unit.is_taken(&id)?;
            unit.apply(&id, EntryKind::DialogueCreated, clock.now(), &[opening("a", "T")])?;
            let dialogue = unit.dialogue(&id)?.unwrap();
            let facts = unit.facts(&dialogue, &Mentions::default())?;
            Ok(!before && unit.is_taken(&id)? && facts.experts.is_empty())
        });
        assert!(seen.unwrap());
    });
}

#[test]
fn a_page_goes_on_where_the_last_one_ended() {
    check(|store| {
        let clock = Still::default();
        for id in ["a", "b", "c", "d", "e"] {
            open(store, &clock, id);
        }
        let mut seen = Vec::new();
        let mut after = None;
        loop {
            let page = store
                .list(&ListQuery { limit: 2, after: after.clone(), ..ListQuery::default() })
                .unwrap();
            let Some(last) = page.last() else { break };
            after = Some(last.dialogue_id.clone());
            seen.extend(page.iter().map(|summary| summary.dialogue_id.to_string()));
        }
        assert_eq!(seen, ["e", "d", "c", "b", "a"]);
        let closed =
            ListQuery { limit: 9, status: Some(DialogueStatus::Abandoned), ..ListQuery::default() };
        assert!(store.list(&closed).unwrap().is_empty());
        let protocol = Some(Protocol::Alignment);
        let aligned =
            ListQuery { limit: 9, status: Some(DialogueStatus::Open), protocol, after: None };
        assert_eq!(store.list(&aligned).unwrap().len(), 5);
    });
}

#[test]
fn dialogues_of_one_title_at_one_moment_are_told_apart() {
    check(|store| {
        // A new clock each time, so both dialogues open at the same microsecond.
        let (a, b) = (open(store, &Still::default(), "a"), open(store, &Still::default(), "b"));
        let created = |id| store.dialogue(id).unwrap().unwrap().created_at;
        assert_eq!(created(&a).bumped(), Some(created(&b)));
    });
}

#[test]
fn the_head_moves_with_every_entry_and_old_heads_stay_valid() {
    check(|store| {
        let clock = Still::default();
        let id = open(store, &clock, "a");
        let first = store.verify(Some(&id), None).unwrap();
        transact(store, |unit| {
            let change = Change::StatusSet { status: DialogueStatus::Abandoned, reason: None };
            unit.apply(&id, EntryKind::DialogueAbandoned, clock.now(), &[change])
        })
        .unwrap_or_else(|error: StoreError| panic!("{error:?}"));
        let second = store.verify(Some(&id), Some(&first.head)).unwrap();
        assert_eq!((first.entries, second.entries, second.findings.len()), (1, 2, 0));
        assert_ne!(first.head, second.head);
        let rewritten = store.verify(Some(&id), Some(&"ab".repeat(32))).unwrap();
        assert_eq!(rewritten.findings[0].check, "head");
    });
}

#[test]
fn words_are_found_all_first_then_some() {
    check(|store| {
        let clock = Still::default();
        for (id, title) in [("a", "Income mandate"), ("b", "Mandate"), ("c", "Something else")] {
            let at = clock.now();
            let done: Result<u64, StoreError> = transact(store, |unit| {
                unit.apply(
                    &id.parse().unwrap(),
                    EntryKind::DialogueCreated,
                    at,
                    &[opening(id, title)],
                )
            });
            done.unwrap();
        }
        let words = ["income".to_owned(), "mandates".to_owned()];
        let found: Vec<String> = store
            .search(&words, 10)
            .unwrap()
            .iter()
            .map(|hit| hit.dialogue_id.to_string())
            .collect();
        assert_eq!(found, ["a", "b"]);
        assert!(store.search(&["\"".to_owned(), "OR".to_owned()], 10).unwrap().is_empty());
    });
}

#[test]
fn an_ending_comes_back_as_it_was_written() {
    check(|store| {
        let states = [None].into_iter().chain(TerminalState::ALL.iter().copied().map(Some));
        for (state, id) in states.zip(["a", "b", "c", "d"]) {
            let fate = Fate { id, state, ..Fate::default() };
            let id = conclude(store, &fate);
            let record = store.record(&id).unwrap().unwrap();
            let concluded = record.conclusion.unwrap();
            assert_eq!(concluded.ending, ending(&fate));
            assert_eq!((concluded.at, concluded.outcomes), (moment(fate.at), Vec::new()));
            assert_eq!(record.dialogue.terminal_state, state);
        }
        let id = open_for(store, &Fate { id: "e", ..Fate::default() });
        assert!(store.record(&id).unwrap().unwrap().conclusion.is_none());
    });
}

#[test]
fn experts_of_a_round_are_shown_no_conclusion() {
    check(|store| {
        let id = conclude(store, &Fate::default());
        let shown = store.show_before(&id, 1, &mut |_, _| Ok(())).unwrap().unwrap();
        assert!(shown.conclusion.is_none());
    });
}

#[test]
fn outcomes_add_up_oldest_first() {
    check(|store| {
        let id = conclude(store, &Fate::default());
        record_outcome(store, &id, OutcomeWord::Held, "2026-06-02T09:00:00Z");
        record_outcome(store, &id, OutcomeWord::Mixed, "2027-06-02T09:00:00Z");
        let outcomes = store.record(&id).unwrap().unwrap().conclusion.unwrap().outcomes;
        let told: Vec<_> =
            outcomes.iter().map(|(at, said)| (at.day().week(), said.outcome)).collect();
        let (first, second) = ("2026-W23".to_owned(), "2027-W22".to_owned());
        assert_eq!(told, [(first, OutcomeWord::Held), (second, OutcomeWord::Mixed)]);
    });
}

#[test]
fn an_outcome_needs_a_conclusion() {
    check(|store| {
        let id = open(store, &Still::default(), "a");
        let before = store.verify(None, None).unwrap().head;
        let outcome =
            plenary::domain::conclusion::Outcome { outcome: OutcomeWord::Held, note: None };
        let refused: Result<u64, StoreError> = transact(store, |unit| {
            assert!(!unit.is_concluded(&id)?);
            let at = moment("2026-06-02T09:00:00Z");
            unit.apply(&id, EntryKind::OutcomeRecorded, at, &[Change::OutcomeRecorded(outcome)])
        });
        assert!(refused.is_err());
        assert_eq!(store.verify(None, None).unwrap().head, before);
        let other = conclude(store, &Fate { id: "b", state: None, ..Fate::default() });
        let concluded: Result<bool, StoreError> = transact(store, |unit| unit.is_concluded(&other));
        assert!(concluded.unwrap());
    });
}

fn ids_of_endings(store: &dyn Store, limit: usize, since: Option<&str>) -> Vec<String> {
    let query = EndingQuery { limit, since: since.map(moment) };
    let found = store.endings(&query).unwrap();
    found.iter().map(|ended| ended.dialogue_id.to_string()).collect()
}

#[test]
fn endings_come_newest_first_without_rehearsals_and_unaudited_ones() {
    check(|store| {
        let fates = [
            Fate { id: "old", at: "2026-01-05T09:00:00Z", ..Fate::default() },
            Fate { id: "played", at: "2026-01-06T09:00:00Z", rehearsal: true, ..Fate::default() },
            Fate { id: "unseen", at: "2026-01-07T09:00:00Z", state: None, ..Fate::default() },
            Fate {
                id: "torn",
                at: "2026-01-08T09:00:00Z",
                state: Some(TerminalState::Unconverged),
                protocol: Protocol::Alignment,
                critic: ("gemini", "gemini-2.0-flash"),
                ..Fate::default()
            },
            Fate { id: "mended", state: Some(TerminalState::Revised), ..Fate::default() },
        ];
        for fate in &fates {
            conclude(store, fate);
        }
        open_for(store, &Fate { id: "running", title: "Another", ..Fate::default() });
        assert_eq!(ids_of_endings(store, 9, None), ["mended", "torn", "old"]);
        assert_eq!(ids_of_endings(store, 2, None), ["mended", "torn"]);
        let since = Some("2026-01-08T09:00:00Z");
        assert_eq!(ids_of_endings(store, 9, since), ["mended", "torn"], "that moment included");
        assert_eq!(ids_of_endings(store, 9, Some("2026-01-08T09:00:00.000001Z")), ["mended"]);
        let torn = &store.endings(&EndingQuery { limit: 9, since: None }).unwrap()[1];
        assert_eq!(torn.terminal_state, TerminalState::Unconverged);
        assert_eq!((torn.protocol, torn.at), (Protocol::Alignment, moment(fates[3].at)));
        assert_eq!(Some(torn.critic.clone()), ending(&fates[3]).critic);
    });
}

fn ids_due(store: &dyn Store, by: &str) -> Vec<String> {
    let due = store.due(by.parse().unwrap(), 9).unwrap();
    due.iter().map(|due| due.dialogue_id.to_string()).collect()
}

#[test]
fn conclusions_fall_due_on_their_day_until_an_outcome_is_recorded() {
    check(|store| {
        let unconverged = Some(TerminalState::Unconverged);
        let fates = [
            Fate { id: "late", title: "Late", review_by: "2026-06-02", ..Fate::default() },
            Fate {
                id: "soon",
                title: "Soon",
                review_by: "2026-05-31",
                state: None,
                ..Fate::default()
            },
            Fate { id: "same", title: "Same", review_by: "2026-05-31", ..Fate::default() },
            Fate { id: "played", rehearsal: true, review_by: "2026-05-30", ..Fate::default() },
            Fate { id: "torn", state: unconverged, review_by: "2026-05-30", ..Fate::default() },
        ];
        for fate in &fates {
            conclude(store, fate);
        }
        assert!(ids_due(store, "2026-05-30").is_empty());
        assert_eq!(ids_due(store, "2026-05-31"), ["same", "soon"]);
        assert_eq!(ids_due(store, "2026-06-01"), ["same", "soon"]);
        assert_eq!(ids_due(store, "2026-06-02"), ["same", "soon", "late"]);
        let found = store.due("2026-06-02".parse().unwrap(), 2).unwrap();
        assert_eq!(found.len(), 2, "at most as many as asked for");
        let soon = &found[1];
        assert_eq!((soon.title.as_str(), soon.terminal_state), ("Soon", None));
        assert_eq!(soon.recommendation, fates[1].recommendation);
        assert_eq!(soon.review_by.to_string(), "2026-05-31");
        record_outcome(
            store,
            &"same".parse().unwrap(),
            OutcomeWord::Failed,
            "2026-06-01T09:00:00Z",
        );
        assert_eq!(ids_due(store, "2026-06-02"), ["soon", "late"]);
    });
}

#[test]
fn what_was_concluded_is_found_and_what_was_rejected_is_not() {
    check(|store| {
        let unconverged = Some(TerminalState::Unconverged);
        conclude(store, &Fate { id: "clean", title: "One", ..Fate::default() });
        conclude(store, &Fate { id: "torn", title: "Two", state: unconverged, ..Fate::default() });
        for word in ["catalogue", "outnumber", "stale"] {
            let hits = store.search(&[word.to_owned()], 9).unwrap();
            let found: Vec<_> =
                hits.iter().map(|hit| (hit.dialogue_id.as_str(), hit.field.name())).collect();
            assert_eq!(found, [("clean", "conclusion")], "{word}");
        }
    });
}
