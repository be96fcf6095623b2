//! How a dialogue ends: it converges, or it says that it did not, and why.

use plenary_core::model::ask::AskPurpose;
use plenary_core::report::graph::tension_board;
use plenary_engine::app::rounds::read_progress;
use serde_json::{Value, json};

use super::harness::AlignmentTest;
use super::scripted_panel::{local_id, usual_contribution};
use super::sources::assert_sourced;
use crate::kit::ScriptedReply;

fn reply(text: impl Into<String>) -> Option<ScriptedReply> {
    Some(ScriptedReply::Reply(text.into()))
}

#[test]
fn a_panel_converges_in_three_rounds() {
    let test = AlignmentTest::new(|_| None);
    let ended = test.run();
    ended.expect_end("done", "converged", true, 3);
    assert_eq!(
        (ended.tension_status("T0001"), ended.tension_status("T0002")),
        ("resolved", "resolved")
    );
    let verdict = ended.final_verdict();
    assert_eq!((&verdict["vote"], &verdict["confidence"]), (&json!("3-0"), &json!("strong")));
    assert_eq!(verdict["recommendationsAdopted"], json!(["R0101"]));
    assert_eq!(verdict["forced"], Value::Null);
    // Each of nine replies scores 10: 3 + 2 + 4 + 1.
    assert_eq!(ended.value_at("total_alignment"), 90);
    let totals = ended.value_at("scoreboard.totals");
    assert_eq!(
        totals["alignment"],
        json!({ "wisdom": 27, "consistency": 18, "truth": 36, "relationships": 9, "total": 90 })
    );
    assert_eq!((&totals["tensions_resolved"], &totals["tensions_total"]), (&json!(2), &json!(2)));
    assert_eq!(ended.value_at("error"), &Value::Null);
    // The record says which model played an expert.
    let seats = ended.export["alignment"]["transparency"]["providers"].as_array().unwrap();
    let muffin = seats.iter().find(|seat| seat["provider"] == "muffin").unwrap();
    assert_eq!(muffin["model"], "model-ann");
    assert!(test.markdown(&ended.id).contains(" · model-ann"));
    // The calls: three rounds of three experts, three reconciliations, two panels, the verdicts.
    assert_eq!(test.server.requests().len(), 9 + 3 + 2 + 1);
    assert_sourced(&test, &ended);
}

#[test]
fn a_panel_that_changes_nothing_for_two_rounds_is_a_stalemate() {
    // The verdict itself changes a status: it adopts a recommendation.
    let mut adopting = forced_final();
    adopting["recommendations_adopted"] = json!(["R0001"]);
    let test = AlignmentTest::new(move |asked| match asked.purpose {
        AskPurpose::Contribution if asked.round == 0 && asked.expert == "scone" => {
            let usual = usual_contribution("scone", 0);
            reply(format!("{usual}\n[SCONE-R0001: Sell a third]\nIt is enough.\n"))
        }
        AskPurpose::Contribution if asked.round > 0 => {
            let id = local_id(&asked.expert, 'P', asked.round, 1);
            reply(format!(
                "[{id}: Again]\n{} says the same in round {}.\n",
                asked.expert, asked.round
            ))
        }
        AskPurpose::Reconciliation => Some(asked.usual_with(json!({ "tension_updates": [] }))),
        AskPurpose::Verdicts => Some(asked.usual_with(json!({ "final": adopting }))),
        _ => None,
    });
    let ended = test.run();
    ended.expect_end("done", "stalemate", false, 3);
    let verdict = ended.final_verdict();
    assert_eq!((&verdict["forced"], &verdict["vote"]), (&json!(true), &json!("0-3")));
    let warning = verdict["warning"].as_str().unwrap();
    assert!(warning.contains("NOT CONVERGED") && warning.contains("T0001, T0002"), "{warning}");
    assert!(ended.value_at("warnings").to_string().contains("NOT CONVERGED"));
    assert_eq!(ended.value_at("scoreboard.totals.convergence_achieved"), false);
    assert_sourced(&test, &ended);
}

/// A final verdict that names nothing.
fn forced_final() -> Value {
    json!({
        "key_evidence": [], "key_claims": [], "recommendations_adopted": [],
        "tensions_accepted": [], "description": "The panel stays divided.", "conditions": [],
        "recommendation": "Wait.", "confidence": "unanimous",
    })
}

#[test]
fn the_limit_of_rounds_forces_a_verdict() {
    let test = AlignmentTest::new(|asked| match asked.purpose {
        AskPurpose::Verdicts => Some(asked.usual_with(json!({ "final": forced_final() }))),
        _ => None,
    });
    let test = test.with_rules(|rules| rules.max_rounds = 2);
    let ended = test.run();
    ended.expect_end("done", "max_rounds", false, 2);
    let verdict = ended.final_verdict();
    assert_eq!(verdict["forced"], true);
    assert!(verdict["warning"].as_str().unwrap().contains("limit of 2 rounds"), "{verdict:#}");
    // The Judge cannot call a divided panel unanimous.
    // No one agrees, and a tension is unsettled.
    assert_eq!((&verdict["vote"], &verdict["confidence"]), (&json!("0-3"), &json!("contested")));
    assert_eq!(ended.tension_status("T0002"), "addressed");
    assert_sourced(&test, &ended);
}

#[test]
fn all_experts_converging_at_once_do_not_settle_an_open_tension() {
    let test = AlignmentTest::new(|asked| match asked.purpose {
        AskPurpose::Contribution => {
            let usual = usual_contribution(&asked.expert, asked.round);
            reply(format!("{usual}\nI see T0001 and T0002.\n[MOVE:CONVERGE]\n"))
        }
        AskPurpose::Reconciliation => Some(asked.usual_with(json!({ "tension_updates": [] }))),
        _ => None,
    });
    let ended = test.with_rules(|rules| rules.max_rounds = 2).run();
    ended.expect_end("done", "max_rounds", false, 2);
    assert_eq!(ended.value_at("scoreboard.rounds.1.converge_percent"), 100);
    let blockers = ended.value_at("scoreboard.rounds.1.blockers").to_string();
    assert!(blockers.contains("T0001") && blockers.contains("T0002"), "{blockers}");
}

#[test]
fn an_accepted_tension_counts_as_settled_and_the_verdict_names_it() {
    let test = AlignmentTest::new(|asked| match (asked.purpose, asked.round) {
        (AskPurpose::Reconciliation, 1) => Some(asked.usual_with(json!({
            "accepted": [{ "id": "T0002", "reason": "A cap of a third is bearable." }],
        }))),
        (AskPurpose::Reconciliation, 2) => Some(asked.usual_with(json!({ "tension_updates": [] }))),
        _ => None,
    });
    let ended = test.run();
    // The board has it from the round of the acceptance on, with the reason.
    for (round, accepted) in [(0, 0), (1, 1), (2, 1)] {
        let record = test.store.load_record(&ended.id).unwrap().unwrap();
        let board = tension_board(record, Some(round));
        assert_eq!(board.accepted.len(), accepted, "round {round}");
        let because = board.accepted.first().and_then(|card| card.accepted_because.as_deref());
        assert_eq!(because.is_some(), accepted > 0);
    }
    ended.expect_end("done", "converged", true, 3);
    assert_eq!(ended.tension_status("T0002"), "addressed", "it keeps its status");
    let verdict = ended.final_verdict();
    assert_eq!(verdict["tensionsAccepted"], json!(["T0002"]));
    let conditions = verdict["conditions"].to_string();
    assert!(conditions.contains("T0002: A cap of a third is bearable."), "{conditions}");
    assert_sourced(&test, &ended);
}

#[test]
fn four_of_five_percent_suffice_when_the_caller_says_so() {
    // Two of three experts converge: 66 percent.
    let ends = [(100, "max_rounds", false), (67, "max_rounds", false), (66, "converged", true)];
    for (percent, reason, converged) in ends {
        let test = AlignmentTest::new(|asked| match (asked.purpose, asked.expert.as_str()) {
            (AskPurpose::Contribution, "scone") if asked.round == 2 => reply(
                "[SCONE-P0201: No]\nscone is not content.\n\n[DISSENT]\nThe deed forbids calls.\n",
            ),
            _ => None,
        });
        let test = test.with_rules(|rules| {
            (rules.convergence_percent, rules.max_rounds) = (percent, 3);
        });
        let ended = test.run();
        ended.expect_end("done", reason, converged, 3);
        assert_eq!(ended.final_verdict()["vote"], "2-1", "{percent}");
        // Experts who did not converge block only where they are missing.
        let blockers = ended.value_at("scoreboard.rounds.2.blockers").to_string();
        assert_eq!(blockers.contains("not converged: scone"), !converged, "{blockers}");
        // The Judge left the marked dissent out; code adds it.
        let [(author, text)] = &ended.verdicts_of("dissent")[..] else { panic!("{percent}") };
        assert_eq!((author.as_str(), text.as_str()), ("scone", "The deed forbids calls."));
    }
}

#[test]
fn a_signal_that_passes_over_an_own_open_tension_does_not_count() {
    let cited = ["T0001", "MUFFIN-T0001", "R0101", "MUFFIN-R0101", "nothing", "T0002", "t0001"];
    // The Judge may name a tension of the record by its local id.
    for (word, named) in
        cited.into_iter().flat_map(|word| [(word, "T0001"), (word, "MUFFIN-T0001")])
    {
        let test = AlignmentTest::new(move |asked| match (asked.purpose, asked.round) {
            (AskPurpose::Contribution, 2) if asked.expert == "muffin" => {
                reply(format!("[MUFFIN-P0201: Fine]\nI looked at {word}.\n\n[MOVE:CONVERGE]\n"))
            }
            // T0001 is addressed when round 2 begins, and its settling item is R0101.
            (AskPurpose::Reconciliation, 1) => Some(asked.usual_with(json!({
                "tension_updates": [{ "id": "T0001", "via": "MUFFIN-R0101",
                    "reason": "It proposes a way.", "status": "addressed" }],
            }))),
            (AskPurpose::Reconciliation, 2) => Some(asked.usual_with(json!({
                "tension_updates": [
                    { "id": named, "via": "R0102", "reason": "Done.", "status": "resolved" },
                    { "id": "T0002", "via": "R0102", "reason": "Done.", "status": "resolved" },
                ],
            }))),
            _ => None,
        });
        let test = test.with_rules(|rules| rules.max_rounds = 3);
        let ended = test.run();
        let counts = !["nothing", "T0002"].contains(&word);
        let reason = if counts { "converged" } else { "max_rounds" };
        ended.expect_end("done", reason, counts, 3);
        let moves = ended.export["moves"].as_array().unwrap();
        let own = moves.iter().find(|made| made["expert"] == "muffin").unwrap();
        let uncited = json!(if counts { None } else { Some("uncited: T0001") });
        assert_eq!(own["context"], uncited, "{word}");
        assert_eq!(ended.final_verdict()["vote"], if counts { "3-0" } else { "2-1" }, "{word}");
        let progress = read_progress(&test.open_project(), &json!({ "dialogue_id": ended.id }));
        let percent = progress.unwrap().converge_percent;
        assert_eq!(percent, if counts { 100 } else { 66 }, "{word}");
    }
}

#[test]
fn the_judge_designs_the_pool_and_the_first_panel_is_drawn_from_it() {
    let test = AlignmentTest::new(|asked| match (asked.purpose, asked.nth) {
        // Too few experts: the Judge fixes it.
        (AskPurpose::Design, 1) => Some(asked.usual_with(json!({ "experts": [] }))),
        (AskPurpose::Contribution, _) => {
            let id = |kind| local_id(&asked.expert, kind, asked.round, 1);
            reply(format!("[{}: A view]\nIt holds.\n\n[MOVE:CONVERGE]\n", id('P')))
        }
        (AskPurpose::Verdicts, _) => Some(asked.usual_with(json!({ "final": forced_final() }))),
        _ => None,
    });
    let test = test.with_rules(|rules| (rules.pool, rules.panel_size) = (None, None));
    let ended = test.run();
    ended.expect_end("done", "converged", true, 1);
    assert_eq!(ended.export["experts"].as_array().unwrap().len(), 12);
    assert_eq!(ended.export["rounds"][0]["panel"].as_array().unwrap().len(), 3);
    assert_eq!(ended.export["background"]["description"], "The trust holds NVAI.");
    assert_eq!(test.requests_for(AskPurpose::Design).len(), 2);
    let (_, _, again) = &test.requests_for(AskPurpose::Design)[1];
    assert!(again.user.contains("8 to 24 are needed"), "the Judge is told what was wrong");
}
