//! `stop`: cancels calls in flight and concludes from the answers received so far.

use std::time::{Duration, Instant};

use plenary_core::model::ask::AskPurpose;
use plenary_core::model::hash::SeededRandom;
use plenary_core::model::run_state::RunState;
use serde_json::{Value, json};

use super::harness::{
    CouncilProcess, check_output, find_dialogue_id, intervene_in, read_interventions, read_journal,
    resume_council, text_reply,
};
use crate::councils::harness::{CommandResult, SeatRequest, TestCouncil, check_all};
use crate::kit::{ReplyGate, ScriptedReply, pick_repeats};

/// Far below the half minute after which hanging seats would time out.
const STOP_TIMEOUT: Duration = Duration::from_secs(10);

/// The given seats never answer; the others reply validly.
fn hanging_council(hang: &'static [(AskPurpose, &'static str)]) -> TestCouncil {
    TestCouncil::new(move |asked| {
        if hang.contains(&(asked.purpose, asked.seat)) {
            ScriptedReply::Hang
        } else {
            ScriptedReply::Valid
        }
    })
}

/// Starts a run, waits for the answers, stops it and waits until it exits.
#[track_caller]
fn stop_council(
    council: &TestCouncil,
    arguments: &[&str],
    called: (AskPurpose, usize, usize),
) -> CommandResult {
    let mut running = CouncilProcess::start_ask(council, arguments);
    running.wait_until_called(called.0, called.1, called.2);
    let result = running.intervene(&["stop"]);
    assert_eq!(
        (result.code, result.value_at("running")),
        (0, &json!(true)),
        "{:#}",
        result.document
    );
    let start = Instant::now();
    let end = running.wait_result();
    assert!(start.elapsed() < STOP_TIMEOUT, "it took {:?}", start.elapsed());
    end
}

fn calls_by_purpose(council: &TestCouncil) -> [usize; 5] {
    let purposes = [
        AskPurpose::Opinion,
        AskPurpose::PeerReview,
        AskPurpose::Synthesis,
        AskPurpose::Conclusion,
        AskPurpose::Audit,
    ];
    purposes.map(|purpose| council.call_count(purpose))
}

fn participant_names(result: &CommandResult) -> Vec<&str> {
    let participants = result.value_at("conclusion.participants").as_array().unwrap();
    participants.iter().map(|one| one["agent"].as_str().unwrap()).collect()
}

#[test]
fn a_stop_does_not_wait_for_a_seat_that_hangs_and_concludes_on_what_there_is() {
    let council = hanging_council(&[(AskPurpose::Opinion, "cid")]);
    let result = stop_council(&council, &[], (AskPurpose::Opinion, 3, 1));
    result.expect_status("done", 0);
    check_output(&council, &result);
    assert_eq!(result.value_at("terminal_state"), "clean");
    assert_eq!(participant_names(&result), ["ann", "bob"]);
    assert_eq!(calls_by_purpose(&council), [3, 0, 0, 1, 1]);
    assert_eq!(result.value_at("flags.degraded"), true);
    assert_eq!(result.value_at("report"), &Value::Null);
    let stop = json!([{ "round": 1, "kind": "stop", "text": null, "to": null, "restated": null,
        "confirmed": null }]);
    assert_eq!(read_interventions(&result), stop);
    let shown = council.run_command(&["show", result.dialogue_id(), "--json"]);
    assert_eq!(shown.code, 0);
}

#[test]
fn what_was_answered_by_then_is_in_the_record_and_is_not_asked_for_again() {
    let council = hanging_council(&[(AskPurpose::PeerReview, "bob")]);
    let result = stop_council(&council, &[], (AskPurpose::PeerReview, 3, 1));
    result.expect_status("done", 0);
    assert_eq!(calls_by_purpose(&council), [3, 3, 0, 1, 1]);
    let reviews = result.value_at("rounds.r2.reviews").as_array().unwrap();
    let reviewers: Vec<&Value> =
        reviews.iter().map(|review| &review["reviewer_provider"]).collect();
    assert_eq!(reviewers, ["ann", "cid"]);
    // The critiques are claims of the record now, and the Synthesizer reads them.
    let record = &council.requests_for(AskPurpose::Conclusion)[0].user;
    assert_eq!(record.matches("Who pays is left out.").count(), 2 * 2, "{record}");
    assert_eq!(record.matches("\"omission: Who pays is left out\"").count(), 2 * 2, "{record}");
    // Bob did not fail: he was not waited for.
    let cancelled = json!([{ "provider": "bob", "round": "R2" }]);
    assert_eq!(result.value_at("panel.cancelled"), &cancelled);
    assert_eq!(result.value_at("panel.failed"), &json!([]));
    let round = result.value_at("metrics.rounds.1");
    assert_eq!((&round["providers_failed"], &round["providers_cancelled"]), (&json!(0), &json!(1)));
    let calls = council.run_command(&["show", result.dialogue_id(), "--prompts", "--json"]);
    let calls = calls.document.as_array().unwrap();
    let statuses = calls.iter().filter(|call| call["status"] != "replied");
    let statuses: Vec<(&Value, &Value)> =
        statuses.map(|call| (&call["seat"], &call["status"])).collect();
    assert_eq!(statuses, [(&json!("bob"), &json!("cancelled"))]);
    let shown = council.program.run_command(&["show", result.dialogue_id()]);
    assert!(shown.stdout.contains("cancelled") && !shown.stdout.contains("absent"), "{shown:?}");

    let council = hanging_council(&[(AskPurpose::Synthesis, "dot")]);
    let result = stop_council(&council, &[], (AskPurpose::Synthesis, 1, 1));
    result.expect_status("done", 0);
    assert_eq!(calls_by_purpose(&council), [3, 3, 1, 1, 1]);
    assert_eq!(participant_names(&result), ["ann", "bob", "cid"]);
}

#[test]
fn below_its_quorum_a_stopped_council_is_incomplete_and_resume_goes_on_asking() {
    let council = TestCouncil::new(|asked| match (asked.purpose, asked.seat, asked.nth) {
        (AskPurpose::Opinion, "bob" | "cid", 1) => ScriptedReply::Hang,
        _ => ScriptedReply::Valid,
    });
    let result = stop_council(&council, &[], (AskPurpose::Opinion, 3, 2));
    result.expect_status("incomplete", 3);
    assert_eq!(result.value_at("error.error_code"), "quorum_not_met");
    assert_eq!(calls_by_purpose(&council), [3, 0, 0, 0, 0]);
    let result = resume_council(&council);
    result.expect_status("done", 0);
    assert_eq!(calls_by_purpose(&council), [5, 3, 1, 1, 1]);
    assert_eq!(participant_names(&result), ["ann", "bob", "cid", "dot"]);
    assert_eq!(result.value_at("interventions.0.kind"), "stop", "it stays on record");
}

#[test]
fn without_a_conclusion_a_stopped_council_delivers_the_best_opinion() {
    let council = hanging_council(&[(AskPurpose::Opinion, "cid")]);
    let result = stop_council(&council, &["--no-conclusion"], (AskPurpose::Opinion, 3, 1));
    result.expect_status("done", 0);
    assert_eq!(result.value_at("report.fallback"), true);
    assert_eq!(result.value_at("report.conclusion.statement"), "Go ahead in small steps.");
    assert_eq!(result.value_at("terminal_state"), &Value::Null);
    assert_eq!(calls_by_purpose(&council), [3, 0, 0, 0, 0]);
}

#[test]
fn stopped_while_nobody_works_on_it_it_concludes_when_it_is_taken_up() {
    let council = hanging_council(&[(AskPurpose::Opinion, "cid")]);
    let mut running = CouncilProcess::start_ask(&council, &[]);
    running.wait_until_called(AskPurpose::Opinion, 3, 1);
    running.kill_process();
    let result = intervene_in(&council, &["stop"]);
    assert_eq!((result.code, result.value_at("running")), (0, &json!(false)));
    let result = resume_council(&council);
    result.expect_status("done", 0);
    assert_eq!(calls_by_purpose(&council), [3, 0, 0, 1, 1]);
}

#[test]
fn stopped_after_it_ran_out_of_voices_it_concludes_on_those_it_had() {
    let council = TestCouncil::new(|asked| {
        if asked.purpose == AskPurpose::PeerReview {
            ScriptedReply::Status(401, Vec::new(), String::new())
        } else {
            ScriptedReply::Valid
        }
    });
    let result = council.run_command(&["ask", "--json", "--quiet", "Shall we go ahead?"]);
    result.expect_status("incomplete", 3);
    intervene_in(&council, &["stop"]);
    resume_council(&council).expect_status("done", 0);
    assert_eq!(calls_by_purpose(&council), [3, 3, 0, 1, 1]);
}

#[test]
fn killed_while_it_concludes_a_stopped_council_goes_on_concluding() {
    let council = TestCouncil::new(|asked| match (asked.purpose, asked.seat, asked.nth) {
        (AskPurpose::Opinion, "cid", _) | (AskPurpose::Conclusion, _, 1) => ScriptedReply::Hang,
        _ => ScriptedReply::Valid,
    });
    let mut running = CouncilProcess::start_ask(&council, &[]);
    running.wait_until_called(AskPurpose::Opinion, 3, 1);
    running.intervene(&["stop"]);
    running.wait_until_called(AskPurpose::Conclusion, 1, 1);
    running.kill_process();
    let result = resume_council(&council);
    result.expect_status("done", 0);
    assert_eq!(calls_by_purpose(&council), [3, 0, 0, 2, 1]);
    assert_eq!(participant_names(&result), ["ann", "bob"]);
}

#[test]
fn of_several_councils_in_one_process_the_one_that_is_meant_is_stopped() {
    let council = hanging_council(&[(AskPurpose::Opinion, "cid")]);
    let questions = "\"One?\"\n\"Two?\"\n";
    std::fs::write(council.program.path().join("batch.jsonl"), questions).unwrap();
    let mut running =
        CouncilProcess::start_command(&council, &["ask", "--batch", "batch.jsonl", "--json"]);
    let ids = || -> Vec<String> {
        let listed = council.program.run_command(&["list", "--json"]);
        let listed: Value = serde_json::from_str(&listed.stdout).unwrap_or_default();
        let all = listed["dialogues"].as_array().cloned().unwrap_or_default();
        all.iter().map(|one| one["dialogue_id"].as_str().unwrap().to_owned()).collect()
    };
    running.wait_until_state(|_| council.server.hanging_count() == 2);
    let ids = ids();
    let stop = |id: &str| assert_eq!(council.program.run_command(&["stop", id]).code, 0);
    stop(&ids[0]);
    running.wait_until_state(|_| council.call_count(AskPurpose::Audit) == 1);
    std::thread::sleep(Duration::from_millis(400));
    assert_eq!(council.server.hanging_count(), 1, "what hung is dropped, and the other goes on");
    assert_eq!(council.call_count(AskPurpose::Conclusion), 1);
    stop(&ids[1]);
    let lines = running.wait_lines();
    assert_eq!(lines.len(), 2);
    assert!(lines.iter().all(|line| line["terminal_state"] == "clean"), "{lines:?}");
    council.assert_verified();
}

/// Abandoned during a round: seats that were asked may answer, and no other seat is asked.
#[test]
fn a_council_that_is_abandoned_while_it_runs_asks_nobody_else_and_concludes_nothing() {
    for purpose in
        [AskPurpose::Opinion, AskPurpose::Synthesis, AskPurpose::Conclusion, AskPurpose::Audit]
    {
        let gate = ReplyGate::default();
        let council = {
            let gate = gate.clone();
            TestCouncil::new(move |asked| match asked.purpose == purpose {
                true => ScriptedReply::Gated(gate.clone(), Box::new(ScriptedReply::Valid)),
                false => ScriptedReply::Valid,
            })
        };
        let mut running = CouncilProcess::start_ask(&council, &[]);
        let called = if purpose == AskPurpose::Opinion { 3 } else { 1 };
        running.wait_until_called(purpose, called, called);
        let before = calls_by_purpose(&council);
        let abandon = json!({ "dialogue_id": find_dialogue_id(&council).unwrap() });
        assert_eq!(council.program.run_operation("abandon", &abandon).0, 0);
        gate.open();
        let result = running.wait_result();
        assert_eq!((result.code, result.value_at("error_code")), (1, &json!("dialogue_closed")));
        assert_eq!(calls_by_purpose(&council), before, "{purpose}");
        let state = RunState::from_entries(&read_journal(&council)).unwrap();
        assert!(state.conclusion_result.is_none(), "{purpose}");
    }
}

/// Replies take a moment.
fn delayed_reply(asked: &SeatRequest<'_>) -> ScriptedReply {
    let then = match (asked.purpose, asked.nth) {
        (AskPurpose::Audit, 1) => text_reply("FLAG: recommendation - it decides nothing"),
        _ => ScriptedReply::Valid,
    };
    ScriptedReply::Slow(
        Duration::from_millis(10 + 7 * asked.seat.as_bytes()[0] as u64 % 40),
        Box::new(then),
    )
}

#[test]
fn stopped_at_any_moment_it_comes_to_an_honest_end() {
    let runs: Vec<u64> = (0..u64::from(pick_repeats(8, 400))).collect();
    check_all(&runs, |seed| {
        let council = TestCouncil::new(delayed_reply);
        let mut running = CouncilProcess::start_ask(&council, &[]);
        running.wait_until_state(|_| true);
        let moment = SeededRandom::new(*seed).next_u64() % 250;
        std::thread::sleep(Duration::from_millis(moment));
        let result = running.intervene(&["stop"]);
        let is_in_time = result.code == 0;
        assert!(
            is_in_time || result.value_at("error_code") == "dialogue_closed",
            "{:#}",
            result.document
        );
        let mut end = running.wait_result();
        if end.code == 3 {
            assert!(
                is_in_time && end.value_at("error.error_code") == "quorum_not_met",
                "seed {seed}"
            );
            end = resume_council(&council);
        }
        end.expect_status("done", 0);
        assert_eq!(end.value_at("terminal_state"), "revised", "seed {seed}");
        check_output(&council, &end);
        let received = usable_answers(&council);
        assert!(received.windows(2).all(|pair| pair[0] != pair[1]), "seed {seed}: {received:?}");
    });
}

/// Usable answers as round and seat.
fn usable_answers(council: &TestCouncil) -> Vec<(u8, String)> {
    let state = RunState::from_entries(&read_journal(council)).unwrap();
    let read = state.asks.iter().filter(|asked| asked.parsed_document().is_some());
    let mut read: Vec<_> =
        read.map(|asked| (asked.ask.round, asked.ask.seat.to_string())).collect();
    read.sort();
    read
}
