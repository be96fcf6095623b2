//! The JSON documents of each possible conclusion.

use serde_json::{Value, json};

use crate::model::ask::AskPurpose;
use crate::model::dialogue::{ProtocolKind, TerminalState};
use crate::model::intervention::Intervention;
use crate::model::plan::AuditMode;
use crate::model::run_state::{RunState, RunStopReason};
use crate::protocols::conclusion::document::{ConclusionView, conclusion_document};
use crate::protocols::conclusion::next::SECOND_AUDIT;
use crate::protocols::conclusion::phrases::explain_rejection;
use crate::protocols::conclusion::sample::{
    FIRST, NAMES, SampleRun, clean, critic_failed, cut_short, moment, rejected, reviser_failed,
    slug, unaudited, unconverged,
};
use crate::protocols::conclusion::types::{
    AuditReply, ConclusionOutcome, ObjectionSource, OutcomeKind, RecordedConclusion,
};
use crate::protocols::council::document::council_document;
use crate::report::dialogue_json::dialogue_document;

fn document_json(state: &RunState) -> Value {
    serde_json::to_value(council_document(state)).unwrap()
}

/// The conclusion fields of a document, on one line.
fn summary_line(state: &RunState) -> String {
    let result = document_json(state);
    let there = |key: &'static str| if result[key].is_null() { "-" } else { key };
    let audit = &result["audit"];
    let count = |key: &str| audit[key].as_array().unwrap().len();
    let audit = if audit.is_null() {
        "no audit".to_owned()
    } else {
        format!(
            "{} {} then {} {} mending {}",
            audit["critic_verdict"],
            count("objections"),
            audit["re_verdict"],
            count("second_objections"),
            audit["revised_fields"]
        )
    };
    format!(
        "{} {} {} | {} {} {} | {audit}",
        result["status"],
        result["stage"],
        result["terminal_state"],
        there("conclusion"),
        there("draft"),
        there("explanation")
    )
    .replace('"', "")
}

#[test]
fn each_ending_says_what_it_is_and_loses_nothing() {
    let no_conclusion = {
        let mut plan = crate::protocols::conclusion::sample::plan(AuditMode::Audited);
        plan.conclusion = None;
        let mut run = SampleRun::with(plan);
        run.opinions();
        run.reviews();
        run.report();
        run.stopped(RunStopReason::Done)
    };
    let cases = [
        (clean(), "done terminal clean | conclusion - - | PASS 0 then null 0 mending []"),
        (
            crate::protocols::conclusion::sample::revised(),
            "done terminal revised | conclusion - - | FLAG 2 then PASS 0 mending [recommendation,key_condition]",
        ),
        (
            unconverged(),
            "done terminal unconverged | - draft explanation | FLAG 2 then FLAG 1 mending [recommendation,key_condition]",
        ),
        (unaudited(), "done terminal null | conclusion - - | no audit"),
        (critic_failed(), "incomplete auditing null | - draft - | null 0 then null 0 mending []"),
        (
            reviser_failed(),
            "incomplete revising null | - draft - | FLAG 2 then null 0 mending [recommendation,key_condition]",
        ),
        (no_conclusion, "done null null | - - - | no audit"),
    ];
    for (state, expected) in cases {
        assert_eq!(summary_line(&state), expected);
    }
}

#[test]
fn the_rejected_text_is_a_draft_and_the_present_one_is_too() {
    let conclusion =
        serde_json::to_value(crate::protocols::conclusion::sample::conclusion()).unwrap();
    let original = serde_json::to_value(crate::protocols::conclusion::sample::original()).unwrap();
    assert_eq!(document_json(&unconverged())["draft"], conclusion);
    assert_eq!(document_json(&critic_failed())["draft"], conclusion);
    assert_eq!(document_json(&reviser_failed())["draft"], original);
    assert_eq!(
        document_json(&crate::protocols::conclusion::sample::revised())["audit"]["original"],
        original
    );
    assert_eq!(document_json(&clean())["audit"]["original"], Value::Null);
}

#[test]
fn the_audit_names_who_objects_and_who_sat_there() {
    let result = document_json(&crate::protocols::conclusion::sample::revised());
    insta::assert_snapshot!(serde_json::to_string_pretty(&json!({
        "synthesizer": result["synthesizer"], "objections": result["audit"]["objections"],
        "critic": result["audit"]["critic"], "reviser": result["audit"]["reviser"],
        "same_family": result["audit"]["same_family"],
    })).unwrap(), @r#"
    {
      "synthesizer": {
        "seat": "ann",
        "model": "claude-sonnet-4",
        "family": "anthropic"
      },
      "objections": [
        {
          "field": "recommendation",
          "objection": "asked for exactly 2 lines; the recommendation has 1",
          "by": "count"
        },
        {
          "field": "key_condition",
          "objection": "“Reads outnumber writes” is true of nearly every store; it does not say from which ratio on the cache pays.",
          "by": "critic"
        }
      ],
      "critic": {
        "seat": "bob",
        "model": "gpt-4o",
        "family": "openai"
      },
      "reviser": {
        "seat": "ann",
        "model": "claude-sonnet-4",
        "family": "anthropic"
      },
      "same_family": false
    }
    "#);
}

#[test]
fn what_did_not_converge_is_explained_plainly() {
    let explanation = document_json(&unconverged())["explanation"].as_str().unwrap().to_owned();
    insta::assert_snapshot!(explanation, @"The critic rejected the conclusion twice, and Plenary revises it only once. In the first audit the objections were to the recommendation: “asked for exactly 2 lines; the recommendation has 1”; to the key condition: ““Reads outnumber writes” is true of nearly every store; it does not say from which ratio on the cache pays”. After the revision the objection was to the recommendation: “It leaves out prices, which is what the question is about”. This is not a failure: the debate does not support one answer yet. Read the debate and the objections; then find out what is missing, ask a narrower question, or decide yourself.");
}

#[test]
fn a_form_that_was_missed_twice_is_explained_as_just_that() {
    let mut trail = rejected();
    trail.second_objections = vec![trail.objections[0].clone()];
    assert_eq!(trail.objections[0].by, ObjectionSource::Count);
    let note = explain_rejection(&trail);
    assert!(note.starts_with("The answer does not have the form"), "{note}");
    assert!(note.contains("asked for exactly 2 lines") && !note.contains("debate"), "{note}");
}

#[test]
fn a_long_objection_is_cut_in_the_note_and_whole_beside_it() {
    let mut trail = rejected();
    trail.second_objections[0].objection = "né\n".repeat(2_000);
    trail.objections = vec![trail.objections[0].clone(); 7];
    let note = explain_rejection(&trail);
    assert!(note.chars().count() < 1_500, "{note}");
    assert!(note.contains("; and 4 more.") && note.contains("né né…”"), "{note}");
    assert!(!note.contains('\n'));
}

#[test]
fn a_critic_of_the_same_family_and_no_critic_are_said() {
    let warned = |state: &RunState| document_json(state)["warnings"].to_string();
    let mut kin = clean();
    if let Some(critic) = kin.conclusion_result.as_mut().and_then(|ending| ending.critic.as_mut()) {
        critic.family = "anthropic".to_owned();
    }
    assert!(warned(&kin).contains("the same model family (anthropic)"), "{}", warned(&kin));
    assert_eq!(document_json(&kin)["audit"]["same_family"], true);
    kin.opening.rehearsal = true;
    assert!(!warned(&kin).contains("same model family"), "a rehearsal says what it is");
    assert!(warned(&unaudited()).contains("unaudited"));
    for (state, name) in
        [(clean(), "clean"), (crate::protocols::conclusion::sample::revised(), "revised")]
    {
        assert_eq!(document_json(&state)["warnings"], json!([]), "{name}");
    }
}

#[test]
fn the_ending_is_no_round_of_the_council_and_counts_in_its_totals() {
    let result = document_json(&crate::protocols::conclusion::sample::revised());
    let rounds = |key: &str| -> Vec<String> {
        let list = result["metrics"][key].as_array().unwrap();
        list.iter().map(|round| round["round"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(rounds("rounds"), ["R1", "R2", "R3"]);
    assert_eq!(rounds("ending"), ["conclusion", "audit", "revision", "audit"]);
    let session = &result["metrics"]["session"];
    assert_eq!((&session["calls"], &session["rounds_completed"]), (&json!(11), &json!(3)));
    assert_eq!(session["total_tokens_in"], 11_000);
    assert_eq!(session["total_cost_estimate"], 0.0132);
    assert_eq!(
        result["panel"],
        json!({ "attempted": 3, "succeeded": 3, "failed": [], "cancelled": [] })
    );
    let providers = result["transparency"]["providers"].as_array().unwrap();
    let of = |place: usize| (&providers[place]["rounds"], &providers[place]["tokens_in"]);
    assert_eq!(of(0), (&json!(["R1", "R2", "R3", "conclusion", "revision"]), &json!(5_000)));
    assert_eq!(of(1), (&json!(["R1", "R2", "audit"]), &json!(4_000)));
}

#[test]
fn a_critic_that_was_not_heard_does_not_make_the_panel_smaller() {
    let result = document_json(&critic_failed());
    assert_eq!(
        result["panel"],
        json!({ "attempted": 3, "succeeded": 3, "failed": [], "cancelled": [] })
    );
    assert_eq!(result["flags"]["degraded"], false);
    assert_eq!(result["error"]["error_code"], "audit_unavailable");
    assert_eq!(result["transparency"]["providers"][1]["status"], "partial");
}

#[test]
fn a_panel_that_was_stopped_is_degraded_and_its_interventions_are_told() {
    let result = document_json(&cut_short());
    assert_eq!((&result["flags"]["degraded"], &result["report"]), (&json!(true), &Value::Null));
    assert!(
        result["warnings"].to_string().contains("the Principal stopped the run before the report")
    );
    let listed = result["interventions"].as_array().unwrap();
    let kinds: Vec<&str> = listed.iter().map(|one| one["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["whisper", "whisper", "direct", "direct", "stop"]);
    assert_eq!(
        listed[1],
        json!({ "at": "2026-11-16T15:40:15.000000Z", "round": 1, "kind": "whisper",
            "text": "You know this store best.", "to": "cid", "restated": null,
            "confirmed": null })
    );
    assert_eq!(
        listed[3],
        json!({ "at": "2026-11-16T15:40:21.000000Z", "round": 2, "kind": "direct",
            "text": "forget all of it", "to": null,
            "restated": "The panel is to take it that forget all of it.", "confirmed": false })
    );
    // Four replies of the rounds, two of the conclusion and two restatements.
    assert_eq!(result["metrics"]["session"]["total_tokens_in"], 8_000);
    assert_eq!(result["transparency"]["providers"][0]["tokens_in"], 5_000);
}

#[test]
fn a_panel_that_had_reported_before_it_was_stopped_is_whole() {
    let mut run = SampleRun::debated(AuditMode::Audited);
    run.drafted(crate::protocols::conclusion::sample::conclusion());
    run.intervened(5, Intervention::Stop);
    run.audited(AuditReply::Pass);
    let state =
        run.ended(Some(TerminalState::Clean), crate::protocols::conclusion::sample::conclusion());
    assert_eq!(document_json(&state)["flags"]["degraded"], false);
}

#[test]
fn a_dialogue_that_somebody_led_is_told_in_the_same_words() {
    let mut state = unconverged();
    state.opening.protocol = ProtocolKind::Alignment;
    let closed = serde_json::to_value(conclusion_document(&state)).unwrap();
    let keys: Vec<&str> = closed.as_object().unwrap().keys().map(String::as_str).collect();
    for key in "dialogue_id protocol rehearsal status terminal_state conclusion draft explanation \
                audit warnings error"
        .split_whitespace()
    {
        assert!(keys.contains(&key), "no `{key}` among {keys:?}");
    }
    let council = document_json(&unconverged());
    for same in ["stage", "terminal_state", "conclusion", "draft", "explanation", "audit"] {
        assert_eq!(closed[same], council[same], "{same}");
    }
}

#[test]
fn an_exported_dialogue_carries_its_ending_and_what_became_of_it() {
    let mut record = crate::report::sample::record();
    let plain = serde_json::to_value(dialogue_document(&record)).unwrap();
    assert_eq!((&plain["conclusion"], &plain["outcomes"]), (&Value::Null, &json!([])));
    let ending = crate::protocols::conclusion::sample::revised().conclusion_result.unwrap();
    let note = Some("as said".to_owned());
    record.conclusion = Some(RecordedConclusion {
        ending: ending.clone(),
        at: moment(9),
        outcomes: vec![(moment(10), ConclusionOutcome { outcome: OutcomeKind::Held, note })],
    });
    let result = serde_json::to_value(dialogue_document(&record)).unwrap();
    assert_eq!(result["terminalState"], "revised");
    assert_eq!(result["conclusion"], serde_json::to_value(&ending.conclusion).unwrap());
    assert_eq!(result["audit"]["re_verdict"], "PASS");
    assert_eq!(result["concluded_at"], "2026-11-16T15:40:09.000000Z");
    assert_eq!(
        result["outcomes"],
        json!([{ "at": "2026-11-16T15:40:10.000000Z", "outcome": "held", "note": "as said" }])
    );
}

#[test]
fn an_ending_is_the_same_from_the_run_and_from_the_record() {
    for state in
        [clean(), crate::protocols::conclusion::sample::revised(), unconverged(), unaudited()]
    {
        let ending = state.conclusion_result.clone().unwrap();
        assert_eq!(ConclusionView::from_state(&state), ConclusionView::from_result(&ending));
    }
}

#[test]
fn a_second_look_that_is_missing_leaves_the_mended_draft() {
    let mut run = SampleRun::debated(AuditMode::Audited);
    run.drafted(crate::protocols::conclusion::sample::original());
    run.audited(AuditReply::Flag {
        objections: FIRST.iter().map(crate::protocols::conclusion::sample::objection).collect(),
    });
    run.revised(crate::protocols::conclusion::sample::conclusion());
    run.fails("bob", SECOND_AUDIT, AskPurpose::Audit);
    let ended = ConclusionView::from_state(&run.state);
    assert_eq!(ended.draft, Some(crate::protocols::conclusion::sample::conclusion()));
    let audit = ended.audit.unwrap();
    assert_eq!(
        (audit.re_verdict, audit.original),
        (None, Some(crate::protocols::conclusion::sample::original()))
    );
    assert_eq!(audit.reviser.map(|author| author.seat), Some(slug(NAMES[0])));
}
