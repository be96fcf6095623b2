//! Models over HTTP, against a server with every known kind of failure.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use plenary_core::model::ask::{AskMessages, AskPurpose, CallErrorType, RequestParameter};
use plenary_core::protocols::council::report_types::ChairReport;
use plenary_core::protocols::council::types::{OpinionReply, PeerReview};
use plenary_engine::providers::call_progress::SilenceTimer;
use plenary_engine::providers::http::HttpTransport;
use plenary_engine::providers::http_clients::HttpClients;
use plenary_engine::providers::response_body::REPLY_BYTES_MAX;
use plenary_engine::providers::transport::{
    CallError, CallReply, CallRequest, Dialect, Provider, Transport,
};
use secrecy::SecretString;
use serde_json::{Value, json};

use crate::kit::{MODEL_NAMES, ModelRequest, ModelServer, ScriptedReply, purpose_of, valid_reply};

const KEY: &str = "sk-wire-0123456789abcdefghij";

fn make_request() -> CallRequest {
    CallRequest {
        seat: "ann".parse().unwrap(),
        round: 1,
        purpose: AskPurpose::Opinion,
        messages: Arc::new(AskMessages::new("You are a participant of a council.", "Shall we?")),
        schema: Some(Arc::new(json!({
            "type": "object",
            "properties": { "summary": { "type": "string" } },
            "required": ["summary"],
        }))),
        timer: SilenceTimer::start(Duration::from_secs(20)),
        partial_text: None,
        is_stricter: false,
    }
}

fn make_transport(provider: Provider) -> HttpTransport {
    let provider = Provider { key: Some(SecretString::from(KEY)), ..provider };
    HttpTransport::new(Arc::new(provider), Arc::new(HttpClients::new()))
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(work)
}

/// One call to a server that always replies the same.
fn call_model(
    dialect: Dialect,
    play: &ScriptedReply,
    request: &CallRequest,
) -> Result<CallReply, CallError> {
    let play = play.clone();
    let server = ModelServer::start(move |_| play.clone());
    let result = block_on(make_transport(server.make_provider("ann", dialect)).send(request));
    if let Err(error) = &result {
        let answer = format!("{error} {error:?}");
        assert!(!answer.contains(&KEY[..8]), "the key is in {answer}");
        assert!(error.message.starts_with("`ann` "), "{answer}");
        assert!(error.message.chars().count() <= 300, "{answer}");
    }
    result
}

/// `Ok` with the finish, or the type of the error, the same in every dialect.
#[track_caller]
fn check_reply(play: &ScriptedReply, expected: &str) {
    check_reply_by_dialect(play, [expected; 3]);
}

/// One expectation each for OpenAI, Anthropic and Gemini.
#[track_caller]
fn check_reply_by_dialect(play: &ScriptedReply, expected: [&str; 3]) {
    for (dialect, expected) in Dialect::ALL.iter().zip(expected) {
        let outcome = match call_model(*dialect, play, &make_request()) {
            Ok(received) => format!("ok {}", received.finish),
            Err(error) => error.error_type.name().to_owned(),
        };
        let shown: String = format!("{play:?}").chars().take(200).collect();
        assert_eq!(outcome, expected, "{dialect}: {shown}");
    }
}

fn status_reply(code: u16, body: &Value) -> ScriptedReply {
    ScriptedReply::Status(code, Vec::new(), body.to_string())
}

#[test]
fn replies_come_through() {
    check_reply(&ScriptedReply::Valid, "ok stop");
    check_reply(&ScriptedReply::Reply("Hello there.".to_owned()), "ok stop");
    check_reply(
        &ScriptedReply::Slow(Duration::from_millis(50), Box::new(ScriptedReply::Valid)),
        "ok stop",
    );
    // An empty reply is a successful call; the parser judges it later.
    check_reply(&ScriptedReply::Empty, "ok stop");
    check_reply(&ScriptedReply::WrongType, "ok stop");
    check_reply(&ScriptedReply::Truncated, "ok length");
    check_reply(&ScriptedReply::Huge(REPLY_BYTES_MAX / 2), "ok stop");
}

#[test]
fn a_refusal_with_words_is_a_reply_and_one_without_is_a_failure() {
    check_reply_by_dialect(&ScriptedReply::Refusal, ["ok refusal", "refused", "refused"]);
}

#[test]
fn what_is_no_reply_is_not_taken_for_one() {
    check_reply(&ScriptedReply::Malformed, "parse_error");
    check_reply(&ScriptedReply::RawBody(Vec::new()), "parse_error");
    check_reply(&ScriptedReply::RawBody(b"{}".to_vec()), "parse_error");
    check_reply(&ScriptedReply::RawBody(b"null".to_vec()), "parse_error");
    check_reply(&ScriptedReply::RawBody("[".repeat(100_000).into()), "parse_error");
    check_reply(&ScriptedReply::Huge(REPLY_BYTES_MAX + 1), "parse_error");
}

#[test]
fn a_status_has_a_type() {
    check_reply(&status_reply(400, &json!({ "error": { "message": "no" } })), "bad_request");
    check_reply(
        &status_reply(401, &json!({ "error": { "message": format!("bad key {KEY}") } })),
        "auth",
    );
    check_reply(&status_reply(403, &json!(format!("{KEY} is not allowed"))), "auth");
    check_reply(&status_reply(404, &json!("nothing here")), "bad_request");
    check_reply(&status_reply(408, &json!({})), "timeout");
    check_reply(&status_reply(413, &json!({})), "context_too_long");
    check_reply(
        &status_reply(400, &json!({ "error": { "message": "prompt is too long: 9 > 8" } })),
        "context_too_long",
    );
    check_reply(&status_reply(422, &json!({ "detail": [{ "msg": KEY }] })), "bad_request");
    check_reply(&status_reply(500, &json!({ "error": KEY })), "server_error");
    check_reply(&status_reply(529, &json!({})), "server_error");
    check_reply(&status_reply(504, &json!({})), "timeout");
    check_reply(&ScriptedReply::RateLimited { retry_after: "1".to_owned() }, "rate_limit");
    check_reply(&ScriptedReply::Disconnect, "network");
}

#[test]
fn a_redirect_is_not_followed_with_the_key() {
    let elsewhere = ModelServer::start(|_| ScriptedReply::Valid);
    let to = vec![("location", format!("{}/chat/completions", elsewhere.base_url()))];
    check_reply(&ScriptedReply::Status(307, to, String::new()), "bad_request");
    assert_eq!(elsewhere.connection_count(), 0);
}

#[test]
fn a_call_ends_with_its_time() {
    for dialect in Dialect::ALL {
        let request = CallRequest {
            timer: SilenceTimer::start(Duration::from_millis(200)),
            ..make_request()
        };
        let error = call_model(*dialect, &ScriptedReply::Hang, &request).unwrap_err();
        assert_eq!(error.error_type, CallErrorType::Timeout);
        assert!(error.message.ends_with(" sent nothing for 0.2 s"), "{error}");
    }
}

#[test]
fn an_address_without_a_server_is_a_network_error() {
    let gone = ModelServer::start(|_| ScriptedReply::Valid);
    let provider = gone.make_provider("ann", Dialect::OpenAi);
    drop(gone);
    let error = block_on(make_transport(provider).send(&make_request())).unwrap_err();
    assert_eq!(error.error_type, CallErrorType::Network);
    let start = "`ann` at 127.0.0.1:";
    assert!(error.message.starts_with(start), "{error}");
    assert!(error.message.contains(" cannot be reached: "), "{error}");
}

#[test]
fn an_address_that_is_none_is_said_to_be_one() {
    let provider =
        ModelServer::start(|_| ScriptedReply::Valid).make_provider("ann", Dialect::OpenAi);
    let provider = Provider { base_url: Some("not an address".to_owned()), ..provider };
    let error = block_on(make_transport(provider).send(&make_request())).unwrap_err();
    assert_eq!(error.error_type, CallErrorType::BadRequest);
    assert!(error.message.contains("`base_url`"), "{error}");
}

#[test]
fn a_server_says_how_long_to_wait() {
    let asked = |play: ScriptedReply| {
        call_model(Dialect::OpenAi, &play, &make_request()).unwrap_err().retry_after
    };
    let limited = |retry_after: String| asked(ScriptedReply::RateLimited { retry_after });
    assert_eq!(limited("7".to_owned()), Some(Duration::from_secs(7)));
    assert_eq!(limited("some day".to_owned()), None);
    let date = httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(60));
    let wait = limited(date.clone()).unwrap();
    assert!((50..=60).contains(&wait.as_secs()), "{wait:?}");
    // With a wrong server clock, the difference of its own times still counts.
    let headers = vec![
        ("retry-after", "Wed, 21 Oct 2015 07:28:03 GMT".to_owned()),
        ("date", "Wed, 21 Oct 2015 07:28:00 GMT".to_owned()),
    ];
    let wait = asked(ScriptedReply::Status(503, headers, String::new()));
    assert_eq!(wait, Some(Duration::from_secs(3)));
}

#[test]
fn what_is_sent_is_what_the_dialect_wants() {
    let check = |dialect: Dialect, path: &str, key_header: &str, key: &str| {
        let server = ModelServer::start(|_| ScriptedReply::Valid);
        let received =
            block_on(make_transport(server.make_provider("ann", dialect)).send(&make_request()));
        assert!(received.unwrap().structured);
        let [seen] = server.requests().try_into().unwrap();
        assert_eq!(seen.path, path);
        assert_eq!(seen.find_header(key_header), Some(key));
        assert_eq!(seen.find_header("content-type"), Some("application/json"));
        assert_eq!(seen.system, "You are a participant of a council.");
        assert_eq!(seen.user, "Shall we?");
        assert_eq!(seen.model, "test-model");
        assert!(!format!("{}{}", seen.path, seen.body).contains(KEY), "{seen:?}");
    };
    let bearer = format!("Bearer {KEY}");
    check(Dialect::OpenAi, "/v1/chat/completions", "authorization", &bearer);
    check(Dialect::Anthropic, "/v1/messages", "x-api-key", KEY);
    let path = "/v1/models/test-model:streamGenerateContent?alt=sse";
    check(Dialect::Gemini, path, "x-goog-api-key", KEY);
}

#[test]
fn a_server_that_refuses_the_schema_is_not_sent_it_again() {
    for dialect in Dialect::ALL {
        let server = ModelServer::start(|seen: &ModelRequest| {
            if seen.structured {
                status_reply(400, &json!({ "error": { "message": "schema: not supported" } }))
            } else {
                ScriptedReply::Valid
            }
        });
        let transport = make_transport(server.make_provider("ann", *dialect));
        let outcomes = [(); 3].map(|()| {
            let sent = block_on(transport.send(&make_request()));
            sent.map(|reply| reply.structured).map_err(|error| error.refused)
        });
        let refused = Err(Some(RequestParameter::Schema));
        assert_eq!(outcomes, [refused, Ok(false), Ok(false)]);
        let sent: Vec<bool> = server.requests().iter().map(|seen| seen.structured).collect();
        assert_eq!(sent, [true, false, false], "{dialect}");
    }
}

#[test]
fn a_model_that_is_not_there_brings_the_list_of_those_that_are() {
    for dialect in Dialect::ALL {
        let play = status_reply(404, &json!({ "error": { "message": "no such model" } }));
        let error = call_model(*dialect, &play, &make_request()).unwrap_err();
        assert_eq!(error.error_type, CallErrorType::BadRequest);
        for name in MODEL_NAMES {
            assert!(error.message.contains(name), "{error}");
        }
    }
}

#[test]
fn the_models_of_a_server_can_be_listed() {
    let server = ModelServer::start(|_| ScriptedReply::Valid);
    for dialect in Dialect::ALL {
        let models = block_on(make_transport(server.make_provider("ann", *dialect)).list_models());
        let names: Vec<String> = models.unwrap().into_iter().map(|model| model.name).collect();
        assert_eq!(names, MODEL_NAMES);
    }
}

#[test]
fn what_is_not_utf8_is_read_as_far_as_it_goes() {
    let mut body = br#"{"choices":[{"message":{"content":"a"#.to_vec();
    body.extend_from_slice(b"\xff\xfe");
    body.extend_from_slice(br#"b"},"finish_reason":"stop"}]}"#);
    let received =
        call_model(Dialect::OpenAi, &ScriptedReply::RawBody(body), &make_request()).unwrap();
    assert_eq!(received.text, "a\u{fffd}\u{fffd}b");
}

#[test]
fn a_key_that_no_header_can_carry_is_not_sent_and_not_shown() {
    let server = ModelServer::start(|_| ScriptedReply::Valid);
    let key = Some(SecretString::from("sk-secret\nline"));
    let provider = Provider { key, ..server.make_provider("ann", Dialect::OpenAi) };
    let transport = HttpTransport::new(Arc::new(provider), Arc::new(HttpClients::new()));
    let error = block_on(transport.send(&make_request())).unwrap_err();
    assert_eq!(error.error_type, CallErrorType::Auth);
    assert!(!error.message.contains("sk-secret"), "{error}");
    assert_eq!(server.requests().len(), 0);
}

#[test]
fn without_a_key_none_is_sent() {
    let server = ModelServer::start(|_| ScriptedReply::Valid);
    for dialect in Dialect::ALL {
        let provider = Arc::new(server.make_provider("ann", *dialect));
        let http = HttpTransport::new(provider, Arc::new(HttpClients::new()));
        block_on(Transport::Http(http).send(&make_request())).unwrap();
    }
    for seen in server.requests() {
        for name in ["authorization", "x-api-key", "x-goog-api-key"] {
            assert_eq!(seen.find_header(name), None, "{seen:?}");
        }
    }
}

#[test]
fn connections_are_kept_for_the_next_call() {
    let server = ModelServer::start(|_| ScriptedReply::Valid);
    let transport = make_transport(server.make_provider("ann", Dialect::OpenAi));
    block_on(async {
        for _ in 0..5 {
            transport.send(&make_request()).await.unwrap();
        }
    });
    assert_eq!((server.requests().len(), server.connection_count()), (5, 1));
}

#[test]
fn many_calls_are_in_flight_at_once() {
    let server = ModelServer::start(|_| {
        ScriptedReply::Slow(Duration::from_millis(100), Box::new(ScriptedReply::Valid))
    });
    let transport = make_transport(server.make_provider("ann", Dialect::Anthropic));
    let asked = make_request();
    let replies =
        block_on(futures_util::future::join_all((0..200).map(|_| transport.send(&asked))));
    assert_eq!(replies.iter().filter(|reply| reply.is_ok()).count(), 200);
    let seen = server.requests();
    let first = seen.iter().map(|seen| seen.received_at).min().unwrap();
    let last = seen.iter().map(|seen| seen.received_at).max().unwrap();
    // One after another they would take twenty seconds.
    assert!(last - first < Duration::from_secs(10), "{:?}", last - first);
    let of_model = seen.iter().map(|seen| seen.nth_of_model).max();
    assert_eq!((of_model, seen.iter().map(|seen| seen.nth).max()), (Some(200), Some(200)));
}

#[test]
fn the_server_plays_documents_that_fit() {
    let server = ModelServer::start(|_| ScriptedReply::Valid);
    let transport = make_transport(server.make_provider("ann", Dialect::Gemini));
    let ask = |system: &str, user: &str| {
        let messages = AskMessages::new(system, user);
        let request = CallRequest { messages: Arc::new(messages), ..make_request() };
        block_on(transport.send(&request)).unwrap().text
    };
    serde_json::from_str::<OpinionReply>(&ask("You are a participant.", "Shall we?")).unwrap();
    let reviewed = ask("You are a reviewer of participants.", "Opinion C: no. Opinion A: yes.");
    let review: PeerReview = serde_json::from_str(&reviewed).unwrap();
    let letters: Vec<&str> = review.targets.iter().map(|target| target.letter.as_str()).collect();
    assert_eq!(letters, ["A", "C"]);
    serde_json::from_str::<ChairReport>(&ask("You are the chair.", "Opinion A: yes.")).unwrap();
    let [opinion, review, report] = server.requests().try_into().unwrap();
    assert_eq!(purpose_of(&report), AskPurpose::Synthesis);
    assert_ne!(valid_reply(&opinion), valid_reply(&review));
}
