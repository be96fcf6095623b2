//! `stop`: cancels calls in flight and concludes from the answers received so far.

use std::time::{Duration, Instant};

use plenary::domain::ask::Purpose;
use plenary::domain::dice::SplitMix;
use plenary::domain::transcript::Transcript;
use serde_json::{Value, json};

use super::harness::{Running, check_told, id, interventions, journal, resume, said, say};
use crate::councils::harness::{Asked, Council, Told, check_all};
use crate::kit::{Gate, Play, times};

/// Far below the half minute after which hanging seats would time out.
const AT_ONCE: Duration = Duration::from_secs(10);

/// The given seats never answer; the others reply validly.
fn hanging(hang: &'static [(Purpose, &'static str)]) -> Council {
    Council::new(move |asked| {
        if hang.contains(&(asked.purpose, asked.seat)) { Play::Hang } else { Play::Fitting }
    })
}

/// Starts a run, waits for the answers, stops it and waits until it exits.
#[track_caller]
fn stopped(council: &Council, arguments: &[&str], called: (Purpose, usize, usize)) -> Told {
    let mut running = Running::ask(council, arguments);
    running.until_called(called.0, called.1, called.2);
    let told = running.say(&["stop"]);
    assert_eq!((told.code, told.at("running")), (0, &json!(true)), "{:#}", told.document);
    let start = Instant::now();
    let end = running.end();
    assert!(start.elapsed() < AT_ONCE, "it took {:?}", start.elapsed());
    end
}

fn calls(council: &Council) -> [usize; 5] {
    let purposes = [
        Purpose::Opinion,
        Purpose::Review,
        Purpose::Synthesis,
        Purpose::Conclusion,
        Purpose::Audit,
    ];
    purposes.map(|purpose| council.calls(purpose))
}

fn participants(told: &Told) -> Vec<&str> {
    let participants = told.at("conclusion.participants").as_array().unwrap();
    participants.iter().map(|one| one["agent"].as_str().unwrap()).collect()
}

#[test]
fn a_stop_does_not_wait_for_a_seat_that_hangs_and_concludes_on_what_there_is() {
    let council = hanging(&[(Purpose::Opinion, "cid")]);
    let told = stopped(&council, &[], (Purpose::Opinion, 3, 1));
    told.expect("done", 0);
    check_told(&council, &told);
    assert_eq!(told.at("terminal_state"), "clean");
    assert_eq!(participants(&told), ["ann", "bob"]);
    assert_eq!(calls(&council), [3, 0, 0, 1, 1]);
    assert_eq!(told.at("flags.degraded"), true);
    assert_eq!(told.at("report"), &Value::Null);
    let stop = json!([{ "round": 1, "kind": "stop", "text": null, "to": null, "restated": null,
        "confirmed": null }]);
    assert_eq!(interventions(&told), stop);
    let shown = council.run(&["show", told.id(), "--json"]);
    assert_eq!(shown.code, 0);
}

#[test]
fn what_was_answered_by_then_is_in_the_record_and_is_not_asked_for_again() {
    let council = hanging(&[(Purpose::Review, "bob")]);
    let told = stopped(&council, &[], (Purpose::Review, 3, 1));
    told.expect("done", 0);
    assert_eq!(calls(&council), [3, 3, 0, 1, 1]);
    let reviews = told.at("rounds.r2.reviews").as_array().unwrap();
    let reviewers: Vec<&Value> =
        reviews.iter().map(|review| &review["reviewer_provider"]).collect();
    assert_eq!(reviewers, ["ann", "cid"]);
    // The critiques are claims of the record now, and the Synthesizer reads them.
    let record = &council.seen(Purpose::Conclusion)[0].user;
    assert_eq!(record.matches("Who pays is left out.").count(), 2 * 2 * 2, "{record}");

    let council = hanging(&[(Purpose::Synthesis, "dot")]);
    let told = stopped(&council, &[], (Purpose::Synthesis, 1, 1));
    told.expect("done", 0);
    assert_eq!(calls(&council), [3, 3, 1, 1, 1]);
    assert_eq!(participants(&told), ["ann", "bob", "cid"]);
}

#[test]
fn below_its_quorum_a_stopped_council_is_incomplete_and_resume_goes_on_asking() {
    let council = Council::new(|asked| match (asked.purpose, asked.seat, asked.nth) {
        (Purpose::Opinion, "bob" | "cid", 1) => Play::Hang,
        _ => Play::Fitting,
    });
    let told = stopped(&council, &[], (Purpose::Opinion, 3, 2));
    told.expect("incomplete", 3);
    assert_eq!(told.at("error.error_code"), "quorum_not_met");
    assert_eq!(calls(&council), [3, 0, 0, 0, 0]);
    let told = resume(&council);
    told.expect("done", 0);
    assert_eq!(calls(&council), [5, 3, 1, 1, 1]);
    assert_eq!(participants(&told), ["ann", "bob", "cid", "dot"]);
    assert_eq!(told.at("interventions.0.kind"), "stop", "it stays on record");
}

#[test]
fn without_a_conclusion_a_stopped_council_delivers_the_best_opinion() {
    let council = hanging(&[(Purpose::Opinion, "cid")]);
    let told = stopped(&council, &["--no-conclusion"], (Purpose::Opinion, 3, 1));
    told.expect("done", 0);
    assert_eq!(told.at("report.fallback"), true);
    assert_eq!(told.at("report.conclusion.statement"), "Go ahead in small steps.");
    assert_eq!(told.at("terminal_state"), &Value::Null);
    assert_eq!(calls(&council), [3, 0, 0, 0, 0]);
}

#[test]
fn stopped_while_nobody_works_on_it_it_concludes_when_it_is_taken_up() {
    let council = hanging(&[(Purpose::Opinion, "cid")]);
    let mut running = Running::ask(&council, &[]);
    running.until_called(Purpose::Opinion, 3, 1);
    running.kill();
    let told = say(&council, &["stop"]);
    assert_eq!((told.code, told.at("running")), (0, &json!(false)));
    let told = resume(&council);
    told.expect("done", 0);
    assert_eq!(calls(&council), [3, 0, 0, 1, 1]);
}

#[test]
fn stopped_after_it_ran_out_of_voices_it_concludes_on_those_it_had() {
    let council = Council::new(|asked| {
        if asked.purpose == Purpose::Review {
            Play::Status(401, Vec::new(), String::new())
        } else {
            Play::Fitting
        }
    });
    let told = council.run(&["ask", "--json", "--quiet", "Shall we go ahead?"]);
    told.expect("incomplete", 3);
    say(&council, &["stop"]);
    resume(&council).expect("done", 0);
    assert_eq!(calls(&council), [3, 3, 0, 1, 1]);
}

#[test]
fn killed_while_it_concludes_a_stopped_council_goes_on_concluding() {
    let council = Council::new(|asked| match (asked.purpose, asked.seat, asked.nth) {
        (Purpose::Opinion, "cid", _) | (Purpose::Conclusion, _, 1) => Play::Hang,
        _ => Play::Fitting,
    });
    let mut running = Running::ask(&council, &[]);
    running.until_called(Purpose::Opinion, 3, 1);
    running.say(&["stop"]);
    running.until_called(Purpose::Conclusion, 1, 1);
    running.kill();
    let told = resume(&council);
    told.expect("done", 0);
    assert_eq!(calls(&council), [3, 0, 0, 2, 1]);
    assert_eq!(participants(&told), ["ann", "bob"]);
}

#[test]
fn of_several_councils_in_one_process_the_one_that_is_meant_is_stopped() {
    let council = hanging(&[(Purpose::Opinion, "cid")]);
    let questions = "\"One?\"\n\"Two?\"\n";
    std::fs::write(council.program.path().join("batch.jsonl"), questions).unwrap();
    let mut running = Running::start(&council, &["ask", "--batch", "batch.jsonl", "--json"]);
    let ids = || -> Vec<String> {
        let listed = council.program.run(&["list", "--json"]);
        let listed: Value = serde_json::from_str(&listed.stdout).unwrap_or_default();
        let all = listed["dialogues"].as_array().cloned().unwrap_or_default();
        all.iter().map(|one| one["dialogue_id"].as_str().unwrap().to_owned()).collect()
    };
    running.until(|_| council.server.hanging() == 2);
    let ids = ids();
    let stop = |id: &str| assert_eq!(council.program.run(&["stop", id]).code, 0);
    stop(&ids[0]);
    running.until(|_| council.calls(Purpose::Audit) == 1);
    std::thread::sleep(Duration::from_millis(400));
    assert_eq!(council.server.hanging(), 1, "what hung is dropped, and the other goes on");
    assert_eq!(council.calls(Purpose::Conclusion), 1);
    stop(&ids[1]);
    let lines = running.lines();
    assert_eq!(lines.len(), 2);
    assert!(lines.iter().all(|line| line["terminal_state"] == "clean"), "{lines:?}");
    council.verify();
}

/// Abandoned during a round: seats that were asked may answer, and no other seat is asked.
#[test]
fn a_council_that_is_abandoned_while_it_runs_asks_nobody_else_and_concludes_nothing() {
    for purpose in [Purpose::Opinion, Purpose::Synthesis, Purpose::Conclusion, Purpose::Audit] {
        let gate = Gate::default();
        let council = {
            let gate = gate.clone();
            Council::new(move |asked| match asked.purpose == purpose {
                true => Play::Gated(gate.clone(), Box::new(Play::Fitting)),
                false => Play::Fitting,
            })
        };
        let mut running = Running::ask(&council, &[]);
        let called = if purpose == Purpose::Opinion { 3 } else { 1 };
        running.until_called(purpose, called, called);
        let before = calls(&council);
        let abandon = json!({ "dialogue_id": id(&council).unwrap() });
        assert_eq!(council.program.operation("abandon", &abandon).0, 0);
        gate.open();
        let told = running.end();
        assert_eq!((told.code, told.at("error_code")), (1, &json!("dialogue_closed")));
        assert_eq!(calls(&council), before, "{purpose}");
        let transcript = Transcript::of(&journal(&council)).unwrap();
        assert!(transcript.ending.is_none(), "{purpose}");
    }
}

/// Replies take a moment.
fn brisk(asked: &Asked<'_>) -> Play {
    let then = match (asked.purpose, asked.nth) {
        (Purpose::Audit, 1) => said("FLAG: recommendation - it decides nothing"),
        _ => Play::Fitting,
    };
    Play::Slow(Duration::from_millis(10 + 7 * asked.seat.as_bytes()[0] as u64 % 40), Box::new(then))
}

#[test]
fn stopped_at_any_moment_it_comes_to_an_honest_end() {
    let runs: Vec<u64> = (0..u64::from(times(8, 400))).collect();
    check_all(&runs, |seed| {
        let council = Council::new(brisk);
        let mut running = Running::ask(&council, &[]);
        running.until(|_| true);
        let moment = SplitMix::new(*seed).roll() % 250;
        std::thread::sleep(Duration::from_millis(moment));
        let told = running.say(&["stop"]);
        let is_in_time = told.code == 0;
        assert!(is_in_time || told.at("error_code") == "dialogue_closed", "{:#}", told.document);
        let mut end = running.end();
        if end.code == 3 {
            assert!(is_in_time && end.at("error.error_code") == "quorum_not_met", "seed {seed}");
            end = resume(&council);
        }
        end.expect("done", 0);
        assert_eq!(end.at("terminal_state"), "revised", "seed {seed}");
        check_told(&council, &end);
        let heard = answered(&council);
        assert!(heard.windows(2).all(|pair| pair[0] != pair[1]), "seed {seed}: {heard:?}");
    });
}

/// Usable answers as round and seat.
fn answered(council: &Council) -> Vec<(u8, String)> {
    let transcript = Transcript::of(&journal(council)).unwrap();
    let read = transcript.asks.iter().filter(|asked| asked.document().is_some());
    let mut read: Vec<_> =
        read.map(|asked| (asked.ask.round, asked.ask.seat.to_string())).collect();
    read.sort();
    read
}
