//! Many calls and connections at once, against the real program.

use std::io::Write;
use std::net::TcpStream;
use std::sync::Barrier;

use serde_json::{Value, json};

use super::http_harness::{HttpServerProcess, ServerResponse, call_message};
use super::run_tools::waiting_council;
use super::stdio_client::StdioClient;
use crate::kit::{TestProgram, value_at};

/// Parallel runs of one server.
const RUNS_MAX: usize = 32;

/// Dialogues in the store of a folder.
fn count_dialogues(program: &TestProgram) -> usize {
    let store = rusqlite::Connection::open(program.path().join(".plenary/plenary.db")).unwrap();
    store.query_row("SELECT count(*) FROM dialogues", [], |row| row.get(0)).unwrap()
}

/// Number of started runs; the other calls must be rejected for the right reason.
#[track_caller]
fn count_started(answers: &[Value]) -> usize {
    let (refused, begun): (Vec<&Value>, Vec<&Value>) =
        answers.iter().partition(|answer| *value_at(answer, "result.isError") == json!(true));
    for answer in refused {
        let text = value_at(answer, "result.content.0.text").as_str().unwrap();
        assert!(text.contains("already runs 32 deliberations"), "{text}");
    }
    for answer in &begun {
        assert_eq!(value_at(answer, "result.structuredContent.status"), "running", "{answer:#}");
    }
    begun.len()
}

#[test]
fn three_hundred_questions_in_one_write_begin_thirty_two_runs() {
    let (council, _) = waiting_council();
    let mut agent = StdioClient::new(&council.program);
    let ask = json!({ "question": "Tea?", "conclusion": false });
    let lines: Vec<String> =
        (0..300).map(|id| format!("{}\n", call_message(1_000 + id, "council_ask", &ask))).collect();
    agent.send_bytes(lines.concat().as_bytes());
    let answers: Vec<Value> = (0..300).map(|_| agent.next_message()).collect();
    assert_eq!(count_started(&answers), RUNS_MAX);
    assert_eq!(count_dialogues(&council.program), RUNS_MAX);
}

#[test]
fn questions_by_http_that_arrive_together_begin_thirty_two_runs() {
    let (council, _) = waiting_council();
    let served = HttpServerProcess::new(&council.program);
    let session = served.open_session();
    let ask = json!({ "question": "Tea?", "conclusion": false });
    let ready = Barrier::new(60);
    let answers: Vec<Value> = std::thread::scope(|scope| {
        let asking: Vec<_> = (0..60)
            .map(|id| {
                let (served, session, ready) = (&served, &session, &ready);
                let message = call_message(1_000 + id, "council_ask", &ask);
                scope.spawn(move || {
                    ready.wait();
                    served.post_in_session(session, &message).parse_message()
                })
            })
            .collect();
        asking.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert_eq!(count_started(&answers), RUNS_MAX);
    assert_eq!(count_dialogues(&council.program), RUNS_MAX);
}

/// Resuming an interrupted run uses a slot too.
#[test]
fn runs_that_are_resumed_together_keep_to_the_same_limit() {
    let (council, _) = waiting_council();
    let mut ids = Vec::new();
    for _ in 0..2 {
        let mut agent = StdioClient::new(&council.program);
        for _ in 0..20 {
            let asked = agent.call_tool_ok("council_ask", &json!({ "question": "Tea?" }));
            ids.push(value_at(&asked, "dialogue_id").clone());
        }
        agent.kill_server();
    }
    let mut next = StdioClient::new(&council.program);
    let resume = |(place, id): (usize, &Value)| {
        let arguments = json!({ "dialogue_id": id, "resume": true });
        format!("{}\n", call_message(1_000 + place as u64, "deliberation_status", &arguments))
    };
    let lines: Vec<String> = ids.iter().enumerate().map(resume).collect();
    next.send_bytes(lines.concat().as_bytes());
    let answers: Vec<Value> = ids.iter().map(|_| next.next_message()).collect();
    assert_eq!(count_started(&answers), RUNS_MAX);
}

/// The server may open 256 files here; without its own limits it would run out.
#[test]
fn four_hundred_idle_connections_do_not_keep_the_owner_out() {
    let program = TestProgram::new();
    let served = HttpServerProcess::with_file_limit(&program, 256);
    let crowd: Vec<TcpStream> = (0..400)
        .filter_map(|place| {
            let mut stream = TcpStream::connect(&served.address).ok()?;
            if place % 2 == 0 {
                // Half of them start a request and never finish it.
                let _ = stream.write_all(b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ");
            }
            Some(stream)
        })
        .collect();
    assert!(crowd.len() >= 256, "{} connections were taken", crowd.len());
    let session = served.open_session();
    let ask = json!({ "question": "Tea?", "rehearse": true, "wait_seconds": 60 });
    let result: ServerResponse =
        served.post_in_session(&session, &call_message(2, "council_ask", &ask));
    assert_eq!(
        value_at(&result.parse_message(), "result.structuredContent.status"),
        "done",
        "{result:?}"
    );
    drop(crowd);
}
