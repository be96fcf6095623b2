//! A truncated reply is asked for again and never counts as complete.

use plenary_core::model::ask::AskPurpose;
use serde_json::{Value, json};

use super::harness::{CHAIR, CommandResult, SeatRequest, TestCouncil};
use crate::kit::{ScriptedReply, valid_reply};

const CUT_OFF: &str = "the reply was cut off before it ended";

/// A valid document that ends in the middle of a text.
fn truncated_opinion(asked: &SeatRequest<'_>) -> String {
    let mut document = valid_reply(asked.request);
    let fields = document.as_object_mut().unwrap();
    fields.shift_remove("questions");
    fields.insert("questions".to_owned(), json!(["Deploy now unless the"]));
    let text = document.to_string();
    let end = text.find("unless the").unwrap() + "unless the".len();
    text[..end].to_owned()
}

/// A council in which ann's replies are truncated at these calls of this purpose.
fn council_truncated_at(
    purpose: AskPurpose,
    is_cut: fn(usize) -> bool,
    cut: fn(&SeatRequest<'_>) -> ScriptedReply,
) -> TestCouncil {
    TestCouncil::new(move |asked| {
        let is_hers = asked.seat == "ann" || asked.seat == CHAIR;
        match is_hers && asked.purpose == purpose && is_cut(asked.nth) {
            true => cut(asked),
            false => ScriptedReply::Valid,
        }
    })
}

#[track_caller]
fn check_unmarked(result: &CommandResult) {
    result.expect_status("done", 0);
    let flags = json!({ "truncated": result.value_at("flags/truncated"), "degraded": result.value_at("flags/degraded") });
    assert_eq!(flags, json!({ "truncated": false, "degraded": false }));
    assert!(!result.document.to_string().contains("cut off"), "{:#}", result.document);
}

#[test]
fn a_reply_that_was_cut_off_is_asked_for_again_and_shorter() {
    let cuts: [fn(&SeatRequest<'_>) -> ScriptedReply; 3] = [
        |asked| ScriptedReply::Reply(truncated_opinion(asked)),
        |_| ScriptedReply::OutOfTokens(0),
        |_| ScriptedReply::Shortened(1),
    ];
    for cut in cuts {
        let council = council_truncated_at(AskPurpose::Opinion, |nth| nth == 1, cut);
        check_unmarked(&council.run_ask(&[]));
        let hers = council
            .requests_for(AskPurpose::Opinion)
            .into_iter()
            .filter(|seen| seen.model == "model-ann");
        let hers: Vec<String> = hers.map(|seen| seen.user).collect();
        let [first, second] = hers.as_slice() else { panic!("{} calls", hers.len()) };
        assert!(!first.contains("shorter"), "{first}");
        assert!(second.contains("Write a reply that you can finish"), "{second}");
        assert!(second.contains(CUT_OFF), "{second}");
    }
}

#[test]
fn an_opinion_that_is_cut_off_twice_is_used_and_marked_everywhere() {
    let cut: fn(&SeatRequest<'_>) -> ScriptedReply =
        |asked| ScriptedReply::Reply(truncated_opinion(asked));
    let council = council_truncated_at(AskPurpose::Opinion, |_| true, cut);
    let result = council.run_ask(&[]);
    result.expect_status("done", 0);
    assert_eq!(council.call_count(AskPurpose::Opinion), 4);
    assert_eq!(
        (result.value_at("flags/truncated"), result.value_at("flags/degraded")),
        (&json!(true), &json!(true))
    );
    let marks = result.value_at("rounds/r1/opinions").as_array().unwrap().iter();
    let marks: Vec<Value> = marks.map(|one| json!([one["provider"], one["truncated"]])).collect();
    assert_eq!(marks, [json!(["ann", true]), json!(["bob", null]), json!(["cid", null])]);
    assert_eq!(result.value_at("transparency/providers/0/truncated"), &json!(["R1"]));
    let warned = "the opinion of ann in R1 was cut off twice; its end is missing";
    assert!(
        result.value_at("warnings").as_array().unwrap().contains(&json!(warned)),
        "{:#}",
        result.document
    );
    // Readers are told.
    let label = "(cut off, its end is missing)";
    for seen in council
        .requests_for(AskPurpose::PeerReview)
        .iter()
        .chain(&council.requests_for(AskPurpose::Synthesis))
    {
        assert_eq!(seen.user.contains(label), seen.model != "model-ann", "{}", seen.user);
    }
    check_pages(&council, result.dialogue_id());
}

/// The pages of that council for people, and its event stream for programs.
#[track_caller]
fn check_pages(council: &TestCouncil, id: &str) {
    let page = council.program.run_command(&["show", id]).stdout;
    let head = page.split("POSITIONS").next().unwrap();
    assert!(head.contains("3 of 3 answered · ann's opinion was cut off"), "{page}");
    let markdown = council.program.run_command(&["export", id, "--format", "markdown"]).stdout;
    assert!(markdown.contains(", cut off |"), "{markdown}");
    let events = council.program.run_command(&["replay", id, "--json"]).stdout;
    let marked = |line: &&str| line.contains(r#""truncated":true"#);
    assert_eq!(events.lines().filter(marked).count(), 1, "{events}");
    let exported = council.run_command(&["export", id, "--json"]).document;
    let hers = &exported["recommendations"][0];
    assert_eq!(hers["parameters"]["truncated"], true, "{hers:#}");
    let summary = exported["rounds"].to_string();
    assert!(summary.contains("The opinion of ann was cut off."), "{summary}");
}

#[test]
fn a_review_that_is_cut_off_twice_is_marked() {
    let council =
        council_truncated_at(AskPurpose::PeerReview, |_| true, |_| ScriptedReply::Shortened(1));
    let result = council.run_ask(&[]);
    result.expect_status("done", 0);
    assert_eq!(result.value_at("flags/truncated"), true);
    assert_eq!(result.value_at("rounds/r2/reviews/0/truncated"), true);
    let page = council.program.run_command(&["show", result.dialogue_id()]).stdout;
    assert!(page.contains("ann's review was cut off"), "{page}");
}

#[test]
fn a_report_that_is_cut_off_twice_is_not_delivered() {
    let cuts: [fn(&SeatRequest<'_>) -> ScriptedReply; 2] =
        [|_| ScriptedReply::Shortened(1), |_| ScriptedReply::OutOfTokens(0)];
    for cut in cuts {
        let council = council_truncated_at(AskPurpose::Synthesis, |_| true, cut);
        let result = council.run_ask(&[]);
        assert_eq!(
            (result.value_at("report/fallback"), result.value_at("flags/degraded")),
            (&json!(true), &json!(true))
        );
        let failed = result.value_at("panel/failed/0");
        assert_eq!(
            (&failed["provider"], &failed["error_message"]),
            (&json!(CHAIR), &json!(CUT_OFF))
        );
    }
}

#[test]
fn an_opinion_that_was_cut_off_stands_in_for_no_chair_and_skips_no_round() {
    let council = TestCouncil::with_settings(
        |asked| match (asked.seat, asked.purpose) {
            ("ann", AskPurpose::Opinion) => ScriptedReply::Reply(truncated_opinion(asked)),
            (_, AskPurpose::Synthesis) => ScriptedReply::Refusal,
            _ => ScriptedReply::Valid,
        },
        |settings| {
            settings["council"]["short_circuit"] =
                json!({ "enabled": true, "skip_r2_if": ["high_agreement_in_r1"] });
        },
    );
    let result = council.run_ask(&[]);
    assert_eq!(result.value_at("flags/short_circuit"), false, "{:#}", result.document);
    let best = result.value_at("report/rationale/supporting_opinions/0/provider");
    assert_ne!(best, "ann", "{:#}", result.document);
}

#[test]
fn a_conclusion_that_was_cut_off_is_none() {
    let ask = ["ask", "--json", "Shall we go ahead?"];
    for purpose in [AskPurpose::Conclusion, AskPurpose::Audit] {
        let council = TestCouncil::new(move |asked| match asked.purpose == purpose {
            true => ScriptedReply::OutOfTokens(0),
            false => ScriptedReply::Valid,
        });
        let result = council.run_command(&ask);
        result.expect_status("incomplete", 3);
        assert_eq!(council.call_count(purpose), 2, "{purpose}");
        assert_eq!(result.value_at("terminal_state"), &Value::Null, "{purpose}");
        let again = council.requests_for(purpose).pop().unwrap().user;
        assert!(again.contains("Your last reply was cut off before its end"), "{again}");
    }
}
