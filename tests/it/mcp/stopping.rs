//! How a server exits: with its client, or on a signal.

use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;

use super::http_harness::{HttpServerProcess, call_message, read_response};
use super::run_tools::{first_dialogue, waiting_council};
use super::stdio_client::StdioClient;
use crate::kit::value_at;

/// An open stream and a waiting call do not keep the server alive; its runs are interrupted.
#[test]
fn a_server_by_http_ends_when_it_is_told_whoever_is_connected() {
    let (council, _) = waiting_council();
    for signal in [Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT] {
        let mut served = HttpServerProcess::new(&council.program);
        let session = served.open_session();
        let _stream = served.start_request("GET", Some(&session), b"");
        let begun = served.post_in_session(
            &session,
            &call_message(2, "council_ask", &json!({ "question": "Tea?" })),
        );
        let id = value_at(&begun.parse_message(), "result.structuredContent.dialogue_id").clone();
        let looking = call_message(
            3,
            "deliberation_status",
            &json!({ "dialogue_id": id, "wait_seconds": 60 }),
        );
        let waiting = served.start_request("POST", Some(&session), looking.to_string().as_bytes());
        std::thread::sleep(Duration::from_millis(300));
        served.send_signal(signal);
        let ended = served.wait_exit(Duration::from_secs(10));
        assert_eq!(ended.and_then(|status| status.code()), Some(0), "{signal:?}");
        // The waiting client gets the current status.
        let result = read_response(waiting).parse_message();
        assert_eq!(
            value_at(&result, "result.structuredContent.status"),
            "interrupted",
            "{result:#}"
        );
        let mut next = StdioClient::new(&council.program);
        let stand = next.call_tool_ok("deliberation_status", &json!({ "dialogue_id": id }));
        assert_eq!(value_at(&stand, "status"), "interrupted", "{stand:#}");
    }
}

/// Piped requests are answered after the input has ended.
#[test]
fn what_is_soon_done_is_answered_after_the_input_has_ended() {
    let mut agent = StdioClient::in_own_folder();
    let arguments =
        json!({ "question": "Tea?", "rehearse": true, "conclusion": false, "wait_seconds": 60 });
    let last = call_message(90, "council_ask", &arguments);
    agent.send_last(format!("{last}\n").as_bytes());
    let answer = agent.wait_answer(90);
    assert_eq!(value_at(&answer, "result.structuredContent.status"), "done", "{answer:#}");
}

/// The client is gone, so the server drops the waiting call.
#[test]
fn a_server_ends_with_its_client_also_while_a_call_waits() {
    let (council, _) = waiting_council();
    let mut agent = StdioClient::new(&council.program);
    let arguments = json!({ "question": "Tea?", "wait_seconds": 60 });
    let call = json!({ "name": "council_ask", "arguments": arguments });
    let id = agent.send_request("tools/call", &call);
    first_dialogue(&mut agent);
    agent.send_last(b"");
    // After five seconds the library drops unfinished calls without an answer.
    assert_eq!(agent.wait_exit(Duration::from_secs(20)), Some(0));
    let answer = agent.wait_answer(id);
    assert_eq!(value_at(&answer, "result.structuredContent.status"), "interrupted", "{answer:#}");
}

#[test]
fn a_second_word_ends_a_server_at_once() {
    let (council, _) = waiting_council();
    let mut served = HttpServerProcess::new(&council.program);
    let session = served.open_session();
    let _stream = served.start_request("GET", Some(&session), b"");
    std::thread::sleep(Duration::from_millis(300));
    served.send_signal(Signal::INT);
    std::thread::sleep(Duration::from_millis(200));
    served.send_signal(Signal::INT);
    let ended = served.wait_exit(Duration::from_secs(10));
    assert_eq!(ended.and_then(|status| status.code()), Some(130));
}
