//! `conclude`: writes a conclusion for a record that has none.

use plenary_core::model::ask::AskPurpose;
use serde_json::{Value, json};

use super::harness::{CouncilProcess, QUESTION, find_dialogue_id, text_reply};
use crate::councils::harness::{CommandResult, TestCouncil};
use crate::kit::{ReplyGate, ScriptedReply, make_batch, make_item, make_pool};

#[track_caller]
fn run_conclude(council: &TestCouncil, id: &str, arguments: &[&str]) -> CommandResult {
    council.run_command(&[&["conclude", id, "--json", "--quiet"], arguments].concat())
}

fn calls_by_purpose(council: &TestCouncil) -> [usize; 6] {
    let purposes = [
        AskPurpose::Opinion,
        AskPurpose::PeerReview,
        AskPurpose::Synthesis,
        AskPurpose::Conclusion,
        AskPurpose::Audit,
        AskPurpose::Revision,
    ];
    purposes.map(|purpose| council.call_count(purpose))
}

#[test]
fn a_council_that_ended_with_its_report_is_concluded_on() {
    let council = TestCouncil::new(|_| ScriptedReply::Valid);
    let id = council.run_ask(&["--quiet"]).dialogue_id().to_owned();
    let result = run_conclude(&council, &id, &[]);
    result.expect_status("done", 0);
    assert_eq!(result.value_at("terminal_state"), "clean");
    assert_eq!(result.value_at("dialogue_id"), id.as_str());
    assert_eq!(calls_by_purpose(&council), [3, 3, 1, 1, 1, 0]);
    // The report is unchanged, and the Synthesizer is sent it.
    assert!(result.value_at("report").is_object());
    assert!(council.requests_for(AskPurpose::Conclusion)[0].user.contains("BEGIN material REPORT"));
    assert_eq!(result.value_at("interventions"), &json!([]), "nothing was cut short");
    let again = run_conclude(&council, &id, &[]);
    again.expect_status("done", 0);
    assert_eq!(again.value_at("conclusion"), result.value_at("conclusion"));
    assert_eq!(calls_by_purpose(&council), [3, 3, 1, 1, 1, 0], "it has one already");
}

#[test]
fn a_council_that_was_interrupted_is_concluded_on_what_it_has() {
    let council = TestCouncil::new(|asked| {
        if asked.purpose == AskPurpose::PeerReview {
            ScriptedReply::Hang
        } else {
            ScriptedReply::Valid
        }
    });
    let mut running = CouncilProcess::start_ask(&council, &["--no-conclusion"]);
    running.wait_until_called(AskPurpose::PeerReview, 3, 3);
    let id = find_dialogue_id(&council).unwrap();
    let result = run_conclude(&council, &id, &[]);
    assert_eq!(
        (result.code, result.value_at("error_code")),
        (1, &json!("not_supported")),
        "it is at work"
    );
    running.kill_process();
    let result = run_conclude(&council, &id, &[]);
    result.expect_status("done", 0);
    assert_eq!(result.value_at("terminal_state"), "clean");
    assert_eq!(calls_by_purpose(&council), [3, 3, 0, 1, 1, 0]);
    assert_eq!(result.value_at("interventions.0.kind"), "stop");
    assert_eq!(result.value_at("flags.degraded"), true);
}

#[test]
fn below_its_quorum_nothing_is_concluded_and_resume_continues() {
    let council = TestCouncil::new(|asked| match (asked.purpose, asked.nth) {
        (AskPurpose::Opinion, 1) if asked.seat != "ann" => {
            ScriptedReply::Status(401, Vec::new(), String::new())
        }
        _ => ScriptedReply::Valid,
    });
    let asked = council.run_ask(&["--quiet"]);
    asked.expect_status("incomplete", 3);
    let result = run_conclude(&council, asked.dialogue_id(), &[]);
    result.expect_status("incomplete", 3);
    assert_eq!(result.value_at("error.error_code"), "quorum_not_met");
    assert_eq!(calls_by_purpose(&council), [3, 0, 0, 0, 0, 0]);
    let result = council.run_command(&["resume", asked.dialogue_id(), "--json", "--quiet"]);
    result.expect_status("done", 0);
    assert_eq!(
        result.value_at("terminal_state"),
        &Value::Null,
        "it was asked to end with its report"
    );
    assert_eq!(calls_by_purpose(&council), [5, 3, 1, 0, 0, 0]);
}

#[test]
fn a_council_without_reviews_is_not_concluded() {
    let council = TestCouncil::new(|asked| {
        let down = ScriptedReply::Status(401, Vec::new(), String::new());
        if asked.purpose == AskPurpose::PeerReview { down } else { ScriptedReply::Valid }
    });
    let asked = council.run_ask(&["--quiet"]);
    asked.expect_status("incomplete", 3);
    let result = run_conclude(&council, asked.dialogue_id(), &[]);
    result.expect_status("incomplete", 3);
    assert_eq!(result.value_at("terminal_state"), &Value::Null);
    assert_eq!(calls_by_purpose(&council), [3, 3, 0, 0, 0, 0]);
}

#[test]
fn without_an_audit_no_state_is_given_and_the_headline_says_so() {
    let council = TestCouncil::new(|_| ScriptedReply::Valid);
    let id = council.run_ask(&["--quiet"]).dialogue_id().to_owned();
    let result = run_conclude(&council, &id, &["--no-audit"]);
    result.expect_status("done", 0);
    assert_eq!(
        (result.value_at("terminal_state"), result.value_at("audit")),
        (&Value::Null, &Value::Null)
    );
    assert!(result.value_at("conclusion").is_object());
    assert_eq!(council.call_count(AskPurpose::Audit), 0);
    let shown = council.program.run_command(&["show", &id]);
    let headline: String = shown.stdout.lines().take(6).collect();
    assert!(headline.contains("UNAUDITED"), "{}", shown.stdout);
}

/// The critic never answers.
#[test]
fn what_waits_for_its_auditor_can_be_concluded_without_one() {
    let council = TestCouncil::new(|asked| {
        if asked.purpose == AskPurpose::Audit {
            ScriptedReply::Status(401, Vec::new(), String::new())
        } else {
            ScriptedReply::Valid
        }
    });
    let result = council.run_command(&["ask", "--json", "--quiet", QUESTION]);
    result.expect_status("incomplete", 3);
    let id = result.dialogue_id().to_owned();
    run_conclude(&council, &id, &[]).expect_status("incomplete", 3);
    let result = run_conclude(&council, &id, &["--no-audit"]);
    result.expect_status("done", 0);
    assert_eq!(result.value_at("terminal_state"), &Value::Null);
    assert_eq!(calls_by_purpose(&council), [3, 3, 1, 1, 2, 0], "the draft is not written twice");
}

#[test]
fn what_cannot_be_concluded_is_refused() {
    let council = TestCouncil::new(|_| ScriptedReply::Valid);
    let refused = |id: &str, code: i32, error_code: &str| {
        let result = run_conclude(&council, id, &[]);
        assert_eq!(
            (result.code, result.value_at("error_code")),
            (code, &json!(error_code)),
            "{id}"
        );
    };
    refused("nobody-knows", 4, "dialogue_not_found");
    refused("../etc", 4, "dialogue_not_found");
    open_dialogue(&council);
    refused("talk", 1, "not_supported");
    register_round(&council);
    let abandoned = council.program.run_operation("abandon", &json!({ "dialogue_id": "talk" }));
    assert_eq!(abandoned.0, 0);
    refused("talk", 1, "dialogue_closed");
    assert_eq!(council.server.requests().len(), 0, "nobody is asked in vain");
    council.assert_verified();
}

#[test]
fn conclude_without_a_provider_is_an_error() {
    let council = TestCouncil::new(|_| ScriptedReply::Valid);
    open_dialogue(&council);
    register_round(&council);
    std::fs::remove_file(council.program.path().join("council.yaml")).unwrap();
    let result = run_conclude(&council, "talk", &[]);
    assert_eq!(
        (result.code, result.value_at("status")),
        (5, &json!("error")),
        "{:#}",
        result.document
    );
    // `conclude` has no `--rehearse`: a rehearsal must not conclude a real record.
    let hint = result.value_at("suggestion").as_str().unwrap();
    assert!(hint.contains("ANTHROPIC_API_KEY") && !hint.contains("rehearse"), "{hint}");
    council.assert_verified();
}

fn open_dialogue(council: &TestCouncil) {
    let create = json!({ "title": "Talk", "question": QUESTION, "background": "Old walls.",
        "expert_pool": make_pool(&["muffin", "scone", "eclair"]) });
    let (code, document) = council.program.run_operation("create", &create);
    assert_eq!(code, 0, "{document:#}");
}

/// Muffin and scone contribute, eclair does not.
fn register_round(council: &TestCouncil) {
    let round = make_batch(
        0,
        json!({
            "perspectives": [make_item("MUFFIN-P0001", ""), make_item("SCONE-P0001", "oppose MUFFIN-P0001")],
            "tensions": [make_item("SCONE-T0001", "")],
            "claims": [make_item("MUFFIN-C0001", "")],
        }),
    );
    let (code, document) = council.program.run_operation("register", &round);
    assert_eq!(code, 0, "{document:#}");
}

/// A Synthesizer that cites the record of the dialogue.
fn citing_reply(asked: &crate::councils::harness::SeatRequest<'_>) -> ScriptedReply {
    let points = json!([{
        "point": "Whether the wall holds",
        "agents_involved": ["muffin", "scone"],
        "claims": [
            { "id": "P0001", "agent": "muffin", "claim": "It does" },
            { "id": "P0002", "agent": "scone", "claim": "It does not" },
        ],
    }]);
    match (asked.purpose, asked.nth) {
        (AskPurpose::Conclusion, _) => asked.valid_with(json!({ "unresolved_points": points })),
        (AskPurpose::Audit, 1) => text_reply("FLAG: key_condition - nothing supports it"),
        _ => ScriptedReply::Valid,
    }
}

#[test]
fn a_dialogue_that_somebody_leads_is_concluded_by_our_seats_for_its_experts() {
    let council = TestCouncil::new(citing_reply);
    open_dialogue(&council);
    register_round(&council);
    let result = run_conclude(&council, "talk", &[]);
    result.expect_status("done", 0);
    assert_eq!(
        (result.value_at("protocol"), result.value_at("terminal_state")),
        (&json!("alignment"), &json!("revised"))
    );
    let participants = result.value_at("conclusion.participants").as_array().unwrap();
    let agents: Vec<&str> = participants.iter().map(|one| one["agent"].as_str().unwrap()).collect();
    assert_eq!(agents, ["muffin", "scone"], "those who spoke");
    assert_eq!(result.value_at("conclusion.unresolved_points.0.claims.1.id"), "P0002");
    assert_eq!(result.value_at("conclusion.unresolved_points.0.claims.1.agent"), "scone");
    assert_eq!(calls_by_purpose(&council), [0, 0, 0, 1, 2, 1]);
    let sent = &council.requests_for(AskPurpose::Conclusion)[0].user;
    assert!(sent.contains("Text of SCONE-P0001.") && sent.contains("Old walls."), "{sent}");
    assert!(
        council
            .requests_for(AskPurpose::Audit)
            .iter()
            .all(|seen| !seen.user.contains("Old walls."))
    );

    let listed = council.program.run_command(&["list", "--json"]);
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    assert_eq!(listed["dialogues"][0]["status"], "converged");
    assert_eq!(listed["dialogues"][0]["terminal_state"], "revised");
    let again = run_conclude(&council, "talk", &[]);
    assert_eq!(again.value_at("conclusion"), result.value_at("conclusion"));
    assert_eq!(calls_by_purpose(&council), [0, 0, 0, 1, 2, 1]);
}

#[test]
fn such_a_dialogue_can_be_watched_replayed_shown_and_exported() {
    let gate = ReplyGate::default();
    let council = {
        let gate = gate.clone();
        TestCouncil::new(move |asked| match asked.purpose == AskPurpose::Conclusion {
            true => ScriptedReply::Gated(gate.clone(), Box::new(citing_reply(asked))),
            false => citing_reply(asked),
        })
    };
    open_dialogue(&council);
    register_round(&council);
    let mut running = CouncilProcess::start_command(&council, &["conclude", "talk", "--json"]);
    running.wait_until_called(AskPurpose::Conclusion, 1, 1);
    let watching = CouncilProcess::start_command(&council, &["watch", "talk", "--json"]);
    gate.open();
    running.wait_result().expect_status("done", 0);
    let live = watching.wait_lines();
    let lines = |command: &str| -> Vec<Value> {
        let ran = council.program.run_command(&[command, "talk", "--json"]);
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
        let ran = council.program.run_command(&[command, "talk"]);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(ran.stdout.contains("REVISED"), "{command}: {}", ran.stdout);
        assert!(ran.stdout.contains("muffin"), "{command}: {}", ran.stdout);
    }
    let exported = council.program.run_command(&["export", "talk"]);
    let exported: Value = serde_json::from_str(&exported.stdout).unwrap();
    assert!(exported["conclusion"].is_object(), "{exported:#}");
    let markdown = council.program.run_command(&["export", "talk", "--format", "markdown"]);
    assert_eq!(markdown.code, 0, "{markdown:?}");
    assert!(markdown.stdout.contains("View the objection and revision"), "{}", markdown.stdout);
    council.assert_verified();
}

/// Kills the process while a seat of the conclusion is in flight, then resumes.
#[track_caller]
fn check_killed_conclude(
    purpose: AskPurpose,
    prepare: impl Fn(&TestCouncil) -> String,
    command: &str,
) {
    let council = TestCouncil::new(move |asked| match (asked.purpose, asked.nth) {
        (held, 1) if held == purpose => ScriptedReply::Hang,
        // The second audit is the second ask, or the third after a repeat.
        (AskPurpose::Audit, nth) if nth == 1 || (nth == 2 && purpose == AskPurpose::Audit) => {
            text_reply("FLAG: key_condition - nothing supports it")
        }
        _ => ScriptedReply::Valid,
    });
    let id = prepare(&council);
    let before = calls_by_purpose(&council);
    let mut running = CouncilProcess::start_command(&council, &["conclude", &id, "--json"]);
    running.wait_until_called(purpose, 1, 1);
    running.kill_process();
    let result = council.run_command(&[command, &id, "--json", "--quiet"]);
    result.expect_status("done", 0);
    assert_eq!(result.value_at("terminal_state"), "revised");
    let after = calls_by_purpose(&council);
    let asked: usize = after.iter().zip(before).map(|(after, before)| after - before).sum();
    assert_eq!(asked, 4 + 1, "only what was in flight is asked for again: {after:?}");
}

fn council_with_report(council: &TestCouncil) -> String {
    council.run_ask(&["--quiet"]).dialogue_id().to_owned()
}

fn led_dialogue(council: &TestCouncil) -> String {
    open_dialogue(council);
    register_round(council);
    "talk".to_owned()
}

#[test]
fn killed_in_the_middle_it_is_taken_up_by_resume_or_by_conclude() {
    for purpose in [AskPurpose::Conclusion, AskPurpose::Audit, AskPurpose::Revision] {
        for command in ["resume", "conclude"] {
            check_killed_conclude(purpose, council_with_report, command);
            check_killed_conclude(purpose, led_dialogue, command);
        }
    }
}

#[test]
fn once_its_conclusion_was_begun_a_dialogue_takes_no_further_round() {
    let council = TestCouncil::new(|asked| match (asked.purpose, asked.nth) {
        (AskPurpose::Audit, 1) => ScriptedReply::Hang,
        _ => ScriptedReply::Valid,
    });
    let id = led_dialogue(&council);
    let mut running = CouncilProcess::start_command(&council, &["conclude", &id, "--json"]);
    running.wait_until_called(AskPurpose::Audit, 1, 1);
    let more = make_batch(1, json!({ "perspectives": [make_item("ECLAIR-P0101", "")] }));
    let refused = |council: &TestCouncil| {
        let (code, result) = council.program.run_operation("register", &more);
        assert_eq!(code, 1, "{result:#}");
        assert!(result.to_string().contains("dialogue_closed"), "{result:#}");
    };
    refused(&council);
    running.kill_process();
    refused(&council);
    let result = council.run_command(&["resume", &id, "--json", "--quiet"]);
    result.expect_status("done", 0);
    assert_eq!(result.value_at("terminal_state"), "clean");
    refused(&council);
}

#[test]
fn a_rehearsed_council_is_concluded_by_the_panel_that_rehearses() {
    let council = TestCouncil::new(|_| ScriptedReply::Valid);
    let result = council.run_command(&[
        "ask",
        "--json",
        "--quiet",
        "--no-conclusion",
        QUESTION,
        "--rehearse",
    ]);
    let result = run_conclude(&council, result.dialogue_id(), &[]);
    result.expect_status("done", 0);
    assert_eq!(result.value_at("rehearsal"), true);
    assert!(result.value_at("terminal_state").is_string(), "{:#}", result.document);
    assert_eq!(council.server.requests().len(), 0);
}

#[test]
fn a_dialogue_that_its_judge_has_closed_is_concluded_on_and_stays_closed() {
    let council = TestCouncil::new(|_| ScriptedReply::Valid);
    let id = led_dialogue(&council);
    let verdict = json!({ "dialogue_id": id, "verdict_id": "final", "verdict_type": "final",
        "round": 0, "recommendation": "Go ahead.", "description": "So be it.", "forced": true,
        "warning": "The wall was not looked at." });
    let (code, document) = council.program.run_operation("verdict", &verdict);
    assert_eq!(code, 0, "{document:#}");
    let result = run_conclude(&council, &id, &[]);
    result.expect_status("done", 0);
    assert_eq!(result.value_at("terminal_state"), "clean");
    assert!(council.requests_for(AskPurpose::Conclusion)[0].user.contains("So be it."));
    let listed = council.program.run_command(&["list", "--json"]);
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    assert_eq!(listed["dialogues"][0]["status"], "converged");
}

#[test]
fn a_deadline_leaves_it_to_be_taken_up() {
    let council = TestCouncil::new(|asked| match (asked.purpose, asked.nth) {
        (AskPurpose::Audit, 1) => ScriptedReply::Hang,
        _ => ScriptedReply::Valid,
    });
    let id = led_dialogue(&council);
    let result = run_conclude(&council, &id, &["--deadline", "500ms"]);
    result.expect_status("incomplete", 3);
    assert_eq!(result.value_at("error.error_code"), "deadline_exceeded");
    run_conclude(&council, &id, &[]).expect_status("done", 0);
    assert_eq!(calls_by_purpose(&council), [0, 0, 0, 1, 2, 0]);
}

/// The Synthesizer's window is too small for the question, so its block is its own, and the record
/// is the first block that the journal keeps.
#[test]
fn a_synthesizer_with_a_small_window_reads_the_question_in_each_prompt() {
    let council = TestCouncil::with_settings(
        |asked| match (asked.purpose, asked.nth) {
            (AskPurpose::Conclusion, 1) => text_reply("I would rather not."),
            (AskPurpose::Audit, 1) => text_reply("FLAG: key_condition - nothing supports it"),
            _ => ScriptedReply::Valid,
        },
        |settings| {
            settings["council"]["providers"][0]["context_tokens"] = json!(25_600);
            settings["conclusion"] = json!({ "synthesizer": "ann", "reviser": "ann" });
        },
    );
    let question = format!("{QUESTION} {}", "The wall is old and wet. ".repeat(2_160));
    let create = json!({ "title": "Talk", "question": question,
        "expert_pool": make_pool(&["muffin", "scone"]) });
    let (code, document) = council.program.run_operation("create", &create);
    assert_eq!(code, 0, "{document:#}");
    let mut item = make_item("MUFFIN-P0001", "");
    item["content"] = json!("The wall was measured in spring. ".repeat(50));
    let round = make_batch(0, json!({ "perspectives": [item, make_item("SCONE-P0001", "")] }));
    let (code, document) = council.program.run_operation("register", &round);
    assert_eq!(code, 0, "{document:#}");
    let result = run_conclude(&council, "talk", &[]);
    result.expect_status("done", 0);
    assert_eq!(result.value_at("terminal_state"), "revised");
    let written = council.requests_for(AskPurpose::Conclusion);
    let revised = council.requests_for(AskPurpose::Revision);
    assert_eq!((written.len(), revised.len()), (2, 1));
    let start = &written[0].user[..20_000];
    assert!(start.contains("BEGIN request QUESTION") && start.contains(QUESTION), "{start}");
    for seen in written.iter().chain(&revised) {
        assert!(seen.user.starts_with(start), "{}", &seen.user[..500]);
        assert_eq!(seen.user.matches("The wall was measured in spring. The").count(), 25);
    }
    check_kept_prompts(&council, &written[1].user);
}

/// `show --prompts` has the whole prompt, though the journal keeps the record once.
#[track_caller]
fn check_kept_prompts(council: &TestCouncil, prompt: &str) {
    let shown = council.program.run_command(&["show", "talk", "--prompts", "--json"]);
    assert!(shown.stdout.contains(&json!(prompt).to_string()), "{}", shown.stdout);
}
