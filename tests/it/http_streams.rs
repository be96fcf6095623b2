//! Streamed replies over HTTP: whole, broken off at every stage, slow, silent, and servers that
//! cannot stream.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use plenary_core::model::ask::{AskMessages, AskPurpose, CallErrorType, RequestParameter};
use plenary_engine::providers::call_progress::{PartialTextSink, SilenceTimer};
use plenary_engine::providers::http::HttpTransport;
use plenary_engine::providers::http_clients::HttpClients;
use plenary_engine::providers::transport::{CallError, CallReply, CallRequest, Dialect};
use serde_json::json;

use crate::kit::{ModelRequest, ModelServer, ScriptedReply, StreamFault};

const SILENCE: Duration = Duration::from_secs(20);

/// What a call to this server gives, and the partial text that it showed.
fn sample_request(silence: Duration) -> CallRequest {
    CallRequest {
        seat: "ann".parse().unwrap(),
        round: 1,
        purpose: AskPurpose::Opinion,
        messages: Arc::new(AskMessages::new("You are a participant of a council.", "Shall we?")),
        schema: None,
        is_stricter: false,
        timer: SilenceTimer::start(silence),
        partial_text: None,
    }
}

/// The results of two calls by one transport. The engine repeats a call whose parameter the server
/// refused; the transport remembers what to leave out.
fn ask_twice(
    server: &ModelServer,
    dialect: Dialect,
) -> (Result<CallReply, CallError>, Result<CallReply, CallError>) {
    let provider = Arc::new(server.make_provider("ann", dialect));
    let transport = HttpTransport::new(provider, Arc::new(HttpClients::new()));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let send = || runtime.block_on(transport.send(&sample_request(SILENCE)));
    (send(), send())
}

fn ask_server(
    server: &ModelServer,
    dialect: Dialect,
    silence: Duration,
) -> (Result<CallReply, CallError>, String) {
    let shown: Arc<Mutex<String>> = Arc::default();
    let kept = Arc::clone(&shown);
    let request = CallRequest {
        partial_text: Some(PartialTextSink::new(move |text| {
            kept.lock().unwrap().push_str(text);
        })),
        ..sample_request(silence)
    };
    let provider = Arc::new(server.make_provider("ann", dialect));
    let transport = HttpTransport::new(provider, Arc::new(HttpClients::new()));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let result = runtime.block_on(transport.send(&request));
    let shown = shown.lock().unwrap().clone();
    (result, shown)
}

fn server_with(play: ScriptedReply) -> ModelServer {
    ModelServer::start(move |_| play.clone())
}

#[test]
fn a_streamed_reply_is_the_reply_of_a_whole_body() {
    for dialect in Dialect::ALL {
        let server = server_with(ScriptedReply::Valid);
        let (streamed, shown) = ask_server(&server, *dialect, SILENCE);
        let streamed = streamed.unwrap();
        assert_eq!(shown, streamed.text, "{dialect}");
        let whole = server_with(ScriptedReply::Whole(Box::new(ScriptedReply::Valid)));
        let (whole, nothing) = ask_server(&whole, *dialect, SILENCE);
        assert_eq!(whole.unwrap(), streamed, "{dialect}");
        assert_eq!(nothing, "", "{dialect}");
        assert!(server.requests().iter().all(|seen| seen.streamed));
    }
}

#[test]
fn a_stream_broken_off_at_any_stage_is_a_failed_call() {
    let cuts: Arc<Mutex<StreamFault>> = Arc::new(Mutex::new(StreamFault::Cut(0)));
    for dialect in Dialect::ALL {
        let script = Arc::clone(&cuts);
        let server = ModelServer::start(move |_| ScriptedReply::Faulty(*script.lock().unwrap()));
        let mut whole_after = None;
        for bytes in (0..6_000).step_by(149) {
            for fault in [StreamFault::Cut(bytes), StreamFault::Ended(bytes)] {
                *cuts.lock().unwrap() = fault;
                let (result, shown) = ask_server(&server, *dialect, SILENCE);
                match result {
                    // Only a stream whose end arrived is a reply.
                    Ok(reply) => {
                        assert_eq!(reply.text, shown, "{dialect} {fault:?}");
                        whole_after.get_or_insert((bytes, reply.text));
                    }
                    Err(error) => {
                        assert_eq!(error.error_type, CallErrorType::Network, "{dialect} {fault:?}");
                        // What breaks after the end of a reply does not break the reply.
                        assert_eq!(whole_after, None, "{dialect} {fault:?}");
                    }
                }
            }
        }
        let (bytes, text) = whole_after.unwrap();
        assert!(bytes > 1_000 && text.ends_with('}'), "{dialect} {bytes}: {text}");
    }
}

#[test]
fn a_reply_whose_end_arrived_is_kept_whatever_the_connection_does_then() {
    use StreamFault::{CutAfterEnd, OpenAfterEnd, Undeclared};
    for dialect in Dialect::ALL {
        let whole = ask_server(&server_with(ScriptedReply::Valid), *dialect, SILENCE).0.unwrap();
        for fault in [OpenAfterEnd, CutAfterEnd, Undeclared] {
            let server = server_with(ScriptedReply::Faulty(fault));
            let start = Instant::now();
            let (reply, shown) = ask_server(&server, *dialect, SILENCE);
            assert!(start.elapsed() < Duration::from_secs(5), "{dialect} {fault:?}");
            assert_eq!(shown, whole.text, "{dialect} {fault:?}");
            assert_eq!(reply.unwrap(), whole, "{dialect} {fault:?}");
            // The wait for the end is shorter than any silence that is allowed.
            let reply = ask_server(&server, *dialect, Duration::from_millis(300)).0;
            assert_eq!(reply.unwrap(), whole, "{dialect} {fault:?}");
        }
    }
}

#[test]
fn a_connection_that_breaks_says_after_how_many_bytes() {
    let server = server_with(ScriptedReply::Faulty(StreamFault::Cut(700)));
    let error = ask_server(&server, Dialect::OpenAi, SILENCE).0.unwrap_err();
    let printed = " broke the connection after 700 bytes of its reply";
    assert!(error.message.ends_with(printed), "{error}");
}

#[test]
fn a_silent_stream_ends_with_its_time_and_a_slow_one_does_not() {
    for dialect in Dialect::ALL {
        for bytes in [0, 300, 900] {
            let server = server_with(ScriptedReply::Faulty(StreamFault::Silent(bytes)));
            let (result, _) = ask_server(&server, *dialect, Duration::from_millis(300));
            let error = result.unwrap_err();
            assert_eq!(error.error_type, CallErrorType::Timeout, "{dialect} after {bytes}");
            let printed = if bytes == 0 { " sent nothing for 0.3 s" } else { " nothing for 0.3 s" };
            assert!(error.message.ends_with(printed), "{error}");
        }
        let server = server_with(ScriptedReply::Faulty(StreamFault::Silent(1_500)));
        let (error, shown) = ask_server(&server, *dialect, Duration::from_millis(300));
        let printed = format!(" wrote {} bytes, then nothing for 0.3 s", shown.len());
        assert!(error.unwrap_err().message.ends_with(&printed), "{dialect}: {printed}");
        // Ten events of 100 ms each take longer than the silence that is allowed.
        let slow = StreamFault::Slow(Duration::from_millis(100));
        let server = server_with(ScriptedReply::Faulty(slow));
        let (result, shown) = ask_server(&server, *dialect, Duration::from_millis(700));
        assert_eq!(result.unwrap().text, shown, "{dialect}");
    }
}

#[test]
fn a_server_that_cannot_stream_is_asked_without() {
    let refusals = [
        (400, json!({ "error": { "message": "'stream' is not supported by this model" } })),
        (422, json!({ "detail": [{ "msg": "streaming is off" }] })),
        (404, json!({ "error": "no such method" })),
    ];
    for dialect in Dialect::ALL {
        for (status, body) in &refusals {
            // The method of Gemini's dialect may be missing; other dialects stream at one address.
            if *status == 404 && *dialect != Dialect::Gemini {
                continue;
            }
            let (status, body) = (*status, body.to_string());
            let server = ModelServer::start(move |seen: &ModelRequest| match seen.streamed {
                true => ScriptedReply::Status(status, Vec::new(), body.clone()),
                false => ScriptedReply::Valid,
            });
            let (first, second) = ask_twice(&server, *dialect);
            let refused = first.unwrap_err().refused;
            assert_eq!(refused, Some(RequestParameter::Stream), "{dialect} {status}");
            assert!(second.is_ok(), "{dialect} {status}: {second:?}");
            let asked: Vec<bool> = server.requests().iter().map(|seen| seen.streamed).collect();
            assert_eq!(asked, [true, false], "{dialect} {status}");
        }
    }
}

#[test]
fn an_error_in_the_middle_of_a_stream_fails_the_call() {
    let check = |dialect: Dialect, events: &str, expected: CallErrorType| {
        let server = server_with(ScriptedReply::RawEvents(events.to_owned()));
        let (result, _) = ask_server(&server, dialect, SILENCE);
        assert_eq!(result.unwrap_err().error_type, expected, "{dialect}");
    };
    check(
        Dialect::OpenAi,
        "data: {\"choices\":[{\"delta\":{\"content\":\"Te\"}}]}\n\ndata: {\"error\":{\"code\":429,\"message\":\"slow down\"}}\n\n",
        CallErrorType::RateLimit,
    );
    check(
        Dialect::Anthropic,
        "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"busy\"}}\n\n",
        CallErrorType::ServerError,
    );
    check(Dialect::Gemini, "data: {\"candidates\": 7}\n\n", CallErrorType::ParseError);
    check(Dialect::OpenAi, "data: not json\n\n", CallErrorType::ParseError);
    check(Dialect::OpenAi, ": keep-alive\n\n", CallErrorType::Network);
}
