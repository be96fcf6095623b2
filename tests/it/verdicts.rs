//! Verdicts: conditions of a final verdict, the effect of each kind, and what may follow.

use serde_json::{Value, json};

use crate::kit::{Bench, at, batch, item, open_dialogue};

/// `talk` with ann, bob and cid after one round: two tensions, a recommendation, a claim.
fn talk(round: Value) -> Bench {
    let bench = Bench::new();
    open_dialogue(&bench, &["ann", "bob", "cid"]);
    let mut fields = json!({
        "tensions": [item("ANN-T0001", ""), item("BOB-T0001", "")],
        "recommendations": [item("ANN-R0001", "")],
        "evidence": [item("ANN-E0001", "")],
        "claims": [item("BOB-C0001", "")],
    });
    if let (Value::Object(all), Value::Object(more)) = (&mut fields, round) {
        all.extend(more);
    }
    bench.must("register", &batch(0, fields));
    bench
}

fn verdict(id: &str, verdict_type: &str, more: Value) -> Value {
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
fn check(round: Value, fields: Value, expected: &str) {
    let bench = talk(round);
    let given = match bench.run("verdict", &verdict("final", "final", fields)) {
        Ok(answer) => at(&answer, "dialogue_status").as_str().unwrap().to_owned(),
        Err(error) => at(&error.document(), "message").as_str().unwrap().to_owned(),
    };
    assert_eq!(given, expected);
    bench.verify();
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
    check(everyone(), settled(json!({})), "converged");
    check(json!({}), settled(json!({"vote": "3-0"})), "converged");
    check(json!({}), settled(json!({"vote": "unanimous"})), "converged");
    check(
        everyone(),
        json!({"tensions_resolved": ["T0001"]}),
        "dialogue 'talk' has not converged: tensions neither resolved nor accepted: T0002",
    );
    check(
        json!({"converge": ["ann"]}),
        settled(json!({})),
        "dialogue 'talk' has not converged: agreement under 100 %: 33 % signalled convergence, missing: bob, cid",
    );
    check(
        everyone(),
        settled(json!({"vote": "2-1"})),
        "dialogue 'talk' has not converged: agreement under 100 %: the vote is 2-1",
    );
    check(json!({}), json!({"forced": true, "warning": "out of time"}), "converged");
    check(json!({}), json!({"forced": true}), "required field 'warning' is missing");
}

#[test]
fn fewer_may_be_enough_when_that_was_agreed() {
    let bench = Bench::new();
    let pool = crate::kit::pool(&["ann", "bob", "cid"]);
    bench.must("create", &json!({"title": "Talk", "expert_pool": pool, "convergence_percent": 66}));
    bench.must(
        "register",
        &batch(
            0,
            json!({"moves": [{"expert": "ann", "type": "converge"}], "converge": ["ann", "bob"]}),
        ),
    );
    let given = bench.must("verdict", &verdict("final", "final", json!({})));
    assert_eq!(at(&given, "dialogue_status"), "converged");
}

#[test]
fn not_converged_names_what_is_missing() {
    let bench = talk(json!({"converge": ["cid"]}));
    let refusal = bench.refused("verdict", &verdict("final", "final", json!({})));
    assert_eq!(at(&refusal, "error_code"), "not_converged");
    assert_eq!(at(&refusal, "context.open_tensions"), &json!(["T0001", "T0002"]));
    assert_eq!(at(&refusal, "context.missing_experts"), &json!(["ann", "bob"]));
}

#[test]
fn interim_and_final_verdicts_change_what_they_name() {
    let bench = talk(json!({}));
    let fields = json!({"tensions_resolved": ["T0001"], "recommendations_adopted": ["R0001"], "key_claims": ["C0001"], "key_evidence": ["E0001"]});
    let given = bench.must("verdict", &verdict("V01", "interim", fields));
    assert_eq!(at(&given, "dialogue_status"), "open");
    assert_eq!(at(&given, "adopted"), &json!(["R0001", "C0001"]));
    assert_eq!(at(&given, "tensions_resolved"), &json!(["T0001"]));
    let export = bench.export("talk");
    assert_eq!(at(&export, "tensions.0.status"), "resolved");
    assert_eq!(
        at(&export, "tensions.0.events.1"),
        &json!({"type": "resolved", "round": 0, "by": ["judge"], "reference": "V01"})
    );
    assert_eq!(at(&export, "recommendations.0.adoptedInVerdict"), "V01");
    assert_eq!(at(&export, "claims.0.status"), "adopted");
    assert_eq!(at(&export, "evidence.0.status"), "cited");
    bench.verify();
}

#[test]
fn objections_change_nothing() {
    let bench = talk(json!({}));
    let before = bench.export("talk");
    let fields = json!({"supporting_experts": ["ann", "bob"], "tensions_resolved": ["T0001"], "recommendations_adopted": ["R0001"]});
    let given = bench.must("verdict", &verdict("minority-1", "minority", fields));
    assert_eq!(at(&given, "adopted"), &json!([]));
    bench.must("verdict", &verdict("dissent-1", "dissent", json!({"author_expert": "cid"})));
    let after = bench.export("talk");
    for section in ["tensions", "recommendations", "status"] {
        assert_eq!(at(&before, section), at(&after, section));
    }
    assert_eq!(at(&after, "verdicts").as_array().unwrap().len(), 2);
}

#[test]
fn each_kind_needs_its_own() {
    let bench = talk(json!({}));
    let cases = [
        (verdict("m", "minority", json!({})), "missing_field"),
        (verdict("m", "minority", json!({"supporting_experts": []})), "missing_field"),
        (verdict("d", "dissent", json!({})), "missing_field"),
        (verdict("d", "dissent", json!({"author_expert": "judge"})), "missing_field"),
        (verdict("d", "dissent", json!({"author_expert": "zoe"})), "expert_not_in_dialogue"),
        (verdict("P0101", "interim", json!({})), "invalid_slug"),
        (verdict("v", "interim", json!({"vote": "11:1"})), "invalid_vote"),
        (verdict("v", "interim", json!({"confidence": "high"})), "invalid_enum"),
        (verdict("v", "interim", json!({"tensions_resolved": ["T0099"]})), "target_not_found"),
        (verdict("v", "interim", json!({"tensions_resolved": ["R0001"]})), "type_id_mismatch"),
        (verdict("v", "interim", json!({"round": 2})), "invalid_round"),
        (verdict("v", "interim", json!({"ethos_compliance": {}})), "not_supported"),
    ];
    for (arguments, code) in cases {
        assert_eq!(at(&bench.refused("verdict", &arguments), "error_code"), code, "{arguments}");
    }
}

#[test]
fn after_a_final_verdict_only_objections_are_heard() {
    let bench = talk(json!({}));
    let forced = json!({"forced": true, "warning": "for the test"});
    bench.must("verdict", &verdict("final", "final", forced.clone()));
    let again = bench.refused("verdict", &verdict("final", "final", forced.clone()));
    assert_eq!(at(&again, "error_code"), "verdict_exists");
    for (operation, arguments) in [
        ("verdict", verdict("final-2", "final", forced)),
        ("verdict", verdict("V02", "interim", json!({}))),
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
            at(&bench.refused(operation, &arguments), "error_code"),
            "dialogue_closed",
            "{operation}"
        );
    }
    let register = bench.refused("register", &batch(1, json!({})));
    assert_eq!(at(&register, "errors.0.error_code"), "dialogue_closed");
    bench.must("verdict", &verdict("m", "minority", json!({"supporting_experts": ["bob"]})));
    bench.must("verdict", &verdict("d", "dissent", json!({"author_expert": "cid"})));
    let verdicts = at(&bench.export("talk"), "verdicts").clone();
    let order: Vec<&Value> =
        verdicts.as_array().unwrap().iter().map(|verdict| at(verdict, "id")).collect();
    assert_eq!(order, ["final", "m", "d"]);
}

#[test]
fn a_rejected_recommendation_cannot_be_adopted() {
    let bench =
        talk(json!({"updates": [{"id": "ANN-R0001", "status": "rejected", "by": "judge"}]}));
    let fields = json!({"recommendations_adopted": ["R0001"]});
    let refusal = bench.refused("verdict", &verdict("V01", "interim", fields));
    assert_eq!(at(&refusal, "error_code"), "invalid_status_transition");
    assert_eq!(at(&bench.export("talk"), "verdicts"), &json!([]));
}

#[test]
fn nobody_is_not_everybody() {
    let bench = Bench::new();
    open_dialogue(&bench, &["ann", "bob"]);
    let refusal = bench.refused("verdict", &verdict("final", "final", json!({})));
    assert_eq!(at(&refusal, "error_code"), "not_converged");
    let refusal = bench.refused("verdict", &verdict("final", "final", json!({"vote": "99-0"})));
    assert_eq!(at(&refusal, "error_code"), "not_converged");
    bench.must("register", &batch(0, json!({})));
    let given = bench.must("verdict", &verdict("final", "final", json!({"vote": "99-0"})));
    assert_eq!(at(&given, "warnings.0.type"), "too_many_votes");
}

#[test]
fn an_experts_verdict_resolves_only_what_they_raised() {
    let bench = talk(json!({}));
    let by_bob = |tension: &str| json!({"author_expert": "bob", "tensions_resolved": [tension]});
    let refusal = bench.refused("verdict", &verdict("V01", "interim", by_bob("T0001")));
    assert_eq!(at(&refusal, "error_code"), "not_authorized");
    bench.must("verdict", &verdict("V01", "interim", by_bob("T0002")));
}

#[test]
fn an_interim_verdict_can_leave_nothing_to_do() {
    let bench = talk(json!({}));
    let fields = json!({"tensions_resolved": ["T0001", "T0002"]});
    let given = bench.must("verdict", &verdict("V01", "interim", fields));
    assert_eq!(at(&given, "dialogue_status"), "converging");
    let progress = bench.must("progress", &json!({"dialogue_id": "talk"}));
    assert_eq!(
        (at(&progress, "status"), at(&progress, "converging")),
        (&json!("converging"), &json!(true))
    );
    bench.verify();
}

#[test]
fn forcing_needs_words() {
    let bench = talk(json!({}));
    let blank = json!({"forced": true, "warning": "  "});
    let refusal = bench.refused("verdict", &verdict("final", "final", blank));
    assert_eq!(at(&refusal, "error_code"), "missing_field");
}
