//! The contract that every store backend must meet. A second backend adds a line to `new_stores` and
//! runs all tests.

use plenary_core::model::dialogue::{DialogueOpening, DialogueStatus, ProtocolKind, TerminalState};
use plenary_core::model::ids::DialogueId;
use plenary_core::model::intervention::Intervention;
use plenary_core::model::journal::{JournalEntryKind, JournalEvent};
use plenary_core::model::queries::{ConclusionQuery, DialogueQuery};
use plenary_core::model::record::LookupRequest;
use plenary_core::protocols::conclusion::types::{ConclusionOutcome, OutcomeKind};
use plenary_engine::clock::System;
use plenary_engine::store::error::StoreError;
use plenary_engine::store::sqlite::store::SqliteStore;
use plenary_engine::store::traits::{Store, in_transaction};
use tempfile::TempDir;

use crate::kit::{
    ConclusionSpec, FixedClock, insert_conclusion, insert_outcome, make_conclusion_result,
    open_spec_dialogue, parse_moment,
};

/// A new store of each backend.
fn new_stores() -> Vec<(TempDir, Box<dyn Store>)> {
    let folder = tempfile::tempdir().unwrap();
    let on_disk = SqliteStore::open(&folder.path().join("plenary.db")).unwrap();
    let in_memory = SqliteStore::in_memory().unwrap();
    vec![(folder, Box::new(on_disk)), (tempfile::tempdir().unwrap(), Box::new(in_memory))]
}

fn check_stores(law: impl Fn(&dyn Store)) {
    for (_folder, store) in new_stores() {
        law(store.as_ref());
        let verification = store.verify_record(None, None).unwrap();
        assert_eq!(verification.findings, [], "{store:?}");
    }
}

fn opening_event(id: &str, title: &str) -> JournalEvent {
    JournalEvent::DialogueOpened(DialogueOpening {
        dialogue_id: id.parse().unwrap(),
        title: title.into(),
        question: None,
        background: None,
        protocol: ProtocolKind::Alignment,
        rehearsal: false,
        convergence_percent: 100,
        panel_seed: None,
        output_dir: format!("dialogues/{id}"),
        calibrated: false,
        domain_id: None,
    })
}

fn open_dialogue(store: &dyn Store, clock: &FixedClock, id: &str) -> DialogueId {
    let dialogue_id: DialogueId = id.parse().unwrap();
    let at = clock.now();
    in_transaction(store, |unit| {
        unit.append_entry(
            &dialogue_id,
            JournalEntryKind::DialogueCreated,
            at,
            &[opening_event(id, "Same title")],
        )
    })
    .map(|_| dialogue_id.clone())
    .unwrap_or_else(|error: StoreError| panic!("{error:?}"))
}

/// Records a stop by the Principal and returns the number of its entry.
fn record_stop(store: &dyn Store, clock: &FixedClock, id: &DialogueId) -> u64 {
    let change = JournalEvent::Intervened { round: 1, intervention: Intervention::Stop };
    let at = clock.now();
    in_transaction(store, |unit| unit.append_entry(id, JournalEntryKind::Intervened, at, &[change]))
        .unwrap_or_else(|error: StoreError| panic!("{error:?}"))
}

#[test]
fn what_is_applied_is_there() {
    check_stores(|store| {
        let id = open_dialogue(store, &FixedClock::default(), "a");
        let dialogue = store.load_dialogue(&id).unwrap().unwrap();
        assert_eq!((dialogue.status, dialogue.next_round()), (DialogueStatus::Open, 0));
        assert!(store.load_dialogue(&"b".parse().unwrap()).unwrap().is_none());
    });
}

#[test]
fn an_entry_is_known_by_its_number_among_those_of_its_dialogue() {
    check_stores(|store| {
        let clock = FixedClock::default();
        let (a, b) = (open_dialogue(store, &clock, "a"), open_dialogue(store, &clock, "b"));
        let numbers = [&a, &b, &a, &a].map(|id| record_stop(store, &clock, id));
        assert_eq!(numbers, [2, 2, 3, 4]);
        let newest = store.load_entries(&a, 0).unwrap().last().map(|entry| entry.seq);
        assert_eq!(newest, Some(4));
    });
}

#[test]
fn the_newest_intervention_is_found_whosever_it_is() {
    check_stores(|store| {
        let clock = FixedClock::default();
        assert_eq!(store.last_intervention_seq().unwrap(), 0);
        let (a, b) = (open_dialogue(store, &clock, "a"), open_dialogue(store, &clock, "b"));
        assert_eq!(store.last_intervention_seq().unwrap(), 0, "opening is none");
        record_stop(store, &clock, &b);
        assert_eq!(store.last_intervention_seq().unwrap(), 3);
        open_dialogue(store, &clock, "c");
        assert_eq!(store.last_intervention_seq().unwrap(), 3);
        record_stop(store, &clock, &a);
        assert_eq!(store.last_intervention_seq().unwrap(), 5);
    });
}

#[test]
fn a_refused_unit_leaves_nothing() {
    check_stores(|store| {
        let clock = FixedClock::default();
        let before = store.verify_record(None, None).unwrap().head;
        let refused: Result<(), StoreError> = in_transaction(store, |unit| {
            unit.append_entry(
                &"a".parse().unwrap(),
                JournalEntryKind::DialogueCreated,
                clock.now(),
                &[opening_event("a", "T")],
            )?;
            Err(StoreError::DiskFull)
        });
        assert!(matches!(refused, Err(StoreError::DiskFull)));
        assert!(store.load_dialogue(&"a".parse().unwrap()).unwrap().is_none());
        assert_eq!(store.verify_record(None, None).unwrap().head, before);
    });
}

#[test]
fn a_unit_sees_what_it_has_just_done() {
    check_stores(|store| {
        let clock = FixedClock::default();
        let id: DialogueId = "a".parse().unwrap();
        let seen: Result<bool, StoreError> = in_transaction(store, |unit| {
            let before = unit.is_id_taken(&id)?;
            unit.append_entry(
                &id,
                JournalEntryKind::DialogueCreated,
                clock.now(),
                &[opening_event("a", "T")],
            )?;
            let dialogue = unit.load_dialogue(&id)?.unwrap();
            let facts = unit.look_up_record(&dialogue, &LookupRequest::default())?;
            Ok(!before && unit.is_id_taken(&id)? && facts.experts.is_empty())
        });
        assert!(seen.unwrap());
    });
}

#[test]
fn a_page_goes_on_where_the_last_one_ended() {
    check_stores(|store| {
        let clock = FixedClock::default();
        for id in ["a", "b", "c", "d", "e"] {
            open_dialogue(store, &clock, id);
        }
        let mut seen = Vec::new();
        let mut after = None;
        loop {
            let page = store
                .list_dialogues(&DialogueQuery {
                    limit: 2,
                    after: after.clone(),
                    ..DialogueQuery::default()
                })
                .unwrap();
            let Some(last) = page.last() else { break };
            after = Some(last.dialogue_id.clone());
            seen.extend(page.iter().map(|summary| summary.dialogue_id.to_string()));
        }
        assert_eq!(seen, ["e", "d", "c", "b", "a"]);
        let closed = DialogueQuery {
            limit: 9,
            status: Some(DialogueStatus::Abandoned),
            ..DialogueQuery::default()
        };
        assert!(store.list_dialogues(&closed).unwrap().is_empty());
        let protocol = Some(ProtocolKind::Alignment);
        let status = Some(DialogueStatus::Open);
        let aligned = DialogueQuery { limit: 9, status, protocol, ..DialogueQuery::default() };
        assert_eq!(store.list_dialogues(&aligned).unwrap().len(), 5);
    });
}

#[test]
fn dialogues_of_one_title_at_one_moment_are_told_apart() {
    check_stores(|store| {
        // A new clock each time, so both dialogues open at the same microsecond.
        let (a, b) = (
            open_dialogue(store, &FixedClock::default(), "a"),
            open_dialogue(store, &FixedClock::default(), "b"),
        );
        let created = |id| store.load_dialogue(id).unwrap().unwrap().created_at;
        assert_eq!(created(&a).next_moment(), Some(created(&b)));
    });
}

#[test]
fn the_head_moves_with_every_entry_and_old_heads_stay_valid() {
    check_stores(|store| {
        let clock = FixedClock::default();
        let id = open_dialogue(store, &clock, "a");
        let first = store.verify_record(Some(&id), None).unwrap();
        in_transaction(store, |unit| {
            let change =
                JournalEvent::StatusSet { status: DialogueStatus::Abandoned, reason: None };
            unit.append_entry(&id, JournalEntryKind::DialogueAbandoned, clock.now(), &[change])
        })
        .unwrap_or_else(|error: StoreError| panic!("{error:?}"));
        let second = store.verify_record(Some(&id), Some(&first.head)).unwrap();
        assert_eq!((first.entries, second.entries, second.findings.len()), (1, 2, 0));
        assert_ne!(first.head, second.head);
        let rewritten = store.verify_record(Some(&id), Some(&"ab".repeat(32))).unwrap();
        assert_eq!(rewritten.findings[0].check, "head");
    });
}

#[test]
fn words_are_found_all_first_then_some() {
    check_stores(|store| {
        let clock = FixedClock::default();
        for (id, title) in [("a", "Income mandate"), ("b", "Mandate"), ("c", "Something else")] {
            let at = clock.now();
            let done: Result<u64, StoreError> = in_transaction(store, |unit| {
                unit.append_entry(
                    &id.parse().unwrap(),
                    JournalEntryKind::DialogueCreated,
                    at,
                    &[opening_event(id, title)],
                )
            });
            done.unwrap();
        }
        let words = ["income".to_owned(), "mandates".to_owned()];
        let found: Vec<String> = store
            .search_texts(&words, 10)
            .unwrap()
            .iter()
            .map(|hit| hit.dialogue_id.to_string())
            .collect();
        assert_eq!(found, ["a", "b"]);
        assert!(store.search_texts(&["\"".to_owned(), "OR".to_owned()], 10).unwrap().is_empty());
    });
}

#[test]
fn an_ending_comes_back_as_it_was_written() {
    check_stores(|store| {
        let states = [None].into_iter().chain(TerminalState::ALL.iter().copied().map(Some));
        for (state, id) in states.zip(["a", "b", "c", "d"]) {
            let fate = ConclusionSpec { id, state, ..ConclusionSpec::default() };
            let id = insert_conclusion(store, &fate);
            let record = store.load_record(&id).unwrap().unwrap();
            let concluded = record.conclusion.unwrap();
            assert_eq!(concluded.ending, make_conclusion_result(&fate));
            assert_eq!(
                (concluded.at, concluded.outcomes),
                (parse_moment(fate.concluded_at), Vec::new())
            );
            assert_eq!(record.dialogue.terminal_state, state);
        }
        let id =
            open_spec_dialogue(store, &ConclusionSpec { id: "e", ..ConclusionSpec::default() });
        assert!(store.load_record(&id).unwrap().unwrap().conclusion.is_none());
    });
}

#[test]
fn experts_of_a_round_are_shown_no_conclusion() {
    check_stores(|store| {
        let id = insert_conclusion(store, &ConclusionSpec::default());
        let shown = store.visit_before(&id, 1, &mut |_, _| Ok(())).unwrap().unwrap();
        assert!(shown.conclusion.is_none());
    });
}

#[test]
fn outcomes_add_up_oldest_first() {
    check_stores(|store| {
        let id = insert_conclusion(store, &ConclusionSpec::default());
        insert_outcome(store, &id, OutcomeKind::Held, "2026-06-02T09:00:00Z");
        insert_outcome(store, &id, OutcomeKind::Mixed, "2027-06-02T09:00:00Z");
        let outcomes = store.load_record(&id).unwrap().unwrap().conclusion.unwrap().outcomes;
        let result: Vec<_> = outcomes
            .iter()
            .map(|(at, message)| (at.utc_day().iso_week(), message.outcome))
            .collect();
        let (first, second) = ("2026-W23".to_owned(), "2027-W22".to_owned());
        assert_eq!(result, [(first, OutcomeKind::Held), (second, OutcomeKind::Mixed)]);
    });
}

#[test]
fn an_outcome_needs_a_conclusion() {
    check_stores(|store| {
        let id = open_dialogue(store, &FixedClock::default(), "a");
        let before = store.verify_record(None, None).unwrap().head;
        let outcome = ConclusionOutcome { outcome: OutcomeKind::Held, note: None };
        let refused: Result<u64, StoreError> = in_transaction(store, |unit| {
            assert!(!unit.is_concluded(&id)?);
            let at = parse_moment("2026-06-02T09:00:00Z");
            unit.append_entry(
                &id,
                JournalEntryKind::OutcomeRecorded,
                at,
                &[JournalEvent::OutcomeRecorded(outcome)],
            )
        });
        assert!(refused.is_err());
        assert_eq!(store.verify_record(None, None).unwrap().head, before);
        let other = insert_conclusion(
            store,
            &ConclusionSpec { id: "b", state: None, ..ConclusionSpec::default() },
        );
        let concluded: Result<bool, StoreError> =
            in_transaction(store, |unit| unit.is_concluded(&other));
        assert!(concluded.unwrap());
    });
}

fn conclusion_ids(store: &dyn Store, limit: usize, since: Option<&str>) -> Vec<String> {
    let query = ConclusionQuery { limit, since: since.map(parse_moment) };
    let found = store.list_endings(&query).unwrap();
    found.iter().map(|ended| ended.dialogue_id.to_string()).collect()
}

#[test]
fn endings_come_newest_first_without_rehearsals_and_unaudited_ones() {
    check_stores(|store| {
        let fates = [
            ConclusionSpec {
                id: "old",
                concluded_at: "2026-01-05T09:00:00Z",
                ..ConclusionSpec::default()
            },
            ConclusionSpec {
                id: "played",
                concluded_at: "2026-01-06T09:00:00Z",
                rehearsal: true,
                ..ConclusionSpec::default()
            },
            ConclusionSpec {
                id: "unseen",
                concluded_at: "2026-01-07T09:00:00Z",
                state: None,
                ..ConclusionSpec::default()
            },
            ConclusionSpec {
                id: "torn",
                concluded_at: "2026-01-08T09:00:00Z",
                state: Some(TerminalState::Unconverged),
                protocol: ProtocolKind::Alignment,
                critic: ("gemini", "gemini-2.0-flash"),
                ..ConclusionSpec::default()
            },
            ConclusionSpec {
                id: "mended",
                state: Some(TerminalState::Revised),
                ..ConclusionSpec::default()
            },
        ];
        for fate in &fates {
            insert_conclusion(store, fate);
        }
        open_spec_dialogue(
            store,
            &ConclusionSpec { id: "running", title: "Another", ..ConclusionSpec::default() },
        );
        assert_eq!(conclusion_ids(store, 9, None), ["mended", "torn", "old"]);
        assert_eq!(conclusion_ids(store, 2, None), ["mended", "torn"]);
        let since = Some("2026-01-08T09:00:00Z");
        assert_eq!(conclusion_ids(store, 9, since), ["mended", "torn"], "that moment included");
        assert_eq!(conclusion_ids(store, 9, Some("2026-01-08T09:00:00.000001Z")), ["mended"]);
        let torn = &store.list_endings(&ConclusionQuery { limit: 9, since: None }).unwrap()[1];
        assert_eq!(torn.terminal_state, TerminalState::Unconverged);
        assert_eq!(
            (torn.protocol, torn.at),
            (ProtocolKind::Alignment, parse_moment(fates[3].concluded_at))
        );
        assert_eq!(Some(torn.critic.clone()), make_conclusion_result(&fates[3]).critic);
    });
}

fn due_ids(store: &dyn Store, by: &str) -> Vec<String> {
    let due = store.list_due(by.parse().unwrap(), 9).unwrap();
    due.iter().map(|due| due.dialogue_id.to_string()).collect()
}

#[test]
fn conclusions_fall_due_on_their_day_until_an_outcome_is_recorded() {
    check_stores(|store| {
        let unconverged = Some(TerminalState::Unconverged);
        let fates = [
            ConclusionSpec {
                id: "late",
                title: "Late",
                review_by: "2026-06-02",
                ..ConclusionSpec::default()
            },
            ConclusionSpec {
                id: "soon",
                title: "Soon",
                review_by: "2026-05-31",
                state: None,
                ..ConclusionSpec::default()
            },
            ConclusionSpec {
                id: "same",
                title: "Same",
                review_by: "2026-05-31",
                ..ConclusionSpec::default()
            },
            ConclusionSpec {
                id: "played",
                rehearsal: true,
                review_by: "2026-05-30",
                ..ConclusionSpec::default()
            },
            ConclusionSpec {
                id: "torn",
                state: unconverged,
                review_by: "2026-05-30",
                ..ConclusionSpec::default()
            },
        ];
        for fate in &fates {
            insert_conclusion(store, fate);
        }
        assert!(due_ids(store, "2026-05-30").is_empty());
        assert_eq!(due_ids(store, "2026-05-31"), ["same", "soon"]);
        assert_eq!(due_ids(store, "2026-06-01"), ["same", "soon"]);
        assert_eq!(due_ids(store, "2026-06-02"), ["same", "soon", "late"]);
        let found = store.list_due("2026-06-02".parse().unwrap(), 2).unwrap();
        assert_eq!(found.len(), 2, "at most as many as asked for");
        let soon = &found[1];
        assert_eq!((soon.title.as_str(), soon.terminal_state), ("Soon", None));
        assert_eq!(soon.recommendation, fates[1].recommendation);
        assert_eq!(soon.review_by.to_string(), "2026-05-31");
        insert_outcome(
            store,
            &"same".parse().unwrap(),
            OutcomeKind::Failed,
            "2026-06-01T09:00:00Z",
        );
        assert_eq!(due_ids(store, "2026-06-02"), ["soon", "late"]);
    });
}

#[test]
fn what_was_concluded_is_found_and_what_was_rejected_is_not() {
    check_stores(|store| {
        let unconverged = Some(TerminalState::Unconverged);
        insert_conclusion(
            store,
            &ConclusionSpec { id: "clean", title: "One", ..ConclusionSpec::default() },
        );
        insert_conclusion(
            store,
            &ConclusionSpec {
                id: "torn",
                title: "Two",
                state: unconverged,
                ..ConclusionSpec::default()
            },
        );
        for word in ["catalogue", "outnumber", "stale"] {
            let hits = store.search_texts(&[word.to_owned()], 9).unwrap();
            let found: Vec<_> =
                hits.iter().map(|hit| (hit.dialogue_id.as_str(), hit.field.name())).collect();
            assert_eq!(found, [("clean", "conclusion")], "{word}");
        }
    });
}
