//! Interventions made before a crash are kept and take effect once.

use plenary_core::model::journal::{JournalEntry, JournalEntryKind};
use serde_json::Value;

use super::harness::{ResumeProject, ResumedCouncil, request_name, stable_document};
use super::killed::resume_prefixes;
use super::scripted_seats::{CouncilFinale, attempt_of_request};
use crate::kit::{ModelRequest, value_at};

/// Runs the command from another process; it must succeed.
#[track_caller]
fn run_intervention(house: &ResumeProject, arguments: &[&str]) {
    let ran = house.program.run_command(arguments);
    assert_eq!(ran.code, 0, "{arguments:?}: {ran:?}");
}

/// Seats that were sent a text, such as `R2 bob`, in all attempts; no message contains it twice.
#[track_caller]
fn seats_sent(house: &ResumeProject, council: &ResumedCouncil<'_>, text: &str) -> Vec<String> {
    let is_of = |seen: &ModelRequest| {
        attempt_of_request(seen).starts_with(&format!("{}-", council.question))
    };
    let mut readers = Vec::new();
    for seen in house.server.requests().iter().filter(|seen| is_of(seen)) {
        assert!(!seen.system.contains(text), "{text} is among the instructions");
        match seen.user.matches(text).count() {
            0 => {}
            1 => readers.push(request_name(seen)),
            times => panic!("{} reads {text} {times} times", request_name(seen)),
        }
    }
    readers.sort();
    readers
}

/// The interventions in the document, such as `whisper heliotrope`.
fn recorded_interventions(document: &Value) -> Vec<String> {
    let interventions = value_at(document, "interventions").as_array().unwrap();
    let result = interventions.iter().map(|one| {
        let text = one["text"].as_str().unwrap_or_default();
        format!("{} {text}", one["kind"].as_str().unwrap()).trim_end().to_owned()
    });
    result.collect()
}

#[test]
fn what_was_said_before_a_kill_is_read_once_by_those_who_are_asked_later() {
    let house = ResumeProject::new();
    let mut council = ResumedCouncil::with_finale(&house, "said", CouncilFinale::Unconverged);
    let mut process = council.start_process(&["opinion-cid"]);
    process.wait_until_asked(3, 1);
    let (id, hand) = (council.find_dialogue_id().unwrap(), house.write_settings("hand", ""));
    run_intervention(&house, &["whisper", &id, "heliotrope"]);
    run_intervention(&house, &["whisper", &id, "periwinkle", "--to", "bob"]);
    run_intervention(&house, &["direct", &id, "marigold", "--yes", "--config", &hand]);
    let dead = process.kill_process();
    council.record_kill(dead);
    // The resuming process dies while the conclusion is written.
    let mut process = council.start_process(&["conclusion-ann"]);
    process.wait_until_asked(6, 1);
    run_intervention(&house, &["whisper", &id, "saffron"]);
    let dead = process.kill_process();
    council.record_kill(dead);
    let document = council.run_to_end();
    let later = ["R2 ann", "R2 bob", "R2 cid", "R3 ann", "R4 ann", "R4 ann", "R6 ann"];
    assert_eq!(seats_sent(&house, &council, "heliotrope"), later);
    assert_eq!(seats_sent(&house, &council, "marigold"), later);
    assert_eq!(seats_sent(&house, &council, "periwinkle"), ["R2 bob"]);
    // Repeated asks were prepared before the whisper.
    assert_eq!(seats_sent(&house, &council, "saffron"), ["R6 ann"]);
    let expected =
        ["whisper heliotrope", "whisper periwinkle", "direct marigold", "whisper saffron"];
    assert_eq!(recorded_interventions(&document), expected);
    assert_eq!(house.requests_of("hand"), ["R0 ann"]);
}

/// When the process dies that should receive a stop.
#[derive(Debug, Clone, Copy)]
enum CrashPoint {
    Never,
    /// No process runs the council when the stop is recorded.
    Before,
    AtOnce,
    InConclusion,
}

/// A council that is stopped while one of three seats has not answered.
#[track_caller]
fn stop_council(house: &ResumeProject, death: CrashPoint) -> (Value, Vec<JournalEntry>) {
    let question = format!("{death:?}").to_lowercase();
    let mut council = ResumedCouncil::with_finale(house, &question, CouncilFinale::Revised);
    let mut process = match death {
        CrashPoint::Never | CrashPoint::Before | CrashPoint::AtOnce => {
            council.start_process(&["opinion-cid"])
        }
        CrashPoint::InConclusion => council.start_process(&["opinion-cid", "audit-bob"]),
    };
    process.wait_until_asked(3, 1);
    let id = council.find_dialogue_id().unwrap();
    let stop = || run_intervention(house, &["stop", &id]);
    if let CrashPoint::Before = death {
        let dead = process.kill_process();
        stop();
        council.record_kill(dead);
    } else {
        stop();
        match death {
            CrashPoint::Never => process.wait_for(|_| false),
            CrashPoint::Before | CrashPoint::AtOnce => {}
            CrashPoint::InConclusion => process.wait_until_asked(5, 1),
        }
        let dead = process.kill_process();
        council.record_kill(dead);
    }
    // Without a crash, `run_to_end` prints the result again.
    let document = council.run_to_end();
    let asked: Vec<&String> = council.attempts.iter().flat_map(|life| &life.requests).collect();
    let in_rounds = asked.iter().filter(|what| what.as_str() < "R4");
    assert_eq!(in_rounds.count(), 3, "{death:?}: {asked:?}");
    assert_eq!(recorded_interventions(&document), ["stop"], "{death:?}");
    let last = council.attempts.pop().unwrap();
    (stable_document(&document), last.journal)
}

#[test]
fn a_stop_that_was_written_before_a_kill_takes_effect_once() {
    let house = ResumeProject::new();
    let (expected, journal) = stop_council(&house, CrashPoint::Never);
    assert_eq!(expected["report"], Value::Null);
    for death in [CrashPoint::Before, CrashPoint::AtOnce, CrashPoint::InConclusion] {
        assert_eq!(stop_council(&house, death).0, expected, "{death:?}");
    }
    let stop = journal.iter().position(|entry| entry.kind == JournalEntryKind::Intervened).unwrap();
    resume_prefixes(&journal, stop + 1, CouncilFinale::Revised, &expected);
}
