//! Councils that stopped by themselves or by command, and are resumed.

use std::process::Command;

use plenary::domain::change::{Change, EntryKind};
use plenary::domain::transcript::Stop;
use plenary::engine::load_run;

use super::harness::{Council, House, essence};
use super::library::Library;
use super::scripted_seats::Finale;
use crate::kit::at;

/// The seats in `held` never answer until the run stops with this code and error; then all answer,
/// and the resumed run sends only these calls.
#[track_caller]
fn check(question: &str, more: &str, held: &[&str], stops: (i32, &str), then_asks: &[&str]) {
    let house = House::new();
    let undisturbed = Council::new(&house, "undisturbed").finish();
    let mut council = Council::new(&house, question);
    council.more = more.to_owned();
    let end = council.start(held).end();
    let (code, document) = council.stopped(end);
    assert_eq!((code, at(&document, "error.error_code").as_str().unwrap()), stops);
    assert_eq!(essence(&council.finish())["report"], essence(&undisturbed)["report"]);
    let mut asked = council.lives[1].asked.clone();
    asked.sort();
    assert_eq!(asked, then_asks);
}

#[test]
fn after_a_missed_quorum_those_who_failed_are_asked_again_and_only_they() {
    check(
        "quorum-of-opinions",
        "  timeouts: {r1_per_provider: 700}\n",
        &["opinion-bob", "opinion-cid"],
        (3, "quorum_not_met"),
        &["R1 bob", "R1 cid", "R2 ann", "R2 bob", "R2 cid", "R3 ann"],
    );
    check(
        "quorum-of-reviews",
        "  timeouts: {r2_per_provider: 700}\n  quorum: {r2_min: 3}\n",
        &["review-bob"],
        (3, "quorum_not_met"),
        &["R2 bob", "R3 ann"],
    );
}

#[test]
fn after_the_deadline_only_what_was_in_flight_is_repeated() {
    check(
        "deadline",
        "budget: {wall_max: 1500ms}\n",
        &["synthesis-ann"],
        (3, "deadline_exceeded"),
        &["R3 ann"],
    );
}

#[test]
fn after_the_budget_ran_out_more_of_it_lets_the_council_go_on() {
    let house = House::new();
    let mut council = Council::new(&house, "budget");
    // Calls wait for released reservations, so the budget covers the first round, one call at a
    // time.
    council.more = "budget: {usd_max: 0.006}\n".to_owned();
    let end = council.start(&[]).end();
    let (code, document) = council.stopped(end);
    assert_eq!(
        (code, at(&document, "error.error_code").as_str().unwrap()),
        (3, "budget_exhausted")
    );
    let before = council.lives[0].asked.len();
    assert!((3..7).contains(&before), "{:?}", council.lives[0].asked);
    let document = council.finish_with(&["--budget-usd", "1"]);
    assert_eq!(at(&document, "metrics.session.calls"), 7);
    assert_eq!(council.lives[1].asked.len(), 7 - before);
}

#[test]
fn after_an_interruption_only_what_was_in_flight_is_repeated() {
    for signal in ["-INT", "-TERM"] {
        let house = House::new();
        let mut council = Council::new(&house, "interrupted");
        let mut process = council.start(&["opinion-cid"]);
        process.wait_until_asked(3, 1);
        let told = Command::new("kill").args([signal, &process.pid().to_string()]).status();
        assert!(told.unwrap().success());
        let end = process.end();
        let (code, document) = council.stopped(end);
        assert_eq!(
            (code, at(&document, "error.error_code").as_str().unwrap()),
            (130, "interrupted")
        );
        council.finish();
        assert!(council.lives[1].asked.contains(&"R1 cid".to_owned()));
        assert_eq!(council.lives[1].asked.len(), 5);
    }
}

#[test]
fn a_signal_that_comes_while_the_end_is_written_comes_too_late() {
    for finale in Finale::ALL {
        check_late(finale);
    }
}

#[track_caller]
fn check_late(finale: Finale) {
    let house = House::new();
    let mut council = Council::ending(&house, "late", finale);
    council.finish();
    let mut journal = council.lives[0].journal.clone();
    let mut late = journal.last().unwrap().clone();
    late.kind = EntryKind::RunStopped;
    late.changes = vec![Change::RunStopped(Stop::Interrupted)];
    journal.push(late);
    let library = Library::sound();
    let id = library.restore(&journal);
    let loaded = load_run(library.store.as_ref(), &id).unwrap();
    assert_eq!(loaded.transcript.stopped, Some(Stop::Done));
}

#[test]
fn the_rules_of_the_first_run_hold_whatever_the_settings_say_by_now() {
    let house = House::new();
    let mut council = Council::new(&house, "rules");
    council.more = "  timeouts: {r1_per_provider: 700}\n  quorum: {r1_min: 3}\n".to_owned();
    let end = council.start(&["opinion-bob"]).end();
    assert_eq!(council.stopped(end).0, 3);
    // New settings: a timeout of one minute, and a quorum of two of three.
    council.more = "  timeouts: {r1_per_provider: 60000}\n  quorum: {r1_min: 2}\n".to_owned();
    let end = council.start(&["opinion-bob"]).end();
    let (code, document) = council.stopped(end);
    assert_eq!((code, at(&document, "error.error_code").as_str().unwrap()), (3, "quorum_not_met"));
    let message = at(&document, "error.message").as_str().unwrap();
    assert_eq!(message, "round 1 needs 3 who can be heard, and had 2");
    assert_eq!(council.lives[1].asked, ["R1 bob"]);
    council.finish();
}

#[test]
fn a_seat_whose_provider_is_gone_is_named() {
    let house = House::new();
    let mut council = Council::new(&house, "gone");
    let mut process = council.start(&["review-cid"]);
    process.wait_until_asked(6, 1);
    let dead = process.kill();
    council.died(dead);
    let settings = house.settings("elsewhere", "");
    let path = house.program.path().join(&settings);
    let kept: Vec<String> = std::fs::read_to_string(&path)
        .unwrap()
        .lines()
        .filter(|line| !line.contains("name: cid"))
        .map(|line| format!("{line}\n"))
        .collect();
    std::fs::write(&path, kept.concat()).unwrap();
    let id = council.id().unwrap();
    let ran = house.program.run(&["resume", &id, "--config", &settings]);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    let told = ran.stderr.replace(&id, "ID");
    insta::assert_snapshot!(told, @r"
    error: nothing leads to seat 'cid': its provider is not configured here
    hint: run it from the folder and with the keys it was started with
    ");
    assert_eq!(house.asked("elsewhere"), [""; 0]);
    council.finish();
}
