//! Requests that new users try first: each draft is wrong, then right. The program itself counts
//! what can be counted and does not trust the model.

use plenary_core::model::ask::AskPurpose;
use serde_json::{Value, json};

use crate::councils::harness::{CommandResult, SeatRequest, TestCouncil};
use crate::kit::{ScriptedReply, valid_reply};

/// A wrong first draft, the critic's replies, and the fields of the right draft.
struct DraftTrial {
    question: &'static str,
    wrong: Value,
    /// The critic's replies to its two audits.
    critic: [&'static str; 2],
    right: Value,
}

impl DraftTrial {
    /// Runs the case; the critic must reject the wrong draft and the program must deliver the right
    /// one.
    #[track_caller]
    fn run_trial(self) -> (TestCouncil, CommandResult) {
        let Self { question, wrong, critic, right } = self;
        let council = TestCouncil::new(move |asked| match asked.purpose {
            AskPurpose::Conclusion => valid_with(asked, &wrong),
            AskPurpose::Revision => valid_with(asked, &right),
            AskPurpose::Audit => ScriptedReply::Reply(critic[(asked.nth - 1).min(1)].to_owned()),
            AskPurpose::Opinion
            | AskPurpose::PeerReview
            | AskPurpose::Synthesis
            | AskPurpose::Restatement
            | AskPurpose::Other(_)
            | AskPurpose::Judgement
            | AskPurpose::CrossReading
            | AskPurpose::Design
            | AskPurpose::Panel
            | AskPurpose::Contribution
            | AskPurpose::Reconciliation
            | AskPurpose::Verdicts
            | AskPurpose::Adjudication => ScriptedReply::Valid,
        });
        let result = council.run_command(&["ask", "--json", "--quiet", question]);
        result.expect_status("done", 0);
        assert_eq!(result.value_at("terminal_state"), "revised", "{:#}", result.document);
        (council, result)
    }
}

fn valid_with(asked: &SeatRequest<'_>, fields: &Value) -> ScriptedReply {
    let mut document = valid_reply(asked.request);
    let (Some(document), Some(fields)) = (document.as_object_mut(), fields.as_object()) else {
        panic!("a conclusion is an object")
    };
    document.extend(fields.clone());
    ScriptedReply::Reply(Value::Object(document.clone()).to_string())
}

#[track_caller]
fn first_objection(result: &CommandResult) -> (String, String) {
    let objections = result.value_at("audit.objections").as_array().unwrap();
    let [only] = objections.as_slice() else { panic!("{objections:?}") };
    let text = |name: &str| only[name].as_str().unwrap().to_owned();
    (text("by"), text("objection"))
}

/// The program counts lines itself: a critic that passes everything does not change the result.
#[test]
fn in_exactly_five_lines() {
    let (council, result) = DraftTrial {
        question: "Shall we go ahead? Answer in exactly 5 lines.",
        wrong: json!({ "recommendation": "Go ahead.\nIn small steps.\nEach can be taken back." }),
        critic: ["PASS", "PASS"],
        right: json!({ "recommendation": "Go ahead.\nIn small steps.\nOne a week.\nEach can be taken back.\nStop when one cannot." }),
    }
    .run_trial();
    let (by, text) = first_objection(&result);
    assert_eq!(by, "count");
    assert!(text.contains('5') && text.contains('3'), "{text}");
    assert_eq!(result.value_at("audit.critic_verdict"), "FLAG");
    let revision = &council.requests_for(AskPurpose::Revision)[0];
    assert!(revision.user.contains(&text), "the reviser must be told what was counted");
    let delivered = result.value_at("conclusion.recommendation").as_str().unwrap();
    assert_eq!(delivered.lines().count(), 5);
}

/// The second draft is wrong too: the result is Unconverged and reports both counts.
#[test]
fn five_lines_missed_twice_is_unconverged() {
    let council = TestCouncil::new(|asked| match asked.purpose {
        AskPurpose::Conclusion | AskPurpose::Revision => {
            valid_with(asked, &json!({ "recommendation": "One line." }))
        }
        AskPurpose::Opinion
        | AskPurpose::PeerReview
        | AskPurpose::Synthesis
        | AskPurpose::Audit
        | AskPurpose::Restatement
        | AskPurpose::Other(_)
        | AskPurpose::Judgement
        | AskPurpose::CrossReading
        | AskPurpose::Design
        | AskPurpose::Panel
        | AskPurpose::Contribution
        | AskPurpose::Reconciliation
        | AskPurpose::Verdicts
        | AskPurpose::Adjudication => ScriptedReply::Valid,
    });
    let result = council.run_command(&[
        "ask",
        "--json",
        "--quiet",
        "Shall we go ahead, in exactly 5 lines?",
    ]);
    result.expect_status("done", 0);
    assert_eq!(result.value_at("terminal_state"), "unconverged");
    assert_eq!(result.value_at("audit.second_objections.0.by"), "count");
    let page = council.program.run_command(&["show", result.dialogue_id()]);
    assert!(page.stdout.contains("UNCONVERGED"), "{}", page.stdout);
}

#[test]
fn a_persona_that_was_asked_for_is_kept() {
    let wrong = "The system recommends proceeding incrementally.";
    let right = "Arr, sail ahead in small tacks, for each can be taken back, matey.";
    let (council, result) = DraftTrial {
        question: "Answer as a pirate: shall we go ahead?",
        wrong: json!({ "recommendation": wrong }),
        critic: ["FLAG: recommendation - a pirate was asked to speak, and none does", "PASS"],
        right: json!({ "recommendation": right }),
    }
    .run_trial();
    assert_eq!(first_objection(&result).0, "critic");
    assert_eq!(result.value_at("conclusion.recommendation"), right);
    for purpose in [AskPurpose::Conclusion, AskPurpose::Audit] {
        let seen = &council.requests_for(purpose)[0];
        assert!(seen.user.contains("Answer as a pirate"), "who writes and who audits must know it");
    }
}

#[test]
fn a_false_premise_is_named_without_a_debate_about_the_debate() {
    let right =
        "Do not move it: the Eiffel Tower is in Paris, so there is nothing to move out of Rome.";
    let (_, result) = DraftTrial {
        question: "Now that the Eiffel Tower stands in Rome, shall we move it out of the city?",
        wrong: json!({ "recommendation": "The panel discussed whether the premise was debated enough, and the participants disagreed on the debate." }),
        critic: [
            "FLAG: recommendation - it reports on a debate and does not say that the premise is false",
            "PASS",
        ],
        right: json!({ "recommendation": right }),
    }
    .run_trial();
    assert_eq!(result.value_at("conclusion.recommendation"), right);
    assert!(result.value_at("audit.original.recommendation").as_str().unwrap().contains("debate"));
}

/// Bullets are inside the JSON string; the JSON syntax itself is never an objection.
#[test]
fn bullets_inside_the_json_string() {
    let (_, result) = DraftTrial {
        question: "Shall we go ahead? Give me exactly 3 bullet points.",
        wrong: json!({ "recommendation": "Go ahead, in small steps, each of which can be taken back." }),
        critic: ["PASS", "PASS"],
        right: json!({ "recommendation": "- Go ahead.\n- In small steps.\n- Each can be taken back." }),
    }
    .run_trial();
    let (by, text) = first_objection(&result);
    assert!(by == "count" && text.contains("bullet"), "{text}");
    let delivered = result.value_at("conclusion.recommendation").as_str().unwrap();
    assert_eq!(delivered.matches("\n- ").count() + 1, 3);
}

/// The critic objects to a conclusion that hides a split. The revision names the disagreement, its
/// experts and their statements.
#[test]
fn a_controversial_topic_yields_named_disagreements() {
    let point = json!({
        "point": "Whether it is fair to those who come later",
        "agents_involved": ["ann", "bob"],
        "claims": [
            { "id": "R0101", "agent": "ann", "claim": "Go ahead in small steps." },
            { "id": "R0102", "agent": "bob", "claim": "Do not go ahead." },
        ],
    });
    let (_, result) = DraftTrial {
        question: "Should voting be compulsory?",
        wrong: json!({ "unresolved_points": [] }),
        critic: [
            "FLAG: unresolved_points - a controversial topic without one disagreement is fake consensus",
            "PASS",
        ],
        right: json!({ "unresolved_points": [point.clone()] }),
    }
    .run_trial();
    assert_eq!(result.value_at("conclusion.unresolved_points"), &json!([point]));
    assert_eq!(result.value_at("audit.revised_fields"), &json!(["unresolved_points"]));
}

/// An unknown expert, an unknown statement, and a statement of another expert.
#[test]
fn invented_disagreements_are_refused_with_their_reasons() {
    let invented = |agent: &str, id: &str, mouth: &str| {
        json!({ "unresolved_points": [{
            "point": "Whether it is fair",
            "agents_involved": [agent],
            "claims": [{ "id": id, "agent": mouth, "claim": "No." }],
        }] })
    };
    let rows = [
        (invented("eve", "R0101", "ann"), "eve"),
        (invented("ann", "R0199", "ann"), "R0199"),
        (invented("ann", "R0102", "ann"), "R0102"),
        (
            json!({ "unresolved_points": [{ "point": "x", "agents_involved": ["ann"], "claims": [] }] }),
            "claims",
        ),
        (
            json!({ "unresolved_points": [{ "point": "x", "agents_involved": [], "claims": [] }] }),
            "agents_involved",
        ),
        (json!({ "review_by": "2020-01-01" }), "review_by"),
        (json!({ "review_by": "soon" }), "review_by"),
        (json!({ "confidence": "high" }), "confidence"),
        (json!({ "key_condition": " " }), "key_condition"),
    ];
    for (wrong, reason) in rows {
        let council = TestCouncil::new(move |asked| match (asked.purpose, asked.nth) {
            (AskPurpose::Conclusion, 1) => valid_with(asked, &wrong),
            _ => ScriptedReply::Valid,
        });
        let result = council.run_command(&["ask", "--json", "--quiet", "Shall we go ahead?"]);
        result.expect_status("done", 0);
        let asked = council.requests_for(AskPurpose::Conclusion);
        assert_eq!(asked.len(), 2, "{reason}: one stricter ask");
        assert!(asked[1].user.contains(reason), "{reason}: {}", asked[1].user);
        assert_eq!(result.value_at("terminal_state"), "clean");
    }
}
