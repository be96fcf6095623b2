//! Clean, Revised, Unconverged, and runs that stop before a terminal state.

use plenary::domain::ask::Purpose;
use serde_json::{Value, json};

use crate::councils::harness::{Asked, Council, Told};
use crate::kit::Play;

/// A council whose seats reply validly except where the script sets a conclusion reply.
fn council(script: impl Fn(&Asked<'_>) -> Option<Play> + Send + Sync + 'static) -> Council {
    Council::new(move |asked| script(asked).unwrap_or(Play::Fitting))
}

fn ask(council: &Council, question: &str) -> Told {
    council.run(&["ask", "--json", "--quiet", question])
}

fn reply(text: &str) -> Option<Play> {
    Some(Play::Reply(text.to_owned()))
}

fn mended(fields: &Value) -> Option<Play> {
    Some(Play::Reply(fields.to_string()))
}

#[test]
fn a_conclusion_that_passes_is_clean() {
    let council = council(|_| None);
    let told = ask(&council, "Shall we go ahead?");
    told.expect("done", 0);
    assert_eq!(told.at("terminal_state"), "clean");
    assert_eq!(told.at("audit.critic_verdict"), "PASS");
    assert_eq!(told.at("audit.objections"), &json!([]));
    let participants = told.at("conclusion.participants").as_array().unwrap();
    let agents: Vec<_> = participants.iter().map(|one| one["agent"].as_str().unwrap()).collect();
    assert_eq!(agents, ["ann", "bob", "cid", "dot"]);
    let calls = [Purpose::Conclusion, Purpose::Audit, Purpose::Revision];
    assert_eq!(calls.map(|purpose| council.calls(purpose)), [1, 1, 0]);
}

#[test]
fn only_what_was_flagged_is_taken_from_a_revision() {
    let council = council(|asked| match (asked.purpose, asked.nth) {
        (Purpose::Audit, 1) => reply("FLAG: key_condition - nothing in it supports this"),
        (Purpose::Revision, _) => mended(&json!({
            "recommendation": "Something else entirely.",
            "key_condition": "The way back was tried.",
            "unresolved_points": [],
            "review_by": "2998-01-01",
            "participants": [],
        })),
        _ => None,
    });
    let told = ask(&council, "Shall we go ahead?");
    told.expect("done", 0);
    assert_eq!(told.at("terminal_state"), "revised");
    assert_eq!(told.at("audit.revised_fields"), &json!(["key_condition"]));
    let (now, before) = (told.at("conclusion"), told.at("audit.original"));
    assert_eq!(now["key_condition"], "The way back was tried.");
    for field in ["recommendation", "unresolved_points", "review_by", "participants"] {
        assert_eq!(now[field].to_string(), before[field].to_string(), "{field}");
    }
}

#[test]
fn rejected_twice_it_is_unconverged_and_says_why() {
    let council = council(|asked| {
        let is_audit = asked.purpose == Purpose::Audit;
        is_audit.then(|| Play::Reply("FLAG: recommendation - it decides nothing".to_owned()))
    });
    let told = ask(&council, "Shall we go ahead?");
    told.expect("done", 0);
    assert_eq!(told.at("terminal_state"), "unconverged");
    assert_eq!(told.at("conclusion"), &Value::Null);
    assert!(told.at("draft.recommendation").is_string());
    assert!(told.at("explanation").as_str().unwrap().contains("it decides nothing"));
    let listed = council.program.run(&["list", "--json"]);
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    assert_eq!(listed["dialogues"][0]["status"], "open");
}

#[test]
fn a_critic_who_rambles_leaves_it_auditing_and_resumable() {
    let council = council(|asked| match (asked.purpose, asked.nth) {
        (Purpose::Audit, 1 | 2) => reply("I think this is mostly fine, PASS!"),
        _ => None,
    });
    let told = ask(&council, "Shall we go ahead?");
    told.expect("incomplete", 3);
    assert_eq!(told.at("terminal_state"), &Value::Null);
    assert_eq!(told.at("error.error_code"), "audit_unavailable");
    assert_eq!(told.at("stage"), "auditing");
    let again = council.run(&["resume", told.id(), "--json", "--quiet"]);
    again.expect("done", 0);
    assert_eq!(again.at("terminal_state"), "clean");
    assert_eq!(council.calls(Purpose::Conclusion), 1, "the draft is not paid for twice");
}
