//! Interventions made before a crash are kept and take effect once.

use plenary::domain::change::{Entry, EntryKind};
use serde_json::Value;

use super::harness::{Council, House, essence, named};
use super::killed::go_on_from;
use super::scripted_seats::{Finale, life};
use crate::kit::{Seen, at};

/// Runs the command from another process; it must succeed.
#[track_caller]
fn say(house: &House, arguments: &[&str]) {
    let ran = house.program.run(arguments);
    assert_eq!(ran.code, 0, "{arguments:?}: {ran:?}");
}

/// Seats that were sent a text, such as `R2 bob`, in all attempts; no message contains it twice.
#[track_caller]
fn readers(house: &House, council: &Council<'_>, text: &str) -> Vec<String> {
    let is_of = |seen: &Seen| life(seen).starts_with(&format!("{}-", council.question));
    let mut readers = Vec::new();
    for seen in house.server.seen().iter().filter(|seen| is_of(seen)) {
        assert!(!seen.system.contains(text), "{text} is among the instructions");
        match seen.user.matches(text).count() {
            0 => {}
            1 => readers.push(named(seen)),
            times => panic!("{} reads {text} {times} times", named(seen)),
        }
    }
    readers.sort();
    readers
}

/// The interventions in the document, such as `whisper heliotrope`.
fn done(document: &Value) -> Vec<String> {
    let interventions = at(document, "interventions").as_array().unwrap();
    let told = interventions.iter().map(|one| {
        let text = one["text"].as_str().unwrap_or_default();
        format!("{} {text}", one["kind"].as_str().unwrap()).trim_end().to_owned()
    });
    told.collect()
}

#[test]
fn what_was_said_before_a_kill_is_read_once_by_those_who_are_asked_later() {
    let house = House::new();
    let mut council = Council::ending(&house, "said", Finale::Unconverged);
    let mut process = council.start(&["opinion-cid"]);
    process.wait_until_asked(3, 1);
    let (id, hand) = (council.id().unwrap(), house.settings("hand", ""));
    say(&house, &["whisper", &id, "heliotrope"]);
    say(&house, &["whisper", &id, "periwinkle", "--to", "bob"]);
    say(&house, &["direct", &id, "marigold", "--yes", "--config", &hand]);
    let dead = process.kill();
    council.died(dead);
    // The resuming process dies while the conclusion is written.
    let mut process = council.start(&["conclusion-ann"]);
    process.wait_until_asked(6, 1);
    say(&house, &["whisper", &id, "saffron"]);
    let dead = process.kill();
    council.died(dead);
    let document = council.finish();
    let later = ["R2 ann", "R2 bob", "R2 cid", "R3 ann", "R4 ann", "R4 ann", "R6 ann"];
    assert_eq!(readers(&house, &council, "heliotrope"), later);
    assert_eq!(readers(&house, &council, "marigold"), later);
    assert_eq!(readers(&house, &council, "periwinkle"), ["R2 bob"]);
    // Repeated asks were prepared before the whisper.
    assert_eq!(readers(&house, &council, "saffron"), ["R6 ann"]);
    let expected =
        ["whisper heliotrope", "whisper periwinkle", "direct marigold", "whisper saffron"];
    assert_eq!(done(&document), expected);
    assert_eq!(house.asked("hand"), ["R0 ann"]);
}

/// When the process dies that should receive a stop.
#[derive(Debug, Clone, Copy)]
enum Death {
    Never,
    /// No process runs the council when the stop is recorded.
    Before,
    AtOnce,
    InTheEnding,
}

/// A council that is stopped while one of three seats has not answered.
#[track_caller]
fn cut_short(house: &House, death: Death) -> (Value, Vec<Entry>) {
    let question = format!("{death:?}").to_lowercase();
    let mut council = Council::ending(house, &question, Finale::Revised);
    let mut process = match death {
        Death::Never | Death::Before | Death::AtOnce => council.start(&["opinion-cid"]),
        Death::InTheEnding => council.start(&["opinion-cid", "audit-bob"]),
    };
    process.wait_until_asked(3, 1);
    let id = council.id().unwrap();
    let stop = || say(house, &["stop", &id]);
    if let Death::Before = death {
        let dead = process.kill();
        stop();
        council.died(dead);
    } else {
        stop();
        match death {
            Death::Never => process.wait_for(|_| false),
            Death::Before | Death::AtOnce => {}
            Death::InTheEnding => process.wait_until_asked(5, 1),
        }
        let dead = process.kill();
        council.died(dead);
    }
    // Without a crash, `run_to_end` prints the result again.
    let document = council.finish();
    let asked: Vec<&String> = council.lives.iter().flat_map(|life| &life.asked).collect();
    let in_rounds = asked.iter().filter(|what| what.as_str() < "R4");
    assert_eq!(in_rounds.count(), 3, "{death:?}: {asked:?}");
    assert_eq!(done(&document), ["stop"], "{death:?}");
    let last = council.lives.pop().unwrap();
    (essence(&document), last.journal)
}

#[test]
fn a_stop_that_was_written_before_a_kill_takes_effect_once() {
    let house = House::new();
    let (expected, journal) = cut_short(&house, Death::Never);
    assert_eq!(expected["report"], Value::Null);
    for death in [Death::Before, Death::AtOnce, Death::InTheEnding] {
        assert_eq!(cut_short(&house, death).0, expected, "{death:?}");
    }
    let stop = journal.iter().position(|entry| entry.kind == EntryKind::Intervened).unwrap();
    go_on_from(&journal, stop + 1, Finale::Revised, &expected);
}
