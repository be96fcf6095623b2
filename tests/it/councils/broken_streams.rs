//! Replies while they are streamed: what a seat writes is shown, and a reply that breaks off is asked
//! for again and counted by an estimate.

use std::process::Stdio;
use std::time::{Duration, Instant};

use plenary_core::model::ask::{AskPurpose, CallErrorType, TokenUsage};
use plenary_core::model::journal::JournalEvent;
use plenary_engine::store::sqlite::store::SqliteStore;
use plenary_engine::store::traits::Store;
use serde_json::{Value, json};

use super::harness::TestCouncil;
use crate::kit::{ScriptedReply, StreamFault};
use crate::mcp::stdio_client::StdioClient;

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
    // Its tokens count where its cost counts, under the model that served the seat.
    let arrived = failure.arrived.unwrap();
    assert!(arrived.first_byte_ms.is_some());
    assert_eq!(arrived.usage.total_tokens(), estimated.tokens);
    let id = result.dialogue_id();
    let shown = council.run_command(&["show", id, "--call", &broken.to_string(), "--json"]);
    assert!(shown.value_at("timing.first_byte_ms").is_u64(), "{shown:?}");
    let sum = |part: fn(&TokenUsage) -> u64| -> u64 {
        let replies = changes().filter_map(|change| {
            if let JournalEvent::ReplyKept { reply, .. } = change {
                reply.usage
            } else if let JournalEvent::CallFailed { failure, .. } = change {
                failure.broken_usage()
            } else {
                None
            }
        });
        replies.map(|usage| part(&usage)).sum()
    };
    let tokens_in = sum(|usage| usage.input_tokens);
    assert_eq!(*result.value_at("metrics.session.total_tokens_in"), json!(tokens_in));
    let tokens_out = sum(|usage| usage.output_tokens);
    assert_eq!(*result.value_at("metrics.session.total_tokens_out"), json!(tokens_out));
    let report = council.run_command(&["cost", "--json"]);
    assert_eq!(*report.value_at("tokens_in"), json!(tokens_in));
    assert_eq!(report.value_at("rows").as_array().unwrap().len(), 4);
}

/// Cid writes its opinion for some seconds.
fn slow_council() -> TestCouncil {
    TestCouncil::new(|asked| match (asked.seat, asked.purpose) {
        ("cid", AskPurpose::Opinion) => {
            ScriptedReply::Faulty(StreamFault::Slow(Duration::from_millis(400)))
        }
        _ => ScriptedReply::Valid,
    })
}

#[test]
fn watchers_see_what_a_seat_writes_and_a_replay_does_not() {
    let council = slow_council();
    let mut command = council.program.command();
    command.args(["ask", "Shall we go ahead?", "--no-conclusion", "--json", "--quiet"]);
    let mut running = command.stdout(Stdio::null()).spawn().unwrap();
    let start = Instant::now();
    while council.call_count(AskPurpose::Opinion) < 3 {
        assert!(start.elapsed() < Duration::from_secs(60), "no call was made");
        std::thread::sleep(Duration::from_millis(10));
    }
    let watched = council.program.run_command(&["watch", "latest", "--json"]);
    assert!(running.wait().unwrap().success());
    let events: Vec<Value> =
        watched.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let written: Vec<&Value> = events
        .iter()
        .filter(|event| event["event"] == "writing" && event["seat"] == "cid")
        .filter(|event| event["round"] == 1)
        .collect();
    assert!(written.len() > 2, "{}", watched.stdout);
    let mut length = 0;
    for event in written {
        assert!(event.get("seq").is_none() && event.get("ts").is_none(), "{event}");
        let bytes = event["bytes"].as_u64().unwrap();
        assert!(bytes > length && !event["text"].as_str().unwrap().is_empty(), "{event}");
        length = bytes;
    }
    // It is shown before the reply is whole.
    let place = |found: &dyn Fn(&Value) -> bool| events.iter().position(found).unwrap();
    let is_reply = |event: &Value| event["event"] == "replied" && event["ask"]["seat"] == "cid";
    assert!(place(&|event| event["event"] == "writing") < place(&is_reply));
    let replayed = council.program.run_command(&["replay", "latest", "--json"]).stdout;
    assert!(!replayed.contains("\"writing\"") && replayed.contains("\"replied\""), "{replayed}");
}

#[test]
fn an_agent_that_waits_is_told_how_much_a_seat_wrote() {
    let council = slow_council();
    let mut agent = StdioClient::new(&council.program);
    let call = json!({
        "name": "council_ask",
        "arguments": { "question": "Tea?", "wait_seconds": 60, "conclusion": false },
        "_meta": { "progressToken": "here" },
    });
    let result = agent.request_ok("tools/call", &call);
    assert_eq!(result["structuredContent"]["status"], "done", "{result:#}");
    let outcome = agent.notices.iter().filter_map(|notice| notice["params"]["message"].as_str());
    let outcome: Vec<&str> = outcome.filter(|text| text.contains(" is writing, ")).collect();
    assert!(outcome.iter().any(|text| text.starts_with("cid is writing, ")), "{outcome:?}");
}
