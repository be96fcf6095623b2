//! Servers that refuse a parameter: the call is repeated without it, each attempt is in the record,
//! and later calls of the run leave it out.

use serde_json::{Value, json};

use crate::councils::harness::{CHAIR, PARTICIPANTS, SeatRequest, TestCouncil, check_all};
use crate::kit::{ModelRequest, ScriptedReply};

/// A server that refuses requests with this field.
fn refuse_field(asked: &SeatRequest<'_>, pointer: &str, message: &str) -> ScriptedReply {
    if asked.request.body.pointer(pointer).is_none() {
        return ScriptedReply::Valid;
    }
    let body = json!({ "error": { "message": message } }).to_string();
    ScriptedReply::Status(400, Vec::new(), body)
}

fn change_providers(settings: &mut Value, more: &Value) {
    for provider in settings["council"]["providers"].as_array_mut().unwrap() {
        provider.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    }
}

/// Dialect, settings, field on the wire, the server's words, and the name in the record.
type RefusalRow = (&'static str, Value, &'static str, &'static str, &'static str);

fn refusal_rows() -> Vec<RefusalRow> {
    let warm = || json!({ "temperature": 0.2 });
    let effort = || json!({ "effort": "low" });
    vec![
        ("openai", warm(), "/temperature", "Unsupported value: 'temperature'", "temperature"),
        ("openai", json!({}), "/max_tokens", "Unsupported: 'max_tokens'", "max_output_tokens"),
        ("openai", json!({}), "/response_format", "json_schema is not supported", "schema"),
        ("openai", effort(), "/reasoning_effort", "Unrecognized: reasoning_effort", "effort"),
        (
            "openai",
            json!({}),
            "/prompt_cache_key",
            "Unrecognized request argument supplied: prompt_cache_key",
            "cache_mark",
        ),
        ("anthropic", warm(), "/temperature", "temperature: not permitted", "temperature"),
        ("anthropic", json!({}), "/tools", "tools: not supported", "schema"),
        ("anthropic", effort(), "/output_config/effort", "output_config: extra input", "effort"),
        (
            "gemini",
            warm(),
            "/generationConfig/temperature",
            "temperature is unknown",
            "temperature",
        ),
        (
            "gemini",
            json!({}),
            "/generationConfig/maxOutputTokens",
            "Unknown name maxOutputTokens",
            "max_output_tokens",
        ),
        (
            "gemini",
            json!({}),
            "/generationConfig/responseSchema",
            "responseSchema is not supported",
            "schema",
        ),
        (
            "gemini",
            effort(),
            "/generationConfig/thinkingConfig",
            "thinking_config is not supported",
            "effort",
        ),
    ]
}

#[test]
fn a_refused_parameter_is_left_out_for_the_rest_of_the_run() {
    check_all(&refusal_rows(), |(dialect, more, pointer, message, name)| {
        let (pointer, message) = (*pointer, *message);
        let council = TestCouncil::with_settings(
            move |asked| refuse_field(asked, pointer, message),
            |settings| {
                change_providers(settings, more);
                change_providers(settings, &json!({ "dialect": dialect }));
            },
        );
        let ran = council.run_ask(&[]);
        ran.expect_status("done", 0);
        let sent = council.server.requests();
        for seat in PARTICIPANTS.iter().chain([&CHAIR]) {
            let of_seat = |seen: &&ModelRequest| seen.model == format!("model-{seat}");
            let with: Vec<bool> = sent
                .iter()
                .filter(of_seat)
                .map(|seen| seen.body.pointer(pointer).is_some())
                .collect();
            assert!(with[0] && !with[1..].contains(&true), "{dialect} {name} {seat}: {with:?}");
        }
        let page = council.program.run_command(&["show", ran.dialogue_id()]).stdout;
        let line = format!("4 calls repeated without `{name}`");
        assert!(page.replace('\n', " ").contains(&line), "{dialect} {name}: {page}");
        let events = council.program.run_command(&["replay", ran.dialogue_id(), "--json"]).stdout;
        let events: Vec<Value> =
            events.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let refused = |event: &&Value| event["refused"] == json!(name);
        assert_eq!(events.iter().filter(refused).count(), 4, "{dialect} {name}");
        let without = |event: &&Value| event["without"] == json!([name]);
        assert_eq!(events.iter().filter(without).count(), 7, "{dialect} {name}");
        let calls = |event: &&Value| event["event"] == "call_sent";
        assert_eq!(events.iter().filter(calls).count(), sent.len(), "every attempt is a call");
    });
}

#[test]
fn a_resumed_run_knows_what_was_refused_before() {
    let warm = |settings: &mut Value| change_providers(settings, &json!({ "temperature": 0.2 }));
    let council = TestCouncil::with_settings(
        |asked| refuse_field(asked, "/temperature", "Unsupported value: 'temperature'"),
        |settings| {
            warm(settings);
            settings["budget"] = json!({ "calls_max": 7 });
        },
    );
    let stopped = council.run_ask(&[]);
    stopped.expect_status("incomplete", 3);
    council.change_settings(warm);
    let before = council.server.requests().len();
    council.run_command(&["resume", stopped.dialogue_id(), "--json"]).expect_status("done", 0);
    let later = council.server.requests().split_off(before);
    let warm = later.iter().filter(|seen| seen.body.get("temperature").is_some());
    let models: Vec<&str> = warm.map(|seen| seen.model.as_str()).collect();
    assert_eq!(models, ["model-dot"], "only the chair was not asked before");
}

#[test]
fn the_output_limit_is_tried_under_its_other_name() {
    let council = TestCouncil::new(|asked| {
        refuse_field(asked, "/max_tokens", "Use 'max_completion_tokens' instead of 'max_tokens'.")
    });
    council.run_ask(&[]).expect_status("done", 0);
    let limits = |seen: &ModelRequest| seen.body.get("max_completion_tokens").cloned();
    let last: Vec<Option<Value>> = council
        .server
        .requests()
        .iter()
        .filter(|seen| seen.body.get("max_tokens").is_none())
        .map(limits)
        .collect();
    assert!(last.iter().all(|limit| *limit == Some(json!(8_192))), "{last:?}");
    let stubborn = TestCouncil::new(|asked| match asked.request.body.get("max_tokens") {
        Some(_) => refuse_field(asked, "/max_tokens", "unknown field max_tokens"),
        None => refuse_field(asked, "/max_completion_tokens", "unknown max_completion_tokens"),
    });
    stubborn.run_ask(&[]).expect_status("done", 0);
}

#[test]
fn a_server_that_refuses_everything_fails_as_a_seat() {
    let council = TestCouncil::with_settings(
        |asked| match asked.seat {
            "ann" => {
                let words = "temperature max_tokens reasoning_effort schema stream: no";
                let body = json!({ "error": { "message": words } }).to_string();
                ScriptedReply::Status(400, Vec::new(), body)
            }
            _ => ScriptedReply::Valid,
        },
        |settings| change_providers(settings, &json!({ "temperature": 1, "effort": "high" })),
    );
    let ran = council.run_ask(&[]);
    ran.expect_status("done", 0);
    assert_eq!(ran.value_at("panel.failed.0.provider"), "ann");
    assert_eq!(ran.value_at("panel.failed.0.error_type"), "bad_request");
    let of_ann = council.server.requests();
    let of_ann = of_ann.iter().filter(|seen| seen.model == "model-ann");
    // Stream, temperature, effort, limit twice, schema, then the failure; later rounds fail at once.
    assert_eq!(of_ann.count(), 7 + 1);
}
