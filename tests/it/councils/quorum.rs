//! Quorum, chairs, families, and retries.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use plenary_core::model::ask::AskPurpose;
use serde_json::{Value, json};

use super::harness::{CHAIR, PARTICIPANTS, SeatRequest, TestCouncil, check_all, seat_of};
use crate::kit::instructions::without_own_opinion;
use crate::kit::{ScriptedReply, valid_reply};

fn auth_failure() -> ScriptedReply {
    ScriptedReply::Status(401, vec![], "no".to_owned())
}

/// One seat fails for one purpose; all others reply validly.
fn reject_calls(
    seats: &'static [&'static str],
    purpose: AskPurpose,
) -> impl Fn(&SeatRequest<'_>) -> ScriptedReply + Send + Sync {
    move |asked| match asked.purpose == purpose && seats.contains(&asked.seat) {
        true => auth_failure(),
        false => ScriptedReply::Valid,
    }
}

fn add_second_chair(settings: &mut Value) {
    let providers = settings["council"]["providers"].as_array_mut().unwrap();
    let mut eve = providers.last().unwrap().clone();
    (eve["name"], eve["model"]) = (json!("eve"), json!("model-eve"));
    providers.push(eve);
}

#[test]
fn another_provider_with_the_role_takes_the_chair() {
    let council =
        TestCouncil::with_settings(reject_calls(&[CHAIR], AskPurpose::Synthesis), add_second_chair);
    let result = council.run_ask(&[]);
    result.expect_status("done", 0);
    assert_eq!(*result.value_at("report.chair_provider"), "eve");
    assert_eq!(*result.value_at("report.fallback"), false);
    assert_eq!(*result.value_at("flags.degraded"), true);
    assert_eq!(*result.value_at("panel.failed.0.provider"), CHAIR);
    assert_eq!(*result.value_at("panel.attempted"), 5);
    assert_eq!(*result.value_at("panel.succeeded"), 4);
    assert_eq!(council.call_count(AskPurpose::Synthesis), 2);
}

#[test]
fn a_named_chair_goes_first_and_the_configured_one_stands_in() {
    let council = TestCouncil::new(reject_calls(&["bob"], AskPurpose::Synthesis));
    let result = council.run_ask(&["--chair", "bob"]);
    result.expect_status("done", 0);
    let asked: Vec<String> =
        council.requests_for(AskPurpose::Synthesis).iter().map(seat_of).collect();
    assert_eq!(asked, ["bob", CHAIR]);
    assert_eq!(*result.value_at("report.chair_provider"), CHAIR);
}

#[test]
fn without_allow_partial_one_absence_ends_the_run() {
    let rows = [
        (AskPurpose::Opinion, "bob", "in round 1", [3, 0, 0]),
        (AskPurpose::PeerReview, "bob", "in round 2", [3, 3, 0]),
        (AskPurpose::Synthesis, CHAIR, "in round 3", [3, 3, 1]),
    ];
    check_all(&rows, |(purpose, seat, when, calls)| {
        let (purpose, seat) = (*purpose, *seat);
        let script =
            move |asked: &SeatRequest<'_>| match asked.purpose == purpose && asked.seat == seat {
                true => auth_failure(),
                false => ScriptedReply::Valid,
            };
        let council = TestCouncil::with_settings(script, |settings| {
            settings["council"]["quorum"] = json!({ "allow_partial": false });
        });
        let result = council.run_ask(&[]);
        result.expect_status("incomplete", 3);
        assert_eq!(*result.value_at("error.error_code"), "partial_not_allowed");
        assert!(
            result.value_at("error.message").as_str().unwrap().contains(when),
            "{:?}",
            result.value_at("error")
        );
        let seen = [AskPurpose::Opinion, AskPurpose::PeerReview, AskPurpose::Synthesis];
        assert_eq!(seen.map(|purpose| council.call_count(purpose)), *calls, "{when}");
    });
}

#[test]
fn families_min_counts_the_families_that_answered() {
    // The families of ann, bob and cid; the absent seats; the expected status.
    type FamilyRow = ([&'static str; 3], &'static [&'static str], &'static str, bool);
    let rows: [FamilyRow; 3] = [
        (["one", "one", "one"], &[], "incomplete", true),
        (["one", "one", "two"], &[], "done", false),
        (["one", "one", "two"], &["cid"], "incomplete", true),
    ];
    check_all(&rows, |(families, absent, status, single)| {
        let council =
            TestCouncil::with_settings(reject_calls(absent, AskPurpose::Opinion), |settings| {
                settings["council"]["quorum"] = json!({ "families_min": 2 });
                for (place, family) in families.iter().enumerate() {
                    settings["council"]["providers"][place]["family"] = json!(family);
                }
            });
        let result = council.run_ask(&[]);
        result.expect_status(status, if *status == "done" { 0 } else { 3 });
        assert_eq!(*result.value_at("flags.single_family"), *single, "{families:?} {absent:?}");
        if *status != "done" {
            assert_eq!(*result.value_at("error.error_code"), "families_not_met");
            assert_eq!(council.call_count(AskPurpose::PeerReview), 0);
        }
    });
}

#[test]
fn a_chair_that_is_not_required_need_not_be_paid_for() {
    let rows = [(true, "incomplete", 3), (false, "done", 0)];
    check_all(&rows, |(required, status, code)| {
        let council = TestCouncil::with_settings(
            |_| ScriptedReply::Valid,
            |settings| {
                settings["council"]["quorum"] = json!({ "r3_required": required });
                // Enough for two rounds of three calls.
                settings["budget"]["calls_max"] = json!(6);
            },
        );
        let result = council.run_ask(&[]);
        result.expect_status(status, *code);
        assert_eq!(council.call_count(AskPurpose::Synthesis), 0);
        match required {
            true => assert_eq!(*result.value_at("error.error_code"), "budget_exhausted"),
            false => assert_eq!(*result.value_at("report.fallback"), true),
        }
    });
}

#[test]
fn required_or_not_a_failed_chair_is_stood_in_for() {
    check_all(&[true, false], |required| {
        let council =
            TestCouncil::with_settings(reject_calls(&[CHAIR], AskPurpose::Synthesis), |settings| {
                settings["council"]["quorum"] = json!({ "r3_required": required });
            });
        let result = council.run_ask(&[]);
        result.expect_status("done", 0);
        assert_eq!(*result.value_at("report.fallback"), true);
    });
}

#[test]
fn the_most_complete_opinion_stands_in_for_the_chair() {
    // Seats that leave out their questions, and the seat whose opinion is shown.
    let rows: [(&[&str], &str); 3] = [(&[], "ann"), (&["ann"], "bob"), (&["ann", "bob"], "cid")];
    check_all(&rows, |&(terse, best)| {
        let council = TestCouncil::new(move |asked| match asked.purpose {
            AskPurpose::Opinion if terse.contains(&asked.seat) => {
                asked.valid_with(json!({ "questions": [] }))
            }
            AskPurpose::Synthesis => ScriptedReply::Refusal,
            AskPurpose::Opinion | AskPurpose::PeerReview => ScriptedReply::Valid,
            AskPurpose::Conclusion
            | AskPurpose::Audit
            | AskPurpose::Revision
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
        let result = council.run_ask(&[]);
        result.expect_status("done", 0);
        assert_eq!(
            *result.value_at("report.rationale.supporting_opinions.0.provider"),
            best,
            "{terse:?}"
        );
    });
}

#[test]
fn who_failed_in_the_first_round_still_reviews_the_others() {
    let result = TestCouncil::new(reject_calls(&["ann"], AskPurpose::Opinion)).run_ask(&[]);
    result.expect_status("done", 0);
    let reviews = result.value_at("rounds.r2.reviews").as_array().unwrap();
    let about = |reviewer: &str| -> Vec<&str> {
        let review = reviews.iter().find(|review| review["reviewer_provider"] == reviewer).unwrap();
        let targets = review["targets"].as_array().unwrap().iter();
        let mut about: Vec<&str> =
            targets.map(|target| target["target_provider"].as_str().unwrap()).collect();
        about.sort_unstable();
        about
    };
    assert_eq!(about("ann"), ["bob", "cid"]);
    assert_eq!(about("bob"), ["cid"]);
    assert_eq!(about("cid"), ["bob"]);
    assert_eq!(*result.value_at("transparency.providers.0.status"), "partial");
}

#[test]
fn a_stricter_ask_says_what_was_wrong() {
    let council = TestCouncil::new(|asked| match (asked.seat, asked.purpose, asked.nth) {
        ("bob", AskPurpose::Opinion, 1) => {
            ScriptedReply::Reply(r#"{"summary": "Yes."}"#.to_owned())
        }
        _ => ScriptedReply::Valid,
    });
    let result = council.run_ask(&[]);
    result.expect_status("done", 0);
    assert_eq!(*result.value_at("panel.failed"), json!([]));
    assert_eq!(*result.value_at("flags.degraded"), false);
    let seen = council.requests_for(AskPurpose::Opinion);
    let asked: Vec<&str> =
        seen.iter().filter(|seen| seat_of(seen) == "bob").map(|seen| seen.user.as_str()).collect();
    let [first, second] = asked.as_slice() else { panic!("asked {} times", asked.len()) };
    assert!(second.starts_with(first), "the question changed");
    assert!(
        second.contains("BEGIN material REASON") && second.contains("missing field"),
        "{second}"
    );
}

#[test]
fn a_server_that_refuses_the_schema_is_sent_none_for_the_rest_of_the_run() {
    let council = TestCouncil::new(|asked| match asked.request.structured {
        true => {
            let body = json!({ "error": { "message": "response_format is not supported" } });
            ScriptedReply::Status(400, vec![], body.to_string())
        }
        false => ScriptedReply::Valid,
    });
    let result = council.run_ask(&[]);
    result.expect_status("done", 0);
    assert_eq!(*result.value_at("panel.failed"), json!([]));
    let calls = [AskPurpose::Opinion, AskPurpose::PeerReview, AskPurpose::Synthesis]
        .map(|purpose| council.call_count(purpose));
    // Each provider is called twice for its first ask and once for later ones.
    assert_eq!(calls, [6, 3, 2]);
    // A refused call counts as a call.
    assert_eq!(*result.value_at("metrics.session.calls"), 11);
}

#[test]
fn a_resumed_run_asks_only_seats_without_an_answer() {
    let repaired = Arc::new(AtomicBool::new(false));
    let is_mended = Arc::clone(&repaired);
    let council = TestCouncil::new(move |asked| {
        let fails = asked.purpose == AskPurpose::Opinion && asked.seat != "ann";
        if fails && !is_mended.load(Ordering::SeqCst) {
            auth_failure()
        } else {
            ScriptedReply::Valid
        }
    });
    let result = council.run_ask(&[]);
    result.expect_status("incomplete", 3);
    repaired.store(true, Ordering::SeqCst);
    let resumed = council.run_command(&["resume", result.dialogue_id(), "--json"]);
    resumed.expect_status("done", 0);
    assert_eq!(*resumed.value_at("panel.failed"), json!([]));
    assert_eq!(*resumed.value_at("transparency.starts"), 2);
    let mut asked: Vec<String> =
        council.requests_for(AskPurpose::Opinion).iter().map(seat_of).collect();
    asked.sort();
    assert_eq!(asked, ["ann", "bob", "bob", "cid", "cid"]);
    let again = council.run_command(&["resume", result.dialogue_id(), "--json"]);
    assert_eq!((again.code, &again.document), (0, &resumed.document), "finished is finished");
}

#[test]
fn nobody_sees_a_name_or_an_opinion_of_their_own() {
    let word = |seat: &str| match seat {
        "ann" => "alpha",
        "bob" => "beta",
        _ => "gamma",
    };
    let council = TestCouncil::new(move |asked| match asked.purpose {
        AskPurpose::Opinion => {
            let summary = format!("I am model-{0}, and I say {1}.", asked.seat, word(asked.seat));
            asked.valid_with(json!({ "summary": summary }))
        }
        AskPurpose::PeerReview | AskPurpose::Synthesis => ScriptedReply::Valid,
        AskPurpose::Conclusion
        | AskPurpose::Audit
        | AskPurpose::Revision
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
    council.run_ask(&[]).expect_status("done", 0);
    for seen in council
        .requests_for(AskPurpose::PeerReview)
        .iter()
        .chain(&council.requests_for(AskPurpose::Synthesis))
    {
        let reader = seat_of(seen);
        for name in PARTICIPANTS {
            let others = without_own_opinion(&seen.user);
            let names = others.contains(&format!("model-{name}"));
            assert_eq!(names, reader == "dot", "only the chair reads who {name} is: {reader}");
            let reads = others.contains(&format!("I say {}.", word(name)));
            assert_eq!(reads, reader != name, "{reader} and the opinion of {name}");
        }
    }
}

#[test]
fn a_run_without_calls_left_resumes_with_a_higher_limit() {
    let council = TestCouncil::with_settings(
        |_| ScriptedReply::Valid,
        |settings| {
            settings["budget"] = json!({ "calls_max": 4 });
        },
    );
    let result = council.run_ask(&[]);
    result.expect_status("incomplete", 3);
    assert_eq!(*result.value_at("error.error_code"), "budget_exhausted");
    assert!(result.value_at("error.suggestion").as_str().unwrap().contains("budget.calls_max"));
    council.change_settings(|settings| settings["budget"] = json!({ "calls_max": 60 }));
    council.run_command(&["resume", result.dialogue_id(), "--json"]).expect_status("done", 0);
}

#[test]
fn peers_that_only_the_chair_knows_of_are_taken_out_and_said() {
    let council = TestCouncil::new(|asked| match asked.purpose {
        AskPurpose::Synthesis => asked.valid_with(json!({
            "disagreements": [{
                "topic": "Whether",
                "positions": [
                    { "provider": "A", "position": "yes" },
                    { "provider": "Z", "position": "no" },
                    { "provider": "Z", "position": "no again" },
                    { "provider": "A and B", "position": "both" },
                ],
            }],
        })),
        AskPurpose::Opinion | AskPurpose::PeerReview => ScriptedReply::Valid,
        AskPurpose::Conclusion
        | AskPurpose::Audit
        | AskPurpose::Revision
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
    let result = council.run_ask(&[]);
    result.expect_status("done", 0);
    let positions = result.value_at("report.disagreements.0.positions").as_array().unwrap();
    assert_eq!(positions.len(), 1, "{positions:?}");
    let warnings = result.value_at("warnings").to_string();
    assert!(warnings.contains("unknown participants in the report: `A and B`, `Z`;"), "{warnings}");
}

/// Bob gave no opinion and no review; cid gave an opinion alone.
#[test]
fn a_seat_that_did_not_speak_gets_no_credit() {
    let council = TestCouncil::new(|asked| match (asked.seat, asked.purpose) {
        ("bob", _) | ("cid", AskPurpose::PeerReview) => {
            ScriptedReply::Status(401, vec![], "no".to_owned())
        }
        (_, AskPurpose::Synthesis) => {
            let credit =
                |letter: &str| json!({ "provider": letter, "key_point": "x", "weight": "low" });
            let review = |letter: &str| json!({ "reviewer": letter, "critique_type": "risk", "key_point": "x" });
            let (opinions, reviews) = (["A", "B", "C"].map(credit), ["A", "B", "C"].map(review));
            asked.valid_with(json!({
                "rationale": {
                    "summary": "Because.",
                    "supporting_opinions": opinions,
                    "supporting_reviews": reviews,
                },
                "risks": [{ "description": "It may fail.", "severity": "low", "mitigation": "",
                    "mentioned_by": ["A", "B", "C"], "consensus": "agreed" }],
            }))
        }
        _ => ScriptedReply::Valid,
    });
    let result = council.run_ask(&[]);
    result.expect_status("done", 0);
    let names = |path: &str, field: &str| -> Vec<String> {
        let points = result.value_at(path).as_array().unwrap();
        let mut names: Vec<String> =
            points.iter().map(|one| one[field].as_str().unwrap().to_owned()).collect();
        names.sort();
        names
    };
    assert_eq!(names("report.rationale.supporting_opinions", "provider"), ["ann", "cid"]);
    assert_eq!(names("report.rationale.supporting_reviews", "reviewer"), ["ann"]);
    let mentioned = result.value_at("report.risks.0.mentioned_by").as_array().unwrap();
    assert_eq!(mentioned.len(), 2, "{mentioned:?}");
    let warnings = result.value_at("warnings").to_string();
    assert!(warnings.contains("credited bob, which gave no answer"), "{warnings}");
    let partly = "credited cid with a review that it did not give";
    assert!(warnings.contains(partly), "{warnings}");
    let exported = council.run_command(&["export", result.dialogue_id(), "--json"]).document;
    let supporting = exported["verdicts"][0]["supportingExperts"].to_string();
    assert!(!supporting.contains("bob"), "{supporting}");
}

#[test]
fn a_review_that_was_merged_is_not_called_malformed() {
    let council = TestCouncil::new(|asked| match (asked.seat, asked.purpose) {
        ("ann", AskPurpose::PeerReview) => {
            let mut review = valid_reply(asked.request);
            let twice = review["targets"][0].clone();
            review["targets"].as_array_mut().unwrap().push(twice);
            ScriptedReply::Reply(review.to_string())
        }
        ("bob", AskPurpose::PeerReview) => {
            let review = valid_reply(asked.request).to_string();
            ScriptedReply::Reply(review.replacen("]", ",]", 1))
        }
        _ => ScriptedReply::Valid,
    });
    let warnings = council.run_ask(&[]).value_at("warnings").to_string();
    assert!(warnings.contains("review of ann in R2 had several entries for one"), "{warnings}");
    assert!(warnings.contains("the JSON of bob in R2 was malformed"), "{warnings}");
    assert!(!warnings.contains("the JSON of ann"), "{warnings}");
}

#[test]
fn who_never_answered_did_not_succeed() {
    let council = TestCouncil::new(|asked| match asked.seat {
        "cid" => ScriptedReply::Hang,
        _ => ScriptedReply::Valid,
    });
    let result = council.run_ask(&["--deadline", "1500ms"]);
    result.expect_status("incomplete", 3);
    assert_eq!(*result.value_at("panel.attempted"), 3);
    assert_eq!(*result.value_at("panel.succeeded"), 2);
    let providers = result.value_at("transparency.providers").as_array().unwrap();
    let cid = providers.iter().find(|known| known["provider"] == "cid").unwrap();
    assert_eq!(cid["status"], "cancelled");
    assert_eq!(*result.value_at("panel.failed"), json!([]));
    assert_eq!(*result.value_at("panel.cancelled"), json!([{ "provider": "cid", "round": "R1" }]));
    assert_eq!(*result.value_at("metrics.rounds.0.providers_failed"), 0);
    assert_eq!(*result.value_at("metrics.rounds.0.providers_cancelled"), 1);
}
