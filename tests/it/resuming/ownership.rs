//! Which process may run a council, which may only watch it, and what each sees.

use std::fs::File;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::attempts::find_complaints;
use super::harness::{ResumeProject, ResumedCouncil};
use super::scripted_seats::CouncilFinale;
use crate::kit::{pick_repeats, value_at};

#[test]
fn a_council_that_somebody_works_on_is_not_taken_from_them() {
    let house = ResumeProject::new();
    let mut council = ResumedCouncil::new(&house, "busy");
    let mut process = council.start_process(&["opinion-bob"]);
    process.wait_until_asked(3, 1);
    let (code, document, rival) = council.start_process(&["rival"]).wait_result();
    let id = council.find_dialogue_id().unwrap();
    assert_eq!(code, 1, "{document:#}");
    assert_eq!(value_at(&document, "message"), &format!("another process is working on '{id}'"));
    let hint = value_at(&document, "suggestion").as_str().unwrap();
    assert!(hint.contains(&format!("`plenary watch {id}`")), "{hint}");
    assert_eq!(rival.requests, [""; 0]);
    let dead = process.kill_process();
    council.record_kill(dead);
    council.run_to_end();
}

/// The owner died after `asked` calls with the seats in `held` unanswered.
#[track_caller]
fn check_rivals(finale: CouncilFinale, asked: usize, held: &[&str], attempts: u32) {
    let house = ResumeProject::new();
    for attempt in 0..attempts {
        let mut council = ResumedCouncil::with_finale(&house, &format!("rivals{attempt}"), finale);
        let mut process = council.start_process(held);
        process.wait_until_asked(asked, held.len());
        let dead = process.kill_process();
        council.record_kill(dead);
        let rivals =
            [council.start_process(&["slow", "one"]), council.start_process(&["slow", "other"])];
        let mut ends = rivals.map(|rival| rival.wait_result());
        ends.sort_by_key(|(code, ..)| *code);
        let [winner, (code, refusal, loser)] = ends;
        assert_eq!((winner.0, code), (0, 1), "{refusal:#}");
        let message = value_at(&refusal, "message").as_str().unwrap();
        assert!(message.starts_with("another process is working on"), "{message}");
        assert_eq!(loser.requests, [""; 0]);
        assert_eq!(value_at(&winner.1, "terminal_state"), &json!(finale.terminal_state()));
        council.record_stop(winner);
        assert_eq!(find_complaints(&council.attempts), [""; 0]);
    }
}

#[test]
fn of_two_who_take_a_council_up_at_once_one_has_it() {
    check_rivals(CouncilFinale::Report, 3, &["opinion-ann", "opinion-cid"], pick_repeats(2, 50));
}

#[test]
fn of_two_who_take_an_ending_up_at_once_one_has_it() {
    check_rivals(CouncilFinale::Unconverged, 9, &["audit-bob"], pick_repeats(2, 50));
    check_rivals(CouncilFinale::Revised, 11, &["second-audit-bob"], pick_repeats(1, 50));
}

#[test]
fn a_lock_that_a_dead_process_left_behind_blocks_nobody() {
    let house = ResumeProject::new();
    let mut council = ResumedCouncil::new(&house, "litter");
    let mut process = council.start_process(&["opinion-ann"]);
    process.wait_until_asked(3, 1);
    let dead = process.kill_process();
    council.record_kill(dead);
    let left = list_locks(&house.program.path().join(".plenary/plenary.db-locks"));
    assert_eq!(left.len(), 1, "{left:?}");
    // Another process checks at the same moment whether it is alive.
    let looked_at = File::open(&left[0]).unwrap();
    looked_at.try_lock_shared().unwrap();
    council.run_to_end();
}

#[test]
fn a_council_of_an_older_process_is_not_taken_from_it() {
    let house = ResumeProject::new();
    let mut council = ResumedCouncil::new(&house, "older");
    let mut process = council.start_process(&["opinion-ann"]);
    process.wait_until_asked(3, 1);
    let dead = process.kill_process();
    council.record_kill(dead);
    // The lock of older versions: in `runs/`, under the same name.
    let store = house.program.path().join(".plenary");
    let [left] = list_locks(&store.join("plenary.db-locks")).try_into().unwrap();
    let older = store.join("runs").join(left.file_name().unwrap());
    std::fs::create_dir(store.join("runs")).unwrap();
    std::fs::rename(&left, &older).unwrap();
    let lock = File::open(&older).unwrap();
    lock.lock().unwrap();
    let (code, document, rival) = council.start_process(&["rival"]).wait_result();
    assert_eq!(code, 1, "{document:#}");
    let message = value_at(&document, "message").as_str().unwrap();
    assert!(message.starts_with("another process is working on"), "{message}");
    assert_eq!(rival.requests, [""; 0]);
    // The old process ended: another may resume, and does not change that folder.
    drop(lock);
    council.run_to_end();
    assert!(older.is_file());
}

/// The lock files in a folder: their names start with a process id.
fn list_locks(folder: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let is_lock = |path: &PathBuf| {
        path.file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .starts_with(|first: char| first.is_ascii_digit())
    };
    files.filter(is_lock).collect()
}

#[test]
fn who_watches_sees_the_same_as_the_run_and_as_a_replay() {
    check_watch("done", CouncilFinale::Report, "", &["slow"], 0);
    let two = ["opinion-ann", "opinion-bob"];
    check_watch("short", CouncilFinale::Report, "  timeouts: {r1_per_provider: 1000}\n", &two, 3);
}

#[test]
fn who_watches_an_ending_sees_the_same_as_the_run_and_as_a_replay() {
    check_watch("revised", CouncilFinale::Revised, "", &["slow"], 0);
    check_watch("unconverged", CouncilFinale::Unconverged, "", &["brisk"], 0);
    let critic = ["audit-bob"];
    check_watch("unheard", CouncilFinale::Clean, "  timeouts: {r3_chair: 1000}\n", &critic, 3);
}

/// Runs a council with text output, watched as text and as events.
#[track_caller]
fn check_watch(question: &str, finale: CouncilFinale, more: &str, held: &[&str], code: i32) {
    let house = ResumeProject::new();
    let settings =
        house.write_settings(&format!("live.{}.{}", finale.name_part(), held.join(".")), more);
    let asking = ["ask", question, "--config", &settings];
    let run = house.spawn_program(&[&asking, finale.ask_arguments()].concat());
    let id = loop {
        if let Some(id) = house.find_dialogue_id(question) {
            break id;
        }
    };
    let watchers =
        [house.spawn_program(&["watch", &id]), house.spawn_program(&["watch", &id, "--json"])];
    let [run, watched, events] =
        [run].into_iter().chain(watchers).map(wait_output).collect::<Vec<_>>().try_into().unwrap();
    let [replayed, replayed_events, again] =
        [&["replay", &id][..], &["replay", &id, "--json"], &["replay", &id, "--json"]]
            .map(|arguments| wait_output(house.spawn_program(arguments)));
    assert_eq!(run.0, code, "{run:?}");
    assert_eq!([watched.0, events.0, replayed.0, replayed_events.0], [code; 4]);
    assert_eq!(watched.1, run.1);
    assert_eq!(replayed.1, run.1);
    assert!(run.1.lines().all(|line| line.chars().count() <= 80), "{}", run.1);
    assert_eq!(stored_events(&events.1), replayed_events.1);
    assert_eq!(again.1, replayed_events.1);
    // A parse result is written with the next entry, so only its position may differ.
    assert_eq!(sorted_lines(&watched.2), sorted_lines(&run.2));
    assert_eq!(replayed.2, watched.2);
}

/// The events of the journal, without those that only show what a seat is writing.
fn stored_events(lines: &str) -> String {
    let stored = lines.lines().filter(|line| !line.contains("\"event\":\"writing\""));
    stored.flat_map(|line| [line, "\n"]).collect()
}

fn wait_output(child: std::process::Child) -> (i32, String, String) {
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn sorted_lines(text: &str) -> Vec<&str> {
    // Only the run knows the options with which it must be resumed.
    let lines = text.lines().filter(|line| !line.starts_with("to resume, run "));
    let mut lines: Vec<&str> = lines.collect();
    lines.sort_unstable();
    lines
}

#[test]
fn a_finished_council_is_printed_again_without_a_call() {
    for finale in CouncilFinale::ALL {
        check_finished(finale);
    }
}

#[track_caller]
fn check_finished(finale: CouncilFinale) {
    let house = ResumeProject::new();
    let mut council = ResumedCouncil::with_finale(&house, "finished", finale);
    let first = council.run_to_end();
    let asked = house.server.requests().len();
    let entries = council.attempts[0].journal.len();
    let (code, again, life) = council.start_process(&[]).wait_result();
    assert_eq!((code, &again), (0, &first));
    assert_eq!(life.requests, [""; 0]);
    assert_eq!(house.server.requests().len(), asked);
    let id = council.find_dialogue_id().unwrap();
    assert_eq!(house.read_journal(&id).len(), entries);
    let text = house.program.run_command(&["resume", &id]);
    assert_eq!(text.stdout, house.program.run_command(&["replay", &id]).stdout);
    // The providers need not be configured any more.
    let nobody = house.write_yaml("nobody", "council: {}\n");
    assert_eq!(
        house.program.run_command(&["resume", &id, "--config", &nobody]).stdout,
        text.stdout
    );
}
