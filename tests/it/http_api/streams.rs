//! Event streams: nothing is missing and nothing comes twice, whatever happens to server and client.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use super::client::{EventStream, HUNG, StreamEvent, send, start_council, wait_for_state};
use crate::kit::TestProgram;
use crate::mcp::http_harness::HttpServerProcess;
use crate::mcp::run_tools::waiting_council;

/// Checks that the parts that a client received are the whole stream, in order and once.
#[track_caller]
fn check_whole(parts: &[StreamEvent], whole: &[StreamEvent]) {
    let ids = |events: &[StreamEvent]| -> Vec<String> {
        events.iter().map(|event| event.id.clone().unwrap()).collect()
    };
    assert_eq!(ids(parts), ids(whole));
    assert_eq!(parts, whole);
    let unique: BTreeSet<String> = ids(whole).into_iter().collect();
    assert_eq!(unique.len(), whole.len(), "an id comes twice");
}

#[test]
fn a_client_that_connects_again_at_any_event_gets_the_rest() {
    let program = TestProgram::new();
    let served = HttpServerProcess::new(&program);
    let id = start_council(&served, "Tea or coffee?");
    let whole = EventStream::open(&served, &[&id], None).read_until("stopped");
    assert!(whole.len() > 20, "{whole:?}");
    for place in (0..whole.len() - 1).step_by(3) {
        let after = whole[place].id.as_deref();
        let rest = EventStream::open(&served, &[&id], after).read_until("stopped");
        check_whole(&rest, &whole[place + 1..]);
    }
}

/// Two dialogues in one stream keep the order of the journal over both.
#[test]
fn one_stream_follows_several_dialogues() {
    let program = TestProgram::new();
    let served = HttpServerProcess::new(&program);
    let ids = ["Tea?", "Coffee?"].map(|question| start_council(&served, question));
    ids.iter().for_each(|id| wait_for_state(&served, id, "done"));
    let both = [ids[0].as_str(), ids[1].as_str()];
    let mut stream = EventStream::open(&served, &both, None);
    let mut events = stream.read_until("stopped");
    events.extend(stream.read_until("stopped"));
    let numbers: Vec<(u64, u64)> = events
        .iter()
        .map(|event| {
            let (seq, n) = event.id.as_deref().unwrap().split_once('.').unwrap();
            (seq.parse().unwrap(), n.parse().unwrap())
        })
        .collect();
    assert!(
        numbers.is_sorted() && numbers.windows(2).all(|pair| pair[0] != pair[1]),
        "{numbers:?}"
    );
    let middle = events.len() / 2;
    let mut stream = EventStream::open(&served, &both, events[middle].id.as_deref());
    let mut rest = Vec::new();
    while rest.len() < events.len() - middle - 1 {
        rest.extend(stream.next_event().filter(|event| event.id.is_some()));
    }
    check_whole(&rest, &events[middle + 1..]);
}

#[test]
fn a_server_that_is_killed_and_started_again_continues_the_stream() {
    let (council, is_open) = waiting_council();
    let mut served = HttpServerProcess::new(&council.program);
    let result = send(&served, "POST", "/api/ask", &json!({ "question": "Tea or coffee?" }));
    assert_eq!(result.status, 202, "{result:?}");
    let answer: Value = serde_json::from_str(&result.body).unwrap();
    let id = answer["dialogue_id"].as_str().unwrap();
    let mut got = EventStream::open(&served, &[id], None).read_until("call_sent");
    served.send_signal(Signal::KILL);
    served.wait_exit(HUNG).expect("it was killed");
    is_open.store(true, Ordering::SeqCst);
    let again = HttpServerProcess::new(&council.program);
    wait_for_state(&again, id, "interrupted");
    let last = got.last().unwrap().id.clone();
    let mut stream = EventStream::open(&again, &[id], last.as_deref());
    let result = send(&again, "POST", &format!("/api/dialogues/{id}/resume"), &json!({}));
    assert_eq!(result.status, 202, "{result:?}");
    got.extend(stream.read_until("stopped"));
    wait_for_state(&again, id, "done");
    let whole = EventStream::open(&again, &[id], None).read_until("stopped");
    check_whole(&got, &whole);
}

/// 200 clients, 50 of which never read, while 20 councils run: every council ends, and every client
/// that reads gets the whole stream.
#[test]
fn clients_that_do_not_read_hold_up_no_run_and_no_other_client() {
    let program = TestProgram::new();
    let served = HttpServerProcess::new(&program);
    let ids: Vec<String> =
        (0..20).map(|number| start_council(&served, &format!("Question {number}?"))).collect();
    let names: Vec<&str> = ids.iter().map(String::as_str).collect();
    let stalled: Vec<EventStream> =
        (0..50).map(|_| EventStream::open(&served, &names, None)).collect();
    let readers: Vec<EventStream> =
        (0..150).map(|place| EventStream::open(&served, &[names[place % 20]], None)).collect();
    for mut reader in readers {
        let events = reader.read_until("stopped");
        assert!(events.len() > 20, "{events:?}");
    }
    ids.iter().for_each(|id| wait_for_state(&served, id, "done"));
    drop(stalled);
}

#[test]
fn a_page_without_a_dialogue_learns_that_the_store_changed() {
    let program = TestProgram::new();
    let served = HttpServerProcess::new(&program);
    let mut stream = EventStream::open(&served, &[], None);
    let head = stream.read_head();
    for line in ["content-type: text/event-stream", "x-accel-buffering: no", "retry: 2000"] {
        assert!(head.contains(line), "{head}");
    }
    start_council(&served, "Tea or coffee?");
    let until = Instant::now() + Duration::from_secs(60);
    let event = stream.next_event().unwrap();
    assert!(Instant::now() < until && event.data["event"] == "changed", "{event:?}");
    let result = send(&served, "GET", "/api/events?dialogue=nothing-here", &Value::Null);
    assert_eq!(result.status, 404, "{result:?}");
}
