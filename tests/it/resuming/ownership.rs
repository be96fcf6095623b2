//! Who may work on a council, who may only look, and what they see.

use std::fs::File;

use super::house::{Council, House};
use super::lives::complaints;
use crate::kit::{at, times};

#[test]
fn a_council_that_somebody_works_on_is_not_taken_from_them() {
    let house = House::new();
    let mut council = Council::new(&house, "busy");
    let mut process = council.start(&["opinion-bob"]);
    process.wait_until_asked(3, 1);
    let (code, document, rival) = council.start(&["rival"]).end();
    let id = council.id().unwrap();
    assert_eq!(code, 1, "{document:#}");
    assert_eq!(at(&document, "message"), &format!("another process is working on '{id}'"));
    let hint = at(&document, "suggestion").as_str().unwrap();
    assert!(hint.contains(&format!("`plenary watch {id}`")), "{hint}");
    assert_eq!(rival.asked, [""; 0]);
    let dead = process.kill();
    council.died(dead);
    council.finish();
}

#[test]
fn of_two_who_take_a_council_up_at_once_one_has_it() {
    let house = House::new();
    for attempt in 0..times(2, 50) {
        let mut council = Council::new(&house, &format!("rivals{attempt}"));
        let mut process = council.start(&["opinion-ann", "opinion-cid"]);
        process.wait_until_asked(3, 2);
        let dead = process.kill();
        council.died(dead);
        let rivals = [council.start(&["slow", "one"]), council.start(&["slow", "other"])];
        let mut ends = rivals.map(|rival| rival.end());
        ends.sort_by_key(|(code, ..)| *code);
        let [winner, (code, refusal, loser)] = ends;
        assert_eq!((winner.0, code), (0, 1), "{refusal:#}");
        let message = at(&refusal, "message").as_str().unwrap();
        assert!(message.starts_with("another process is working on"), "{message}");
        assert_eq!(loser.asked, [""; 0]);
        council.stopped(winner);
        assert_eq!(complaints(&council.lives), [""; 0]);
    }
}

#[test]
fn a_lock_that_a_dead_process_left_behind_blocks_nobody() {
    let house = House::new();
    let mut council = Council::new(&house, "litter");
    let mut process = council.start(&["opinion-ann"]);
    process.wait_until_asked(3, 1);
    let dead = process.kill();
    council.died(dead);
    let runs = house.program.path().join(".plenary/runs");
    let left: Vec<_> = std::fs::read_dir(&runs).unwrap().map(|file| file.unwrap().path()).collect();
    assert_eq!(left.len(), 1, "{left:?}");
    // Somebody who looks whether it is alive, at the same moment.
    let looked_at = File::open(&left[0]).unwrap();
    looked_at.try_lock_shared().unwrap();
    council.finish();
}

#[test]
fn who_watches_sees_the_same_as_the_run_and_as_a_replay() {
    check("done", "", &["slow"], 0);
    check("short", "  timeouts: {r1_per_provider: 900}\n", &["opinion-ann", "opinion-bob"], 3);
}

/// Runs a council in words, watched in words and in events.
#[track_caller]
fn check(question: &str, more: &str, held: &[&str], code: i32) {
    let house = House::new();
    let settings = house.settings(&format!("live.{}", held.join(".")), more);
    let run = house.spawn(&["ask", question, "--no-conclusion", "--config", &settings]);
    let id = loop {
        if let Some(id) = house.id(question) {
            break id;
        }
    };
    let watchers = [house.spawn(&["watch", &id]), house.spawn(&["watch", &id, "--json"])];
    let [run, watched, events] =
        [run].into_iter().chain(watchers).map(ended).collect::<Vec<_>>().try_into().unwrap();
    let [replayed, replayed_events, again] =
        [&["replay", &id][..], &["replay", &id, "--json"], &["replay", &id, "--json"]]
            .map(|arguments| ended(house.spawn(arguments)));
    assert_eq!(run.0, code, "{run:?}");
    assert_eq!([watched.0, events.0, replayed.0, replayed_events.0], [code; 4]);
    assert_eq!(watched.1, run.1);
    assert_eq!(replayed.1, run.1);
    assert!(run.1.lines().all(|line| line.chars().count() <= 80), "{}", run.1);
    assert_eq!(events.1, replayed_events.1);
    assert_eq!(again.1, replayed_events.1);
    // A reading is written down with the entry after it, so only its place may differ.
    assert_eq!(sorted(&watched.2), sorted(&run.2));
    assert_eq!(replayed.2, watched.2);
}

fn ended(child: std::process::Child) -> (i32, String, String) {
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}

#[test]
fn a_finished_council_is_printed_again_and_nobody_is_asked() {
    let house = House::new();
    let mut council = Council::new(&house, "finished");
    let first = council.finish();
    let asked = house.server.seen().len();
    let entries = council.lives[0].journal.len();
    let (code, again, life) = council.start(&[]).end();
    assert_eq!((code, &again), (0, &first));
    assert_eq!(life.asked, [""; 0]);
    assert_eq!(house.server.seen().len(), asked);
    let id = council.id().unwrap();
    assert_eq!(house.journal(&id).len(), entries);
    let text = house.program.run(&["resume", &id]);
    assert_eq!(text.stdout, house.program.run(&["replay", &id]).stdout);
    // Not even the providers need to be there any more.
    let nobody = house.write("nobody", "council: {}\n");
    assert_eq!(house.program.run(&["resume", &id, "--config", &nobody]).stdout, text.stdout);
}
