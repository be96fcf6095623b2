//! Calibrated dialogues: the ethos is made before round 0, everyone reads the rules, code counts the
//! marks, and no final verdict leaves a rule out.

use plenary_core::ethos::conflict_ask::FIND_CONFLICTS;
use plenary_core::ethos::requests::EthosOp;
use plenary_core::ethos::rule_set::ConflictType;
use plenary_core::model::ask::AskPurpose;
use plenary_core::model::run_state::RunStopReason;
use plenary_engine::app::ethos::run_ethos_op;
use plenary_engine::app::planning::alignment_panel::plan_calibration;
use serde_json::{Value, json};

use super::harness::{AlignmentRequest, AlignmentTest};
use super::scripted_panel::usual_contribution;
use super::sources::assert_sourced;
use crate::kit::ScriptedReply;

/// A family trust: RULE01 to RULE02 principles, RULE03 to RULE05 tenets, then the constraints.
fn trust_library() -> Value {
    let rule = |label: &str, text: &str, priority: u32| json!({ "label": label, "description": text, "priority": priority });
    json!({
        "principles": [
            rule("Evidence is citable", "Every figure names a source.", 100),
            rule("The minority is heard", "No convergence before the minority has answered.", 100),
        ],
        "domains": [{
            "slug": "fiduciary-investment", "code": "FID", "label": "Fiduciary Investment",
            "tenets": [
                rule("Fiduciary primacy", "The beneficiaries come first.", 1000),
                rule("Income precedence", "Income comes before growth.", 900),
                rule("Concentration", "No issuer above a quarter.", 800),
            ],
        }],
    })
}

/// A calibrated dialogue with these constraints. The Judge's verdict calls each rule compliant.
fn calibrated_test(
    constraints: &[&str],
    script: impl Fn(&AlignmentRequest<'_>) -> Option<ScriptedReply> + Send + Sync + 'static,
) -> AlignmentTest {
    let test = AlignmentTest::new(move |asked| {
        script(asked)
            .or_else(|| (asked.purpose == AskPurpose::Verdicts).then(|| verdict_with(asked, &[])))
    });
    let project = test.open_project();
    run_ethos_op(&project, EthosOp::Import, &json!({ "document": trust_library() })).unwrap();
    let constraints: Vec<String> = constraints.iter().map(|text| (*text).to_owned()).collect();
    let planned = plan_calibration(test.store.as_ref(), Some("fiduciary-investment"), &constraints);
    let planned = planned.unwrap();
    test.with_rules(|rules| (rules.constraints, rules.calibration) = (constraints, planned))
}

/// The rules in a message.
fn rule_ids(user: &str) -> Vec<String> {
    let rules = super::harness::fenced_texts(user, "RULES");
    let lines = rules.iter().flat_map(|(_, text)| text.lines());
    let ids = lines.filter_map(|line| line.strip_prefix("- ")?.split(' ').next());
    ids.map(str::to_owned).collect()
}

/// The usual verdicts with a status for each rule, changed by these; `None` leaves a rule out.
fn verdict_with(asked: &AlignmentRequest<'_>, changes: &[(&str, Option<&str>)]) -> ScriptedReply {
    let ScriptedReply::Reply(usual) = asked.usual() else { unreachable!() };
    let mut result: Value = serde_json::from_str(&usual).unwrap();
    let rules = rule_ids(&asked.request.user).into_iter().filter_map(|id| {
        let changed = changes.iter().find(|(rule, _)| *rule == id).map(|(_, status)| *status);
        let status = changed.unwrap_or(Some("compliant"))?;
        Some(json!({ "rule_id": id, "status": status, "reason": "The calls see to it.", "ids": ["R0101"] }))
    });
    result["final"]["ethos_compliance"] = json!({ "rules": rules.collect::<Vec<_>>() });
    ScriptedReply::Reply(result.to_string())
}

#[test]
fn a_domain_and_a_constraint_bind_everyone_who_is_asked_after_the_design() {
    let test = calibrated_test(&["4 % income"], |_| None);
    let ended = test.run();
    ended.expect_end("done", "converged", true, 3);
    for purpose in [
        AskPurpose::Contribution,
        AskPurpose::Reconciliation,
        AskPurpose::Panel,
        AskPurpose::Verdicts,
    ] {
        for (round, expert, seen) in test.requests_for(purpose) {
            let text = format!("{purpose} {expert} {round}");
            assert!(seen.user.contains("## Calibration: Fiduciary Investment"), "{text}");
            assert_eq!(rule_ids(&seen.user).len(), 6, "{text}");
            assert!(seen.user.contains("challenges RULE05"), "{text}");
        }
    }
    let block = ended.value_at("calibration");
    assert_eq!(block, &ended.export["calibration"], "as in the export");
    assert_eq!(
        (&block["domain"], &block["rules_count"]),
        (&json!("fiduciary-investment"), &json!(6))
    );
    assert_eq!(
        block["compliance"],
        json!({ "fully_compliant": true, "exceptions": 0, "violations": 0 })
    );
    assert_eq!(block["rules"][5]["source_id"], "CN01");
    let compliance = &ended.final_verdict()["ethos_compliance"];
    assert_eq!(compliance["rules"].as_array().unwrap().len(), 6);
    assert_sourced(&test, &ended);
}

#[test]
fn an_uncalibrated_dialogue_reads_no_rules_and_its_schemas_do_not_ask_for_them() {
    let test = AlignmentTest::new(|_| None);
    let ended = test.run();
    assert_eq!(ended.value_at("calibration"), &Value::Null);
    assert_eq!(ended.export.get("calibration"), None);
    for seen in test.server.requests() {
        assert!(!seen.user.contains("## Calibration"));
        let body = seen.body.to_string();
        assert!(!body.contains("ethos_compliance") && !body.contains("\"calibration\""));
    }
}

#[test]
fn the_constraints_that_the_judge_finds_become_rules() {
    let test = calibrated_test(&["4 % income"], |asked| {
        let found = json!({ "constraints": ["4 % INCOME", "4% income.", "Sell within 90 days"] });
        (asked.purpose == AskPurpose::Design).then(|| asked.usual_with(found))
    });
    let test = test.with_rules(|rules| (rules.pool, rules.max_rounds) = (None, 1));
    let ended = test.run();
    ended.expect_end("done", "max_rounds", false, 1);
    let rules = ended.value_at("calibration.rules").as_array().unwrap();
    let labels: Vec<&str> = rules[5..].iter().map(|rule| rule["label"].as_str().unwrap()).collect();
    assert_eq!(labels, ["4 % income", "Sell within 90 days"]);
}

/// The calibration figures of round 0.
fn figures(ended: &super::harness::AlignmentResult) -> Vec<(String, i64, i64)> {
    let rows = ended.value_at("scoreboard.rounds.0.experts").as_object().unwrap();
    let row = |(slug, row): (&String, &Value)| {
        (slug.clone(), row["calibration"].as_i64().unwrap(), row["total"].as_i64().unwrap())
    };
    rows.iter().map(row).collect()
}

fn mark(expert: &str, rule: &str, kind: &str, quote: &str) -> Value {
    json!({ "expert_slug": expert, "rule_id": rule, "kind": kind, "quote": quote })
}

#[test]
fn the_judges_marks_are_counted_beside_the_score() {
    let marks = json!([
        mark("muffin", "RULE05", "violation", "muffin weighs income against growth."),
        mark("muffin", "RULE05", "violation", "The swap ends the dividend."),
        mark("muffin", "RULE01", "evidence", "The deed asks for four percent."),
        mark("cupcake", "RULE03", "addressed", "cupcake weighs income against growth."),
        // Not in the top quarter by priority.
        mark("cupcake", "RULE06", "addressed", "cupcake weighs income against growth."),
    ]);
    let test = calibrated_test(&["4 % income"], move |asked| {
        let is_it = asked.purpose == AskPurpose::Reconciliation && asked.round == 0;
        is_it.then(|| asked.usual_with(json!({ "calibration": marks })))
    });
    let ended = test.run();
    ended.expect_end("done", "converged", true, 3);
    let expected = [("cupcake", 1, 10), ("muffin", -1, 10), ("scone", 0, 10)];
    let expected = expected.map(|(slug, figure, total)| (slug.to_owned(), figure, total));
    assert_eq!(figures(&ended), expected);
    assert_eq!(ended.value_at("total_alignment"), 90, "the figure is no part of the total");
    assert_eq!(ended.export["scoreboard"], *ended.value_at("scoreboard"));
}

#[test]
fn a_violation_that_a_tension_surfaces_costs_nothing() {
    let test = calibrated_test(&[], |asked| match (asked.purpose, asked.round) {
        (AskPurpose::Contribution, 0) if asked.expert == "muffin" => Some(ScriptedReply::Reply(
            usual_contribution("muffin", 0)
                .replace("The swap ends the dividend.", "This challenges RULE04."),
        )),
        (AskPurpose::Reconciliation, 0) => Some(asked.usual_with(json!({ "calibration": [
            mark("muffin", "RULE04", "violation", "This challenges RULE04."),
            mark("scone", "RULE04", "violation", "scone weighs income against growth."),
        ] }))),
        _ => None,
    });
    let ended = test.run();
    assert!(figures(&ended).iter().all(|(_, figure, _)| *figure == 0), "{:?}", figures(&ended));
    let challenges = ended.value_at("calibration.rule_challenges");
    assert_eq!(
        (&challenges[0]["rule_id"], &challenges[0]["tension"]),
        (&json!("RULE04"), &json!("T0001"))
    );
}

#[test]
fn a_mark_with_a_false_quote_goes_back_to_the_judge() {
    let wrong = [
        (
            mark("muffin", "RULE01", "evidence", "nobody said this"),
            "does not occur in the reply of muffin",
        ),
        (
            mark("muffin", "RULE77", "evidence", "The swap ends the dividend."),
            "RULE77 is no rule in force",
        ),
        (
            mark("churro", "RULE01", "evidence", "The swap ends the dividend."),
            "churro has no reply",
        ),
    ];
    for (mark, reason) in wrong {
        let insisted = mark.clone();
        let test = calibrated_test(&[], move |asked| {
            let is_it = asked.purpose == AskPurpose::Reconciliation && asked.round == 0;
            is_it.then(|| asked.usual_with(json!({ "calibration": [insisted] })))
        });
        let test = test.with_rules(|rules| rules.max_rounds = 1);
        let ended = test.run();
        ended.expect_end("done", "max_rounds", false, 1);
        let asked = test.requests_for(AskPurpose::Reconciliation);
        assert_eq!(asked.len(), 3);
        assert!(asked[1].2.user.contains(reason), "{reason}");
        assert!(figures(&ended).iter().all(|(_, figure, _)| *figure == 0));
    }
}

#[test]
fn no_final_verdict_leaves_a_rule_out() {
    // The Judge forgets RULE02 this many times.
    for times in [1, 3] {
        let test = calibrated_test(&[], move |asked| {
            let is_it = asked.purpose == AskPurpose::Verdicts && asked.nth <= times;
            is_it.then(|| verdict_with(asked, &[("RULE02", None)]))
        });
        let ended = test.run();
        let asked = test.requests_for(AskPurpose::Verdicts);
        assert!(asked[1].2.user.contains("no status for rules"), "{}", asked[1].2.user);
        if times == 1 {
            ended.expect_end("done", "converged", true, 3);
            continue;
        }
        ended.expect_end("incomplete", "quorum", false, 3);
        assert_eq!(ended.value_at("error.error_code"), "judge_unavailable");
        assert_eq!(ended.value_at("verdicts"), &json!([]));
        test.resume(&ended.id).expect_end("done", "converged", true, 3);
    }
}

#[test]
fn a_rule_needs_one_status_and_a_reason() {
    let cases = [
        (json!({ "rule_id": "RULE02", "status": "violation", "reason": "No." }), "two statuses"),
        (json!({ "rule_id": "RULE02", "status": "compliant", "reason": " " }), "needs a reason"),
    ];
    for (extra, fault) in cases {
        let test = calibrated_test(&[], move |asked| {
            if asked.purpose != AskPurpose::Verdicts || asked.nth > 1 {
                return None;
            }
            let ScriptedReply::Reply(usual) = verdict_with(asked, &[]) else { unreachable!() };
            let mut result: Value = serde_json::from_str(&usual).unwrap();
            let rules = result["final"]["ethos_compliance"]["rules"].as_array_mut().unwrap();
            rules.push(extra.clone());
            Some(ScriptedReply::Reply(result.to_string()))
        });
        test.run().expect_end("done", "converged", true, 3);
        let (_, _, again) = &test.requests_for(AskPurpose::Verdicts)[1];
        assert!(again.user.contains(fault), "{fault}: {}", again.user);
    }
}

#[test]
fn an_exception_needs_a_tension_that_challenges_the_rule() {
    for challenges in [false, true] {
        let test = calibrated_test(&[], move |asked| match (asked.purpose, asked.round) {
            (AskPurpose::Contribution, 0) if asked.expert == "muffin" && challenges => {
                Some(ScriptedReply::Reply(
                    usual_contribution("muffin", 0).replace("Income stops", "It challenges RULE04"),
                ))
            }
            (AskPurpose::Verdicts, _) => {
                Some(verdict_with(asked, &[("RULE04", Some("exception"))]))
            }
            _ => None,
        });
        let ended = test.run();
        if !challenges {
            ended.expect_end("incomplete", "quorum", false, 3);
            let (_, _, again) = &test.requests_for(AskPurpose::Verdicts)[1];
            assert!(again.user.contains("no tension challenges RULE04"));
            continue;
        }
        ended.expect_end("done", "converged", true, 3);
        let compliance = ended.value_at("calibration.compliance");
        assert_eq!(
            compliance,
            &json!({ "fully_compliant": false, "exceptions": 1, "violations": 0 })
        );
        assert_eq!(ended.value_at("calibration.rule_challenges.0.outcome"), "exception granted");
    }
}

#[test]
fn an_open_conflict_waits_for_a_person_and_the_run_continues_when_it_is_resolved() {
    // The constraint repeats a principle, which no priority decides.
    let test = calibrated_test(&["Evidence is citable"], |_| None);
    let ended = test.run();
    ended.expect_end("incomplete", "interrupted", false, 0);
    assert!(
        matches!(ended.stop, RunStopReason::Uncalibrated { conflicts: 1, .. }),
        "{:?}",
        ended.stop
    );
    assert_eq!(ended.value_at("error.error_code"), "ethos_conflict_open");
    let asked = test.requests_for(AskPurpose::Contribution);
    assert_eq!(asked.len(), 0, "no expert is asked before the rules are known");
    test.resume(&ended.id).expect_end("incomplete", "interrupted", false, 0);
    let ethos_id = format!("ethos-{}-001", ended.id);
    let resolved = run_ethos_op(
        &test.open_project(),
        EthosOp::Resolve,
        &json!({
            "ethos_id": ethos_id, "conflict": 1, "resolution": "a_supersedes", "reason": "The same.",
        }),
    );
    assert_eq!(resolved.unwrap()["open_conflicts"], 0);
    let resumed = test.resume(&ended.id);
    resumed.expect_end("done", "converged", true, 3);
    assert_eq!(resumed.value_at("calibration.rules_count"), 5);
    assert_eq!(resumed.value_at("calibration.ethos_id"), ethos_id.as_str());
}

#[test]
fn the_judge_looks_once_for_conflicts_that_code_cannot_see() {
    let conflict = |quote: &str| {
        json!({ "conflicts": [{ "a": "RULE01", "b": "RULE02", "type": "contradiction",
            "quote_a": "Every figure", "quote_b": quote, "resolution": "merged", "reason": "So." }] })
    };
    // The reply, and whether the run waits for a person.
    let replies = [
        (conflict("has answered").to_string(), true),
        (conflict("words that stand in no rule").to_string(), false),
        ("I see none.".to_owned(), false),
    ];
    for (reply, waits) in replies {
        let result = reply.clone();
        let test = calibrated_test(&[], move |asked| {
            (asked.purpose == FIND_CONFLICTS).then(|| ScriptedReply::Reply(result.clone()))
        });
        let ended = test.run();
        if waits {
            ended.expect_end("incomplete", "interrupted", false, 0);
            assert_eq!(ended.value_at("error.error_code"), "ethos_conflict_open");
            let calibration = test.store.load_calibration(&ended.id).unwrap();
            let draft = calibration.versions.last().unwrap();
            let found: Vec<_> = draft.open_conflicts().map(|one| one.conflict_type).collect();
            assert_eq!(found, [ConflictType::Contradiction]);
        } else {
            ended.expect_end("done", "converged", true, 3);
        }
        let is_missed = reply == "I see none.";
        assert_eq!(test.requests_for(FIND_CONFLICTS).len(), if is_missed { 2 } else { 1 });
        let warnings = ended.value_at("warnings").to_string();
        assert_eq!(warnings.contains("did not look for conflicts"), is_missed, "{warnings}");
    }
}

#[test]
fn a_challenge_of_a_rule_that_does_not_exist_is_a_warning_of_the_result() {
    let test = calibrated_test(&[], |asked| {
        let is_it = asked.purpose == AskPurpose::Contribution && asked.round == 0;
        (is_it && asked.expert == "muffin").then(|| {
            let usual = usual_contribution("muffin", 0);
            ScriptedReply::Reply(usual.replace("Income stops", "It challenges RULE77"))
        })
    });
    let ended = test.run();
    let warnings = ended.value_at("warnings").to_string();
    assert!(warnings.contains("round 0: T0001 challenges RULE77, which is no rule"), "{warnings}");
}

#[test]
fn a_calibrated_run_resumed_after_any_entry_has_one_ethos() {
    let test = calibrated_test(&["4 % income"], |_| None);
    let whole = test.run();
    for entries in 1..whole.journal.len() {
        let again = AlignmentTest::with_server(std::sync::Arc::clone(&test.server));
        // The rows of an ethos refer to those of the library.
        run_ethos_op(
            &again.open_project(),
            EthosOp::Import,
            &json!({ "document": trust_library() }),
        )
        .unwrap();
        again.restore_journal(&whole.id, &whole.journal[..entries]);
        let resumed = again.resume(&whole.id);
        resumed.expect_end("done", "converged", true, 3);
        assert_eq!(
            resumed.value_at("calibration"),
            whole.value_at("calibration"),
            "entry {entries}"
        );
    }
}
