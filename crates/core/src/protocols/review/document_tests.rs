//! The JSON document of a review, field by field.

use serde_json::{Value, json};

use crate::model::run_state::{RunState, RunStopReason};
use crate::protocols::review::document::{
    ReviewDocument, decided_document, review_document, skipped_document,
};
use crate::protocols::review::document_sample_tests::{
    SampleReview, incomplete, overridden, rehearsed, revised, shipped, unadjudicated,
};
use crate::protocols::review::earlier_decision::EarlierDecision;
use crate::protocols::review::github_annotations::github_annotations;
use crate::protocols::review::junit::junit_document;
use crate::protocols::review::log_row::RecordedOverride;
use crate::protocols::review::page::decided_page;
use crate::protocols::review::policy::{ReviewDecision, ReviewVerdict};
use crate::protocols::review::pull_request::pull_request_comment;
use crate::protocols::review::sample::SEATS;
use crate::protocols::review::sarif::sarif_document;
use crate::protocols::review::types::{ReviewArtifact, ReviewTier};
use crate::report::markdown::render_markdown;

fn document_json(state: &RunState) -> Value {
    serde_json::to_value(review_document(state)).unwrap()
}

#[test]
fn a_review_has_the_fields_of_the_specification_in_their_order() {
    let outcome = document_json(&revised());
    let keys: Vec<&str> = outcome.as_object().unwrap().keys().map(String::as_str).collect();
    let stable = [
        "verdict",
        "artifact",
        "artifact_type",
        "tier",
        "rehearsal",
        "policy",
        "adjudicator",
        "round1",
        "round2",
        "panel",
        "revision_brief",
        "dialogue_id",
        "verdict_id",
    ];
    assert_eq!(keys[..stable.len()], stable);
    assert_eq!(outcome["verdict"], "REVISE");
    assert_eq!(outcome["tier"], 1);
    assert_eq!(outcome["status"], "done");
    assert_eq!(outcome["verdict_id"], "posts-launch-md-7c21e0aa/1");
    assert_eq!(outcome["artifact_sha256"].as_str().unwrap().len(), 64);
}

#[test]
fn the_arithmetic_stands_beside_the_adjudicators_own_word() {
    let outcome = document_json(&revised());
    insta::assert_snapshot!(
        outcome["policy"],
        @r#"{"name":"seed","present":4,"blocks":3,"irreducible_blocks":1,"computed":"HOLD","min_deliberators":3,"downgraded":true}"#
    );
    let word = &outcome["adjudicator"];
    assert_eq!(word["final_verdict"], "REVISE");
    assert_eq!(word["downgrade"], true);
    assert_eq!(word["prior_verdicts_consulted"], 2);
    assert_eq!(word["applied_compounding"], true);
    assert_eq!(word["model"], "claude-sonnet-4");
    assert_eq!(outcome["prior_verdicts"][0]["artifact"], "posts/teaser.md");
    let held = review_document(&crate::protocols::review::document_sample_tests::held());
    assert_eq!(held.verdict, ReviewVerdict::Hold);
    assert!(!held.policy.unwrap().downgraded);
}

#[test]
fn a_round_has_a_row_for_each_seat_with_who_answered_for_it() {
    let outcome = document_json(&revised());
    let row = &outcome["round2"][1];
    assert_eq!(row["deliberator"], "voice_identity");
    assert_eq!(row["fallback"], true);
    assert_eq!(row["model"], "gpt-4o");
    assert_eq!(outcome["round2"][3]["uncited"], true);
    assert_eq!(outcome["round1"][3].get("uncited"), None);
    let outcome = document_json(&incomplete());
    assert_eq!(outcome["round1"][1]["absent"], true);
    assert_eq!(outcome["round1"][1]["error_type"], "timeout");
    assert_eq!(outcome["round2"], json!([]));
}

#[test]
fn a_concern_carries_its_lines() {
    let outcome = review_document(&revised());
    let placed: Vec<_> = outcome
        .concerns
        .iter()
        .map(|one| (one.id.as_str(), one.round, one.blocking, one.irreducible, one.line))
        .collect();
    let expected = [
        ("skeptic-1", 2, true, true, Some(3)),
        ("skeptic-2", 2, true, true, Some(5)),
        ("voice_identity-1", 1, false, false, None),
        ("evidence-1", 2, true, false, Some(4)),
    ];
    assert_eq!(placed, expected);
    let missing: Vec<bool> = outcome.concerns.iter().map(|one| one.quote_not_found).collect();
    assert_eq!(missing, [false, false, true, false], "only one quotes words that are not there");
}

#[test]
fn an_incomplete_review_says_why_and_is_no_verdict() {
    let outcome = document_json(&incomplete());
    assert_eq!(outcome["verdict"], "INCOMPLETE");
    assert_eq!(outcome["status"], "incomplete");
    assert_eq!(outcome["policy"]["computed"], Value::Null);
    assert_eq!(outcome["policy"]["present"], 2);
    assert_eq!(outcome["adjudicator"], Value::Null);
    assert_eq!(outcome["revision_brief"], "");
    assert_eq!(outcome["error"]["error_code"], "quorum_not_met");
    assert_eq!(outcome["panel"]["degraded"], true);
    assert_eq!(outcome["panel"]["attempted"], 4);
    assert_eq!(outcome["panel"]["succeeded"], 2);
    assert_eq!(outcome["panel"]["failed"][0]["provider"], "voice_identity");
    assert_eq!(outcome["prior_verdicts"], json!([]), "no adjudicator was asked");
    let outcome = document_json(&unadjudicated());
    assert_eq!(outcome["verdict"], "INCOMPLETE");
    assert_eq!(outcome["error"]["error_code"], "adjudication_unavailable");
    assert_eq!(outcome["policy"]["present"], 4);
    assert_eq!(
        outcome["policy"]["computed"],
        Value::Null,
        "nothing follows without an adjudicator"
    );
}

#[test]
fn a_panel_of_which_nobody_was_heard_failed() {
    let mut gate = SampleReview::new();
    SEATS.iter().for_each(|name| gate.is_absent(name, 1));
    let stop = RunStopReason::Quorum { round: 1, heard: 0, needed: 3 };
    assert_eq!(document_json(&gate.stopped(stop))["status"], "failed");
}

#[test]
fn what_is_missing_or_odd_is_said() {
    let outcome = review_document(&revised());
    assert!(outcome.panel.degraded && !outcome.panel.single_family);
    let [missing] = &outcome.missing_context[..] else { panic!("{:?}", outcome.missing_context) };
    assert_eq!(
        (missing.deliberator.as_str(), missing.path.as_str()),
        ("voice_identity", "voice/corpus.md")
    );
    assert!(review_document(&rehearsed()).rehearsal);
    assert!(!review_document(&shipped()).panel.degraded);
}

#[test]
fn a_panel_of_one_family_is_called_that() {
    let mut state = shipped();
    state.plan.seats.iter_mut().for_each(|seat| seat.family = "google".to_owned());
    let outcome = review_document(&state);
    assert!(outcome.panel.single_family);
    assert_eq!(
        outcome.warnings,
        ["all models of the panel belong to one family, so agreement is weak evidence"]
    );
}

#[test]
fn a_persons_decision_stands_beside_the_gates_and_takes_no_time() {
    let outcome = review_document(&overridden());
    assert_eq!(outcome.verdict, ReviewVerdict::Revise);
    assert_eq!(outcome.overrides[0].decision.decision, ReviewDecision::Ship);
    let took = |outcome: ReviewDocument| outcome.metrics.unwrap().session.total_duration_ms;
    assert_eq!(took(outcome), took(review_document(&revised())));
}

#[test]
fn what_was_skipped_says_why() {
    let outcome =
        skipped_document("notes/a.md", "note", ReviewTier::Never, "tier 2 is not looked at");
    let outcome = serde_json::to_value(outcome).unwrap();
    assert_eq!(outcome["verdict"], "SKIPPED");
    assert_eq!(outcome["tier"], 2);
    assert_eq!(outcome["skipped_because"], "tier 2 is not looked at");
    assert_eq!(outcome["round1"], json!([]));
    assert_eq!(outcome["dialogue_id"], Value::Null);
    assert_eq!(outcome["panel"]["failed"], json!([]));
}

#[test]
fn every_format_names_the_override_first_and_asks_for_nothing() {
    let run = overridden();
    let (at, word) = &run.overrides[0];
    let recorded = RecordedOverride {
        decision: word.decision,
        why: "The board has seen the figures".to_owned(),
        by: Some("Maria".to_owned()),
        at: *at,
    };
    let earlier = EarlierDecision {
        verdict_id: word.verdict_id.clone(),
        dialogue_id: run.opening.dialogue_id.clone(),
        verdict: ReviewVerdict::Ship,
        at: *at,
        overridden: Some(recorded),
    };
    let artifact = &run.review_plan().unwrap().artifact;
    let outcome = [decided_document(Some(&run), artifact, &earlier)];
    let message = "Maria overrode REVISE: The board has seen the figures.";
    let github = github_annotations(&outcome[0]);
    assert!(github.starts_with("::notice") && github.contains(&format!("::{message}")), "{github}");
    assert!(!github.contains("::warning") && !github.contains("downgrade"), "{github}");
    assert!(junit_document(&outcome, &[]).contains(message));
    let sarif = sarif_document(&outcome, &[]);
    assert!(sarif.to_string().contains(&format!("SHIP: {message}")), "{sarif:#}");
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    assert!(results.iter().all(|result| result["level"] == "note"), "{results:?}");
    let comment = pull_request_comment(&outcome, &[]);
    assert!(comment.contains(&format!("**SHIP** | {message} · decided on")), "{comment}");
    let page = render_markdown(&decided_page(&run, artifact, &earlier));
    assert!(page.contains("figures. No model was asked"), "{page}");
    let copy = ReviewArtifact { path: "copy.md".to_owned(), ..artifact.clone() };
    let page_of_copy = render_markdown(&decided_page(&run, &copy, &earlier));
    let origin = format!("It was decided for {}.", artifact.path);
    assert!(page_of_copy.contains("copy.md") && page_of_copy.contains(&origin), "{page_of_copy}");
    assert!(!page.contains(&origin), "{page}");
    assert!(!page.contains("Change the document") && page.contains("## Decision (SHIP)"), "{page}");
}

#[test]
fn a_skipped_file_has_not_passed() {
    let outcome = [skipped_document("a.md", "draft", ReviewTier::Never, "no rule fits")];
    let comment = pull_request_comment(&outcome, &[]);
    assert!(comment.contains("0 of 1 file passed, 1 skipped without a review"), "{comment}");
}
