//! Councils and reviews as tools: started, watched, polled, cancelled, resumed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use plenary_core::model::run_state::RunState;
use plenary_core::protocols::protocol::Protocols;
use plenary_engine::engine::run_start::load_run_state;
use plenary_engine::store::sqlite::store::SqliteStore;
use serde_json::{Value, json};

use super::stdio_client::StdioClient;
use crate::councils::harness::{SeatRequest, TestCouncil};
use crate::kit::{ScriptedReply, TestProgram, value_at};

#[test]
fn a_question_is_started_polled_and_answered() {
    let mut agent = StdioClient::in_own_folder();
    let begun = agent
        .call_tool_ok("council_ask", &json!({ "question": "Tea or coffee?", "rehearse": true }));
    let id = value_at(&begun, "dialogue_id").as_str().unwrap().to_owned();
    let ended = agent
        .call_tool_ok("deliberation_status", &json!({ "dialogue_id": id, "wait_seconds": 30 }));
    assert_eq!(value_at(&ended, "status"), "done", "{ended:#}");
    assert_eq!(value_at(&ended, "result.dialogue_id"), id.as_str());
    assert!(value_at(&ended, "result.conclusion.recommendation").is_string());
    assert!(value_at(&ended, "suggestion").as_str().unwrap().starts_with("a REHEARSAL: no model"));
    assert_eq!(value_at(&ended, "result.rehearsal"), true);
    let read = agent.request_ok(
        "resources/read",
        &json!({ "uri": format!("plenary://dialogues/{id}/conclusion") }),
    );
    assert!(value_at(&read, "contents.0.text").as_str().unwrap().contains("recommendation"));
}

#[test]
fn an_agent_lets_the_built_in_judge_lead_a_calibrated_dialogue() {
    let mut agent = StdioClient::in_own_folder();
    let principle = json!({ "op": "principle_add", "label": "Evidence is citable", "description": "Name a source." });
    agent.call_tool_ok("blue_ethos", &principle);
    let asked = json!({ "question": "Tea or coffee?", "rehearse": true, "wait_seconds": 60,
        "panel": 4, "to": 80, "constraints": ["No sugar"], "conclusion": false });
    let ended = agent.call_tool_ok("council_align", &asked);
    assert_eq!(value_at(&ended, "status"), "done", "{ended:#}");
    assert_eq!(value_at(&ended, "result.protocol"), "alignment");
    assert_eq!(value_at(&ended, "result.stop_reason"), "converged");
    assert_eq!(value_at(&ended, "result.calibration.rules_count"), 2);
    let refused = agent.call_tool_error(
        "council_align",
        &json!({ "question": "Tea?", "panel": 1, "rehearse": true }),
    );
    assert_eq!(value_at(&refused, "field"), "panel", "{refused:#}");
    let refused =
        agent.call_tool_error("council_align", &json!({ "question": " ", "deadline": "soon" }));
    assert!(
        refused.to_string().contains("question is empty")
            && refused.to_string().contains("deadline")
    );
}

#[test]
fn a_caller_without_a_provider_gets_an_error_and_no_rehearsal() {
    let mut agent = StdioClient::in_own_folder();
    let calls = [
        ("council_ask", json!({ "question": "Tea?", "wait_seconds": 30 })),
        ("council_align", json!({ "question": "Tea?", "wait_seconds": 30 })),
        ("council_review", json!({ "text": "Tea is good.", "type": "post", "tier": 1 })),
    ];
    for (tool, arguments) in calls {
        let refused = agent.call_tool_error(tool, &arguments);
        assert!(
            value_at(&refused, "message").as_str().unwrap().contains("provider"),
            "{refused:#}"
        );
        let hint = value_at(&refused, "suggestion").as_str().unwrap();
        assert!(hint.contains("ANTHROPIC_API_KEY") && hint.contains("rehearse: true"), "{hint}");
    }
}

#[test]
fn a_waiting_caller_gets_progress() {
    let mut agent = StdioClient::in_own_folder();
    let call = json!({
        "name": "council_ask",
        "arguments": { "question": "Tea?", "rehearse": true, "wait_seconds": 30, "conclusion": false },
        "_meta": { "progressToken": "here" },
    });
    let result = agent.request_ok("tools/call", &call);
    assert_eq!(value_at(&result, "structuredContent.status"), "done");
    assert_eq!(value_at(&result, "structuredContent.result.conclusion"), &Value::Null);
    let outcome: Vec<&Value> =
        agent.notices.iter().filter(|one| one["method"] == "notifications/progress").collect();
    assert!(outcome.len() > 5, "{outcome:?}");
    let steps: Vec<f64> =
        outcome.iter().map(|one| value_at(one, "params.progress").as_f64().unwrap()).collect();
    assert!(steps.is_sorted(), "{steps:?}");
    assert!(outcome.iter().all(|one| value_at(one, "params.progressToken") == "here"));
}

#[test]
fn a_document_is_reviewed_by_its_path_or_as_text() {
    let program = TestProgram::new();
    std::fs::create_dir(program.path().join("posts")).unwrap();
    std::fs::write(program.path().join("posts/a.md"), "We are the best.\n").unwrap();
    let mut agent = StdioClient::new(&program);
    for given in [json!({ "path": "posts/a.md" }), json!({ "text": "We are.\n", "type": "email" })]
    {
        let mut arguments = given.clone();
        arguments["rehearse"] = json!(true);
        arguments["wait_seconds"] = json!(30);
        let ended = agent.call_tool_ok("council_review", &arguments);
        let verdict = value_at(&ended, "result.verdict").as_str().unwrap();
        assert!(["SHIP", "REVISE", "HOLD"].contains(&verdict), "{ended:#}");
    }
    let log = std::fs::read_to_string(program.path().join("council_log.jsonl")).unwrap();
    assert_eq!(log.lines().count(), 2);
    for (arguments, code) in [
        (json!({}), "missing_field"),
        (json!({ "text": "No type." }), "missing_field"),
        (json!({ "path": "a.md", "text": "Both.", "type": "email" }), "invalid_type"),
        (json!({ "path": "nothing.md", "rehearse": true }), "unreadable"),
        (json!({ "path": "-", "rehearse": true }), "path_not_allowed"),
        (json!({ "path": "/etc/hostname", "rehearse": true }), "path_not_allowed"),
        (json!({ "path": "../up.md", "rehearse": true }), "path_not_allowed"),
        (json!({ "path": ".plenary/plenary.db", "rehearse": true }), "path_not_allowed"),
    ] {
        let refused = agent.call_tool_error("council_review", &arguments);
        assert_eq!(value_at(&refused, "error_code"), code, "{arguments} {refused:#}");
    }
}

#[test]
fn what_the_rules_skip_is_answered_at_once() {
    let program = TestProgram::new();
    std::fs::write(
        program.path().join("council.yaml"),
        "tier_rules:\n  tier_1: {post: [\"posts/*.md\"]}\n",
    )
    .unwrap();
    std::fs::write(program.path().join("note.md"), "A note.\n").unwrap();
    let mut agent = StdioClient::new(&program);
    let outcome =
        agent.call_tool_ok("council_review", &json!({ "path": "note.md", "rehearse": true }));
    assert_eq!(value_at(&outcome, "status"), "done");
    assert_eq!(value_at(&outcome, "result.verdict"), "SKIPPED");
    assert_eq!(value_at(&outcome, "dialogue_id"), &Value::Null);
    // The suggestion names tool arguments, not command-line options.
    assert!(value_at(&outcome, "suggestion").as_str().unwrap().contains("tier: 1"), "{outcome:#}");
    assert!(!outcome.to_string().contains("--"), "{outcome:#}");
    let wanted = json!({ "path": "note.md", "tier": 1, "rehearse": true, "wait_seconds": 30 });
    let judged = agent.call_tool_ok("council_review", &wanted);
    assert_ne!(value_at(&judged, "result.verdict"), "SKIPPED");
}

#[test]
fn a_key_in_a_document_is_refused_without_a_way_around() {
    let mut agent = StdioClient::in_own_folder();
    let text = format!("Our key is ghp_{}.\n", "a1".repeat(18));
    let given = json!({ "text": text, "type": "email", "rehearse": true });
    let refused = agent.call_tool_error("council_review", &given);
    assert_eq!(value_at(&refused, "suggestion"), "remove the key from the document");
    assert!(!refused.to_string().contains("--force"), "{refused:#}");
}

/// A run state from the current journal.
pub fn read_run_state(program: &TestProgram, id: &Value) -> RunState {
    let store = SqliteStore::open(&program.path().join(".plenary/plenary.db")).unwrap();
    load_run_state(&Protocols::built_in(), &store, &id.as_str().unwrap().parse().unwrap()).unwrap()
}

/// A council that answers once released.
pub fn waiting_council() -> (TestCouncil, Arc<AtomicBool>) {
    let is_open = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&is_open);
    let script = move |_: &SeatRequest<'_>| {
        if asked.load(Ordering::SeqCst) { ScriptedReply::Valid } else { ScriptedReply::Hang }
    };
    (TestCouncil::new(script), is_open)
}

#[test]
fn cancelling_the_call_ends_the_run_and_it_goes_on_when_asked() {
    let (council, is_open) = waiting_council();
    let mut agent = StdioClient::new(&council.program);
    let arguments = json!({ "question": "Tea?", "wait_seconds": 60 });
    let call = json!({ "name": "council_ask", "arguments": arguments });
    let id = agent.send_request("tools/call", &call);
    let dialogue = first_dialogue(&mut agent);
    let params = json!({ "requestId": id });
    agent.send_message(
        &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }),
    );
    let stand = poll_until(&mut agent, &dialogue, "interrupted");
    assert_eq!(value_at(&stand, "result"), &Value::Null);
    assert!(value_at(&stand, "suggestion").as_str().unwrap().contains("resume"));
    is_open.store(true, Ordering::SeqCst);
    let asked = json!({ "dialogue_id": dialogue, "resume": true, "wait_seconds": 60 });
    let ended = agent.call_tool_ok("deliberation_status", &asked);
    assert_eq!(value_at(&ended, "status"), "done", "{ended:#}");
}

#[test]
fn whoever_only_looks_ends_nothing() {
    let (council, _) = waiting_council();
    let mut agent = StdioClient::new(&council.program);
    let begun = agent.call_tool_ok("council_ask", &json!({ "question": "Tea?" }));
    let id = value_at(&begun, "dialogue_id").as_str().unwrap().to_owned();
    let arguments = json!({ "dialogue_id": id, "wait_seconds": 60 });
    let call = json!({ "name": "deliberation_status", "arguments": arguments });
    let looking = agent.send_request("tools/call", &call);
    let params = json!({ "requestId": looking });
    agent.send_message(
        &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }),
    );
    let stand = agent.call_tool_ok("deliberation_status", &json!({ "dialogue_id": id }));
    assert_eq!(value_at(&stand, "status"), "running", "{stand:#}");
    let stopped =
        agent.call_tool_ok("deliberation_intervene", &json!({ "dialogue_id": id, "kind": "stop" }));
    assert_eq!(value_at(&stopped, "dialogue_id"), id.as_str());
    // No seat answered, so there is no conclusion.
    let ended = agent
        .call_tool_ok("deliberation_status", &json!({ "dialogue_id": id, "wait_seconds": 60 }));
    assert_eq!(value_at(&ended, "status"), "failed", "{ended:#}");
    assert!(value_at(&ended, "result.error.suggestion").is_string(), "{ended:#}");
}

#[test]
fn a_council_is_spoken_to_while_it_runs() {
    let (council, _) = waiting_council();
    let mut agent = StdioClient::new(&council.program);
    let begun = agent.call_tool_ok("council_ask", &json!({ "question": "Tea?" }));
    let id = value_at(&begun, "dialogue_id").as_str().unwrap().to_owned();
    let say = |kind: &str, more: Value| {
        let mut arguments = json!({ "dialogue_id": id, "kind": kind });
        let (Value::Object(all), Value::Object(more)) = (&mut arguments, more) else { panic!() };
        all.extend(more);
        arguments
    };
    agent.call_tool_ok(
        "deliberation_intervene",
        &say("whisper", json!({ "text": "Mind the cost.", "to": "ann" })),
    );
    for (arguments, code) in [
        (say("whisper", json!({})), "missing_field"),
        (say("whisper", json!({ "text": " " })), "missing_field"),
        (say("whisper", json!({ "text": "x", "to": "nobody" })), "expert_not_in_dialogue"),
        (say("stop", json!({ "to": "ann" })), "not_supported"),
        (say("shout", json!({ "text": "x" })), "invalid_enum"),
        (json!({ "dialogue_id": "nothing", "kind": "stop" }), "dialogue_not_found"),
    ] {
        let refused = agent.call_tool_error("deliberation_intervene", &arguments);
        assert_eq!(value_at(&refused, "error_code"), code, "{arguments}: {refused:#}");
    }
}

#[test]
fn a_server_that_ends_with_its_client_leaves_a_run_that_the_next_takes_up() {
    let (council, is_open) = waiting_council();
    for end in [ServerEnd::Leave, ServerEnd::Kill] {
        is_open.store(false, Ordering::SeqCst);
        let mut agent = StdioClient::new(&council.program);
        let begun = agent.call_tool_ok("council_ask", &json!({ "question": "Tea?" }));
        let id = value_at(&begun, "dialogue_id").as_str().unwrap().to_owned();
        assert_eq!(value_at(&begun, "status"), "running", "{begun:#}");
        match end {
            ServerEnd::Leave => assert_eq!(agent.close_client().0, 0),
            ServerEnd::Kill => agent.kill_server(),
        }
        is_open.store(true, Ordering::SeqCst);
        let mut next = StdioClient::new(&council.program);
        let stand = next.call_tool_ok("deliberation_status", &json!({ "dialogue_id": id }));
        assert_eq!(value_at(&stand, "status"), "interrupted", "{stand:#}");
        let asked = json!({ "dialogue_id": id, "resume": true, "wait_seconds": 60 });
        let ended = next.call_tool_ok("deliberation_status", &asked);
        assert_eq!(value_at(&ended, "status"), "done", "{ended:#}");
    }
}

#[derive(Clone, Copy)]
enum ServerEnd {
    Leave,
    Kill,
}

/// The id of the first dialogue, once it is open.
pub fn first_dialogue(agent: &mut StdioClient) -> String {
    for _ in 0..500 {
        let listed = agent.call_tool_ok("blue_dialogue_search", &json!({ "op": "list" }));
        if let Some(id) = listed.pointer("/dialogues/0/dialogue_id") {
            return id.as_str().unwrap().to_owned();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("no dialogue was opened");
}

/// Polls until the run has this status.
fn poll_until(agent: &mut StdioClient, id: &str, status: &str) -> Value {
    for _ in 0..100 {
        let stand = agent.call_tool_ok("deliberation_status", &json!({ "dialogue_id": id }));
        if stand["status"] == status {
            return stand;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("{id} never was {status}");
}
