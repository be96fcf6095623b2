//! `kill -9` at every step, followed by `resume`.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::time::Instant;

use plenary_core::model::journal::{JournalEntry, JournalEntryKind};
use plenary_core::protocols::council::document::council_document;
use plenary_engine::store::traits::Store;
use serde_json::Value;

use super::attempts::{
    RunAttempt, find_complaints, fold_journal, lifecycle_of, list_replies, list_sent,
};
use super::harness::{ResumeProject, ResumedCouncil, stable_document};
use super::library::LibraryHarness;
use super::scripted_seats::CouncilFinale;
use crate::kit::{pick_repeats, value_at};

fn run_undisturbed(house: &ResumeProject, finale: CouncilFinale) -> Value {
    let question = format!("undisturbed-{}", finale.name_part());
    stable_document(&ResumedCouncil::with_finale(house, &question, finale).run_to_end())
}

/// A kill cannot separate entries that were committed together, so this test truncates the journal.
#[track_caller]
fn check_prefixes(finale: CouncilFinale, from: usize) {
    let house = ResumeProject::new();
    let mut council = ResumedCouncil::with_finale(&house, "whole", finale);
    let expected = stable_document(&council.run_to_end());
    let journal = council.attempts[0].journal.as_slice();
    assert_eq!(journal.len(), finale.entry_count());
    resume_prefixes(journal, from, finale, &expected);
}

/// Resumes from every prefix of at least `from` entries; the result must be equal.
#[track_caller]
pub fn resume_prefixes(
    journal: &[JournalEntry],
    from: usize,
    finale: CouncilFinale,
    expected: &Value,
) {
    for entries in from..journal.len() {
        if journal[entries].kind == JournalEntryKind::VerdictRegistered {
            // The report's round and its verdict are one transaction.
            continue;
        }
        let library = LibraryHarness::with_valid_replies();
        let beginning = &journal[..entries];
        let id = library.restore_journal(beginning);
        assert_eq!(library.lifecycle_of(&id), lifecycle_of(beginning), "cut after entry {entries}");
        let (asked, result) =
            (list_sent(&fold_journal(beginning)), list_replies(&fold_journal(beginning)));
        let dead = RunAttempt { requests: asked, reported: result, journal: beginning.to_vec() };
        let name = format!("last.{}", finale.name_part());
        let last = library.resume_run(&id, &name, library.make_connections(&name));
        let document =
            serde_json::to_value(council_document(&fold_journal(&last.journal))).unwrap();
        assert_eq!(stable_document(&document), *expected, "cut after entry {entries}");
        assert_eq!(find_complaints(&[dead, last]), [""; 0], "cut after entry {entries}");
        assert_eq!(library.store.verify_record(None, None).unwrap().findings, []);
    }
}

#[test]
fn every_beginning_of_a_journal_can_be_gone_on_with() {
    check_prefixes(CouncilFinale::Report, 1);
    check_prefixes(CouncilFinale::Unconverged, 1);
}

/// The earlier rounds are covered by another test.
#[test]
fn every_beginning_of_an_ending_can_be_gone_on_with() {
    let rounds = CouncilFinale::Report.entry_count();
    for finale in [CouncilFinale::Unaudited, CouncilFinale::Clean, CouncilFinale::Revised] {
        check_prefixes(finale, rounds);
    }
}

/// Kills a council after each of these entries. Some are committed together and slow timing may
/// miss one, but a third of them must be hit.
#[track_caller]
fn check_kills(finale: CouncilFinale, after: RangeInclusive<usize>) {
    let house = ResumeProject::new();
    let expected = run_undisturbed(&house, finale);
    let (mut reached, wanted) = (BTreeSet::new(), after.clone().count());
    for entries in after {
        let mut council = ResumedCouncil::with_finale(&house, &format!("entry{entries}"), finale);
        let mut process = council.start_process(&[]);
        process.wait_for(|count| count >= entries);
        let dead = process.kill_process();
        council.record_kill(dead);
        reached.insert(council.attempts[0].journal.len());
        assert_eq!(
            stable_document(&council.run_to_end()),
            expected,
            "{finale:?} killed after entry {entries}"
        );
    }
    assert!(reached.len() > wanted / 3, "{finale:?}: only these were hit: {reached:?}");
}

#[test]
fn killed_after_any_entry_it_goes_on_as_if_nothing_had_happened() {
    check_kills(CouncilFinale::Report, 1..=CouncilFinale::Report.entry_count());
}

#[test]
fn killed_after_any_entry_of_its_ending_it_ends_the_same() {
    let rounds = CouncilFinale::Report.entry_count();
    for finale in [
        CouncilFinale::Unaudited,
        CouncilFinale::Clean,
        CouncilFinale::Revised,
        CouncilFinale::Unconverged,
    ] {
        check_kills(finale, rounds..=finale.entry_count());
    }
}

/// The seats in `held` never answer; all other seats have answered when the process is killed.
#[track_caller]
fn check_kill(
    house: &ResumeProject,
    expected: &Value,
    finale: CouncilFinale,
    asked: usize,
    held: &[&str],
) {
    let mut council = ResumedCouncil::with_finale(house, &held.join("-"), finale);
    let mut process = council.start_process(held);
    process.wait_until_asked(asked, held.len());
    let dead = process.kill_process();
    council.record_kill(dead);
    let document = council.run_to_end();
    assert_eq!(value_at(&document, "metrics.session.repeated_calls"), held.len());
    assert_eq!(value_at(&document, "metrics.session.calls"), finale.call_count() + held.len());
    assert_eq!(stable_document(&document), *expected, "{held:?}");
}

#[test]
fn killed_between_replies_only_those_who_had_not_answered_are_asked_again() {
    let (house, finale) = (ResumeProject::new(), CouncilFinale::Report);
    let expected = run_undisturbed(&house, finale);
    check_kill(&house, &expected, finale, 3, &["opinion-bob"]);
    check_kill(&house, &expected, finale, 3, &["opinion-ann", "opinion-cid"]);
    check_kill(&house, &expected, finale, 3, &["opinion-ann", "opinion-bob", "opinion-cid"]);
    check_kill(&house, &expected, finale, 6, &["review-cid"]);
    check_kill(&house, &expected, finale, 6, &["review-ann", "review-bob", "review-cid"]);
    check_kill(&house, &expected, finale, 7, &["synthesis-ann"]);
}

#[test]
fn killed_while_a_seat_of_the_ending_writes_only_that_seat_is_asked_again() {
    for finale in [
        CouncilFinale::Unaudited,
        CouncilFinale::Clean,
        CouncilFinale::Revised,
        CouncilFinale::Unconverged,
    ] {
        let house = ResumeProject::new();
        let expected = run_undisturbed(&house, finale);
        let held = ["conclusion-ann", "audit-bob", "revision-ann", "second-audit-bob"];
        for (asked, held) in (8..=finale.call_count()).zip(held) {
            check_kill(&house, &expected, finale, asked, &[held]);
        }
    }
}

#[test]
fn whoever_takes_it_up_may_be_killed_too() {
    let house = ResumeProject::new();
    let expected = run_undisturbed(&house, CouncilFinale::Revised);
    let mut council = ResumedCouncil::with_finale(&house, "twice", CouncilFinale::Revised);
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
        let mut process = council.start_process(held);
        process.wait_until_asked(asked, held.len());
        let dead = process.kill_process();
        council.record_kill(dead);
    }
    let document = council.run_to_end();
    assert_eq!(value_at(&document, "metrics.session.repeated_calls"), 11);
    assert_eq!(stable_document(&document), expected);
}

/// Kill times spread over the whole run; every third time the resuming process is killed too.
#[track_caller]
fn check_random_kills(finale: CouncilFinale, attempts: u32) {
    let (mut house, mut whole) = (ResumeProject::new(), 0);
    let (start, brisk) = (Instant::now(), ResumedCouncil::with_finale(&house, "brisk", finale));
    let (_, document, _) = brisk.start_process(&["brisk"]).wait_result();
    let (usual, expected) = (start.elapsed(), stable_document(&document));
    for attempt in 0..attempts {
        if attempt % 50 == 49 {
            // The server keeps every request and the test searches them often, so start a new one.
            house = ResumeProject::new();
        }
        let mut council = ResumedCouncil::with_finale(&house, &format!("moment{attempt}"), finale);
        for life in 0..=u32::from(attempt % 3 == 0) {
            let share = f64::from((attempt * 7 + life * 3) % attempts) / f64::from(attempts);
            let process = council.start_process(&["brisk"]);
            std::thread::sleep(usual.mul_f64(1.1 * share));
            let dead = process.kill_process();
            council.record_kill(dead);
        }
        whole += u32::from(council.attempts.iter().any(RunAttempt::is_done));
        assert_eq!(
            stable_document(&council.run_to_end()),
            expected,
            "{finale:?}, attempt {attempt}"
        );
    }
    assert!(whole < attempts, "no kill came in time");
}

#[test]
fn killed_at_any_moment_it_goes_on_as_if_nothing_had_happened() {
    check_random_kills(CouncilFinale::Report, pick_repeats(6, 300));
}

#[test]
fn killed_at_any_moment_what_passes_is_clean_and_what_nobody_audits_is_not() {
    check_random_kills(CouncilFinale::Clean, pick_repeats(6, 200));
    check_random_kills(CouncilFinale::Unaudited, pick_repeats(4, 100));
}

#[test]
fn killed_at_any_moment_what_is_mended_is_revised() {
    check_random_kills(CouncilFinale::Revised, pick_repeats(8, 300));
}

#[test]
fn killed_at_any_moment_what_is_rejected_twice_is_unconverged() {
    check_random_kills(CouncilFinale::Unconverged, pick_repeats(8, 300));
}

#[test]
fn what_was_lost_in_flight_counts_as_spent() {
    let house = ResumeProject::new();
    let mut council = ResumedCouncil::new(&house, "spent");
    council.more = "budget: {calls_max: 7}\n".to_owned();
    let mut process = council.start_process(&["opinion-ann", "opinion-bob", "opinion-cid"]);
    process.wait_until_asked(3, 3);
    let dead = process.kill_process();
    council.record_kill(dead);
    // The replies of a dead process never arrive.
    let call = format!("{}/call/1", council.find_dialogue_id().unwrap());
    let cited = house.program.run_command(&["cite", &call, "--json"]);
    assert!(cited.stdout.replace(' ', "").contains("\"status\":\"lost\""), "{cited:?}");
    let (code, document, life) = council.start_process(&[]).wait_result();
    assert_eq!(code, 3, "{document:#}");
    assert_eq!(value_at(&document, "error.error_code"), "budget_exhausted");
    assert_eq!(value_at(&document, "metrics.session.calls"), 7);
    assert_eq!(life.requests.len(), 4, "three that were lost, and one review");
}

#[test]
fn who_resumes_is_told_of_answers_that_nobody_had_read() {
    let house = ResumeProject::new();
    let mut council = ResumedCouncil::new(&house, "unread");
    let mut process = council.start_process(&["opinion-cid"]);
    process.wait_until_asked(3, 1);
    let dead = process.kill_process();
    council.record_kill(dead);
    let settings = house.write_settings("reading", "");
    let ran = house.program.run_command(&[
        "resume",
        &council.find_dialogue_id().unwrap(),
        "--config",
        &settings,
        "--verbose",
    ]);
    assert!(ran.stderr.contains("R1: 3 answered"), "{}", ran.stderr);
    assert_eq!(ran.code, 0);
}
