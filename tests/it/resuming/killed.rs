//! `kill -9` at every step, followed by `resume`.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::time::Instant;

use plenary::domain::change::{Entry, EntryKind};
use plenary::export::council::document;
use plenary::store::Store;
use serde_json::Value;

use super::attempts::{Life, complaints, lifecycle, replies, sent, transcript};
use super::harness::{Council, House, essence};
use super::library::Library;
use super::scripted_seats::Finale;
use crate::kit::{at, times};

fn undisturbed(house: &House, finale: Finale) -> Value {
    let question = format!("undisturbed-{}", finale.word());
    essence(&Council::ending(house, &question, finale).finish())
}

/// A kill cannot separate entries that were committed together, so this test truncates the journal.
#[track_caller]
fn check_beginnings(finale: Finale, from: usize) {
    let house = House::new();
    let mut council = Council::ending(&house, "whole", finale);
    let expected = essence(&council.finish());
    let journal = council.lives[0].journal.as_slice();
    assert_eq!(journal.len(), finale.entries());
    go_on_from(journal, from, finale, &expected);
}

/// Resumes from every prefix of at least `from` entries; the result must be equal.
#[track_caller]
pub fn go_on_from(journal: &[Entry], from: usize, finale: Finale, expected: &Value) {
    for entries in from..journal.len() {
        if journal[entries].kind == EntryKind::VerdictRegistered {
            // The report's round and its verdict are one transaction.
            continue;
        }
        let library = Library::sound();
        let beginning = &journal[..entries];
        let id = library.restore(beginning);
        assert_eq!(library.standing(&id), lifecycle(beginning), "cut after entry {entries}");
        let (asked, told) = (sent(&transcript(beginning)), replies(&transcript(beginning)));
        let dead = Life { asked, told, journal: beginning.to_vec() };
        let name = format!("last.{}", finale.word());
        let last = library.resume(&id, &name, library.connections(&name));
        let document = serde_json::to_value(document(&transcript(&last.journal))).unwrap();
        assert_eq!(essence(&document), *expected, "cut after entry {entries}");
        assert_eq!(complaints(&[dead, last]), [""; 0], "cut after entry {entries}");
        assert_eq!(library.store.verify(None, None).unwrap().findings, []);
    }
}

#[test]
fn every_beginning_of_a_journal_can_be_gone_on_with() {
    check_beginnings(Finale::Report, 1);
    check_beginnings(Finale::Unconverged, 1);
}

/// The earlier rounds are covered by another test.
#[test]
fn every_beginning_of_an_ending_can_be_gone_on_with() {
    let rounds = Finale::Report.entries();
    for finale in [Finale::Unaudited, Finale::Clean, Finale::Revised] {
        check_beginnings(finale, rounds);
    }
}

/// Kills a council after each of these entries. Some are committed together and slow timing may
/// miss one, but a third of them must be hit.
#[track_caller]
fn check_kills(finale: Finale, after: RangeInclusive<usize>) {
    let house = House::new();
    let expected = undisturbed(&house, finale);
    let (mut reached, wanted) = (BTreeSet::new(), after.clone().count());
    for entries in after {
        let mut council = Council::ending(&house, &format!("entry{entries}"), finale);
        let mut process = council.start(&[]);
        process.wait_for(|count| count >= entries);
        let dead = process.kill();
        council.died(dead);
        reached.insert(council.lives[0].journal.len());
        assert_eq!(essence(&council.finish()), expected, "{finale:?} killed after entry {entries}");
    }
    assert!(reached.len() > wanted / 3, "{finale:?}: only these were hit: {reached:?}");
}

#[test]
fn killed_after_any_entry_it_goes_on_as_if_nothing_had_happened() {
    check_kills(Finale::Report, 1..=Finale::Report.entries());
}

#[test]
fn killed_after_any_entry_of_its_ending_it_ends_the_same() {
    let rounds = Finale::Report.entries();
    for finale in [Finale::Unaudited, Finale::Clean, Finale::Revised, Finale::Unconverged] {
        check_kills(finale, rounds..=finale.entries());
    }
}

/// The seats in `held` never answer; all other seats have answered when the process is killed.
#[track_caller]
fn check(house: &House, expected: &Value, finale: Finale, asked: usize, held: &[&str]) {
    let mut council = Council::ending(house, &held.join("-"), finale);
    let mut process = council.start(held);
    process.wait_until_asked(asked, held.len());
    let dead = process.kill();
    council.died(dead);
    let document = council.finish();
    assert_eq!(at(&document, "metrics.session.repeated_calls"), held.len());
    assert_eq!(at(&document, "metrics.session.calls"), finale.calls() + held.len());
    assert_eq!(essence(&document), *expected, "{held:?}");
}

#[test]
fn killed_between_replies_only_those_who_had_not_answered_are_asked_again() {
    let (house, finale) = (House::new(), Finale::Report);
    let expected = undisturbed(&house, finale);
    check(&house, &expected, finale, 3, &["opinion-bob"]);
    check(&house, &expected, finale, 3, &["opinion-ann", "opinion-cid"]);
    check(&house, &expected, finale, 3, &["opinion-ann", "opinion-bob", "opinion-cid"]);
    check(&house, &expected, finale, 6, &["review-cid"]);
    check(&house, &expected, finale, 6, &["review-ann", "review-bob", "review-cid"]);
    check(&house, &expected, finale, 7, &["synthesis-ann"]);
}

#[test]
fn killed_while_a_seat_of_the_ending_writes_only_that_seat_is_asked_again() {
    for finale in [Finale::Unaudited, Finale::Clean, Finale::Revised, Finale::Unconverged] {
        let house = House::new();
        let expected = undisturbed(&house, finale);
        let held = ["conclusion-ann", "audit-bob", "revision-ann", "second-audit-bob"];
        for (asked, held) in (8..=finale.calls()).zip(held) {
            check(&house, &expected, finale, asked, &[held]);
        }
    }
}

#[test]
fn whoever_takes_it_up_may_be_killed_too() {
    let house = House::new();
    let expected = undisturbed(&house, Finale::Revised);
    let mut council = Council::ending(&house, "twice", Finale::Revised);
    let lives: [(usize, &[&str]); 10] = [
        (3, &["opinion-bob", "opinion-cid"]),
        (2, &["opinion-cid"]),
        (1, &["opinion-cid"]),
        (4, &["review-ann"]),
        (2, &["synthesis-ann"]),
        (2, &["conclusion-ann"]),
        (2, &["audit-bob"]),
        (1, &["audit-bob"]),
        (2, &["revision-ann"]),
        (2, &["second-audit-bob"]),
    ];
    for (asked, held) in lives {
        let mut process = council.start(held);
        process.wait_until_asked(asked, held.len());
        let dead = process.kill();
        council.died(dead);
    }
    let document = council.finish();
    assert_eq!(at(&document, "metrics.session.repeated_calls"), 11);
    assert_eq!(essence(&document), expected);
}

/// Kill times spread over the whole run; every third time the resuming process is killed too.
#[track_caller]
fn check_moments(finale: Finale, attempts: u32) {
    let (mut house, mut whole) = (House::new(), 0);
    let (start, brisk) = (Instant::now(), Council::ending(&house, "brisk", finale));
    let (_, document, _) = brisk.start(&["brisk"]).end();
    let (usual, expected) = (start.elapsed(), essence(&document));
    for attempt in 0..attempts {
        if attempt % 50 == 49 {
            // The server keeps every request and the test searches them often, so start a new one.
            house = House::new();
        }
        let mut council = Council::ending(&house, &format!("moment{attempt}"), finale);
        for life in 0..=u32::from(attempt % 3 == 0) {
            let share = f64::from((attempt * 7 + life * 3) % attempts) / f64::from(attempts);
            let process = council.start(&["brisk"]);
            std::thread::sleep(usual.mul_f64(1.1 * share));
            let dead = process.kill();
            council.died(dead);
        }
        whole += u32::from(council.lives.iter().any(Life::is_done));
        assert_eq!(essence(&council.finish()), expected, "{finale:?}, attempt {attempt}");
    }
    assert!(whole < attempts, "no kill came in time");
}

#[test]
fn killed_at_any_moment_it_goes_on_as_if_nothing_had_happened() {
    check_moments(Finale::Report, times(6, 300));
}

#[test]
fn killed_at_any_moment_what_passes_is_clean_and_what_nobody_audits_is_not() {
    check_moments(Finale::Clean, times(6, 200));
    check_moments(Finale::Unaudited, times(4, 100));
}

#[test]
fn killed_at_any_moment_what_is_mended_is_revised() {
    check_moments(Finale::Revised, times(8, 300));
}

#[test]
fn killed_at_any_moment_what_is_rejected_twice_is_unconverged() {
    check_moments(Finale::Unconverged, times(8, 300));
}

#[test]
fn what_was_lost_in_flight_counts_as_spent() {
    let house = House::new();
    let mut council = Council::new(&house, "spent");
    council.more = "budget: {calls_max: 7}\n".to_owned();
    let mut process = council.start(&["opinion-ann", "opinion-bob", "opinion-cid"]);
    process.wait_until_asked(3, 3);
    let dead = process.kill();
    council.died(dead);
    let (code, document, life) = council.start(&[]).end();
    assert_eq!(code, 3, "{document:#}");
    assert_eq!(at(&document, "error.error_code"), "budget_exhausted");
    assert_eq!(at(&document, "metrics.session.calls"), 7);
    assert_eq!(life.asked.len(), 4, "three that were lost, and one review");
}

#[test]
fn who_resumes_is_told_of_answers_that_nobody_had_read() {
    let house = House::new();
    let mut council = Council::new(&house, "unread");
    let mut process = council.start(&["opinion-cid"]);
    process.wait_until_asked(3, 1);
    let dead = process.kill();
    council.died(dead);
    let settings = house.settings("reading", "");
    let ran =
        house.program.run(&["resume", &council.id().unwrap(), "--config", &settings, "--verbose"]);
    assert!(ran.stderr.contains("R1: 3 heard"), "{}", ran.stderr);
    assert_eq!(ran.code, 0);
}
