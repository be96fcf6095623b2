//! Councils that stopped by themselves or by command, and are resumed.

use std::process::Command;

use plenary_core::model::journal::{JournalEntryKind, JournalEvent};
use plenary_core::model::run_state::RunStopReason;
use plenary_engine::engine::run_start::load_run;

use super::harness::{ResumeProject, ResumedCouncil, stable_document};
use super::library::LibraryHarness;
use super::scripted_seats::CouncilFinale;
use crate::kit::value_at;

/// The seats in `held` never answer until the run stops with this code and error; then all answer,
/// and the resumed run sends only these calls.
#[track_caller]
fn check_stop(question: &str, more: &str, held: &[&str], stops: (i32, &str), then_asks: &[&str]) {
    let house = ResumeProject::new();
    let undisturbed = ResumedCouncil::new(&house, "undisturbed").run_to_end();
    let mut council = ResumedCouncil::new(&house, question);
    council.more = more.to_owned();
    let end = council.start_process(held).wait_result();
    let (code, document) = council.record_stop(end);
    assert_eq!((code, value_at(&document, "error.error_code").as_str().unwrap()), stops);
    assert_eq!(
        stable_document(&council.run_to_end())["report"],
        stable_document(&undisturbed)["report"]
    );
    let mut asked = council.attempts[1].requests.clone();
    asked.sort();
    assert_eq!(asked, then_asks);
}

#[test]
fn after_a_missed_quorum_those_who_failed_are_asked_again_and_only_they() {
    check_stop(
        "quorum-of-opinions",
        "  timeouts: {r1_per_provider: 700}\n",
        &["opinion-bob", "opinion-cid"],
        (3, "quorum_not_met"),
        &["R1 bob", "R1 cid", "R2 ann", "R2 bob", "R2 cid", "R3 ann"],
    );
    check_stop(
        "quorum-of-reviews",
        "  timeouts: {r2_per_provider: 700}\n  quorum: {r2_min: 3}\n",
        &["review-bob"],
        (3, "quorum_not_met"),
        &["R2 bob", "R3 ann"],
    );
}

#[test]
fn after_the_deadline_only_what_was_in_flight_is_repeated() {
    check_stop(
        "deadline",
        "budget: {wall_max: 1500ms}\n",
        &["synthesis-ann"],
        (3, "deadline_exceeded"),
        &["R3 ann"],
    );
}

#[test]
fn after_the_budget_ran_out_more_of_it_lets_the_council_go_on() {
    let house = ResumeProject::new();
    let mut council = ResumedCouncil::new(&house, "budget");
    // Calls wait for released reservations, so the budget covers the first round, one call at a
    // time.
    council.more = "budget: {usd_max: 0.012}\n".to_owned();
    let end = council.start_process(&[]).wait_result();
    let (code, document) = council.record_stop(end);
    assert_eq!(
        (code, value_at(&document, "error.error_code").as_str().unwrap()),
        (3, "budget_exhausted")
    );
    let before = council.attempts[0].requests.len();
    assert!((3..7).contains(&before), "{:?}", council.attempts[0].requests);
    let document = council.run_to_end_with(&["--budget-usd", "1"]);
    assert_eq!(value_at(&document, "metrics.session.calls"), 7);
    assert_eq!(council.attempts[1].requests.len(), 7 - before);
}

#[test]
fn after_an_interruption_only_what_was_in_flight_is_repeated() {
    for signal in ["-INT", "-TERM"] {
        let house = ResumeProject::new();
        let mut council = ResumedCouncil::new(&house, "interrupted");
        let mut process = council.start_process(&["opinion-cid"]);
        process.wait_until_asked(3, 1);
        let result = Command::new("kill").args([signal, &process.pid().to_string()]).status();
        assert!(result.unwrap().success());
        let end = process.wait_result();
        let (code, document) = council.record_stop(end);
        assert_eq!(
            (code, value_at(&document, "error.error_code").as_str().unwrap()),
            (130, "interrupted")
        );
        council.run_to_end();
        assert!(council.attempts[1].requests.contains(&"R1 cid".to_owned()));
        assert_eq!(council.attempts[1].requests.len(), 5);
    }
}

#[test]
fn a_signal_that_comes_while_the_end_is_written_comes_too_late() {
    for finale in CouncilFinale::ALL {
        check_late(finale);
    }
}

#[track_caller]
fn check_late(finale: CouncilFinale) {
    let house = ResumeProject::new();
    let mut council = ResumedCouncil::with_finale(&house, "late", finale);
    council.run_to_end();
    let mut journal = council.attempts[0].journal.clone();
    let mut late = journal.last().unwrap().clone();
    late.kind = JournalEntryKind::RunStopped;
    late.events = vec![JournalEvent::RunStopped(RunStopReason::Interrupted)];
    journal.push(late);
    let library = LibraryHarness::with_valid_replies();
    let id = library.restore_journal(&journal);
    let loaded = load_run(library.store.as_ref(), &id).unwrap();
    assert_eq!(loaded.state.stopped, Some(RunStopReason::Done));
}

#[test]
fn the_rules_of_the_first_run_hold_whatever_the_settings_say_by_now() {
    let house = ResumeProject::new();
    let mut council = ResumedCouncil::new(&house, "rules");
    council.more = "  timeouts: {r1_per_provider: 700}\n  quorum: {r1_min: 3}\n".to_owned();
    let end = council.start_process(&["opinion-bob"]).wait_result();
    assert_eq!(council.record_stop(end).0, 3);
    // New settings: a timeout of one minute, and a quorum of two of three.
    council.more = "  timeouts: {r1_per_provider: 60000}\n  quorum: {r1_min: 2}\n".to_owned();
    let end = council.start_process(&["opinion-bob"]).wait_result();
    let (code, document) = council.record_stop(end);
    assert_eq!(
        (code, value_at(&document, "error.error_code").as_str().unwrap()),
        (3, "quorum_not_met")
    );
    let message = value_at(&document, "error.message").as_str().unwrap();
    assert_eq!(message, "round 1 needs at least 3 answers and got 2");
    assert_eq!(council.attempts[1].requests, ["R1 bob"]);
    council.run_to_end();
}

#[test]
fn a_seat_whose_provider_is_gone_is_named() {
    let house = ResumeProject::new();
    let mut council = ResumedCouncil::new(&house, "gone");
    let mut process = council.start_process(&["review-cid"]);
    process.wait_until_asked(6, 1);
    let dead = process.kill_process();
    council.record_kill(dead);
    let settings = house.write_settings("elsewhere", "");
    let path = house.program.path().join(&settings);
    let kept: Vec<String> = std::fs::read_to_string(&path)
        .unwrap()
        .lines()
        .filter(|line| !line.contains("name: cid"))
        .map(|line| format!("{line}\n"))
        .collect();
    std::fs::write(&path, kept.concat()).unwrap();
    let id = council.find_dialogue_id().unwrap();
    let ran = house.program.run_command(&["resume", &id, "--config", &settings]);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    let result = ran.stderr.replace(&id, "ID");
    insta::assert_snapshot!(result, @r"
    error: the provider of seat 'cid' is not configured here
    hint: run the command in the folder and with the keys of the first start
    ");
    assert_eq!(house.requests_of("elsewhere"), [""; 0]);
    council.run_to_end();
}
