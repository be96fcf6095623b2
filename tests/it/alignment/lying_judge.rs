//! A Judge that breaks the rules: it invents, misquotes, forgets or types what code counts. The
//! record keeps only what the experts said.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use plenary_core::model::ask::AskPurpose;
use plenary_core::model::run_state::RunStopReason;
use plenary_core::protocols::alignment::to_entities::UNMERGED_NOTE;
use serde_json::{Value, json};

use super::harness::{AlignmentResult, AlignmentTest, EXPERTS, fenced_texts};
use super::scripted_panel::usual_contribution;
use super::sources::assert_sourced;
use crate::kit::ScriptedReply;

/// What the Judge writes in the reconciliation of round 0 instead of the usual, and a part of the
/// reason with which the record refuses it.
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn false_reconciliations() -> Vec<(&'static str, Value, &'static str)> {
    let merge =
        |ids: &[&str]| json!({ "merges": [{ "ids": ids, "label": "One", "content": "A." }] });
    let update = |id: &str, via: Option<&str>, status: &str| json!({ "tension_updates": [{ "id": id, "via": via, "reason": "So.", "status": status }] });
    let score = |expert: &str, quote: &str| {
        json!({ "expert_slug": expert, "quote": quote, "wisdom": 9, "consistency": 9, "truth": 9,
            "relationships": 9 })
    };
    vec![
        (
            "an invented id",
            merge(&["MUFFIN-P0001", "MUFFIN-P0009"]),
            "`MUFFIN-P0009` is no local id",
        ),
        ("a foreign id", merge(&["MUFFIN-P0001", "CHURRO-P0001"]), "`CHURRO-P0001` is no local id"),
        ("a global id", merge(&["MUFFIN-P0001", "P0001"]), "`P0001` is no local id"),
        ("two kinds", merge(&["MUFFIN-P0001", "SCONE-E0001"]), "of different kinds"),
        ("one id", merge(&["MUFFIN-P0001"]), "alone is no merge"),
        (
            "an unknown tension",
            update("T0007", Some("MUFFIN-P0001"), "addressed"),
            "`T0007` does not exist",
        ),
        ("no tension", update("MUFFIN-P0001", Some("MUFFIN-E0001"), "resolved"), "is no tension"),
        ("no settling item", update("MUFFIN-T0001", None, "resolved"), "name the item"),
        (
            "an unknown settling item",
            update("MUFFIN-T0001", Some("R0001"), "resolved"),
            "`R0001` does not exist",
        ),
        (
            "itself",
            update("MUFFIN-T0001", Some("MUFFIN-T0001"), "resolved"),
            "cannot settle itself",
        ),
        (
            "a wrong status",
            update("MUFFIN-T0001", Some("MUFFIN-P0001"), "adopted"),
            "cannot be `adopted`",
        ),
        (
            "an unknown acceptance",
            json!({ "accepted": [{ "id": "T0009", "reason": "So." }] }),
            "`T0009` does not exist",
        ),
        (
            "an acceptance without a reason",
            json!({ "accepted": [{ "id": "MUFFIN-T0001", "reason": " " }] }),
            "reason: empty",
        ),
        ("no scores", json!({ "scores": [] }), "`muffin` has no valid score"),
        (
            "words nobody said",
            json!({ "scores": EXPERTS.map(|one| score(one, "the verdict is clear")) }),
            "not in the reply of `muffin`",
        ),
        ("a letter", json!({ "scores": EXPERTS.map(|one| score(one, "a")) }), "fewer than 8"),
        (
            "a score of an expert who is not there",
            json!({ "scores": [score("churro", "x")] }),
            "`churro` gave no reply",
        ),
        (
            "a figure of no item",
            json!({ "merges": [{ "ids": ["MUFFIN-P0001", "SCONE-P0001"], "label": "BUY BITCOIN NOW",
                "content": "It gains 47.3% by June." }] }),
            "`47.3` stands in none of the merged items",
        ),
        (
            "a resolution without a reason",
            json!({ "tension_updates": [{ "id": "MUFFIN-T0001", "via": "MUFFIN-P0001",
                "reason": " ", "status": "resolved" }] }),
            "reason: empty",
        ),
        (
            "one tension twice, by its merge",
            json!({
                "merges": [{ "ids": ["MUFFIN-T0001", "CUPCAKE-T0001"], "label": "Risk",
                    "content": "Income and size." }],
                "tension_updates": [
                    { "id": "MUFFIN-T0001", "via": "MUFFIN-P0001", "reason": "So.", "status": "resolved" },
                    { "id": "CUPCAKE-T0001", "via": "MUFFIN-P0001", "reason": "So.", "status": "addressed" },
                ],
            }),
            "is updated twice",
        ),
        (
            "a score without a bound",
            json!({ "scores": [{ "expert_slug": "muffin", "quote": "muffin weighs income",
                "wisdom": 99999, "consistency": 1, "truth": 1, "relationships": 1 }] }),
            "wisdom",
        ),
        (
            "two scores",
            json!({ "scores": vec![score("muffin", "weighs income"); 2] }),
            "scored twice",
        ),
    ]
}

/// A dialogue of one round whose Judge insists on a reconciliation this many times.
fn run_with_judge(fields: &Value, times: usize) -> (AlignmentTest, AlignmentResult) {
    let fields = fields.clone();
    let test = AlignmentTest::new(move |asked| {
        let is_false = asked.purpose == AskPurpose::Reconciliation && asked.nth <= times;
        is_false.then(|| asked.usual_with(fields.clone()))
    });
    let test = test.with_rules(|rules| rules.max_rounds = 1);
    let ended = test.run();
    (test, ended)
}

#[test]
fn what_the_judge_invents_goes_back_to_the_judge_and_never_into_the_record() {
    for (name, fields, reason) in false_reconciliations() {
        let (test, ended) = run_with_judge(&fields, 1);
        ended.expect_end("done", "max_rounds", false, 1);
        let asked = test.requests_for(AskPurpose::Reconciliation);
        assert_eq!(asked.len(), 2, "{name}");
        let correction = &asked[1].2.user;
        assert!(correction.contains(reason), "{name}: the Judge is not told `{reason}`");
        assert_eq!(fenced_texts(correction, "YOUR LAST REPLY").len(), 1, "{name}");
        assert!(fenced_texts(&asked[0].2.user, "YOUR LAST REPLY").is_empty(), "{name}");
        assert_eq!(ended.value_at("scoreboard.rounds.0.title"), "Step 0", "{name}");
        assert_eq!(ended.value_at("total_alignment"), 30, "{name}");
        assert_eq!(ended.ids_of("perspectives").len(), 3, "{name}");
        assert_sourced(&test, &ended);
    }
}

#[test]
fn a_judge_that_insists_leaves_a_round_as_the_experts_wrote_it() {
    for (name, fields, reason) in false_reconciliations() {
        let (test, ended) = run_with_judge(&fields, 9);
        let result = ended.value_at("warnings").to_string();
        assert!(result.contains("reconciliation was refused"), "{name}: {result}");
        assert!(result.contains(reason), "{name}: {result}");
        ended.expect_end("done", "max_rounds", false, 1);
        assert_eq!(test.requests_for(AskPurpose::Reconciliation).len(), 3, "{name}");
        let summary = ended.export["rounds"][0]["summary"].as_str().unwrap();
        assert!(summary.starts_with(UNMERGED_NOTE), "{name}: {summary}");
        assert!(ended.value_at("warnings").to_string().contains(UNMERGED_NOTE), "{name}");
        assert_eq!(ended.ids_of("perspectives").len(), 3, "{name}");
        assert_eq!(ended.tension_status("T0001"), "open", "{name}");
        // Scores with true quotes are kept, even if other parts are wrong.
        let kept = match name {
            "no scores"
            | "words nobody said"
            | "a letter"
            | "a score of an expert who is not there"
            | "a score without a bound" => 0,
            "two scores" => 36,
            _ => 30,
        };
        assert_eq!(ended.value_at("total_alignment"), kept, "{name}");
        assert_sourced(&test, &ended);
    }
}

#[test]
fn a_round_without_scores_says_what_is_open() {
    let (test, ended) = run_with_judge(&json!({ "scores": [] }), 9);
    let page = test.markdown(&ended.id);
    for text in ["work remaining 5", "! T0001 is open · raised by Muffin: Income stops"] {
        assert!(page.contains(text), "{text} is not in {page}");
    }
}

#[test]
fn entities_in_the_judges_reply_are_not_read() {
    let invented = json!([{ "local_id": "JUDGE-P0001", "label": "Mine", "content": "I decide." }]);
    let fields = json!({ "perspectives": invented, "tensions": invented, "vote": "3-0" });
    let (test, ended) = run_with_judge(&fields, 9);
    assert_eq!(test.requests_for(AskPurpose::Reconciliation).len(), 1);
    assert!(!ended.export.to_string().contains("I decide."));
    assert_sourced(&test, &ended);
}

#[test]
fn merged_entities_keep_all_their_authors_and_references() {
    let test = AlignmentTest::new(|asked| match (asked.purpose, asked.round) {
        (AskPurpose::Reconciliation, 1) => Some(asked.usual_with(json!({
            "merges": [{ "ids": ["MUFFIN-R0101", "SCONE-R0101"], "label": "Sell calls monthly",
                "content": "Sell covered calls on half of the shares." }],
            // The settling item is one of the merged: its survivor settles.
            "tension_updates": [{ "id": "T0001", "via": "SCONE-R0101", "reason": "So.",
                "status": "resolved" }],
        }))),
        _ => None,
    });
    let ended = test.run();
    ended.expect_end("done", "converged", true, 3);
    let merged = &ended.export["recommendations"][0];
    assert_eq!((&merged["id"], &merged["label"]), (&json!("R0101"), &json!("Sell calls monthly")));
    assert_eq!(merged["contributors"], json!(["muffin", "scone"]));
    assert_eq!(ended.ids_of("recommendations"), ["R0101", "R0102"]);
    assert_eq!(ended.tension_status("T0001"), "resolved");
    let events = ended.export["tensions"][0]["events"].to_string();
    assert!(events.contains("R0101"), "{events}");
    assert_sourced(&test, &ended);
}

#[test]
fn a_merge_with_a_supporter_of_the_author_does_not_refuse_the_round() {
    let test = AlignmentTest::new(|asked| match (asked.purpose, asked.expert.as_str()) {
        (AskPurpose::Contribution, "scone") if asked.round == 0 => {
            let usual = usual_contribution("scone", 0);
            let supporting = usual.replace("growth.\n", "growth.\n[RE:SUPPORT @muffin]\n");
            Some(ScriptedReply::Reply(supporting))
        }
        (AskPurpose::Reconciliation, _) if asked.round == 0 => {
            let merge = json!({ "ids": ["MUFFIN-P0001", "SCONE-P0001"], "label": "Income first",
                "content": "Income counts most." });
            Some(asked.usual_with(json!({ "merges": [merge] })))
        }
        _ => None,
    });
    let test = test.with_rules(|rules| rules.max_rounds = 1);
    let ended = test.run();
    let merged = &ended.export["perspectives"][0];
    assert_eq!(merged["contributors"], json!(["muffin", "scone"]), "{:#}", ended.export);
    assert!(!ended.value_at("warnings").to_string().contains(UNMERGED_NOTE));
}

#[test]
fn a_tension_that_the_judge_forgets_stays_open_with_its_raiser_on_the_panel() {
    // The Judge never mentions T0001, and replaces everyone but scone.
    let test = AlignmentTest::new(|asked| match asked.purpose {
        AskPurpose::Panel => Some(asked.usual_with(json!({ "seats": [
            { "expert_slug": "scone", "tensions": [], "reason": "Stays.", "source": "retained" },
        ] }))),
        AskPurpose::Reconciliation => Some(asked.usual_with(json!({ "tension_updates": [] }))),
        _ => None,
    });
    let ended = test.with_rules(|rules| rules.max_rounds = 3).run();
    ended.expect_end("done", "max_rounds", false, 3);
    for round in ended.export["rounds"].as_array().unwrap() {
        let panel = round["panel"].to_string();
        assert!(panel.contains("muffin") && panel.contains("cupcake"), "{panel}");
    }
    assert!(ended.final_verdict()["warning"].as_str().unwrap().contains("T0001, T0002"));
}

#[test]
fn the_vote_is_counted_and_never_typed() {
    let test = AlignmentTest::new(|asked| match (asked.purpose, asked.expert.as_str()) {
        (AskPurpose::Contribution, "scone") if asked.round == 2 => {
            Some(ScriptedReply::Reply("[SCONE-P0201: No]\nscone is not content.\n".to_owned()))
        }
        (AskPurpose::Verdicts, _) => {
            let ScriptedReply::Reply(usual) = asked.usual() else { unreachable!() };
            let mut result: Value = serde_json::from_str(&usual).unwrap();
            for place in ["vote", "votes"] {
                result["final"][place] = json!("3-0");
                result[place] = json!("unanimous");
            }
            result["final"]["confidence"] = json!("unanimous");
            Some(ScriptedReply::Reply(result.to_string()))
        }
        _ => None,
    });
    let ended = test.with_rules(|rules| rules.max_rounds = 3).run();
    ended.expect_end("done", "max_rounds", false, 3);
    let verdict = ended.final_verdict();
    assert_eq!((&verdict["vote"], &verdict["confidence"]), (&json!("2-1"), &json!("split")));
}

#[test]
fn a_verdict_names_registered_ids_and_experts_who_object_only() {
    let objection = |author: &str| {
        json!({ "author": author, "supporting_experts": ["cupcake"],
        "recommendation": "Keep NVAI.", "description": "Income first." })
    };
    let last = json!({
        "key_evidence": ["E0001", "E0099"], "key_claims": ["C0001", "MUFFIN-R0101"],
        "recommendations_adopted": ["R0101", "R0177", "SCONE-R0101"],
        "tensions_accepted": [{ "id": "T0001", "reason": "So." }, { "id": "T0044", "reason": "So." }],
        "description": "Calls replace the dividend.", "conditions": [],
        "recommendation": "Swap half.", "confidence": "strong",
    });
    let result = json!({ "minority": [objection("muffin"), objection("churro")],
        "dissents": [objection("scone")], "final": last });
    let test = AlignmentTest::new(move |asked| {
        let is_verdict = asked.purpose == AskPurpose::Verdicts;
        is_verdict.then(|| ScriptedReply::Reply(result.to_string()))
    });
    let ended = test.run();
    ended.expect_end("done", "converged", true, 3);
    let asked = test.requests_for(AskPurpose::Verdicts);
    assert_eq!(asked.len(), 3, "the Judge may fix it twice");
    for reason in [
        "`E0099` is not registered",
        "`C0001` is not registered",
        "`MUFFIN-R0101` is not registered",
        "`T0001` is no active tension",
        "`muffin` neither dissented nor withheld",
        "`churro` neither",
    ] {
        assert!(asked[2].2.user.contains(reason), "{reason}");
    }
    let verdict = ended.final_verdict();
    assert_eq!(verdict["keyEvidence"], json!(["E0001"]));
    assert_eq!(verdict["keyClaims"], json!([]));
    assert_eq!(verdict["recommendationsAdopted"], json!(["R0101", "R0103"]));
    assert_eq!(verdict["tensionsAccepted"], json!([]));
    // All three converged, so none of them objects.
    assert_eq!((ended.verdicts_of("minority"), ended.verdicts_of("dissent")), (vec![], vec![]));
    assert_sourced(&test, &ended);
}

#[test]
fn an_empty_verdict_is_refused_and_then_stated_as_missing() {
    let test = AlignmentTest::new(|asked| {
        let empty = json!({ "minority": [], "dissents": [], "final": { "recommendation": " ",
            "description": "", "confidence": "strong" } });
        (asked.purpose == AskPurpose::Verdicts).then(|| ScriptedReply::Reply(empty.to_string()))
    });
    let ended = test.run();
    ended.expect_end("done", "converged", true, 3);
    assert_eq!(ended.final_verdict()["recommendation"], "The Judge stated no recommendation.");
}

/// A Judge without a usable reply at one step.
#[test]
fn a_judge_that_gives_no_usable_reply_leaves_the_run_incomplete_and_resumable() {
    let steps = [(AskPurpose::Design, 0), (AskPurpose::Verdicts, 3)];
    for (purpose, rounds) in steps {
        for wrong in [
            ScriptedReply::Reply("I would rather not.".to_owned()),
            ScriptedReply::Status(500, Vec::new(), "{}".to_owned()),
        ] {
            let heal = Arc::new(AtomicBool::new(false));
            let healed = Arc::clone(&heal);
            let test = AlignmentTest::new(move |asked| {
                let is_well = healed.load(Ordering::SeqCst);
                (asked.purpose == purpose && !is_well).then(|| wrong.clone())
            });
            let is_design = purpose == AskPurpose::Design;
            let test =
                test.with_rules(|rules| rules.pool = rules.pool.take().filter(|_| !is_design));
            let ended = test.run();
            ended.expect_end("incomplete", "quorum", false, rounds);
            assert!(matches!(ended.stop, RunStopReason::Unjudged { .. }), "{:?}", ended.stop);
            assert_eq!(ended.value_at("error.error_code"), "judge_unavailable");
            assert_eq!(ended.value_at("verdicts"), &json!([]));
            if is_design {
                continue;
            }
            heal.store(true, Ordering::SeqCst);
            test.resume(&ended.id).expect_end("done", "converged", true, 3);
        }
    }
}

#[test]
fn a_panel_that_the_judge_cannot_compose_follows_from_the_rules() {
    for wrong in [
        "I would rather not.",
        "{\"seats\": []}",
        "{\"seats\": [{\"expert_slug\": \"churro\", \"reason\": \"So.\", \"source\": \"pool\"}]}",
    ] {
        let test = AlignmentTest::new(move |asked| {
            (asked.purpose == AskPurpose::Panel).then(|| ScriptedReply::Reply(wrong.to_owned()))
        });
        let ended = test.run();
        ended.expect_end("done", "converged", true, 3);
        assert_eq!(ended.export["rounds"][1]["panel"].as_array().unwrap().len(), 3, "{wrong}");
        assert!(!ended.export.to_string().contains("churro"));
    }
}
