//! Options that a caller sets for a run, and that the run obeys them: budget, time, mode, audit,
//! tier.

use std::sync::atomic::Ordering;

use plenary_core::model::plan::{AuditMode, Plan};
use serde_json::{Value, json};

use super::run_tools::{read_run_state, waiting_council};
use super::stdio_client::StdioClient;
use crate::kit::{TestProgram, value_at};

/// The plan of a run from the current journal.
fn read_plan(program: &TestProgram, id: &Value) -> Plan {
    read_run_state(program, id).plan
}

#[test]
fn whoever_goes_on_spends_what_was_allowed_and_no_more() {
    let (council, is_open) = waiting_council();
    let asked = json!({ "question": "Tea?", "budget_usd": 0.75 });
    let mut agent = StdioClient::new(&council.program);
    let id = value_at(&agent.call_tool_ok("council_ask", &asked), "dialogue_id").clone();
    agent.kill_server();
    let mut next = StdioClient::new(&council.program);
    next.call_tool_ok("deliberation_status", &json!({ "dialogue_id": id, "resume": true }));
    assert_eq!(read_plan(&council.program, &id).caps.usd_micros, 750_000);
    next.close_client();
    // A new budget applies to the resumed run.
    is_open.store(true, Ordering::SeqCst);
    let mut last = StdioClient::new(&council.program);
    let alone = json!({ "dialogue_id": id, "budget_usd": 1.5 });
    let refused = last.call_tool_error("deliberation_status", &alone);
    assert_eq!(value_at(&refused, "error_code"), "not_supported", "{refused:#}");
    let more = json!({ "dialogue_id": id, "budget_usd": 1.5, "resume": true, "wait_seconds": 60 });
    let ended = last.call_tool_ok("deliberation_status", &more);
    assert_eq!(value_at(&ended, "status"), "done", "{ended:#}");
    assert_eq!(read_plan(&council.program, &id).caps.usd_micros, 1_500_000);
}

#[test]
fn what_is_asked_of_a_council_is_in_its_plan() {
    let (council, is_open) = waiting_council();
    is_open.store(true, Ordering::SeqCst);
    let mut agent = StdioClient::new(&council.program);
    let begun = agent.call_tool_ok(
        "council_ask",
        &json!({ "question": "Tea?", "mode": "architecture", "budget_usd": 1.25,
            "deadline": "7m", "audit": false, "wait_seconds": 60 }),
    );
    assert_eq!(value_at(&begun, "status"), "done", "{begun:#}");
    assert_eq!(value_at(&begun, "result.mode"), "architecture");
    assert_eq!(value_at(&begun, "result.audit"), &Value::Null, "nobody audited it");
    let plan = read_plan(&council.program, value_at(&begun, "dialogue_id"));
    assert_eq!((plan.caps.usd_micros, plan.caps.wall_ms), (1_250_000, 7 * 60 * 1_000));
    assert_eq!(plan.conclusion.unwrap().auditing, AuditMode::Unaudited);
}

#[test]
fn a_council_that_overruns_its_deadline_stops_and_can_go_on() {
    let (council, _) = waiting_council();
    let mut agent = StdioClient::new(&council.program);
    let asked = json!({ "question": "Tea?", "deadline": "1s", "wait_seconds": 60 });
    let result = agent.call_tool_ok("council_ask", &asked);
    assert_eq!(value_at(&result, "result.error.error_code"), "deadline_exceeded", "{result:#}");
    assert!(value_at(&result, "suggestion").as_str().unwrap().contains("resume"), "{result:#}");
}

#[test]
fn a_review_is_of_the_tier_and_by_the_producer_that_the_caller_names() {
    let program = TestProgram::new();
    let mut agent = StdioClient::new(&program);
    let given = json!({ "text": "We are.\n", "type": "email", "tier": 1, "producer": "the writer",
        "rehearse": true, "wait_seconds": 60 });
    let judged = agent.call_tool_ok("council_review", &given);
    assert_eq!(value_at(&judged, "result.tier"), 1, "{judged:#}");
    let plan = read_plan(&program, value_at(&judged, "dialogue_id"));
    assert_eq!(plan.review.unwrap().artifact.producer.as_deref(), Some("the writer"));
    let given = json!({ "text": "We are.\n", "type": "email", "tier": 2, "rehearse": true });
    assert_eq!(
        value_at(&agent.call_tool_ok("council_review", &given), "result.verdict"),
        "SKIPPED"
    );
    for tier in [json!(0), json!(4), json!("one")] {
        let given = json!({ "text": "We are.\n", "type": "email", "tier": tier });
        let refused = agent.call_tool_error("council_review", &given);
        assert_eq!(value_at(&refused, "error_code"), "invalid_type", "{refused:#}");
    }
}

/// An unknown field may be meant as a limit, so it is rejected.
#[test]
fn a_field_that_a_run_does_not_know_is_refused_with_the_one_that_was_meant() {
    let mut agent = StdioClient::in_own_folder();
    for (tool, field, hint) in [
        ("council_ask", "budget", "'budget_usd'"),
        ("council_ask", "no_audit", "'audit'"),
        ("council_ask", "wait", "'wait_seconds'"),
        ("council_ask", "providers", "budget_usd"),
        ("council_review", "policy", "tier"),
        ("deliberation_status", "wait", "'wait_seconds'"),
        ("deliberation_intervene", "confirm", "'confirmed'"),
    ] {
        let mut arguments =
            json!({ "question": "Tea?", "path": "a.md", "dialogue_id": "talk", "kind": "stop" });
        let known = match tool {
            "council_ask" => vec!["question"],
            "council_review" => vec!["path"],
            "deliberation_status" => vec!["dialogue_id"],
            _ => vec!["dialogue_id", "kind"],
        };
        arguments.as_object_mut().unwrap().retain(|key, _| known.contains(&key.as_str()));
        arguments[field] = json!(1);
        let refused = agent.call_tool_error(tool, &arguments);
        assert_eq!(
            value_at(&refused, "error_code"),
            "not_supported",
            "{tool} {field}: {refused:#}"
        );
        let suggestion = value_at(&refused, "suggestion").as_str().unwrap();
        assert!(suggestion.contains(hint), "{tool} {field}: {suggestion}");
    }
}

#[test]
fn a_field_that_a_search_does_not_know_is_told_of() {
    let mut agent = StdioClient::in_own_folder();
    agent.call_tool_ok("blue_dialogue_create", &json!({ "title": "Talk" }));
    for (tool, arguments) in [
        ("blue_dialogue_progress", json!({ "dialogue_id": "talk" })),
        ("blue_dialogue_round_context", json!({ "dialogue_id": "talk" })),
        ("blue_dialogue_export", json!({ "dialogue_id": "talk" })),
        ("blue_dialogue_search", json!({ "op": "list" })),
        ("blue_dialogue_search", json!({ "op": "stats" })),
        ("blue_dialogue_search", json!({ "op": "similar", "query": "talk" })),
        ("blue_dialogue_search", json!({ "op": "cite", "ids": ["talk/P0001"] })),
    ] {
        let mut arguments = arguments;
        arguments["temperature"] = json!(1);
        let answer = agent.call_tool_ok(tool, &arguments);
        assert_eq!(value_at(&answer, "warnings.0.field"), "temperature", "{tool}: {answer:#}");
    }
}

#[test]
fn a_question_that_cannot_be_read_has_one_fault() {
    let mut agent = StdioClient::in_own_folder();
    for (question, code) in [
        (json!("x".repeat(1_000_000)), "field_too_long"),
        (json!(7), "invalid_type"),
        (json!(["Tea?"]), "invalid_type"),
        (json!(" "), "missing_field"),
        (Value::Null, "missing_field"),
    ] {
        let refused = agent.call_tool_error("council_ask", &json!({ "question": question }));
        assert_eq!(value_at(&refused, "error_code"), code, "{refused:#}");
    }
}

/// At most 32 runs in parallel; a finished run frees its slot.
#[test]
fn more_than_thirty_two_runs_at_once_are_refused() {
    let (council, _) = waiting_council();
    let mut agent = StdioClient::new(&council.program);
    let ask = json!({ "question": "Tea?", "conclusion": false });
    let ids: Vec<Value> = (0..32)
        .map(|_| value_at(&agent.call_tool_ok("council_ask", &ask), "dialogue_id").clone())
        .collect();
    let refused = agent.call_tool_error("council_ask", &ask);
    assert!(value_at(&refused, "message").as_str().unwrap().contains("32"), "{refused:#}");
    let stop = json!({ "dialogue_id": ids[0], "kind": "stop" });
    agent.call_tool_ok("deliberation_intervene", &stop);
    agent
        .call_tool_ok("deliberation_status", &json!({ "dialogue_id": ids[0], "wait_seconds": 60 }));
    agent.call_tool_ok("council_ask", &ask);
}
