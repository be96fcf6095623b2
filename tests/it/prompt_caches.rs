//! What providers need to cache the shared beginning of a run's requests: the marks, the key, and no
//! schema before a long shared block.

use std::sync::Arc;
use std::time::Duration;

use plenary_core::model::ask::{AskMessages, AskPurpose, SharedBlock};
use plenary_engine::providers::call_progress::SilenceTimer;
use plenary_engine::providers::http::HttpTransport;
use plenary_engine::providers::http_clients::HttpClients;
use plenary_engine::providers::transport::{CallRequest, Dialect, Provider, WireSchema};
use serde_json::{Value, json};

use crate::kit::{ModelRequest, ModelServer, ScriptedReply};

/// What the server received for a request with a shared block of this many bytes.
fn received(
    dialect: Dialect,
    wire_schema: WireSchema,
    shared_bytes: usize,
    is_stricter: bool,
) -> ModelRequest {
    let server = ModelServer::start(|_| ScriptedReply::Valid);
    let block = SharedBlock::new("s".repeat(shared_bytes), Vec::new());
    let messages = AskMessages {
        shared: Some(Arc::new(block)),
        ..AskMessages::new("You are a participant of a council.", "Answer in JSON.")
    };
    let request = CallRequest {
        seat: "ann".parse().unwrap(),
        round: 1,
        purpose: AskPurpose::Opinion,
        messages: Arc::new(messages),
        schema: Some(Arc::new(json!({ "type": "object", "properties": {} }))),
        is_stricter,
        timer: SilenceTimer::start(Duration::from_secs(20)),
        partial_text: None,
    };
    let provider = Provider { wire_schema, ..server.make_provider("ann", dialect) };
    let transport = HttpTransport::new(Arc::new(provider), Arc::new(HttpClients::new()));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(transport.send(&request)).unwrap();
    let [seen] = server.requests().try_into().unwrap();
    assert!(seen.user.ends_with("sAnswer in JSON.") || shared_bytes == 0, "{dialect}");
    seen
}

/// `schema`, `json` or `free`.
fn form_of(seen: &ModelRequest) -> &'static str {
    let is_json = seen.body["response_format"]["type"] == "json_object"
        || seen.body["generationConfig"]["responseMimeType"] == "application/json";
    match (seen.structured, is_json) {
        (true, _) => "schema",
        (false, true) => "json",
        (false, false) => "free",
    }
}

#[test]
fn a_long_shared_block_goes_without_a_schema_until_the_stricter_ask() {
    let check = |wire: WireSchema, bytes: usize, is_stricter: bool, expected: [&str; 3]| {
        for (dialect, expected) in Dialect::ALL.iter().zip(expected) {
            let seen = received(*dialect, wire, bytes, is_stricter);
            assert_eq!(form_of(&seen), expected, "{dialect} {wire} {bytes} {is_stricter}");
        }
    };
    let (schema, off) = (["schema"; 3], ["json", "free", "json"]);
    check(WireSchema::Auto, 1_000, false, schema);
    check(WireSchema::Auto, 48_000, false, off);
    check(WireSchema::Auto, 48_000, true, schema);
    check(WireSchema::Always, 48_000, false, schema);
    check(WireSchema::Never, 1_000, false, ["free"; 3]);
    check(WireSchema::Never, 1_000, true, ["free"; 3]);
}

#[test]
fn the_end_of_a_long_shared_block_is_marked_for_anthropic() {
    let content = |bytes| {
        received(Dialect::Anthropic, WireSchema::Auto, bytes, false).body["messages"][0]["content"]
            .clone()
    };
    let marked = content(5_000);
    assert_eq!(marked[0]["cache_control"], json!({ "type": "ephemeral" }));
    assert_eq!(marked[0]["text"].as_str().unwrap().len(), 5_000);
    assert_eq!(marked[1], json!({ "type": "text", "text": "Answer in JSON." }));
    assert!(content(900).is_string(), "too short to be cached");
}

#[test]
fn requests_with_the_same_shared_block_have_the_same_cache_key() {
    let key = |bytes| {
        received(Dialect::OpenAi, WireSchema::Auto, bytes, false).body["prompt_cache_key"].clone()
    };
    let known = key(5_000);
    assert!(known.as_str().unwrap().len() <= 64);
    assert_eq!(known, key(5_000));
    assert_ne!(known, key(6_000));
    let gemini = received(Dialect::Gemini, WireSchema::Auto, 5_000, false);
    assert_eq!(gemini.body["prompt_cache_key"], Value::Null);
}
