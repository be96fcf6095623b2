//! What the Principal said or did before a process died is kept, and takes effect once.

use plenary::domain::change::{Entry, EntryKind};
use serde_json::Value;

use super::house::{Council, House, essence, named};
use super::killed::go_on_from;
use super::words::{Finale, life};
use crate::kit::{Seen, at};

/// From another terminal; it must be taken.
#[track_caller]
fn say(house: &House, arguments: &[&str]) {
    let ran = house.program.run(arguments);
    assert_eq!(ran.code, 0, "{arguments:?}: {ran:?}");
}

/// Who read a text, as `R2 bob`, over all lives of a council; nobody reads it twice in one message.
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

/// What the document says was done, as `whisper heliotrope`.
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
    // Whoever takes it up dies while the conclusion is written.
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
    // What was asked for again was prepared before it was said.
    assert_eq!(readers(&house, &council, "saffron"), ["R6 ann"]);
    let expected =
        ["whisper heliotrope", "whisper periwinkle", "direct marigold", "whisper saffron"];
    assert_eq!(done(&document), expected);
    assert_eq!(house.asked("hand"), ["R0 ann"]);
}

/// When the process dies that a stop is meant for.
#[derive(Debug, Clone, Copy)]
enum Death {
    Never,
    /// Nobody works on the council when it is told to stop.
    Before,
    AtOnce,
    InTheEnding,
}

/// A council that is told to stop while one of three has not answered.
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
    // Where nobody died this prints it again.
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
