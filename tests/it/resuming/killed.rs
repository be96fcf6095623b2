//! `kill -9` at every step, and what `resume` makes of it.

use std::collections::BTreeSet;
use std::time::Instant;

use plenary::export::council::document;
use plenary::store::Store;
use serde_json::Value;

use super::house::{Council, House, essence};
use super::library::Library;
use super::lives::{Life, complaints, replies, sent, transcript};
use crate::kit::{at, times};

/// The entries of a council of three: its opening, two rounds of asks with their calls and three
/// replies that are then held, and a round of one.
const ENTRIES: usize = 1 + 5 + 5 + 2 + 2;

fn undisturbed(house: &House) -> Value {
    essence(&Council::new(house, "undisturbed").finish())
}

/// Entries that were committed together cannot be told apart by killing, so here the journal
/// is cut by hand.
#[test]
fn every_beginning_of_a_journal_can_be_gone_on_with() {
    let house = House::new();
    let mut council = Council::new(&house, "whole");
    let expected = essence(&council.finish());
    let journal = council.lives[0].journal.as_slice();
    assert_eq!(journal.len(), ENTRIES);
    // The last two entries are one transaction.
    for entries in 1..=ENTRIES - 2 {
        let library = Library::sound();
        let beginning = &journal[..entries];
        let id = library.restore(beginning);
        let (asked, told) = (sent(&transcript(beginning)), replies(&transcript(beginning)));
        let dead = Life { asked, told, journal: beginning.to_vec() };
        let last = library.resume(&id, "last", library.connections("last"));
        let document = serde_json::to_value(document(&transcript(&last.journal))).unwrap();
        assert_eq!(essence(&document), expected, "cut after entry {entries}");
        assert_eq!(complaints(&[dead, last]), [""; 0], "cut after entry {entries}");
        assert_eq!(library.store.verify(None, None).unwrap().findings, []);
    }
}

#[test]
fn killed_after_any_entry_it_goes_on_as_if_nothing_had_happened() {
    let house = House::new();
    let expected = undisturbed(&house);
    let mut reached = BTreeSet::new();
    for entries in 1..=ENTRIES {
        let mut council = Council::new(&house, &format!("entry{entries}"));
        let mut process = council.start(&[]);
        process.wait_for(|count| count >= entries);
        let dead = process.kill();
        council.died(dead);
        reached.insert(council.lives[0].journal.len());
        assert_eq!(essence(&council.finish()), expected, "killed after entry {entries}");
    }
    // Some entries are committed together, and a slow moment may miss one.
    assert!(reached.len() > ENTRIES / 3, "only these were hit: {reached:?}");
}

/// `held` never answer; whoever else was asked has, when the process is killed.
#[track_caller]
fn check(house: &House, expected: &Value, question: &str, asked: usize, held: &[&str]) {
    let mut council = Council::new(house, question);
    let mut process = council.start(held);
    process.wait_until_asked(asked, held.len());
    let dead = process.kill();
    council.died(dead);
    let document = council.finish();
    assert_eq!(at(&document, "metrics.session.repeated_calls"), held.len());
    assert_eq!(at(&document, "metrics.session.calls"), 7 + held.len());
    assert_eq!(essence(&document), *expected, "{question}");
}

#[test]
fn killed_between_replies_only_those_who_had_not_answered_are_asked_again() {
    let house = House::new();
    let expected = undisturbed(&house);
    check(&house, &expected, "one", 3, &["opinion-bob"]);
    check(&house, &expected, "two", 3, &["opinion-ann", "opinion-cid"]);
    check(&house, &expected, "all", 3, &["opinion-ann", "opinion-bob", "opinion-cid"]);
    check(&house, &expected, "review", 6, &["review-cid"]);
    check(&house, &expected, "reviews", 6, &["review-ann", "review-bob", "review-cid"]);
    check(&house, &expected, "chair", 7, &["synthesis-ann"]);
}

#[test]
fn whoever_takes_it_up_may_be_killed_too() {
    let house = House::new();
    let expected = undisturbed(&house);
    let mut council = Council::new(&house, "twice");
    let lives: [(usize, &[&str]); 5] = [
        (3, &["opinion-bob", "opinion-cid"]),
        (2, &["opinion-cid"]),
        (1, &["opinion-cid"]),
        (4, &["review-ann"]),
        (2, &["synthesis-ann"]),
    ];
    for (asked, held) in lives {
        let mut process = council.start(held);
        process.wait_until_asked(asked, held.len());
        let dead = process.kill();
        council.died(dead);
    }
    let document = council.finish();
    assert_eq!(at(&document, "metrics.session.repeated_calls"), 6);
    assert_eq!(essence(&document), expected);
}

#[test]
fn killed_at_any_moment_it_goes_on_as_if_nothing_had_happened() {
    let attempts = times(6, 1_000);
    let (mut house, mut whole) = (House::new(), 0);
    let (start, brisk) = (Instant::now(), Council::new(&house, "brisk"));
    let (_, document, _) = brisk.start(&["brisk"]).end();
    let (usual, expected) = (start.elapsed(), essence(&document));
    for attempt in 0..attempts {
        if attempt % 50 == 49 {
            // A server remembers all it was asked, and a test looks it up often.
            house = House::new();
        }
        let mut council = Council::new(&house, &format!("moment{attempt}"));
        // Moments spread over the whole run; every third time the one who resumes dies too.
        for life in 0..=u32::from(attempt % 3 == 0) {
            let share = f64::from((attempt * 7 + life * 3) % attempts) / f64::from(attempts);
            let process = council.start(&["brisk"]);
            std::thread::sleep(usual.mul_f64(1.1 * share));
            let dead = process.kill();
            council.died(dead);
        }
        whole += u32::from(council.lives.iter().any(Life::is_done));
        assert_eq!(essence(&council.finish()), expected, "attempt {attempt}");
    }
    assert!(whole < attempts, "no kill came in time");
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
