//! A process that dies after any entry of the journal: the resumed run ends as if nothing happened,
//! and pays no recorded reply twice.

use std::sync::Arc;

use plenary_core::model::ask::AskPurpose;
use plenary_core::model::journal::JournalEvent;
use plenary_core::model::run_state::RunState;
use plenary_core::report::graph::tension_board;
use serde_json::{Value, json};

use super::harness::{AlignmentRequest, AlignmentResult, AlignmentTest, Interference};
use super::sources::assert_sourced;
use crate::kit::ScriptedReply;

/// A Judge who errs once in round 0, creates an expert for round 1 and accepts a tension in round 2.
fn eventful(asked: &AlignmentRequest<'_>) -> Option<ScriptedReply> {
    match (asked.purpose, asked.round, asked.is_retry()) {
        (AskPurpose::Reconciliation, 0, false) => Some(asked.usual_with(json!({ "scores": [] }))),
        (AskPurpose::Panel, 1, _) => Some(asked.usual_with(json!({ "seats": [
            { "expert_slug": "muffin", "tensions": ["T0001"], "reason": "Owner.", "source": "retained" },
            { "expert_slug": "cupcake", "tensions": ["T0002"], "reason": "Owner.", "source": "retained" },
            { "role": "Tax Lawyer", "tier": "Adjacent", "focus": "Tax", "tensions": [],
                "reason": "Nobody knows the tax.", "directive": "Name the tax.", "source": "created" },
        ] }))),
        (AskPurpose::Reconciliation, 2, _) => Some(asked.usual_with(json!({
            "tension_updates": [],
            "accepted": [{ "id": "T0002", "reason": "A third is bearable." }],
        }))),
        _ => None,
    }
}

fn eventful_test() -> AlignmentTest {
    AlignmentTest::new(eventful).with_rules(|rules| rules.pool_only = false)
}

/// The export without what differs between two runs.
fn stable_export(ended: &AlignmentResult) -> Value {
    let mut export = ended.export.clone();
    let keys = ["created_at", "concluded_at", "headHash", "date", "id_hash", "metrics"];
    remove_keys(&mut export, &keys);
    remove_keys(&mut export, &["run_id", "starts", "latency_ms"]);
    export["id"] = Value::Null;
    export
}

fn remove_keys(value: &mut Value, keys: &[&str]) {
    match value {
        Value::Object(map) => {
            map.retain(|key, _| !keys.contains(&key.as_str()));
            map.values_mut().for_each(|value| remove_keys(value, keys));
        }
        Value::Array(items) => items.iter_mut().for_each(|value| remove_keys(value, keys)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The replies in a journal.
fn reply_count(ended: &AlignmentResult) -> usize {
    let state = RunState::from_entries(&ended.journal).unwrap();
    state.asks.iter().filter(|asked| asked.last_reply().is_some()).count()
}

#[test]
fn a_run_resumed_after_any_entry_ends_as_if_it_had_not_stopped() {
    let test = eventful_test();
    let whole = test.run();
    whole.expect_end("done", "converged", true, 3);
    assert_eq!(whole.export["experts"].as_array().unwrap().len(), 4, "one expert was created");
    // What is open has its owner and the item that addresses it, as they were in that round.
    let owners = [
        (0, "T0001 is open · owner Muffin: Income stops"),
        (1, "T0002 is addressed by R0101 · owner Cupcake: One name too large"),
    ];
    for (round, blocker) in owners {
        assert_eq!(whole.value_at(&format!("scoreboard.rounds.{round}.blockers.0")), blocker);
    }
    for (round, owner) in [(0, None), (1, Some("cupcake"))] {
        let record = test.store.load_record(&whole.id).unwrap().unwrap();
        let board = tension_board(record, Some(round));
        let mut cards = board.open.iter().chain(&board.addressed);
        let card = cards.find(|card| card.label == "One name too large").unwrap();
        assert_eq!(card.owner.as_ref().map(|slug| slug.as_str()), owner, "round {round}");
    }
    let expected = stable_export(&whole);
    for entries in 1..whole.journal.len() {
        let again = AlignmentTest::with_server(Arc::clone(&test.server));
        again.restore_journal(&whole.id, &whole.journal[..entries]);
        let before = test.server.requests().len();
        let known = {
            let state = RunState::from_entries(&whole.journal[..entries]).unwrap();
            state.asks.iter().filter(|asked| asked.last_reply().is_some()).count()
        };
        let resumed = again.resume(&whole.id);
        resumed.expect_end("done", "converged", true, 3);
        assert_eq!(stable_export(&resumed), expected, "after entry {entries}");
        let paid = test.server.requests().len() - before;
        assert_eq!(paid, reply_count(&whole) - known, "after entry {entries}");
    }
}

#[test]
fn a_process_that_dies_again_and_again_still_ends_in_the_same_record() {
    let test = eventful_test();
    let mut ended = test.run_with(None, &Interference::Die(2));
    let mut lives = 1;
    while ended.value_at("status") != "done" {
        lives += 1;
        assert!(lives < 60, "it never ends");
        ended = test.run_with(Some(&ended.id), &Interference::Die(3));
    }
    assert!(lives > 3, "only {lives} processes");
    ended.expect_end("done", "converged", true, 3);
    let starts = ended.journal.iter().flat_map(|entry| &entry.events);
    let starts = starts.filter(|event| matches!(event, JournalEvent::RunStarted { .. })).count();
    assert_eq!(starts, lives);
    assert_sourced(&test, &ended);
}
