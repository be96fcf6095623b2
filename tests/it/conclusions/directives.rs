//! Directives: restated, confirmed, and effective from the next round for all seats.

use std::fs::File;
use std::io::Write;
use std::process::Stdio;

use plenary::domain::ask::Purpose;
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::{Value, json};

use super::harness::{Running, carriers, check_hearing, id, interventions, journal, said};
use crate::councils::harness::{Council, Told};
use crate::kit::{Gate, Play};

const TEXT: &str = "Only reads count.";
const SENTENCE: &str = "The panel is to look at reads alone.";

/// Cid answers when the gate opens; the chair restates with `restated`, and the critic objects
/// once.
fn council(gate: &Gate, purpose: Purpose, restated: Play) -> Council {
    let gate = gate.clone();
    Council::new(move |asked| match (asked.purpose, asked.seat, asked.nth) {
        (Purpose::Restatement, ..) => restated.clone(),
        (Purpose::Audit, _, 1) => said("FLAG: key_condition - nothing supports it"),
        (held, "cid", _) if held == purpose => Play::Gated(gate.clone(), Box::new(Play::Fitting)),
        _ => Play::Fitting,
    })
}

/// Sends a directive in the middle of a round and lets the run complete.
#[track_caller]
fn directed(
    purpose: Purpose,
    restated: Play,
    say: impl FnOnce(&Council) -> Told,
) -> (Council, Told, Told) {
    let gate = Gate::default();
    let council = council(&gate, purpose, restated);
    let mut running = Running::ask(&council, &["--quiet"]);
    running.until_called(purpose, 3, 1);
    let told = say(&council);
    gate.open();
    let end = running.end();
    end.expect("done", 0);
    check_hearing(&council);
    (council, told, end)
}

fn with_yes(council: &Council) -> Told {
    super::harness::say(council, &["direct", TEXT, "--yes"])
}

#[test]
fn a_directive_is_restated_by_the_chair_and_taken_up_by_all_in_the_next_round() {
    let (council, told, end) = directed(Purpose::Opinion, said(SENTENCE), with_yes);
    assert_eq!(told.at("intervention.restated"), SENTENCE);
    assert_eq!(told.at("intervention.confirmed"), true);
    let asked = council.seen(Purpose::Restatement);
    assert_eq!((asked.len(), asked[0].model.as_str()), (1, "model-dot"));
    let mut fields: Vec<&String> = asked[0].body.as_object().unwrap().keys().collect();
    fields.sort();
    assert_eq!(fields, ["max_tokens", "messages", "model"]);
    let later = ["review ann", "review bob", "review cid", "revision dot", "synthesis dot"];
    let heard = [&["conclusion dot", "restatement dot"], &later[..]].concat();
    assert_eq!(carriers(&council, TEXT), heard);
    assert_eq!(carriers(&council, SENTENCE), [&["conclusion dot"], &later[..]].concat());
    let noted = json!([{ "round": 1, "kind": "direct", "text": TEXT, "to": null,
        "restated": SENTENCE, "confirmed": true }]);
    assert_eq!(interventions(&end), noted);
}

#[test]
fn in_the_round_in_which_it_was_given_nobody_hears_of_it() {
    let (council, ..) = directed(Purpose::Review, said(SENTENCE), with_yes);
    let heard = ["conclusion dot", "restatement dot", "revision dot", "synthesis dot"];
    assert_eq!(carriers(&council, TEXT), heard);
}

#[test]
fn without_a_terminal_a_directive_needs_a_yes() {
    let (council, told, end) = directed(Purpose::Opinion, said(SENTENCE), |council| {
        super::harness::say(council, &["direct", TEXT])
    });
    assert_eq!((told.code, told.at("error_code")), (1, &json!("not_supported")));
    assert!(told.at("suggestion").as_str().unwrap().contains("--yes"));
    assert_eq!(council.calls(Purpose::Restatement), 0, "nobody is paid for nothing");
    assert_eq!(end.at("interventions"), &json!([]));
}

/// Bad replies of the chair to the restatement request.
fn failures() -> [Play; 4] {
    let down = Play::Status(500, Vec::new(), String::new());
    [down, Play::Refusal, said("Look at reads. Look at nothing else."), said("{\"a\": 1}")]
}

#[test]
fn with_a_yes_a_directive_is_taken_up_as_it_is_when_it_cannot_be_restated() {
    for failure in failures() {
        let (council, told, _) = directed(Purpose::Opinion, failure.clone(), with_yes);
        assert_eq!((told.code, told.at("intervention.restated")), (0, &Value::Null), "{failure:?}");
        assert!(told.stderr.contains("it was not restated: "), "{}", told.stderr);
        assert!(carriers(&council, TEXT).contains(&"review ann".to_owned()), "{failure:?}");
    }
}

/// Runs `direct` at a terminal with this input.
fn at_terminal(council: &Council, typed: &str) -> Told {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let flags = OFlags::RDWR | OFlags::NOCTTY;
    let terminal = rustix::fs::open(name.as_c_str(), flags, Mode::empty()).unwrap();
    let mut command = council.program.command();
    let id = id(council).unwrap();
    command.args(["direct", &id, TEXT, "--json"]).stdin(Stdio::from(terminal));
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut master = File::from(master);
    master.write_all(typed.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    Told {
        code: output.status.code().unwrap(),
        document: serde_json::from_slice(&output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn at_a_terminal_it_is_asked_back_and_a_yes_takes_it_up() {
    for typed in ["y\n", "YES\n"] {
        let (council, told, _) =
            directed(Purpose::Opinion, said(SENTENCE), |council| at_terminal(council, typed));
        assert_eq!((told.code, told.at("intervention.confirmed")), (0, &json!(true)));
        let asked = format!("dot understands: {SENTENCE}\nIs that what you mean?");
        assert!(told.stderr.starts_with(&asked), "{}", told.stderr);
        assert!(carriers(&council, TEXT).contains(&"review ann".to_owned()));
    }
}

/// The last input is end-of-file.
#[test]
fn what_was_not_meant_so_is_on_record_and_has_no_effect() {
    for typed in ["n\n", "\n", "yesterday\n", "\u{4}"] {
        let (council, told, end) =
            directed(Purpose::Opinion, said(SENTENCE), |council| at_terminal(council, typed));
        assert_eq!((told.code, told.at("intervention.confirmed")), (1, &json!(false)), "{typed:?}");
        assert_eq!(carriers(&council, TEXT), ["restatement dot"], "{typed:?}");
        assert_eq!(carriers(&council, SENTENCE), [""; 0]);
        assert_eq!(end.at("interventions.0.confirmed"), false);
    }
}

#[test]
fn at_a_terminal_what_cannot_be_restated_is_not_taken_up() {
    for failure in failures() {
        let (council, told, end) =
            directed(Purpose::Opinion, failure.clone(), |council| at_terminal(council, "y\n"));
        assert_eq!((told.code, told.at("error_code")), (1, &json!("not_supported")), "{failure:?}");
        assert!(told.at("suggestion").as_str().unwrap().contains("--yes"));
        assert_eq!(carriers(&council, TEXT), ["restatement dot"]);
        assert_eq!(end.at("interventions"), &json!([]));
    }
}

/// Three opinions, a restatement, three reviews, a report and a conclusion are nine.
#[test]
fn what_a_restatement_costs_is_taken_from_the_budget_of_the_run() {
    let gate = Gate::default();
    let council = council(&gate, Purpose::Opinion, said(SENTENCE));
    council.set(|settings| settings["budget"] = json!({ "calls_max": 9 }));
    let mut running = Running::ask(&council, &[]);
    running.until_called(Purpose::Opinion, 3, 1);
    with_yes(&council);
    gate.open();
    let told = running.end();
    told.expect("incomplete", 3);
    assert_eq!(told.at("error.error_code"), "budget_exhausted");
    assert_eq!(told.at("stage"), "auditing");
    assert_eq!(council.server.seen().len(), 9);
}

#[test]
fn what_the_budget_does_not_cover_is_not_restated() {
    let gate = Gate::default();
    let council = council(&gate, Purpose::Opinion, said(SENTENCE));
    council.set(|settings| settings["budget"] = json!({ "calls_max": 3 }));
    let mut running = Running::ask(&council, &[]);
    running.until_called(Purpose::Opinion, 3, 1);
    let before = journal(&council).len();
    let told = at_terminal(&council, "y\n");
    assert_eq!((told.code, journal(&council).len()), (1, before));
    assert!(told.at("message").as_str().unwrap().contains("calls_max"), "{:#}", told.document);
    assert_eq!(with_yes(&council).at("intervention.restated"), &Value::Null);
    assert_eq!(council.calls(Purpose::Restatement), 0);
    running.kill();
}
