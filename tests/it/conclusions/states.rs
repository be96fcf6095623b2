//! Clean, Revised, Unconverged, and runs that stop before a terminal state.

use plenary_core::model::ask::AskPurpose;
use serde_json::{Value, json};

use crate::councils::harness::{CommandResult, SeatRequest, TestCouncil};
use crate::kit::ScriptedReply;

/// A council whose seats reply validly except where the script sets a conclusion reply.
fn council_with_conclusion(
    script: impl Fn(&SeatRequest<'_>) -> Option<ScriptedReply> + Send + Sync + 'static,
) -> TestCouncil {
    TestCouncil::new(move |asked| script(asked).unwrap_or(ScriptedReply::Valid))
}

fn ask_question(council: &TestCouncil, question: &str) -> CommandResult {
    council.run_command(&["ask", "--json", "--quiet", question])
}

fn text_reply(text: &str) -> Option<ScriptedReply> {
    Some(ScriptedReply::Reply(text.to_owned()))
}

fn revised_reply(fields: &Value) -> Option<ScriptedReply> {
    Some(ScriptedReply::Reply(fields.to_string()))
}

#[test]
fn a_conclusion_that_passes_is_clean() {
    let council = council_with_conclusion(|_| None);
    let result = ask_question(&council, "Shall we go ahead?");
    result.expect_status("done", 0);
    assert_eq!(result.value_at("terminal_state"), "clean");
    assert_eq!(result.value_at("audit.critic_verdict"), "PASS");
    assert_eq!(result.value_at("audit.objections"), &json!([]));
    let participants = result.value_at("conclusion.participants").as_array().unwrap();
    let agents: Vec<_> = participants.iter().map(|one| one["agent"].as_str().unwrap()).collect();
    assert_eq!(agents, ["ann", "bob", "cid", "dot"]);
    let calls = [AskPurpose::Conclusion, AskPurpose::Audit, AskPurpose::Revision];
    assert_eq!(calls.map(|purpose| council.call_count(purpose)), [1, 1, 0]);
}

#[test]
fn only_what_was_flagged_is_taken_from_a_revision() {
    let council = council_with_conclusion(|asked| match (asked.purpose, asked.nth) {
        (AskPurpose::Audit, 1) => text_reply("FLAG: key_condition - nothing in it supports this"),
        (AskPurpose::Revision, _) => revised_reply(&json!({
            "recommendation": "Something else entirely.",
            "key_condition": "The way back was tried.",
            "unresolved_points": [],
            "review_by": "2998-01-01",
            "participants": [],
        })),
        _ => None,
    });
    let result = ask_question(&council, "Shall we go ahead?");
    result.expect_status("done", 0);
    assert_eq!(result.value_at("terminal_state"), "revised");
    assert_eq!(result.value_at("audit.revised_fields"), &json!(["key_condition"]));
    let (now, before) = (result.value_at("conclusion"), result.value_at("audit.original"));
    assert_eq!(now["key_condition"], "The way back was tried.");
    for field in ["recommendation", "unresolved_points", "review_by", "participants"] {
        assert_eq!(now[field].to_string(), before[field].to_string(), "{field}");
    }
}

#[test]
fn rejected_twice_it_is_unconverged_and_says_why() {
    let council = council_with_conclusion(|asked| {
        let is_audit = asked.purpose == AskPurpose::Audit;
        is_audit
            .then(|| ScriptedReply::Reply("FLAG: recommendation - it decides nothing".to_owned()))
    });
    let result = ask_question(&council, "Shall we go ahead?");
    result.expect_status("done", 0);
    assert_eq!(result.value_at("terminal_state"), "unconverged");
    assert_eq!(result.value_at("conclusion"), &Value::Null);
    assert!(result.value_at("draft.recommendation").is_string());
    assert!(result.value_at("explanation").as_str().unwrap().contains("it decides nothing"));
    let listed = council.program.run_command(&["list", "--json"]);
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    assert_eq!(listed["dialogues"][0]["status"], "open");
}

#[test]
fn a_critic_who_rambles_leaves_it_auditing_and_resumable() {
    let council = council_with_conclusion(|asked| match (asked.purpose, asked.nth) {
        (AskPurpose::Audit, 1 | 2) => text_reply("I think this is mostly fine, PASS!"),
        _ => None,
    });
    let result = ask_question(&council, "Shall we go ahead?");
    result.expect_status("incomplete", 3);
    assert_eq!(result.value_at("terminal_state"), &Value::Null);
    assert_eq!(result.value_at("error.error_code"), "audit_unavailable");
    assert_eq!(result.value_at("stage"), "auditing");
    let again = council.run_command(&["resume", result.dialogue_id(), "--json", "--quiet"]);
    again.expect_status("done", 0);
    assert_eq!(again.value_at("terminal_state"), "clean");
    assert_eq!(council.call_count(AskPurpose::Conclusion), 1, "the draft is not paid for twice");
}
