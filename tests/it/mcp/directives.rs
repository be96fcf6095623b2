//! A directive through the tool: restated first, effective once confirmed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use plenary_core::model::ask::AskPurpose;
use plenary_core::model::intervention::Intervention;
use serde_json::{Value, json};

use super::run_tools::read_run_state;
use super::stdio_client::StdioClient;
use crate::councils::harness::{SeatRequest, TestCouncil};
use crate::kit::{ScriptedReply, value_at};

const SENTENCE: &str = "You want the costs weighed first.";

/// A council that waits in its first round and whose chair restates.
fn waiting_council() -> (TestCouncil, Arc<AtomicBool>) {
    let is_open = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&is_open);
    let script = move |ask: &SeatRequest<'_>| match asked.load(Ordering::SeqCst) {
        _ if ask.purpose == AskPurpose::Restatement => ScriptedReply::Reply(SENTENCE.to_owned()),
        true => ScriptedReply::Valid,
        false => ScriptedReply::Hang,
    };
    (TestCouncil::new(script), is_open)
}

/// The directives in the record: whether confirmed, and the restatement.
fn read_directives(council: &TestCouncil, id: &Value) -> Vec<(bool, String)> {
    let noted = read_run_state(&council.program, id).interventions;
    let result = noted.into_iter().map(|noted| {
        let Intervention::Directive { restatement, confirmed, .. } = noted.intervention else {
            panic!("{noted:?}")
        };
        (confirmed, restatement.unwrap().sentence)
    });
    result.collect()
}

#[test]
fn what_is_confirmed_is_what_was_restated_and_is_paid_for_once() {
    let (council, is_open) = waiting_council();
    let mut agent = StdioClient::new(&council.program);
    let begun =
        agent.call_tool_ok("council_ask", &json!({ "question": "Tea?", "conclusion": false }));
    let id = value_at(&begun, "dialogue_id").clone();
    let directive = json!({ "dialogue_id": id, "kind": "direct", "text": "Mind the cost." });
    let result = agent.call_tool_ok("deliberation_intervene", &directive);
    let suggestion = value_at(&result, "suggestion").as_str().unwrap();
    assert!(suggestion.contains(SENTENCE) && suggestion.contains("confirmed"), "{suggestion}");
    assert_eq!(read_directives(&council, &id), [(false, SENTENCE.to_owned())]);
    let mut confirmed = directive.clone();
    confirmed["confirmed"] = json!(true);
    let result = agent.call_tool_ok("deliberation_intervene", &confirmed);
    assert!(value_at(&result, "suggestion").as_str().unwrap().contains(SENTENCE), "{result:#}");
    let both = [(false, SENTENCE.to_owned()), (true, SENTENCE.to_owned())];
    assert_eq!(read_directives(&council, &id), both);
    assert_eq!(council.call_count(AskPurpose::Restatement), 1, "the chair was asked once");
    is_open.store(true, Ordering::SeqCst);
    // The hanging calls time out; the resumed run repeats them.
    agent.kill_server();
    let mut next = StdioClient::new(&council.program);
    let asked = json!({ "dialogue_id": id, "resume": true, "wait_seconds": 60 });
    let ended = next.call_tool_ok("deliberation_status", &asked);
    assert_eq!(value_at(&ended, "status"), "done", "{ended:#}");
    let calls = value_at(&ended, "progress.calls").as_u64().unwrap();
    assert_eq!(value_at(&ended, "result.metrics.session.calls"), calls + 1, "one restatement");
}

#[test]
fn a_directive_that_was_not_restated_cannot_be_confirmed() {
    let (council, _) = waiting_council();
    let mut agent = StdioClient::new(&council.program);
    let begun = agent.call_tool_ok("council_ask", &json!({ "question": "Tea?" }));
    let id = value_at(&begun, "dialogue_id").clone();
    let directive =
        json!({ "dialogue_id": id, "kind": "direct", "text": "Mind the cost.", "confirmed": true });
    let refused = agent.call_tool_error("deliberation_intervene", &directive);
    assert!(refused.to_string().contains("not restated yet"), "{refused:#}");
    assert_eq!(read_directives(&council, &id), []);
    assert_eq!(council.call_count(AskPurpose::Restatement), 0);
}

#[test]
fn an_intervention_says_when_it_counts() {
    let (council, _) = waiting_council();
    let mut agent = StdioClient::new(&council.program);
    let begun = agent.call_tool_ok("council_ask", &json!({ "question": "Tea?" }));
    let id = value_at(&begun, "dialogue_id").clone();
    let whisper = json!({ "dialogue_id": id, "kind": "whisper", "text": "Mind the cost." });
    let result = agent.call_tool_ok("deliberation_intervene", &whisper);
    assert_eq!(value_at(&result, "suggestion"), "recorded; the next prompts have it");
    agent.kill_server();
    let mut next = StdioClient::new(&council.program);
    let result = next.call_tool_ok("deliberation_intervene", &whisper);
    assert_eq!(value_at(&result, "status"), "interrupted");
    let suggestion = value_at(&result, "suggestion").as_str().unwrap();
    assert!(suggestion.contains("resume: true"), "{suggestion}");
}
