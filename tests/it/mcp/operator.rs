//! The operator's limits, and the caller's requests within them.

use std::time::{Duration, Instant};

use plenary_core::model::ask::AskPurpose;
use serde_json::{Value, json};

use super::http_harness::call_message;
use super::run_tools::{read_run_state, waiting_council};
use super::stdio_client::StdioClient;
use crate::councils::harness::{SeatRequest, TestCouncil};
use crate::kit::{ScriptedReply, value_at};

#[test]
fn a_caller_may_ask_for_less_than_the_operator_allows_and_not_for_more() {
    let (council, _) = waiting_council();
    council.change_settings(|settings| {
        settings["budget"] = json!({ "usd_max": 0.01, "wall_max": "2m" })
    });
    let mut agent = StdioClient::new(&council.program);
    for (field, given, shown, limit) in [
        ("budget_usd", json!(100), "100", "0.01"),
        ("budget_usd", json!(0.0101), "0.0101", "0.01"),
        ("budget_usd", json!(1e300), "1", "0.01"),
        ("deadline", json!("3m"), "3m", "2m"),
        ("deadline", json!(120_001), "120001ms", "2m"),
        ("deadline", json!(u64::MAX), "ms", "2m"),
    ] {
        for rehearse in [false, true] {
            let asked = json!({ "question": "Tea?", field: given, "rehearse": rehearse });
            let refused = agent.call_tool_error("council_ask", &asked);
            assert_eq!(value_at(&refused, "error_code"), "not_authorized", "{refused:#}");
            assert_eq!(value_at(&refused, "field"), field, "{refused:#}");
            let message = value_at(&refused, "message").as_str().unwrap();
            assert!(message.contains(shown) && message.ends_with(limit), "{message}");
            let suggestion = value_at(&refused, "suggestion").as_str().unwrap();
            assert!(suggestion.contains(&format!("at most {limit}")), "{suggestion}");
        }
    }
    let listed = agent.call_tool_ok("blue_dialogue_search", &json!({ "op": "list" }));
    assert_eq!(value_at(&listed, "dialogues"), &json!([]), "nothing was begun");
    for (usd, deadline, caps) in [(0.01, "2m", (10_000, 120_000)), (0.005, "9s", (5_000, 9_000))] {
        let asked = json!({ "question": "Tea?", "budget_usd": usd, "deadline": deadline });
        let id = value_at(&agent.call_tool_ok("council_ask", &asked), "dialogue_id").clone();
        let planned = read_run_state(&council.program, &id).plan.caps;
        assert_eq!((planned.usd_micros, planned.wall_ms), caps);
    }
}

/// The environment of a server belongs to the operator too.
#[test]
fn the_environment_limits_a_caller() {
    let (council, _) = waiting_council();
    let mut command = council.program.command();
    command.arg("mcp").env("PLENARY_BUDGET_USD", "0.25").env("PLENARY_DEADLINE", "30s");
    let mut agent = StdioClient::from_command(command);
    let refused =
        agent.call_tool_error("council_ask", &json!({ "question": "Tea?", "budget_usd": 0.5 }));
    assert!(value_at(&refused, "message").as_str().unwrap().ends_with("0.25"), "{refused:#}");
    let refused =
        agent.call_tool_error("council_ask", &json!({ "question": "Tea?", "deadline": "31s" }));
    assert!(value_at(&refused, "message").as_str().unwrap().ends_with("30s"), "{refused:#}");
}

#[test]
fn a_caller_that_resumes_a_run_keeps_to_what_the_operator_allows_now() {
    let (council, _) = waiting_council();
    let mut agent = StdioClient::new(&council.program);
    let asked = json!({ "question": "Tea?", "budget_usd": 1.5 });
    let id = value_at(&agent.call_tool_ok("council_ask", &asked), "dialogue_id").clone();
    agent.kill_server();
    council.change_settings(|settings| {
        settings["budget"] = json!({ "usd_max": 0.5, "tokens_max": 90_000, "calls_max": 7 });
    });
    let mut next = StdioClient::new(&council.program);
    let more = json!({ "dialogue_id": id, "resume": true, "budget_usd": 1.5 });
    let refused = next.call_tool_error("deliberation_status", &more);
    assert_eq!(value_at(&refused, "error_code"), "not_authorized", "{refused:#}");
    next.call_tool_ok("deliberation_status", &json!({ "dialogue_id": id, "resume": true }));
    // The limit holds also where nothing is resumed.
    let refused = next.call_tool_error("deliberation_status", &more);
    assert_eq!(value_at(&refused, "error_code"), "not_authorized", "{refused:#}");
    let caps = read_run_state(&council.program, &id).plan.caps;
    assert_eq!((caps.usd_micros, caps.tokens, caps.calls), (500_000, 90_000, 7));
}

/// The cost of one directive is known before the next is sent.
#[test]
fn directives_that_arrive_together_are_held_against_one_budget() {
    let script = |ask: &SeatRequest<'_>| match ask.purpose == AskPurpose::Restatement {
        true => ScriptedReply::Reply("You want the costs weighed first.".to_owned()),
        false => ScriptedReply::Hang,
    };
    let council = TestCouncil::with_settings(script, |settings| {
        settings["budget"] = json!({ "calls_max": 5 })
    });
    let mut agent = StdioClient::new(&council.program);
    let begun =
        agent.call_tool_ok("council_ask", &json!({ "question": "Tea?", "conclusion": false }));
    let id = value_at(&begun, "dialogue_id").clone();
    let since = Instant::now();
    while council.server.requests().len() < 3 {
        assert!(since.elapsed() < Duration::from_secs(60), "no participant is asked");
        std::thread::sleep(Duration::from_millis(10));
    }
    let direct = |number: u64| {
        let text = format!("Mind cost number {number}.");
        let arguments = json!({ "dialogue_id": id, "kind": "direct", "text": text });
        format!("{}\n", call_message(1_000 + number, "deliberation_intervene", &arguments))
    };
    agent.send_bytes((0..20).map(direct).collect::<String>().as_bytes());
    let answers: Vec<Value> = (0..20).map(|_| agent.next_message()).collect();
    let restated = answers.iter().filter(|answer| answer.to_string().contains("understood as"));
    assert_eq!(restated.count(), 2, "three calls are in flight, and five are allowed");
    assert_eq!(council.call_count(AskPurpose::Restatement), 2);
}

/// A council with expensive calls: 8.192 dollars at worst, far less in fact.
fn set_high_price(settings: &mut Value, server_usd_max: f64) {
    for provider in settings["council"]["providers"].as_array_mut().unwrap() {
        provider["price"] = json!({ "input_per_mtok": 0, "output_per_mtok": 1_000 });
    }
    settings["budget"]["usd_max"] = json!(100);
    settings["budget"]["server_usd_max"] = json!(server_usd_max);
}

#[test]
fn runs_of_a_server_share_the_money_of_a_day_also_when_it_is_started_again() {
    let council = TestCouncil::with_settings(
        |_| ScriptedReply::Valid,
        |settings| set_high_price(settings, 1_000.0),
    );
    let ask = json!({ "question": "Tea?", "conclusion": false, "wait_seconds": 60 });
    let mut agent = StdioClient::new(&council.program);
    let first = agent.call_tool_ok("council_ask", &ask);
    assert_eq!(value_at(&first, "status"), "done", "{first:#}");
    let spent = value_at(&first, "progress.cost_usd").as_f64().unwrap();
    assert!(spent > 0.0, "{first:#}");
    // One call would fit; with the first council's cost it does not.
    let limit = 8.192 + spent / 2.0;
    council.change_settings(|settings| set_high_price(settings, limit));
    let second = agent.call_tool_ok("council_ask", &ask);
    check_stopped(&second);
    let id = value_at(&second, "dialogue_id").as_str().unwrap().to_owned();
    agent.close_client();
    let mut next = StdioClient::new(&council.program);
    let resume = json!({ "dialogue_id": id, "resume": true, "wait_seconds": 60 });
    check_stopped(&next.call_tool_ok("deliberation_status", &resume));
    check_stopped(&next.call_tool_ok("council_ask", &ask));
    // The operator may raise the limit, or resume on the command line.
    council.change_settings(|settings| set_high_price(settings, 1_000.0));
    let third = next.call_tool_ok("deliberation_status", &resume);
    assert_eq!(value_at(&third, "status"), "done", "{third:#}");
    council.change_settings(|settings| set_high_price(settings, 0.0));
    check_stopped(&next.call_tool_ok("council_ask", &ask));
    council.run_ask(&[]).expect_status("done", 0);
}

#[track_caller]
fn check_stopped(result: &Value) {
    assert_eq!(value_at(result, "status"), "incomplete", "{result:#}");
    assert_eq!(value_at(result, "result.error.error_code"), "budget_exhausted", "{result:#}");
    let message = value_at(result, "result.error.message").as_str().unwrap();
    assert!(message.contains("`budget.server_usd_max`"), "{message}");
    let suggestion = value_at(result, "result.error.suggestion").as_str().unwrap();
    assert!(suggestion.contains("00:00 UTC"), "{suggestion}");
}
