//! Calls that no server worked on: they cost nothing, and the result names the failure instead of
//! the budget.

use plenary_core::model::ask::AskPurpose;
use serde_json::{Value, json};

use super::harness::TestCouncil;
use crate::kit::ScriptedReply;

/// Every call could cost $0.60: two reservations are over the limit of a run.
fn dear_settings(settings: &mut Value) {
    for provider in settings["council"]["providers"].as_array_mut().unwrap() {
        provider["price"] = json!({ "input_per_mtok": 1.0, "output_per_mtok": 100.0 });
        provider["max_output_tokens"] = json!(6_000);
    }
}

#[test]
fn a_run_without_a_network_fails_for_the_network_and_costs_nothing() {
    let council = TestCouncil::with_settings(
        |_| ScriptedReply::Valid,
        |settings| {
            dear_settings(settings);
            for provider in settings["council"]["providers"].as_array_mut().unwrap() {
                provider["base_url"] = json!("http://127.0.0.1:9/v1");
            }
        },
    );
    let result = council.run_ask(&[]);
    result.expect_status("failed", 3);
    assert_eq!(result.value_at("error.error_code"), "quorum_not_met");
    assert_eq!(result.value_at("panel.failed").as_array().unwrap().len(), 3);
    assert_eq!(result.value_at("metrics.session.total_cost_estimate"), 0.0);
    let message = format!("{}{}", result.stderr, result.document);
    assert!(!message.contains("--budget-usd") && !message.contains("not asked:"), "{message}");
    let cost = council.program.run_command(&["cost"]);
    assert_eq!(cost.stdout, "No answered call is on record. Rehearsals do not count.\n");
    let listed = council.program.run_command(&["list"]);
    assert!(listed.stdout.contains("$0.00"), "{}", listed.stdout);
}

#[test]
fn a_call_that_a_server_rejects_gives_its_reservation_back() {
    for status in [400, 401, 403, 404, 429, 500, 503] {
        let council = TestCouncil::with_settings(
            move |asked| match (asked.seat, asked.purpose) {
                ("ann", AskPurpose::Opinion) => {
                    ScriptedReply::Status(status, vec![], "no".to_owned())
                }
                _ => ScriptedReply::Valid,
            },
            dear_settings,
        );
        let result = council.run_ask(&[]);
        assert_eq!(result.value_at("panel.failed.0.provider"), "ann", "{status}");
        let cost = council.program.run_command(&["cost", "--json"]);
        let cost: Value = serde_json::from_str(&cost.stdout).unwrap();
        assert_eq!(cost["unpriced_calls"], 0, "{status}");
    }
}

#[test]
fn a_stop_for_the_budget_names_earlier_failures_and_the_seats_that_were_not_asked() {
    let council = TestCouncil::with_settings(
        |asked| match asked.seat {
            "ann" => ScriptedReply::Hang,
            _ => ScriptedReply::Valid,
        },
        |settings| {
            dear_settings(settings);
            // The call that timed out may be billed, so it keeps its reservation.
            settings["council"]["providers"][0]["timeouts"] = json!({ "r1_per_provider": 300 });
            settings["budget"]["usd_max"] = json!(0.65);
        },
    );
    let ran = council.program.run_command(&["ask", "--no-conclusion", "Shall we go ahead?"]);
    let page = ran.stdout;
    assert!(page.contains("ann failed (") && page.contains("does not cover"), "{page}");
    assert!(page.contains("not asked"), "{page}");
}
