//! Verdicts: conditions of a final verdict, the effect of each kind, and what may follow.

use serde_json::{Value, json};

use crate::kit::{TestProject, make_batch, make_item, open_dialogue, value_at};

/// `talk` with ann, bob and cid after one round: two tensions, a recommendation, a claim.
fn open_talk(round: Value) -> TestProject {
    let bench = TestProject::new();
    open_dialogue(&bench, &["ann", "bob", "cid"]);
    let mut fields = json!({
        "tensions": [make_item("ANN-T0001", ""), make_item("BOB-T0001", "")],
        "recommendations": [make_item("ANN-R0001", "")],
        "evidence": [make_item("ANN-E0001", "")],
        "claims": [make_item("BOB-C0001", "")],
    });
    if let (Value::Object(all), Value::Object(more)) = (&mut fields, round) {
        all.extend(more);
    }
    bench.run_ok("register", &make_batch(0, fields));
    bench
}

fn make_verdict(id: &str, verdict_type: &str, more: Value) -> Value {
    let mut verdict = json!({
        "dialogue_id": "talk", "verdict_id": id, "verdict_type": verdict_type,
        "recommendation": "Do it.", "description": "Because.",
    });
    if let (Value::Object(all), Value::Object(more)) = (&mut verdict, more) {
        all.extend(more);
    }
    verdict
}

/// Whether a final verdict with these fields is accepted after this round.
#[track_caller]
fn check_final_verdict(round: Value, fields: Value, expected: &str) {
    let bench = open_talk(round);
    let given = match bench.run_operation("verdict", &make_verdict("final", "final", fields)) {
        Ok(answer) => value_at(&answer, "dialogue_status").as_str().unwrap().to_owned(),
        Err(error) => value_at(&error.to_document(), "message").as_str().unwrap().to_owned(),
    };
    assert_eq!(given, expected);
    bench.assert_verified();
}

#[test]
fn a_final_verdict_waits_for_tensions_and_agreement() {
    let everyone = || json!({"converge": ["ann", "bob", "cid"]});
    let settled = |more: Value| {
        let mut fields = json!({"tensions_resolved": ["T0001"], "tensions_accepted": ["T0002"]});
        if let (Value::Object(all), Value::Object(more)) = (&mut fields, more) {
            all.extend(more);
        }
        fields
    };
    check_final_verdict(everyone(), settled(json!({})), "converged");
    check_final_verdict(json!({}), settled(json!({"vote": "3-0"})), "converged");
    check_final_verdict(json!({}), settled(json!({"vote": "unanimous"})), "converged");
    check_final_verdict(
        everyone(),
        json!({"tensions_resolved": ["T0001"]}),
        "dialogue 'talk' has not converged: tensions neither resolved nor accepted: T0002",
    );
    check_final_verdict(
        json!({"converge": ["ann"]}),
        settled(json!({})),
        "dialogue 'talk' has not converged: agreement under 100 %: 33 % signalled convergence, missing: bob, cid",
    );
    check_final_verdict(
        everyone(),
        settled(json!({"vote": "2-1"})),
        "dialogue 'talk' has not converged: agreement under 100 %: the vote is 2-1",
    );
    check_final_verdict(json!({}), json!({"forced": true, "warning": "out of time"}), "converged");
    check_final_verdict(json!({}), json!({"forced": true}), "required field 'warning' is missing");
}

#[test]
fn fewer_may_be_enough_when_that_was_agreed() {
    let bench = TestProject::new();
    let pool = crate::kit::make_pool(&["ann", "bob", "cid"]);
    bench.run_ok(
        "create",
        &json!({"title": "Talk", "expert_pool": pool, "convergence_percent": 66}),
    );
    bench.run_ok(
        "register",
        &make_batch(
            0,
            json!({"moves": [{"expert": "ann", "type": "converge"}], "converge": ["ann", "bob"]}),
        ),
    );
    let given = bench.run_ok("verdict", &make_verdict("final", "final", json!({})));
    assert_eq!(value_at(&given, "dialogue_status"), "converged");
}

#[test]
fn not_converged_names_what_is_missing() {
    let bench = open_talk(json!({"converge": ["cid"]}));
    let refusal = bench.expect_error("verdict", &make_verdict("final", "final", json!({})));
    assert_eq!(value_at(&refusal, "error_code"), "not_converged");
    assert_eq!(value_at(&refusal, "context.open_tensions"), &json!(["T0001", "T0002"]));
    assert_eq!(value_at(&refusal, "context.missing_experts"), &json!(["ann", "bob"]));
}

#[test]
fn interim_and_final_verdicts_change_what_they_name() {
    let bench = open_talk(json!({}));
    let fields = json!({"tensions_resolved": ["T0001"], "recommendations_adopted": ["R0001"], "key_claims": ["C0001"], "key_evidence": ["E0001"]});
    let given = bench.run_ok("verdict", &make_verdict("V01", "interim", fields));
    assert_eq!(value_at(&given, "dialogue_status"), "open");
    assert_eq!(value_at(&given, "adopted"), &json!(["R0001", "C0001"]));
    assert_eq!(value_at(&given, "tensions_resolved"), &json!(["T0001"]));
    let export = bench.export_dialogue("talk");
    assert_eq!(value_at(&export, "tensions.0.status"), "resolved");
    assert_eq!(
        value_at(&export, "tensions.0.events.1"),
        &json!({"type": "resolved", "round": 0, "by": ["judge"], "reference": "V01"})
    );
    assert_eq!(value_at(&export, "recommendations.0.adoptedInVerdict"), "V01");
    assert_eq!(value_at(&export, "claims.0.status"), "adopted");
    assert_eq!(value_at(&export, "evidence.0.status"), "cited");
    bench.assert_verified();
}

#[test]
fn objections_change_nothing() {
    let bench = open_talk(json!({}));
    let before = bench.export_dialogue("talk");
    let fields = json!({"supporting_experts": ["ann", "bob"], "tensions_resolved": ["T0001"], "recommendations_adopted": ["R0001"]});
    let given = bench.run_ok("verdict", &make_verdict("minority-1", "minority", fields));
    assert_eq!(value_at(&given, "adopted"), &json!([]));
    bench.run_ok("verdict", &make_verdict("dissent-1", "dissent", json!({"author_expert": "cid"})));
    let after = bench.export_dialogue("talk");
    for section in ["tensions", "recommendations", "status"] {
        assert_eq!(value_at(&before, section), value_at(&after, section));
    }
    assert_eq!(value_at(&after, "verdicts").as_array().unwrap().len(), 2);
}

#[test]
fn each_kind_needs_its_own() {
    let bench = open_talk(json!({}));
    let cases = [
        (make_verdict("m", "minority", json!({})), "missing_field"),
        (make_verdict("m", "minority", json!({"supporting_experts": []})), "missing_field"),
        (make_verdict("d", "dissent", json!({})), "missing_field"),
        (make_verdict("d", "dissent", json!({"author_expert": "judge"})), "missing_field"),
        (make_verdict("d", "dissent", json!({"author_expert": "zoe"})), "expert_not_in_dialogue"),
        (make_verdict("P0101", "interim", json!({})), "invalid_slug"),
        (make_verdict("v", "interim", json!({"vote": "11:1"})), "invalid_vote"),
        (make_verdict("v", "interim", json!({"confidence": "high"})), "invalid_enum"),
        (make_verdict("v", "interim", json!({"tensions_resolved": ["T0099"]})), "target_not_found"),
        (make_verdict("v", "interim", json!({"tensions_resolved": ["R0001"]})), "type_id_mismatch"),
        (make_verdict("v", "interim", json!({"round": 2})), "invalid_round"),
        (make_verdict("v", "interim", json!({"ethos_compliance": {}})), "not_supported"),
    ];
    for (arguments, code) in cases {
        assert_eq!(
            value_at(&bench.expect_error("verdict", &arguments), "error_code"),
            code,
            "{arguments}"
        );
    }
}

#[test]
fn after_a_final_verdict_only_minority_and_dissent_are_accepted() {
    let bench = open_talk(json!({}));
    let forced = json!({"forced": true, "warning": "for the test"});
    bench.run_ok("verdict", &make_verdict("final", "final", forced.clone()));
    let again = bench.expect_error("verdict", &make_verdict("final", "final", forced.clone()));
    assert_eq!(value_at(&again, "error_code"), "verdict_exists");
    for (operation, arguments) in [
        ("verdict", make_verdict("final-2", "final", forced)),
        ("verdict", make_verdict("V02", "interim", json!({}))),
        (
            "panel",
            json!({"dialogue_id": "talk", "round": 1, "panel": [{"expert_slug": "ann", "source": "retained"}]}),
        ),
        (
            "expert",
            json!({"dialogue_id": "talk", "expert_slug": "zoe", "role": "R", "tier": "Core", "reason": "r"}),
        ),
    ] {
        assert_eq!(
            value_at(&bench.expect_error(operation, &arguments), "error_code"),
            "dialogue_closed",
            "{operation}"
        );
    }
    let register = bench.expect_error("register", &make_batch(1, json!({})));
    assert_eq!(value_at(&register, "errors.0.error_code"), "dialogue_closed");
    bench.run_ok("verdict", &make_verdict("m", "minority", json!({"supporting_experts": ["bob"]})));
    bench.run_ok("verdict", &make_verdict("d", "dissent", json!({"author_expert": "cid"})));
    let verdicts = value_at(&bench.export_dialogue("talk"), "verdicts").clone();
    let order: Vec<&Value> =
        verdicts.as_array().unwrap().iter().map(|verdict| value_at(verdict, "id")).collect();
    assert_eq!(order, ["final", "m", "d"]);
}

#[test]
fn a_rejected_recommendation_cannot_be_adopted() {
    let bench =
        open_talk(json!({"updates": [{"id": "ANN-R0001", "status": "rejected", "by": "judge"}]}));
    let fields = json!({"recommendations_adopted": ["R0001"]});
    let refusal = bench.expect_error("verdict", &make_verdict("V01", "interim", fields));
    assert_eq!(value_at(&refusal, "error_code"), "invalid_status_transition");
    assert_eq!(value_at(&bench.export_dialogue("talk"), "verdicts"), &json!([]));
}

#[test]
fn nobody_is_not_everybody() {
    let bench = TestProject::new();
    open_dialogue(&bench, &["ann", "bob"]);
    let refusal = bench.expect_error("verdict", &make_verdict("final", "final", json!({})));
    assert_eq!(value_at(&refusal, "error_code"), "not_converged");
    let refusal =
        bench.expect_error("verdict", &make_verdict("final", "final", json!({"vote": "2-0"})));
    assert_eq!(value_at(&refusal, "error_code"), "not_converged");
    bench.run_ok("register", &make_batch(0, json!({})));
    let refusal =
        bench.expect_error("verdict", &make_verdict("final", "final", json!({"vote": "99-0"})));
    assert_eq!(value_at(&refusal, "error_code"), "invalid_vote");
    let given = bench.run_ok("verdict", &make_verdict("final", "final", json!({"vote": "2-0"})));
    assert_eq!(value_at(&given, "warnings.0.type"), "vote_beyond_signals");
}

#[test]
fn a_confidence_that_the_vote_does_not_carry_is_a_warning() {
    for (confidence, vote, warned) in [
        ("unanimous", "0-2", true),
        ("unanimous", "3-0", false),
        ("strong", "1-2", true),
        ("strong", "2-1", false),
        ("split", "0-2", false),
    ] {
        let bench = open_talk(json!({}));
        let fields = json!({ "vote": vote, "confidence": confidence, "forced": true,
            "warning": "Not converged." });
        let given = bench.run_ok("verdict", &make_verdict("final", "final", fields));
        let warnings = given["warnings"].to_string();
        assert_eq!(warnings.contains("confidence_beyond_vote"), warned, "{confidence} {vote}");
    }
}

#[test]
fn an_experts_verdict_resolves_only_what_they_raised() {
    let bench = open_talk(json!({}));
    let by_bob = |tension: &str| json!({"author_expert": "bob", "tensions_resolved": [tension]});
    let refusal = bench.expect_error("verdict", &make_verdict("V01", "interim", by_bob("T0001")));
    assert_eq!(value_at(&refusal, "error_code"), "not_authorized");
    bench.run_ok("verdict", &make_verdict("V01", "interim", by_bob("T0002")));
}

#[test]
fn an_interim_verdict_can_leave_nothing_to_do() {
    let bench = open_talk(json!({}));
    let fields = json!({"tensions_resolved": ["T0001", "T0002"]});
    let given = bench.run_ok("verdict", &make_verdict("V01", "interim", fields));
    assert_eq!(value_at(&given, "dialogue_status"), "converging");
    let progress = bench.run_ok("progress", &json!({"dialogue_id": "talk"}));
    assert_eq!(
        (value_at(&progress, "status"), value_at(&progress, "converging")),
        (&json!("converging"), &json!(true))
    );
    bench.assert_verified();
}

#[test]
fn forcing_needs_words() {
    let bench = open_talk(json!({}));
    let blank = json!({"forced": true, "warning": "  "});
    let refusal = bench.expect_error("verdict", &make_verdict("final", "final", blank));
    assert_eq!(value_at(&refusal, "error_code"), "missing_field");
}
