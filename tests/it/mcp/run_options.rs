//! Options that a caller sets for a run, and that the run obeys them: budget, time, mode, audit,
//! tier.

use std::sync::atomic::Ordering;

use plenary::domain::plan::{Auditing, Plan};
use serde_json::{Value, json};

use super::run_tools::{transcript, waiting};
use super::stdio_client::Agent;
use crate::kit::{Program, at};

/// The plan of a run from the current journal.
fn plan(program: &Program, id: &Value) -> Plan {
    transcript(program, id).plan
}

#[test]
fn whoever_goes_on_spends_what_was_allowed_and_no_more() {
    let (council, is_open) = waiting();
    let asked = json!({ "question": "Tea?", "budget_usd": 0.75 });
    let mut agent = Agent::new(&council.program);
    let id = at(&agent.must("council_ask", &asked), "dialogue_id").clone();
    agent.kill();
    let mut next = Agent::new(&council.program);
    next.must("deliberation_status", &json!({ "dialogue_id": id, "resume": true }));
    assert_eq!(plan(&council.program, &id).caps.usd_micros, 750_000);
    next.leave();
    // A new budget applies to the resumed run.
    is_open.store(true, Ordering::SeqCst);
    let mut last = Agent::new(&council.program);
    let alone = json!({ "dialogue_id": id, "budget_usd": 1.5 });
    let refused = last.refused("deliberation_status", &alone);
    assert_eq!(at(&refused, "error_code"), "not_supported", "{refused:#}");
    let more = json!({ "dialogue_id": id, "budget_usd": 1.5, "resume": true, "wait_seconds": 60 });
    let ended = last.must("deliberation_status", &more);
    assert_eq!(at(&ended, "status"), "done", "{ended:#}");
    assert_eq!(plan(&council.program, &id).caps.usd_micros, 1_500_000);
}

#[test]
fn what_is_asked_of_a_council_is_in_its_plan() {
    let (council, is_open) = waiting();
    is_open.store(true, Ordering::SeqCst);
    let mut agent = Agent::new(&council.program);
    let begun = agent.must(
        "council_ask",
        &json!({ "question": "Tea?", "mode": "architecture", "budget_usd": 1.25,
            "deadline": "7m", "audit": false, "wait_seconds": 60 }),
    );
    assert_eq!(at(&begun, "status"), "done", "{begun:#}");
    assert_eq!(at(&begun, "result.mode"), "architecture");
    assert_eq!(at(&begun, "result.audit"), &Value::Null, "nobody audited it");
    let plan = plan(&council.program, at(&begun, "dialogue_id"));
    assert_eq!((plan.caps.usd_micros, plan.caps.wall_ms), (1_250_000, 7 * 60 * 1_000));
    assert_eq!(plan.conclusion.unwrap().auditing, Auditing::Unaudited);
}

#[test]
fn a_council_that_overruns_its_deadline_stops_and_can_go_on() {
    let (council, _) = waiting();
    let mut agent = Agent::new(&council.program);
    let asked = json!({ "question": "Tea?", "deadline": "1s", "wait_seconds": 60 });
    let told = agent.must("council_ask", &asked);
    assert_eq!(at(&told, "result.error.error_code"), "deadline_exceeded", "{told:#}");
    assert!(at(&told, "suggestion").as_str().unwrap().contains("resume"), "{told:#}");
}

#[test]
fn a_review_is_of_the_tier_and_by_the_producer_that_the_caller_names() {
    let program = Program::new();
    let mut agent = Agent::new(&program);
    let given = json!({ "text": "We are.\n", "type": "email", "tier": 1, "producer": "the writer",
        "rehearse": true, "wait_seconds": 60 });
    let judged = agent.must("council_review", &given);
    assert_eq!(at(&judged, "result.tier"), 1, "{judged:#}");
    let plan = plan(&program, at(&judged, "dialogue_id"));
    assert_eq!(plan.gate.unwrap().artifact.producer.as_deref(), Some("the writer"));
    let given = json!({ "text": "We are.\n", "type": "email", "tier": 2, "rehearse": true });
    assert_eq!(at(&agent.must("council_review", &given), "result.verdict"), "SKIPPED");
    for tier in [json!(0), json!(4), json!("one")] {
        let given = json!({ "text": "We are.\n", "type": "email", "tier": tier });
        let refused = agent.refused("council_review", &given);
        assert_eq!(at(&refused, "error_code"), "invalid_type", "{refused:#}");
    }
}

/// An unknown field may be meant as a limit, so it is rejected.
#[test]
fn a_field_that_a_run_does_not_know_is_refused_with_the_one_that_was_meant() {
    let mut agent = Agent::alone();
    for (tool, field, hint) in [
        ("council_ask", "budget", "'budget_usd'"),
        ("council_ask", "no_audit", "'audit'"),
        ("council_ask", "wait", "'wait_seconds'"),
        ("council_ask", "providers", "budget_usd"),
        ("council_review", "force", "tier"),
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
        let refused = agent.refused(tool, &arguments);
        assert_eq!(at(&refused, "error_code"), "not_supported", "{tool} {field}: {refused:#}");
        let suggestion = at(&refused, "suggestion").as_str().unwrap();
        assert!(suggestion.contains(hint), "{tool} {field}: {suggestion}");
    }
}

#[test]
fn a_field_that_a_search_does_not_know_is_told_of() {
    let mut agent = Agent::alone();
    agent.must("blue_dialogue_create", &json!({ "title": "Talk" }));
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
        let answer = agent.must(tool, &arguments);
        assert_eq!(at(&answer, "warnings.0.field"), "temperature", "{tool}: {answer:#}");
    }
}

#[test]
fn a_question_that_cannot_be_read_has_one_fault() {
    let mut agent = Agent::alone();
    for (question, code) in [
        (json!("x".repeat(1_000_000)), "field_too_long"),
        (json!(7), "invalid_type"),
        (json!(["Tea?"]), "invalid_type"),
        (json!(" "), "missing_field"),
        (Value::Null, "missing_field"),
    ] {
        let refused = agent.refused("council_ask", &json!({ "question": question }));
        assert_eq!(at(&refused, "error_code"), code, "{refused:#}");
    }
}

/// At most 32 runs in parallel; a finished run frees its slot.
#[test]
fn more_than_thirty_two_runs_at_once_are_refused() {
    let (council, _) = waiting();
    let mut agent = Agent::new(&council.program);
    let ask = json!({ "question": "Tea?", "conclusion": false });
    let ids: Vec<Value> =
        (0..32).map(|_| at(&agent.must("council_ask", &ask), "dialogue_id").clone()).collect();
    let refused = agent.refused("council_ask", &ask);
    assert!(at(&refused, "message").as_str().unwrap().contains("32"), "{refused:#}");
    let stop = json!({ "dialogue_id": ids[0], "kind": "stop" });
    agent.must("deliberation_intervene", &stop);
    agent.must("deliberation_status", &json!({ "dialogue_id": ids[0], "wait_seconds": 60 }));
    agent.must("council_ask", &ask);
}
