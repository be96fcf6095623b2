//! Replies that break off while they are streamed: the engine asks again and counts an estimate.

use plenary_core::model::ask::{AskPurpose, CallErrorType};
use plenary_core::model::journal::JournalEvent;
use plenary_engine::store::sqlite::store::SqliteStore;
use plenary_engine::store::traits::Store;
use serde_json::json;

use super::harness::TestCouncil;
use crate::kit::{ScriptedReply, StreamFault};

#[test]
fn a_reply_that_breaks_off_is_asked_for_again_and_counted_by_what_arrived() {
    let council = TestCouncil::with_settings(
        |asked| match (asked.seat, asked.purpose, asked.nth) {
            ("ann", AskPurpose::Opinion, 1) => ScriptedReply::Faulty(StreamFault::Cut(900)),
            _ => ScriptedReply::Valid,
        },
        |settings| {
            settings["council"]["providers"][0]["price"] =
                json!({ "input_per_mtok": 1.0, "output_per_mtok": 10.0 });
        },
    );
    let result = council.run_ask(&[]);
    result.expect_status("done", 0);
    assert_eq!(result.value_at("panel.succeeded"), 4);
    let store = SqliteStore::open(&council.program.path().join(".plenary/plenary.db")).unwrap();
    let entries = store.load_entries(&result.dialogue_id().parse().unwrap(), 0).unwrap();
    let changes = || entries.iter().flat_map(|entry| &entry.events);
    let (broken, failure) = changes()
        .find_map(|change| {
            let JournalEvent::CallFailed { call, failure, .. } = change else { return None };
            Some((*call, failure))
        })
        .unwrap();
    assert_eq!(failure.error_type, CallErrorType::Network);
    let reserved = changes()
        .find_map(|change| {
            let JournalEvent::CallSent(sent) = change else { return None };
            (sent.call == broken).then_some(sent.reserved)
        })
        .unwrap();
    let estimated = failure.estimated.unwrap();
    assert!(estimated.tokens > 500 && estimated.tokens < reserved.tokens, "{estimated:?}");
    assert!(estimated.usd_micros < reserved.usd_micros && estimated.usd_micros > Some(0));
}
