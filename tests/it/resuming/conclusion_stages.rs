//! Deadlines, signals and exhausted budgets in each stage of a conclusion.

use std::process::Command;

use serde_json::Value;

use super::harness::{ResumeProject, ResumedCouncil, stable_document};
use super::scripted_seats::CouncilFinale;
use crate::kit::value_at;

/// The seat that writes, its call number, and the dialogue's stage.
const STAGES: [(&str, usize, &str); 4] = [
    ("conclusion-ann", 8, "concluding"),
    ("audit-bob", 9, "auditing"),
    ("revision-ann", 10, "revising"),
    ("second-audit-bob", 11, "revising"),
];

/// The calls of a conclusion.
const CONCLUSION_CALLS: [&str; 4] = ["R4 ann", "R5 bob", "R6 ann", "R7 bob"];

fn run_undisturbed(house: &ResumeProject) -> Value {
    stable_document(
        &ResumedCouncil::with_finale(house, "undisturbed", CouncilFinale::Unconverged).run_to_end(),
    )
}

/// A run that stopped in this stage must report it; resumed, it completes normally and only repeats
/// these conclusion calls.
#[track_caller]
fn check_stage(
    council: &mut ResumedCouncil<'_>,
    (code, document): (i32, Value),
    expected: (i32, &str, &str),
    end: &Value,
    then_asks: &[&str],
) {
    let question = council.question.clone();
    let result = |path| value_at(&document, path).as_str().unwrap();
    assert_eq!((code, result("error.error_code"), result("stage")), expected, "{question}");
    assert_eq!(value_at(&document, "terminal_state"), &Value::Null, "{question}");
    assert_eq!(value_at(&document, "conclusion"), &Value::Null, "{question}");
    council.more = String::new();
    assert_eq!(stable_document(&council.run_to_end()), *end, "{question}");
    assert_eq!(council.attempts.last().unwrap().requests, then_asks, "{question}");
}

#[test]
fn interrupted_in_any_stage_it_goes_on_with_what_was_in_flight() {
    let house = ResumeProject::new();
    let end = run_undisturbed(&house);
    for (place, (held, asked, stage)) in STAGES.into_iter().enumerate() {
        let signal = if place == 1 { "-TERM" } else { "-INT" };
        let mut council = ResumedCouncil::with_finale(
            &house,
            &format!("signal-{held}"),
            CouncilFinale::Unconverged,
        );
        let mut process = council.start_process(&[held]);
        process.wait_until_asked(asked, 1);
        let result = Command::new("kill").args([signal, &process.pid().to_string()]).status();
        assert!(result.unwrap().success());
        let stopped = process.wait_result();
        let stopped = council.record_stop(stopped);
        check_stage(
            &mut council,
            stopped,
            (130, "interrupted", stage),
            &end,
            &CONCLUSION_CALLS[place..],
        );
    }
}

#[test]
fn past_its_deadline_in_any_stage_it_goes_on_with_what_was_in_flight() {
    let house = ResumeProject::new();
    let end = run_undisturbed(&house);
    for (place, (held, asked, stage)) in STAGES.into_iter().enumerate() {
        let mut council = ResumedCouncil::with_finale(
            &house,
            &format!("late-{held}"),
            CouncilFinale::Unconverged,
        );
        // The rounds take as long as they need; the deadline applies to the resumed process.
        let mut process = council.start_process(&[held]);
        process.wait_until_asked(asked, 1);
        let dead = process.kill_process();
        council.record_kill(dead);
        let further: &[&str] = match place % 2 {
            0 => &["--deadline", "900ms"],
            _ => &[],
        };
        council.more = "budget: {wall_max: 900ms}\n".to_owned();
        let stopped = council.start_with(&[held], further).wait_result();
        let stopped = council.record_stop(stopped);
        check_stage(
            &mut council,
            stopped,
            (3, "deadline_exceeded", stage),
            &end,
            &CONCLUSION_CALLS[place..],
        );
    }
}

#[test]
fn out_of_budget_in_any_stage_more_of_it_lets_it_go_on() {
    let house = ResumeProject::new();
    let end = run_undisturbed(&house);
    for (place, (held, asked, stage)) in STAGES.into_iter().enumerate() {
        let mut council = ResumedCouncil::with_finale(
            &house,
            &format!("poor-{held}"),
            CouncilFinale::Unconverged,
        );
        council.more = format!("budget: {{calls_max: {}}}\n", asked - 1);
        let stopped = council.start_process(&[]).wait_result();
        let stopped = council.record_stop(stopped);
        assert_eq!(value_at(&stopped.1, "metrics.session.calls"), asked - 1);
        check_stage(
            &mut council,
            stopped,
            (3, "budget_exhausted", stage),
            &end,
            &CONCLUSION_CALLS[place..],
        );
    }
}

/// A seat times out and is asked again by the resuming process.
#[test]
fn whoever_was_missing_in_any_stage_is_asked_again() {
    let house = ResumeProject::new();
    let end = run_undisturbed(&house);
    for (place, (held, _, stage)) in STAGES.into_iter().enumerate() {
        let error = ["synthesis_unavailable", "audit_unavailable", "revision_unavailable"];
        let error = error[if place == 3 { 1 } else { place }];
        let mut council = ResumedCouncil::with_finale(
            &house,
            &format!("absent-{held}"),
            CouncilFinale::Unconverged,
        );
        council.more = "  timeouts: {r3_chair: 1500}\n".to_owned();
        let stopped = council.start_process(&[held]).wait_result();
        let stopped = council.record_stop(stopped);
        check_stage(&mut council, stopped, (3, error, stage), &end, &CONCLUSION_CALLS[place..]);
    }
}
