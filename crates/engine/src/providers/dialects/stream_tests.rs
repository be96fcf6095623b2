//! Streams of each dialect, cut wherever the network may cut them.

use plenary_core::model::ask::{CallErrorType, FinishReason, TokenUsage};

use super::*;
use crate::providers::dialects::wire::build_request;
use crate::providers::request_parts::RequestParts;
use crate::providers::test_samples::{sample_parts, sample_provider, sample_request};

const OPEN_AI: &str = include_str!("../../../../../tests/fixtures/streams/openai.sse");
const ANTHROPIC: &str = include_str!("../../../../../tests/fixtures/streams/anthropic.sse");
const ANTHROPIC_TOOL: &str =
    include_str!("../../../../../tests/fixtures/streams/anthropic-tool.sse");
const GEMINI: &str = include_str!("../../../../../tests/fixtures/streams/gemini.sse");

const STREAMS: [(Dialect, &str); 4] = [
    (Dialect::OpenAi, OPEN_AI),
    (Dialect::Anthropic, ANTHROPIC),
    (Dialect::Anthropic, ANTHROPIC_TOOL),
    (Dialect::Gemini, GEMINI),
];

/// What a real server sent: see the README beside the files.
const RECORDED: [(Dialect, &str); 2] = [
    (Dialect::OpenAi, include_str!("../../../../../tests/fixtures/streams/local-model-chat.sse")),
    (
        Dialect::Anthropic,
        include_str!("../../../../../tests/fixtures/streams/local-model-messages.sse"),
    ),
];

const RECORDED_TEXT: &str =
    "I'm sorry for the confusion, but I'm here to help with the word \"tea\" and no other.";

/// The text of every written fixture.
const TEXT: &str = r#"{"summary": "Grüße — tea \u00e9", "n": 1}"#;

/// Reads a stream in these pieces; also returns the partial texts.
fn read_pieces(dialect: Dialect, pieces: &[&[u8]]) -> (StreamedReply, String) {
    let provider = sample_provider();
    let (mut decoder, mut reply) = (EventDecoder::default(), StreamedReply::new(dialect));
    let mut shown = String::new();
    for piece in pieces {
        for data in decoder.push_bytes(piece) {
            shown.push_str(&reply.add_event(&provider, &data).unwrap());
        }
    }
    if let Some(data) = decoder.finish() {
        shown.push_str(&reply.add_event(&provider, &data).unwrap());
    }
    (reply, shown)
}

#[test]
fn a_stream_cut_at_any_byte_gives_the_same_reply() {
    for (dialect, stream) in STREAMS {
        for cut in 0..=stream.len() {
            let (head, tail) = stream.as_bytes().split_at(cut);
            let (reply, shown) = read_pieces(dialect, &[head, tail]);
            assert!(reply.is_complete(), "{dialect:?} at {cut}");
            let reply = reply.into_reply(&sample_provider(), false).unwrap();
            assert_eq!(reply.text, TEXT, "{dialect:?} at {cut}");
            assert_eq!(shown, TEXT, "{dialect:?} at {cut}");
            assert_eq!(reply.finish, FinishReason::Stop);
            let usage = TokenUsage { cached_tokens: 64, ..TokenUsage::new(120, 31) };
            assert_eq!(reply.usage, Some(usage), "{dialect:?}");
            assert!(reply.model.is_some());
        }
    }
}

#[test]
fn a_recorded_stream_cut_at_any_byte_gives_the_same_reply() {
    for (dialect, stream) in RECORDED {
        let read = |cut: usize| {
            let (head, tail) = stream.as_bytes().split_at(cut);
            let (reply, shown) = read_pieces(dialect, &[head, tail]);
            assert!(reply.is_ended(), "{dialect:?} at {cut}");
            (reply.into_reply(&sample_provider(), false).unwrap(), shown)
        };
        let (whole, shown) = read(0);
        assert_eq!(whole.text, shown);
        assert_eq!(whole.text, RECORDED_TEXT, "{dialect:?}");
        assert_eq!(whole.finish, FinishReason::Length);
        assert_eq!(whole.usage.unwrap().output_tokens, 24);
        for cut in 1..=stream.len() {
            assert_eq!(read(cut), (whole.clone(), shown.clone()), "{dialect:?} at {cut}");
        }
    }
}

#[test]
fn a_stream_in_single_bytes_gives_the_same_reply() {
    for (dialect, stream) in STREAMS {
        let pieces: Vec<&[u8]> = stream.as_bytes().chunks(1).collect();
        assert_eq!(read_pieces(dialect, &pieces).1, TEXT);
    }
}

#[test]
fn a_stream_without_its_last_events_is_not_complete() {
    for (dialect, stream) in STREAMS {
        let end = stream.find("\"n\": 1").or_else(|| stream.find("\\\"n\\\": 1")).unwrap();
        let start = stream[..end].rfind("data:").unwrap();
        let (reply, _) = read_pieces(dialect, &[&stream.as_bytes()[..start]]);
        assert!(!reply.is_complete(), "{dialect:?}");
    }
}

#[test]
fn an_error_in_the_stream_fails_the_call() {
    let errors = [
        (
            Dialect::OpenAi,
            r#"{"error":{"code":502,"message":"upstream died"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}"#,
        ),
        (
            Dialect::Anthropic,
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
        ),
        (Dialect::Gemini, r#"{"error":{"code":503,"message":"busy","status":"UNAVAILABLE"}}"#),
    ];
    for (dialect, error) in errors {
        let stream = format!("data: {error}\n\n");
        let (reply, _) = read_pieces(dialect, &[stream.as_bytes()]);
        assert!(reply.is_complete());
        let failed = reply.into_reply(&sample_provider(), false).unwrap_err();
        assert_eq!(failed.error_type, CallErrorType::ServerError, "{dialect:?}");
    }
}

#[test]
fn an_event_may_have_several_lines_of_data_and_no_space() {
    let mut decoder = EventDecoder::default();
    let events = decoder.push_bytes(b"id: 1\nretry: 5\ndata:a\ndata: b\r\rdata\n\n: note\ndata:c");
    assert_eq!(events, ["a\nb"]);
    assert_eq!(decoder.finish().as_deref(), Some("c"));
}

#[test]
fn every_dialect_asks_for_a_stream() {
    let provider = sample_provider();
    let ask = |dialect| {
        let parts = RequestParts { stream: true, ..sample_parts(dialect, &provider, None) };
        let wire = build_request(dialect, "http://h/v1", &provider, &sample_request(), &parts);
        format!("{} {}", wire.url, String::from_utf8(wire.body).unwrap())
    };
    assert!(
        ask(Dialect::OpenAi).contains(r#""stream":true,"stream_options":{"include_usage":true}"#)
    );
    assert!(ask(Dialect::Anthropic).contains(r#""stream":true"#));
    assert!(ask(Dialect::Gemini).contains(":streamGenerateContent?alt=sse "));
}
