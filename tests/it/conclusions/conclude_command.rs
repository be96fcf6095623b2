//! `conclude`: writes a conclusion for a record that has none.

use plenary::domain::ask::Purpose;
use serde_json::{Value, json};

use super::harness::{QUESTION, Running, id, said};
use crate::councils::harness::{Council, Told};
use crate::kit::{Gate, Play, batch, item, pool};

#[track_caller]
fn conclude(council: &Council, id: &str, arguments: &[&str]) -> Told {
    council.run(&[&["conclude", id, "--json", "--quiet"], arguments].concat())
}

fn calls(council: &Council) -> [usize; 6] {
    let purposes = [
        Purpose::Opinion,
        Purpose::Review,
        Purpose::Synthesis,
        Purpose::Conclusion,
        Purpose::Audit,
        Purpose::Revision,
    ];
    purposes.map(|purpose| council.calls(purpose))
}

#[test]
fn a_council_that_ended_with_its_report_is_concluded_on() {
    let council = Council::new(|_| Play::Fitting);
    let id = council.ask(&["--quiet"]).id().to_owned();
    let told = conclude(&council, &id, &[]);
    told.expect("done", 0);
    assert_eq!(told.at("terminal_state"), "clean");
    assert_eq!(told.at("dialogue_id"), id.as_str());
    assert_eq!(calls(&council), [3, 3, 1, 1, 1, 0]);
    // The report is unchanged, and the Synthesizer is sent it.
    assert!(told.at("report").is_object());
    assert!(council.seen(Purpose::Conclusion)[0].user.contains("BEGIN REPORT"));
    assert_eq!(told.at("interventions"), &json!([]), "nothing was cut short");
    let again = conclude(&council, &id, &[]);
    again.expect("done", 0);
    assert_eq!(again.at("conclusion"), told.at("conclusion"));
    assert_eq!(calls(&council), [3, 3, 1, 1, 1, 0], "it has one already");
}

#[test]
fn a_council_that_was_interrupted_is_concluded_on_what_it_has() {
    let council =
        Council::new(
            |asked| {
                if asked.purpose == Purpose::Review { Play::Hang } else { Play::Fitting }
            },
        );
    let mut running = Running::ask(&council, &["--no-conclusion"]);
    running.until_called(Purpose::Review, 3, 3);
    let id = id(&council).unwrap();
    let told = conclude(&council, &id, &[]);
    assert_eq!((told.code, told.at("error_code")), (1, &json!("not_supported")), "it is at work");
    running.kill();
    let told = conclude(&council, &id, &[]);
    told.expect("done", 0);
    assert_eq!(told.at("terminal_state"), "clean");
    assert_eq!(calls(&council), [3, 3, 0, 1, 1, 0]);
    assert_eq!(told.at("interventions.0.kind"), "stop");
    assert_eq!(told.at("flags.degraded"), true);
}

#[test]
fn below_its_quorum_nothing_is_concluded_and_resume_goes_on() {
    let council = Council::new(|asked| match (asked.purpose, asked.nth) {
        (Purpose::Opinion, 1) if asked.seat != "ann" => {
            Play::Status(401, Vec::new(), String::new())
        }
        _ => Play::Fitting,
    });
    let asked = council.ask(&["--quiet"]);
    asked.expect("incomplete", 3);
    let told = conclude(&council, asked.id(), &[]);
    told.expect("incomplete", 3);
    assert_eq!(told.at("error.error_code"), "quorum_not_met");
    assert_eq!(calls(&council), [3, 0, 0, 0, 0, 0]);
    let told = council.run(&["resume", asked.id(), "--json", "--quiet"]);
    told.expect("done", 0);
    assert_eq!(told.at("terminal_state"), &Value::Null, "it was asked to end with its report");
    assert_eq!(calls(&council), [5, 3, 1, 0, 0, 0]);
}

#[test]
fn a_council_that_nobody_reviewed_is_not_concluded_on() {
    let council = Council::new(|asked| {
        let down = Play::Status(401, Vec::new(), String::new());
        if asked.purpose == Purpose::Review { down } else { Play::Fitting }
    });
    let asked = council.ask(&["--quiet"]);
    asked.expect("incomplete", 3);
    let told = conclude(&council, asked.id(), &[]);
    told.expect("incomplete", 3);
    assert_eq!(told.at("terminal_state"), &Value::Null);
    assert_eq!(calls(&council), [3, 3, 0, 0, 0, 0]);
}

#[test]
fn without_an_audit_no_state_is_given_and_the_headline_says_so() {
    let council = Council::new(|_| Play::Fitting);
    let id = council.ask(&["--quiet"]).id().to_owned();
    let told = conclude(&council, &id, &["--no-audit"]);
    told.expect("done", 0);
    assert_eq!((told.at("terminal_state"), told.at("audit")), (&Value::Null, &Value::Null));
    assert!(told.at("conclusion").is_object());
    assert_eq!(council.calls(Purpose::Audit), 0);
    let shown = council.program.run(&["show", &id]);
    let headline: String = shown.stdout.lines().take(6).collect();
    assert!(headline.contains("UNAUDITED"), "{}", shown.stdout);
}

/// The critic never answers.
#[test]
fn what_waits_for_its_auditor_can_be_concluded_without_one() {
    let council = Council::new(|asked| {
        if asked.purpose == Purpose::Audit {
            Play::Status(401, Vec::new(), String::new())
        } else {
            Play::Fitting
        }
    });
    let told = council.run(&["ask", "--json", "--quiet", QUESTION]);
    told.expect("incomplete", 3);
    let id = told.id().to_owned();
    conclude(&council, &id, &[]).expect("incomplete", 3);
    let told = conclude(&council, &id, &["--no-audit"]);
    told.expect("done", 0);
    assert_eq!(told.at("terminal_state"), &Value::Null);
    assert_eq!(calls(&council), [3, 3, 1, 1, 2, 0], "the draft is not written twice");
}

#[test]
fn what_cannot_be_concluded_is_refused() {
    let council = Council::new(|_| Play::Fitting);
    let refused = |id: &str, code: i32, error_code: &str| {
        let told = conclude(&council, id, &[]);
        assert_eq!((told.code, told.at("error_code")), (code, &json!(error_code)), "{id}");
    };
    refused("nobody-knows", 4, "dialogue_not_found");
    refused("../etc", 4, "dialogue_not_found");
    open(&council);
    refused("talk", 1, "not_supported");
    register(&council);
    let abandoned = council.program.operation("abandon", &json!({ "dialogue_id": "talk" }));
    assert_eq!(abandoned.0, 0);
    refused("talk", 1, "dialogue_closed");
    assert_eq!(council.server.seen().len(), 0, "nobody is asked in vain");
    council.verify();
}

#[test]
fn without_a_provider_there_is_nobody_to_conclude() {
    let council = Council::new(|_| Play::Fitting);
    open(&council);
    register(&council);
    std::fs::remove_file(council.program.path().join("council.yaml")).unwrap();
    let told = conclude(&council, "talk", &[]);
    assert_eq!((told.code, told.at("status")), (5, &json!("error")), "{:#}", told.document);
    council.verify();
}

fn open(council: &Council) {
    let create = json!({ "title": "Talk", "question": QUESTION, "background": "Old walls.",
        "expert_pool": pool(&["muffin", "scone", "eclair"]) });
    let (code, document) = council.program.operation("create", &create);
    assert_eq!(code, 0, "{document:#}");
}

/// Muffin and scone contribute, eclair does not.
fn register(council: &Council) {
    let round = batch(
        0,
        json!({
            "perspectives": [item("MUFFIN-P0001", ""), item("SCONE-P0001", "oppose MUFFIN-P0001")],
            "tensions": [item("SCONE-T0001", "")],
            "claims": [item("MUFFIN-C0001", "")],
        }),
    );
    let (code, document) = council.program.operation("register", &round);
    assert_eq!(code, 0, "{document:#}");
}

/// A Synthesizer that cites the record of the dialogue.
fn citing(asked: &crate::councils::harness::Asked<'_>) -> Play {
    let points = json!([{
        "point": "Whether the wall holds",
        "agents_involved": ["muffin", "scone"],
        "claims": [
            { "id": "P0001", "agent": "muffin", "claim": "It does" },
            { "id": "P0002", "agent": "scone", "claim": "It does not" },
        ],
    }]);
    match (asked.purpose, asked.nth) {
        (Purpose::Conclusion, _) => asked.with(json!({ "unresolved_points": points })),
        (Purpose::Audit, 1) => said("FLAG: key_condition - nothing supports it"),
        _ => Play::Fitting,
    }
}

#[test]
fn a_dialogue_that_somebody_leads_is_concluded_by_our_seats_for_its_experts() {
    let council = Council::new(citing);
    open(&council);
    register(&council);
    let told = conclude(&council, "talk", &[]);
    told.expect("done", 0);
    assert_eq!(
        (told.at("protocol"), told.at("terminal_state")),
        (&json!("alignment"), &json!("revised"))
    );
    let participants = told.at("conclusion.participants").as_array().unwrap();
    let agents: Vec<&str> = participants.iter().map(|one| one["agent"].as_str().unwrap()).collect();
    assert_eq!(agents, ["muffin", "scone"], "those who spoke");
    assert_eq!(told.at("conclusion.unresolved_points.0.claims.1.id"), "P0002");
    assert_eq!(told.at("conclusion.unresolved_points.0.claims.1.agent"), "scone");
    assert_eq!(calls(&council), [0, 0, 0, 1, 2, 1]);
    let sent = &council.seen(Purpose::Conclusion)[0].user;
    assert!(sent.contains("Text of SCONE-P0001.") && sent.contains("Old walls."), "{sent}");
    assert!(council.seen(Purpose::Audit).iter().all(|seen| !seen.user.contains("Old walls.")));

    let listed = council.program.run(&["list", "--json"]);
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    assert_eq!(listed["dialogues"][0]["status"], "converged");
    assert_eq!(listed["dialogues"][0]["terminal_state"], "revised");
    let again = conclude(&council, "talk", &[]);
    assert_eq!(again.at("conclusion"), told.at("conclusion"));
    assert_eq!(calls(&council), [0, 0, 0, 1, 2, 1]);
}

#[test]
fn such_a_dialogue_can_be_watched_replayed_shown_and_exported() {
    let gate = Gate::default();
    let council = {
        let gate = gate.clone();
        Council::new(move |asked| match asked.purpose == Purpose::Conclusion {
            true => Play::Gated(gate.clone(), Box::new(citing(asked))),
            false => citing(asked),
        })
    };
    open(&council);
    register(&council);
    let mut running = Running::start(&council, &["conclude", "talk", "--json"]);
    running.until_called(Purpose::Conclusion, 1, 1);
    let watching = Running::start(&council, &["watch", "talk", "--json"]);
    gate.open();
    running.end().expect("done", 0);
    let live = watching.lines();
    let lines = |command: &str| -> Vec<Value> {
        let ran = council.program.run(&[command, "talk", "--json"]);
        assert_eq!(ran.code, 0, "{ran:?}");
        ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let watched = lines("watch");
    let names: Vec<&str> = watched.iter().map(|event| event["event"].as_str().unwrap()).collect();
    for name in ["opened", "started", "drafted", "audited", "revised", "concluded", "stopped"] {
        assert!(names.contains(&name), "{name} is not in {names:?}");
    }
    assert_eq!(lines("replay"), watched);
    assert_eq!(live, watched);
    for command in ["watch", "replay", "show"] {
        let ran = council.program.run(&[command, "talk"]);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(ran.stdout.contains("REVISED"), "{command}: {}", ran.stdout);
        assert!(ran.stdout.contains("muffin"), "{command}: {}", ran.stdout);
    }
    let exported = council.program.run(&["export", "talk"]);
    let exported: Value = serde_json::from_str(&exported.stdout).unwrap();
    assert!(exported["conclusion"].is_object(), "{exported:#}");
    let markdown = council.program.run(&["export", "talk", "--format", "markdown"]);
    assert_eq!(markdown.code, 0, "{markdown:?}");
    assert!(markdown.stdout.contains("View the objection and revision"), "{}", markdown.stdout);
    council.verify();
}

/// Kills the process while a seat of the conclusion is in flight, then resumes.
#[track_caller]
fn killed(purpose: Purpose, prepare: impl Fn(&Council) -> String, command: &str) {
    let council = Council::new(move |asked| match (asked.purpose, asked.nth) {
        (held, 1) if held == purpose => Play::Hang,
        // The second audit is the second ask, or the third after a repeat.
        (Purpose::Audit, nth) if nth == 1 || (nth == 2 && purpose == Purpose::Audit) => {
            said("FLAG: key_condition - nothing supports it")
        }
        _ => Play::Fitting,
    });
    let id = prepare(&council);
    let before = calls(&council);
    let mut running = Running::start(&council, &["conclude", &id, "--json"]);
    running.until_called(purpose, 1, 1);
    running.kill();
    let told = council.run(&[command, &id, "--json", "--quiet"]);
    told.expect("done", 0);
    assert_eq!(told.at("terminal_state"), "revised");
    let after = calls(&council);
    let asked: usize = after.iter().zip(before).map(|(after, before)| after - before).sum();
    assert_eq!(asked, 4 + 1, "only what was in flight is asked for again: {after:?}");
}

fn reported(council: &Council) -> String {
    council.ask(&["--quiet"]).id().to_owned()
}

fn led(council: &Council) -> String {
    open(council);
    register(council);
    "talk".to_owned()
}

#[test]
fn killed_in_the_middle_it_is_taken_up_by_resume_or_by_conclude() {
    for purpose in [Purpose::Conclusion, Purpose::Audit, Purpose::Revision] {
        for command in ["resume", "conclude"] {
            killed(purpose, reported, command);
            killed(purpose, led, command);
        }
    }
}

#[test]
fn once_its_conclusion_was_begun_a_dialogue_takes_no_further_round() {
    let council = Council::new(|asked| match (asked.purpose, asked.nth) {
        (Purpose::Audit, 1) => Play::Hang,
        _ => Play::Fitting,
    });
    let id = led(&council);
    let mut running = Running::start(&council, &["conclude", &id, "--json"]);
    running.until_called(Purpose::Audit, 1, 1);
    let more = batch(1, json!({ "perspectives": [item("ECLAIR-P0101", "")] }));
    let refused = |council: &Council| {
        let (code, told) = council.program.operation("register", &more);
        assert_eq!(code, 1, "{told:#}");
        assert!(told.to_string().contains("dialogue_closed"), "{told:#}");
    };
    refused(&council);
    running.kill();
    refused(&council);
    let told = council.run(&["resume", &id, "--json", "--quiet"]);
    told.expect("done", 0);
    assert_eq!(told.at("terminal_state"), "clean");
    refused(&council);
}

#[test]
fn a_rehearsed_council_is_concluded_by_the_panel_that_rehearses() {
    let council = Council::new(|_| Play::Fitting);
    let told =
        council.run(&["ask", "--json", "--quiet", "--no-conclusion", QUESTION, "--rehearse"]);
    let told = conclude(&council, told.id(), &[]);
    told.expect("done", 0);
    assert_eq!(told.at("rehearsal"), true);
    assert!(told.at("terminal_state").is_string(), "{:#}", told.document);
    assert_eq!(council.server.seen().len(), 0);
}

#[test]
fn a_dialogue_that_its_judge_has_closed_is_concluded_on_and_stays_closed() {
    let council = Council::new(|_| Play::Fitting);
    let id = led(&council);
    let verdict = json!({ "dialogue_id": id, "verdict_id": "final", "verdict_type": "final",
        "round": 0, "recommendation": "Go ahead.", "description": "So be it.", "forced": true,
        "warning": "The wall was not looked at." });
    let (code, document) = council.program.operation("verdict", &verdict);
    assert_eq!(code, 0, "{document:#}");
    let told = conclude(&council, &id, &[]);
    told.expect("done", 0);
    assert_eq!(told.at("terminal_state"), "clean");
    assert!(council.seen(Purpose::Conclusion)[0].user.contains("So be it."));
    let listed = council.program.run(&["list", "--json"]);
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    assert_eq!(listed["dialogues"][0]["status"], "converged");
}

#[test]
fn a_deadline_leaves_it_to_be_taken_up() {
    let council = Council::new(|asked| match (asked.purpose, asked.nth) {
        (Purpose::Audit, 1) => Play::Hang,
        _ => Play::Fitting,
    });
    let id = led(&council);
    let told = conclude(&council, &id, &["--deadline", "500ms"]);
    told.expect("incomplete", 3);
    assert_eq!(told.at("error.error_code"), "deadline_exceeded");
    conclude(&council, &id, &[]).expect("done", 0);
    assert_eq!(calls(&council), [0, 0, 0, 1, 2, 0]);
}
