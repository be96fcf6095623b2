//! What a council was expected to cost, what it cost, and `plenary cost`.

use plenary_core::model::ask::AskPurpose;
use plenary_core::model::journal::JournalEvent;
use plenary_core::model::run_state::RunStopReason;
use plenary_core::protocols::council::document::council_document;
use serde_json::{Value, json};

use super::harness::{SeatRequest, TestCouncil};
use crate::kit::ScriptedReply;
use crate::kit::council_driver::{CouncilDriver, make_plan, make_seat};

/// Text of about 1,500 tokens.
fn usual_text() -> String {
    "Each step is small and can be taken back. ".repeat(140)
}

/// Replies as long as models usually write.
fn usual_reply(asked: &SeatRequest<'_>) -> ScriptedReply {
    let list = match asked.purpose == AskPurpose::PeerReview {
        true => "would_change_my_opinion",
        false => "consensus_points",
    };
    if asked.purpose == AskPurpose::Opinion {
        return asked.valid_with(json!({ "details": {
            "understanding": "Whether to go ahead.", "key_considerations": [],
            "recommendation": "Go ahead.", "rationale": usual_text(),
        } }));
    }
    asked.valid_with(json!({ list: [usual_text()] }))
}

fn priced_council() -> TestCouncil {
    TestCouncil::with_settings(usual_reply, |settings| {
        for provider in settings["council"]["providers"].as_array_mut().unwrap() {
            provider["price"] = json!({ "input_per_mtok": 3.0, "output_per_mtok": 15.0 });
        }
    })
}

#[test]
fn the_expected_cost_is_within_a_factor_of_two_of_the_real_one() {
    let council = priced_council();
    let planned = council.run_ask(&["--dry-run"]);
    let expected = planned.value_at("estimate.usd_expected").as_f64().unwrap();
    let worst = planned.value_at("estimate.usd_max").as_f64().unwrap();
    let result = council.run_ask(&[]);
    result.expect_status("done", 0);
    assert!(!result.stderr.contains("is over the limit"), "{}", result.stderr);
    let spent = result.value_at("metrics.session.total_cost_estimate").as_f64().unwrap();
    assert!(expected / 2.0 <= spent && spent <= expected * 2.0, "{expected} and {spent}");
    assert!(spent <= worst);
    // The second plan knows how long replies were.
    let learned = council.run_ask(&["--dry-run"]);
    let learned = learned.value_at("estimate.usd_expected").as_f64().unwrap();
    assert!(learned / 2.0 <= spent && spent <= learned * 2.0, "{learned} and {spent}");
    // A limit under the expected cost is a warning; the run stops at it.
    let short = council.run_ask(&["--budget-usd", "0.05"]);
    assert!(short.stderr.contains("the expected cost $"), "{}", short.stderr);
}

#[test]
fn the_expected_cost_knows_that_providers_cache_the_shared_block() {
    let council = TestCouncil::with_settings(
        |asked| {
            let text = crate::kit::valid_reply(asked.request).to_string();
            let seen = asked.request;
            let input = (seen.system.len() + seen.user.len()) / 4;
            let body = json!({
                "model": seen.model,
                "choices": [{ "message": { "content": text }, "finish_reason": "stop" }],
                "usage": { "prompt_tokens": input, "completion_tokens": 1_500,
                    "prompt_tokens_details":
                        { "cached_tokens": if asked.purpose == AskPurpose::Opinion { 0 } else { 50_000 } } },
            });
            ScriptedReply::RawBody(body.to_string().into_bytes())
        },
        |settings| {
            for provider in settings["council"]["providers"].as_array_mut().unwrap() {
                provider["price"] = json!({ "input_per_mtok": 3.0, "cached_input_per_mtok": 0.3,
                    "output_per_mtok": 15.0 });
            }
        },
    );
    council.program.write_text("plan.md", &"Each step can be taken back.\n".repeat(8_000));
    let ask = ["--context", "plan.md", "--budget-usd", "20"];
    let planned = council.run_ask(&[&ask[..], &["--dry-run"]].concat());
    let expected = planned.value_at("estimate.usd_expected").as_f64().unwrap();
    let result = council.run_ask(&ask);
    result.expect_status("done", 0);
    let spent = result.value_at("metrics.session.total_cost_estimate").as_f64().unwrap();
    assert!(expected / 1.5 <= spent && spent <= expected * 1.5, "{expected} and {spent}");
}

#[test]
fn the_warning_before_a_run_knows_how_long_replies_were() {
    let reply = |asked: &SeatRequest<'_>| {
        let text = crate::kit::valid_reply(asked.request).to_string();
        let body = json!({
            "model": asked.request.model,
            "choices": [{ "message": { "content": text }, "finish_reason": "stop" }],
            "usage": { "prompt_tokens": 1_000, "completion_tokens": 8_000 },
        });
        ScriptedReply::RawBody(body.to_string().into_bytes())
    };
    let council = TestCouncil::with_settings(reply, |settings| {
        for provider in settings["council"]["providers"].as_array_mut().unwrap() {
            provider["price"] = json!({ "input_per_mtok": 3.0, "output_per_mtok": 15.0 });
        }
    });
    let limit = ["--budget-usd", "0.8"];
    let first = council.run_ask(&limit);
    assert!(!first.stderr.contains("the expected cost $"), "{}", first.stderr);
    let second = council.run_ask(&limit);
    assert!(second.stderr.contains("the expected cost $"), "{}", second.stderr);
}

#[test]
fn cost_sums_calls_by_model_provider_day_and_dialogue() {
    let council = priced_council();
    let empty = council.run_command(&["cost", "--json"]);
    assert_eq!(empty.value_at("rows"), &json!([]));
    let runs = [council.run_ask(&[]), council.run_ask(&[])];
    let spent: f64 = runs
        .iter()
        .map(|run| run.value_at("metrics.session.total_cost_estimate").as_f64().unwrap())
        .sum();
    let check = |group: &str, rows: usize| {
        let report = council.run_command(&["cost", "--json", "--by", group]);
        let total = report.value_at("total_usd").as_f64().unwrap();
        assert!((total - spent).abs() < 1e-6, "{group}: {total} and {spent}");
        let found = report.value_at("rows").as_array().unwrap();
        assert_eq!(found.len(), rows, "{group}: {found:?}");
        let sum = |key: &str| found.iter().map(|row| row[key].as_u64().unwrap()).sum::<u64>();
        assert_eq!(sum("calls"), 14);
        assert_eq!(json!(sum("tokens_in")), *report.value_at("tokens_in"));
        assert_eq!(json!(sum("tokens_out")), *report.value_at("tokens_out"));
        assert_eq!(report.value_at("unpriced_calls"), 0);
        assert_eq!(report.value_at("cached_share"), 0.0);
    };
    check("model", 4);
    check("provider", 4);
    check("day", 1);
    check("dialogue", 2);
    let later = council.run_command(&["cost", "--json", "--since", "2999-01-01"]);
    assert_eq!(later.value_at("rows"), &json!([]));
    let shown = council.program.run_command(&["cost", "--by", "provider"]);
    assert!(shown.stdout.contains("PROVIDER") && shown.stdout.contains("ann"), "{shown:?}");
}

#[test]
fn cached_tokens_are_on_record_and_priced_at_their_own_rate() {
    let reply = |asked: &SeatRequest<'_>| {
        let text = crate::kit::valid_reply(asked.request).to_string();
        ScriptedReply::RawBody(
            json!({
                "model": asked.request.model,
                "choices": [{ "message": { "content": text }, "finish_reason": "stop" }],
                "usage": { "prompt_tokens": 1_000, "completion_tokens": 100,
                    "prompt_tokens_details": { "cached_tokens": 710 } },
            })
            .to_string()
            .into_bytes(),
        )
    };
    let council = TestCouncil::new(reply);
    let result = council.run_ask(&[]);
    result.expect_status("done", 0);
    assert_eq!(result.value_at("metrics.session.cached_tokens"), 7 * 710);
    assert_eq!(result.value_at("metrics.session.cached_share"), 0.71);
    assert!(result.value_at("metrics.session.first_byte_ms").is_u64());
    let opinions = result.value_at("rounds.r1.opinions").as_array().unwrap();
    assert!(opinions.iter().all(|opinion| opinion["token_usage"]["cached_tokens"] == 710));
    let shown = council.program.run_command(&["show", result.dialogue_id()]);
    assert!(shown.stdout.contains("71 % of input from cache"), "{}", shown.stdout);
    let cost: Value = council.run_command(&["cost", "--json"]).document;
    assert_eq!(cost["cached_share"], 0.71);
}

#[test]
fn the_time_of_a_resumed_run_leaves_out_the_pause() {
    let plan = make_plan(vec![make_seat("ann", "model-ann", "family-ann")], "secret");
    let mut state = CouncilDriver::new("Shall we go ahead?", plan).run_state;
    let stopped = || JournalEvent::RunStopped(RunStopReason::Interrupted);
    let started = |owner: &str| JournalEvent::RunStarted { owner: owner.to_owned() };
    for (at, change) in [
        ("2026-02-02T09:00:00Z", started("one")),
        ("2026-02-02T09:00:10Z", stopped()),
        ("2026-02-02T11:00:00Z", started("two")),
        ("2026-02-02T11:00:05Z", stopped()),
    ] {
        state.apply_events(at.parse().unwrap(), &[change]);
    }
    assert_eq!(council_document(&state).metrics.session.total_duration_ms, 15_000);
}
