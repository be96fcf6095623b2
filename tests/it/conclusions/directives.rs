//! Directives: restated, confirmed, and effective from the next round for all seats.

use std::fs::File;
use std::io::Write;
use std::process::Stdio;

use plenary_core::model::ask::AskPurpose;
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::{Value, json};

use super::harness::{
    CouncilProcess, check_intervention_delivery, find_dialogue_id, read_interventions,
    read_journal, seats_sent, text_reply,
};
use crate::councils::harness::{CommandResult, TestCouncil};
use crate::kit::{ReplyGate, ScriptedReply};

const TEXT: &str = "Only reads count.";
const SENTENCE: &str = "The panel is to look at reads alone.";

/// Cid answers when the gate opens; the chair restates with `restated`, and the critic objects
/// once.
fn directed_council(gate: &ReplyGate, purpose: AskPurpose, restated: ScriptedReply) -> TestCouncil {
    let gate = gate.clone();
    TestCouncil::new(move |asked| match (asked.purpose, asked.seat, asked.nth) {
        (AskPurpose::Restatement, ..) => restated.clone(),
        (AskPurpose::Audit, _, 1) => text_reply("FLAG: key_condition - nothing supports it"),
        (held, "cid", _) if held == purpose => {
            ScriptedReply::Gated(gate.clone(), Box::new(ScriptedReply::Valid))
        }
        _ => ScriptedReply::Valid,
    })
}

/// Sends a directive in the middle of a round and lets the run complete.
#[track_caller]
fn run_directed(
    purpose: AskPurpose,
    restated: ScriptedReply,
    say: impl FnOnce(&TestCouncil) -> CommandResult,
) -> (TestCouncil, CommandResult, CommandResult) {
    let gate = ReplyGate::default();
    let council = directed_council(&gate, purpose, restated);
    let mut running = CouncilProcess::start_ask(&council, &["--quiet"]);
    running.wait_until_called(purpose, 3, 1);
    let result = say(&council);
    gate.open();
    let end = running.wait_result();
    end.expect_status("done", 0);
    check_intervention_delivery(&council);
    (council, result, end)
}

fn direct_confirmed(council: &TestCouncil) -> CommandResult {
    super::harness::intervene_in(council, &["direct", TEXT, "--yes"])
}

#[test]
fn a_directive_is_restated_by_the_chair_and_taken_up_by_all_in_the_next_round() {
    let (council, result, end) =
        run_directed(AskPurpose::Opinion, text_reply(SENTENCE), direct_confirmed);
    assert_eq!(result.value_at("intervention.restated"), SENTENCE);
    assert_eq!(result.value_at("intervention.confirmed"), true);
    let asked = council.requests_for(AskPurpose::Restatement);
    assert_eq!((asked.len(), asked[0].model.as_str()), (1, "model-dot"));
    let mut fields: Vec<&String> = asked[0].body.as_object().unwrap().keys().collect();
    fields.sort();
    assert_eq!(fields, ["max_tokens", "messages", "model", "stream", "stream_options"]);
    let later = ["review ann", "review bob", "review cid", "revision dot", "synthesis dot"];
    let received = [&["conclusion dot", "restatement dot"], &later[..]].concat();
    assert_eq!(seats_sent(&council, TEXT), received);
    assert_eq!(seats_sent(&council, SENTENCE), [&["conclusion dot"], &later[..]].concat());
    let noted = json!([{ "round": 1, "kind": "direct", "text": TEXT, "to": null,
        "restated": SENTENCE, "confirmed": true }]);
    assert_eq!(read_interventions(&end), noted);
}

#[test]
fn in_the_round_in_which_it_was_given_nobody_hears_of_it() {
    let (council, ..) =
        run_directed(AskPurpose::PeerReview, text_reply(SENTENCE), direct_confirmed);
    let received = ["conclusion dot", "restatement dot", "revision dot", "synthesis dot"];
    assert_eq!(seats_sent(&council, TEXT), received);
}

#[test]
fn without_a_terminal_a_directive_needs_a_yes() {
    let (council, result, end) =
        run_directed(AskPurpose::Opinion, text_reply(SENTENCE), |council| {
            super::harness::intervene_in(council, &["direct", TEXT])
        });
    assert_eq!((result.code, result.value_at("error_code")), (1, &json!("not_supported")));
    assert!(result.value_at("suggestion").as_str().unwrap().contains("--yes"));
    assert_eq!(council.call_count(AskPurpose::Restatement), 0, "nobody is paid for nothing");
    assert_eq!(end.value_at("interventions"), &json!([]));
}

/// Bad replies of the chair to the restatement request.
fn bad_restatements() -> [ScriptedReply; 4] {
    let down = ScriptedReply::Status(500, Vec::new(), String::new());
    [
        down,
        ScriptedReply::Refusal,
        text_reply("Look at reads. Look at nothing else."),
        text_reply("{\"a\": 1}"),
    ]
}

#[test]
fn with_a_yes_a_directive_is_taken_up_as_it_is_when_it_cannot_be_restated() {
    for failure in bad_restatements() {
        let (council, result, _) =
            run_directed(AskPurpose::Opinion, failure.clone(), direct_confirmed);
        assert_eq!(
            (result.code, result.value_at("intervention.restated")),
            (0, &Value::Null),
            "{failure:?}"
        );
        assert!(result.stderr.contains("the chair did not restate it: "), "{}", result.stderr);
        assert!(seats_sent(&council, TEXT).contains(&"review ann".to_owned()), "{failure:?}");
    }
}

/// Runs `direct` at a terminal with this input.
fn direct_at_terminal(council: &TestCouncil, typed: &str) -> CommandResult {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let flags = OFlags::RDWR | OFlags::NOCTTY;
    let terminal = rustix::fs::open(name.as_c_str(), flags, Mode::empty()).unwrap();
    let mut command = council.program.command();
    let id = find_dialogue_id(council).unwrap();
    command.args(["direct", &id, TEXT, "--json"]).stdin(Stdio::from(terminal));
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut master = File::from(master);
    master.write_all(typed.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    CommandResult {
        code: output.status.code().unwrap(),
        document: serde_json::from_slice(&output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn at_a_terminal_it_is_asked_back_and_a_yes_takes_it_up() {
    for typed in ["y\n", "YES\n"] {
        let (council, result, _) =
            run_directed(AskPurpose::Opinion, text_reply(SENTENCE), |council| {
                direct_at_terminal(council, typed)
            });
        assert_eq!((result.code, result.value_at("intervention.confirmed")), (0, &json!(true)));
        let asked = format!("dot understands: {SENTENCE}\nIs that what you mean?");
        assert!(result.stderr.starts_with(&asked), "{}", result.stderr);
        assert!(seats_sent(&council, TEXT).contains(&"review ann".to_owned()));
    }
}

/// The last input is end-of-file.
#[test]
fn what_was_not_meant_so_is_on_record_and_has_no_effect() {
    for typed in ["n\n", "\n", "yesterday\n", "\u{4}"] {
        let (council, result, end) =
            run_directed(AskPurpose::Opinion, text_reply(SENTENCE), |council| {
                direct_at_terminal(council, typed)
            });
        assert_eq!(
            (result.code, result.value_at("intervention.confirmed")),
            (1, &json!(false)),
            "{typed:?}"
        );
        assert_eq!(seats_sent(&council, TEXT), ["restatement dot"], "{typed:?}");
        assert_eq!(seats_sent(&council, SENTENCE), [""; 0]);
        assert_eq!(end.value_at("interventions.0.confirmed"), false);
    }
}

#[test]
fn at_a_terminal_what_cannot_be_restated_is_not_taken_up() {
    for failure in bad_restatements() {
        let (council, result, end) =
            run_directed(AskPurpose::Opinion, failure.clone(), |council| {
                direct_at_terminal(council, "y\n")
            });
        assert_eq!(
            (result.code, result.value_at("error_code")),
            (1, &json!("not_supported")),
            "{failure:?}"
        );
        assert!(result.value_at("suggestion").as_str().unwrap().contains("--yes"));
        assert_eq!(seats_sent(&council, TEXT), ["restatement dot"]);
        assert_eq!(end.value_at("interventions"), &json!([]));
    }
}

/// Three opinions, a restatement, three reviews, a report and a conclusion are nine.
#[test]
fn what_a_restatement_costs_is_taken_from_the_budget_of_the_run() {
    let gate = ReplyGate::default();
    let council = directed_council(&gate, AskPurpose::Opinion, text_reply(SENTENCE));
    council.change_settings(|settings| settings["budget"] = json!({ "calls_max": 9 }));
    let mut running = CouncilProcess::start_ask(&council, &[]);
    running.wait_until_called(AskPurpose::Opinion, 3, 1);
    direct_confirmed(&council);
    gate.open();
    let result = running.wait_result();
    result.expect_status("incomplete", 3);
    assert_eq!(result.value_at("error.error_code"), "budget_exhausted");
    assert_eq!(result.value_at("stage"), "auditing");
    assert_eq!(council.server.requests().len(), 9);
}

#[test]
fn what_the_budget_does_not_cover_is_not_restated() {
    let gate = ReplyGate::default();
    let council = directed_council(&gate, AskPurpose::Opinion, text_reply(SENTENCE));
    council.change_settings(|settings| settings["budget"] = json!({ "calls_max": 3 }));
    let mut running = CouncilProcess::start_ask(&council, &[]);
    running.wait_until_called(AskPurpose::Opinion, 3, 1);
    let before = read_journal(&council).len();
    let result = direct_at_terminal(&council, "y\n");
    assert_eq!((result.code, read_journal(&council).len()), (1, before));
    assert!(
        result.value_at("message").as_str().unwrap().contains("calls_max"),
        "{:#}",
        result.document
    );
    assert_eq!(direct_confirmed(&council).value_at("intervention.restated"), &Value::Null);
    assert_eq!(council.call_count(AskPurpose::Restatement), 0);
    running.kill_process();
}
