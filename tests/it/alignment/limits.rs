//! Budget, deadline and stop: a forced verdict where a round was registered and the budget allows
//! one more call, else an incomplete run that can be resumed.

use std::time::Duration;

use plenary_core::model::ask::AskPurpose;
use plenary_core::model::plan::TokenPrice;
use plenary_core::model::run_state::RunStopReason;
use serde_json::{Value, json};

use super::harness::{AlignmentTest, EXPERTS, Interference};
use super::sources::assert_sourced;
use crate::kit::ScriptedReply;

#[test]
fn every_limit_of_calls_ends_in_a_stated_result() {
    // The whole dialogue has 15 calls.
    for calls in 1..=15 {
        // A verdict that names nothing needs no fix in any round.
        let mut test = AlignmentTest::new(|asked| match asked.purpose {
            AskPurpose::Verdicts => Some(asked.usual_with(json!({ "final": {
                "description": "Calls replace the dividend.", "recommendation": "Swap half.",
                "confidence": "strong",
            } }))),
            _ => None,
        });
        test.plan.caps.calls = calls;
        let ended = test.run();
        let sent = test.server.requests().len();
        assert!(sent <= calls as usize, "{sent} calls of {calls}");
        // A round of two experts and its verdict are affordable from four calls on: one call always
        // stays for the verdict.
        let rounds = ended.value_at("rounds").as_u64().unwrap();
        match (ended.value_at("status").as_str().unwrap(), rounds) {
            ("done", 1..) => assert!(calls >= 4, "{calls}"),
            (_, 0) => {
                assert_eq!(ended.value_at("stop_reason"), "budget", "{calls}");
                assert_eq!(ended.value_at("error.error_code"), "budget_exhausted", "{calls}");
                assert_eq!(ended.value_at("converged"), false);
            }
            end => panic!("{calls} calls: {end:?} without the verdict that was reserved"),
        }
        let warnings = ended.value_at("warnings").to_string();
        assert_eq!(warnings.contains("2 seats instead of 3"), calls < 15, "{calls}: {warnings}");
        assert_sourced(&test, &ended);
    }
}

#[test]
fn a_designed_pool_that_is_smaller_than_the_panel_is_a_warning() {
    let test = AlignmentTest::new(|asked| {
        let ScriptedReply::Reply(usual) = asked.usual() else { unreachable!() };
        let mut design: Value = serde_json::from_str(&usual).ok()?;
        design["experts"].as_array_mut()?.pop();
        Some(ScriptedReply::Reply(design.to_string()))
    });
    let test = test.with_rules(|rules| {
        (rules.pool, rules.panel_size, rules.max_rounds) = (None, Some(12), 1);
    });
    let ended = test.run();
    let warning = "the panel has 11 seats instead of 12: the pool has no more experts";
    assert!(ended.value_at("warnings").to_string().contains(warning), "{:#}", ended.document);
    assert_eq!(ended.export["expert_pool"]["panel_reason"], warning);
}

#[test]
fn money_and_tokens_limit_the_panel_too() {
    for (usd_micros, tokens) in [(150_000, 1_000_000), (1_000_000_000, 30_000)] {
        let mut test = AlignmentTest::new(|_| None);
        (test.plan.caps.usd_micros, test.plan.caps.tokens) = (usd_micros, tokens);
        for seat in &mut test.plan.seats {
            seat.price = Some(TokenPrice::new(10.0, 10.0, "configuration"));
            seat.output_tokens_max = 1_500;
        }
        let ended = test.run();
        let warnings = ended.value_at("warnings").to_string();
        assert!(warnings.contains("2 seats instead of 3"), "{warnings}");
        let reason = ended.export["expert_pool"]["panel_reason"].to_string();
        assert!(reason.contains("the budget covers no more"), "{reason}");
    }
}

#[test]
fn a_budget_that_covers_one_more_call_gives_a_forced_verdict() {
    // The experts cost ten times as much as the Judge, who can still be paid when they cannot.
    let mut forced = 0;
    for usd_micros in (20_000..500_000).step_by(40_000) {
        let mut test = AlignmentTest::new(|_| None);
        test.plan.caps.usd_micros = usd_micros;
        for seat in test.plan.seats.iter_mut().take(EXPERTS.len()) {
            seat.price = Some(TokenPrice::new(10.0, 20.0, "configuration"));
        }
        let ended = test.run();
        let rounds = ended.value_at("rounds").as_u64().unwrap();
        match (
            ended.value_at("status").as_str().unwrap(),
            ended.value_at("stop_reason").as_str().unwrap(),
        ) {
            ("done", "converged") => {}
            ("done", "budget") => {
                forced += 1;
                assert!(rounds > 0);
                let verdict = ended.final_verdict();
                assert_eq!(verdict["forced"], true);
                assert!(verdict["warning"].as_str().unwrap().contains("budget was exhausted"));
            }
            ("incomplete", "budget") => {
                assert_eq!(ended.value_at("verdicts").as_array().unwrap().len(), 0);
            }
            end => panic!("{usd_micros}: {end:?}"),
        }
        assert_sourced(&test, &ended);
    }
    assert!(forced > 0, "no budget left room for the verdict alone");
}

#[test]
fn a_deadline_leaves_the_run_incomplete_and_resume_continues_it() {
    let mut test = AlignmentTest::new(|asked| {
        let is_it = asked.expert == "scone" && asked.round == 1 && asked.nth == 1;
        is_it.then_some(ScriptedReply::Hang)
    });
    test.wall = Duration::from_millis(1_500);
    let ended = test.run();
    ended.expect_end("incomplete", "deadline", false, 1);
    assert_eq!(ended.stop, RunStopReason::Deadline);
    test.wall = Duration::from_secs(60);
    let resumed = test.resume(&ended.id);
    resumed.expect_end("done", "converged", true, 3);
    assert_sourced(&test, &resumed);
}

#[test]
fn a_stop_gives_a_forced_verdict_once_a_round_is_registered() {
    // Round 0 takes four calls; the fifth composes the panel of round 1, the 15th gives the verdicts
    // of a panel that has converged.
    for requests in [1, 3, 4, 5, 6, 8, 9, 11, 13, 15] {
        let test = AlignmentTest::new(|asked| match asked.purpose {
            AskPurpose::Verdicts if asked.nth > 1 => None,
            _ => Some(ScriptedReply::Slow(Duration::from_millis(150), Box::new(asked.usual()))),
        });
        let ended = test.run_with(None, &Interference::Stop(requests));
        let rounds = ended.value_at("rounds").as_u64().unwrap();
        if rounds == 0 {
            ended.expect_end("incomplete", "stopped", false, 0);
            assert_eq!(ended.value_at("error.error_code"), "stopped");
            assert_eq!(ended.value_at("verdicts").as_array().unwrap().len(), 0);
            // The Principal may change their mind.
            test.resume(&ended.id).expect_end("done", "converged", true, 3);
            continue;
        }
        ended.expect_end("done", "stopped", false, rounds as usize);
        let verdict = ended.final_verdict();
        assert_eq!(verdict["forced"], true, "after {requests} requests");
        assert!(verdict["warning"].as_str().unwrap().contains("stopped the dialogue"));
        assert_sourced(&test, &ended);
    }
}
