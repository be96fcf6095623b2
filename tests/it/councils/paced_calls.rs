//! Pace: many councils at providers that limit their calls, and stricter asks that do not wait.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use plenary_core::model::ask::AskPurpose;
use serde_json::{Value, json};

use super::harness::{PARTICIPANTS, SeatRequest, TestCouncil};
use crate::kit::{ReplyGate, ScriptedReply, purpose_of};

const COUNCILS: usize = 50;

/// Limits each model to some calls in a window of time.
#[derive(Default)]
struct CallWindow(Mutex<HashMap<String, Vec<Instant>>>);

impl CallWindow {
    const CALLS: usize = 12;
    const TIME: Duration = Duration::from_millis(250);

    fn accepts(&self, model: &str) -> bool {
        let mut models = self.0.lock().unwrap();
        let calls = models.entry(model.to_owned()).or_default();
        calls.retain(|at| at.elapsed() < Self::TIME);
        let is_free = calls.len() < Self::CALLS;
        if is_free {
            calls.push(Instant::now());
        }
        is_free
    }
}

/// Runs fifty councils at once against servers that say 429 with these headers.
fn run_fifty(headers: &'static [(&'static str, &'static str)]) {
    let window = CallWindow::default();
    let council = TestCouncil::new(move |asked| {
        if window.accepts(&asked.request.model) {
            return ScriptedReply::Slow(Duration::from_millis(10), Box::new(ScriptedReply::Valid));
        }
        let headers = headers.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        ScriptedReply::Status(429, headers, json!({ "error": "slow down" }).to_string())
    });
    let lines: Vec<String> = (0..COUNCILS).map(|n| format!("\"Step {n}?\"")).collect();
    std::fs::write(council.program.path().join("batch.jsonl"), lines.join("\n")).unwrap();
    let arguments =
        ["ask", "--json", "-q", "--no-conclusion", "--batch", "batch.jsonl", "--jobs", "50"];
    let ran = council.program.run_command(&arguments);
    council.assert_verified();
    let results: Vec<Value> =
        ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((ran.code, results.len()), (0, COUNCILS), "{}", ran.stderr);
    for result in &results {
        assert_eq!(result["status"], "done", "{result:#}");
        assert_eq!(result["panel"]["succeeded"], 4, "no seat is lost: {result:#}");
        assert!(result["metrics"]["session"]["total_duration_ms"].as_u64().unwrap() < 900_000);
    }
    // Every reply was paid once: 7 calls per council.
    let refused: u64 = results.iter().map(|result| failed_calls(&council, result)).sum();
    let requests = council.server.requests();
    assert!(refused > 0, "the limit was never reached");
    assert_eq!(requests.len() as u64, COUNCILS as u64 * 7 + refused);
    // The order is fair: no council's first opinion comes after another's second round.
    for name in PARTICIPANTS {
        let of_seat = || requests.iter().filter(|seen| seen.model == format!("model-{name}"));
        let last_opinion = of_seat().rposition_of(AskPurpose::Opinion);
        let third_quarter = of_seat().count() * 3 / 4;
        assert!(last_opinion <= third_quarter, "{name}: {last_opinion} of {}", of_seat().count());
    }
}

/// Calls of a run that the server refused.
fn failed_calls(council: &TestCouncil, result: &Value) -> u64 {
    let id = result["dialogue_id"].as_str().unwrap();
    let shown = council.program.run_command(&["show", id, "--prompts", "--json"]);
    let calls: Vec<Value> = serde_json::from_str(&shown.stdout).unwrap();
    calls.iter().filter(|call| call["status"] == "failed").count() as u64
}

trait RequestOrder {
    fn rposition_of(self, purpose: AskPurpose) -> usize;
}

impl<'a, T: Iterator<Item = &'a crate::kit::ModelRequest>> RequestOrder for T {
    fn rposition_of(self, purpose: AskPurpose) -> usize {
        let places = self.enumerate().filter(|(_, seen)| purpose_of(seen) == purpose);
        places.map(|(place, _)| place).max().unwrap_or_default()
    }
}

#[test]
fn fifty_councils_finish_at_providers_that_name_their_wait() {
    run_fifty(&[("retry-after-ms", "250")]);
}

#[test]
fn fifty_councils_finish_at_providers_that_do_not_name_their_wait() {
    run_fifty(&[]);
}

#[test]
fn a_provider_that_stays_at_its_limit_is_a_failed_seat() {
    let council = TestCouncil::new(|asked| match asked.seat {
        "ann" => ScriptedReply::RateLimited { retry_after: "0".to_owned() },
        _ => ScriptedReply::Valid,
    });
    let result = council.run_ask(&[]);
    result.expect_status("done", 0);
    assert_eq!(result.value_at("flags.degraded"), true);
    // Three named waits, then one retry.
    let calls = council.requests_for(AskPurpose::Opinion);
    assert_eq!(calls.iter().filter(|seen| seen.model == "model-ann").count(), 5);
}

#[test]
fn a_stricter_ask_does_not_wait_for_the_slowest_seat() {
    let gate = ReplyGate::default();
    let council = TestCouncil::new(move |asked| match (asked.seat, asked.purpose, asked.nth) {
        ("ann", AskPurpose::Opinion, 1) => ScriptedReply::Reply("Hm.".to_owned()),
        ("ann", AskPurpose::Opinion, _) => {
            gate.open();
            ScriptedReply::Valid
        }
        // Bob answers only after the second, stricter request to ann.
        ("bob", AskPurpose::Opinion, _) => {
            ScriptedReply::Gated(gate.clone(), Box::new(ScriptedReply::Valid))
        }
        _ => ScriptedReply::Valid,
    });
    let result = council.run_ask(&[]);
    result.expect_status("done", 0);
    // Bob would time out if the second request to ann waited for him.
    assert_eq!(result.value_at("panel.succeeded"), 4);
    assert_eq!(council.call_count(AskPurpose::Opinion), 4);
}

#[test]
fn an_account_without_credit_is_asked_once() {
    let council = TestCouncil::new(|asked| match asked.seat {
        "bob" => {
            let body = json!({ "error": { "message": "Out.", "code": "insufficient_quota" } });
            let headers = vec![("retry-after", "1".to_owned())];
            ScriptedReply::Status(429, headers, body.to_string())
        }
        _ => ScriptedReply::Valid,
    });
    let ran = council.run_ask(&[]);
    ran.expect_status("done", 0);
    assert_eq!(*ran.value_at("panel.failed.0.error_type"), "rate_limit");
    for purpose in [AskPurpose::Opinion, AskPurpose::PeerReview] {
        let requests = council.requests_for(purpose);
        let of_bob = requests.iter().filter(|seen| seen.model == "model-bob");
        assert_eq!(of_bob.count(), 1, "{purpose}");
    }
}

#[test]
fn a_wait_beyond_the_deadline_costs_the_seat_and_not_the_run() {
    let script = |asked: &SeatRequest<'_>| match asked.seat {
        "ann" => ScriptedReply::RateLimited { retry_after: "50".to_owned() },
        _ => ScriptedReply::Valid,
    };
    let council = TestCouncil::with_settings(script, |settings| {
        settings["budget"]["wall_max"] = json!("30s");
    });
    let result = council.run_ask(&[]);
    result.expect_status("done", 0);
    assert_eq!(result.value_at("panel.succeeded"), 3);
    assert_eq!(*result.value_at("panel.failed.0.error_type"), "rate_limit");
    let opinions = council.requests_for(AskPurpose::Opinion);
    assert_eq!(opinions.iter().filter(|seen| seen.model == "model-ann").count(), 1);
}

#[test]
fn a_batch_starts_no_councils_that_would_only_wait() {
    let council = TestCouncil::with_settings(
        |_| ScriptedReply::Valid,
        |settings| {
            for provider in settings["council"]["providers"].as_array_mut().unwrap() {
                provider["max_in_flight"] = json!(1);
            }
        },
    );
    let lines: Vec<String> = (0..20).map(|n| format!("\"Step {n}?\"")).collect();
    std::fs::write(council.program.path().join("batch.jsonl"), lines.join("\n")).unwrap();
    let arguments =
        ["ask", "--json", "-q", "--no-conclusion", "--batch", "batch.jsonl", "--jobs", "20"];
    let ran = council.program.run_command(&arguments);
    assert_eq!((ran.code, ran.stdout.lines().count()), (0, 20), "{}", ran.stderr);
    let requests = council.server.requests();
    let mut of_ann = requests.iter().filter(|seen| seen.model == "model-ann");
    let opinions = of_ann.position(|seen| purpose_of(seen) == AskPurpose::PeerReview).unwrap();
    assert!(opinions <= 8, "{opinions} councils began before the first went on");
}
