//! How a server ends: with its client, or when somebody says stop.

use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;

use super::agent::Agent;
use super::long_work::waiting;
use super::served::{Served, call, read};
use crate::kit::at;

/// A stream that is open and a call that waits keep no server alive, and its runs least of all.
#[test]
fn a_server_by_http_ends_when_it_is_told_whoever_is_connected() {
    let (council, _) = waiting();
    for signal in [Signal::INT, Signal::TERM] {
        let mut served = Served::new(&council.program);
        let session = served.greeted();
        let _stream = served.begin("GET", Some(&session), b"");
        let begun =
            served.post_in(&session, &call(2, "council_ask", &json!({ "question": "Tea?" })));
        let id = at(&begun.message(), "result.structuredContent.dialogue_id").clone();
        let looking =
            call(3, "deliberation_status", &json!({ "dialogue_id": id, "wait_seconds": 60 }));
        let waiting = served.begin("POST", Some(&session), looking.to_string().as_bytes());
        std::thread::sleep(Duration::from_millis(300));
        served.signal(signal);
        let ended = served.ended_within(Duration::from_secs(10));
        assert_eq!(ended.and_then(|status| status.code()), Some(0), "{signal:?}");
        // Whoever waited was told how it stands.
        let told = read(waiting).message();
        assert_eq!(at(&told, "result.structuredContent.status"), "interrupted", "{told:#}");
        let mut next = Agent::new(&council.program);
        let stand = next.must("deliberation_status", &json!({ "dialogue_id": id }));
        assert_eq!(at(&stand, "status"), "interrupted", "{stand:#}");
    }
}

#[test]
fn a_second_word_ends_a_server_at_once() {
    let (council, _) = waiting();
    let mut served = Served::new(&council.program);
    let session = served.greeted();
    let _stream = served.begin("GET", Some(&session), b"");
    std::thread::sleep(Duration::from_millis(300));
    served.signal(Signal::INT);
    std::thread::sleep(Duration::from_millis(200));
    served.signal(Signal::INT);
    let ended = served.ended_within(Duration::from_millis(1_000));
    assert_eq!(ended.and_then(|status| status.code()), Some(130));
}
