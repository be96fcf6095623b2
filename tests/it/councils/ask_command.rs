//! How to ask and to stop: plans, deadlines, interruptions, standard input, modes, files.

use std::io::Write;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use plenary_core::model::ask::AskPurpose;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::harness::{TestCouncil, seat_of};
use crate::kit::{ScriptedReply, purpose_of, valid_reply, value_at};

/// Timeout for one step on a busy machine.
const STEP_TIMEOUT: Duration = Duration::from_secs(60);

/// Cid hangs in the first round until released; later replies take `a_while`.
fn hanging_council(a_while: Duration) -> (TestCouncil, Arc<AtomicBool>) {
    let let_go = Arc::new(AtomicBool::new(false));
    let is_free = Arc::clone(&let_go);
    let council = TestCouncil::new(move |asked| match is_free.load(Ordering::SeqCst) {
        true => ScriptedReply::Slow(a_while, Box::new(ScriptedReply::Valid)),
        false if asked.seat == "cid" => ScriptedReply::Hang,
        false => ScriptedReply::Valid,
    });
    (council, let_go)
}

/// Only the call in flight is repeated.
#[track_caller]
fn check_resumes(council: &TestCouncil, id: &str, let_go: &AtomicBool) {
    let_go.store(true, Ordering::SeqCst);
    let resumed = council.run_command(&["resume", id, "--json"]);
    resumed.expect_status("done", 0);
    assert_eq!(*resumed.value_at("error"), Value::Null);
    assert_eq!(*resumed.value_at("transparency.starts"), 2);
    assert_eq!(*resumed.value_at("metrics.session.repeated_calls"), 1);
    let mut asked: Vec<String> =
        council.requests_for(AskPurpose::Opinion).iter().map(seat_of).collect();
    asked.sort();
    assert_eq!(asked, ["ann", "bob", "cid", "cid"]);
}

#[test]
fn a_dry_run_calls_no_model_and_writes_nothing() {
    let council = TestCouncil::new(|_| ScriptedReply::Valid);
    std::fs::write(council.program.path().join("batch.jsonl"), "\"One?\"\n").unwrap();
    let entries = || std::fs::read_dir(council.program.path()).unwrap().count();
    let before = entries();
    let result = council.run_ask(&["--dry-run"]);
    result.expect_status("planned", 0);
    assert_eq!(*result.value_at("estimate.calls"), 7);
    assert_eq!(*result.value_at("chairs"), json!(["dot"]));
    let seats = result.value_at("seats").as_array().unwrap();
    assert_eq!(seats.len(), 4);
    let text = council.program.run_command(&["ask", "Shall we?", "--dry-run"]);
    assert!(text.code == 0 && text.stdout.contains("No model was called"), "{text:?}");
    let batch = council.program.run_command(&["ask", "--dry-run", "--batch", "batch.jsonl"]);
    assert_eq!(batch.code, 64, "{batch:?}");
    assert_eq!(council.server.requests().len(), 0);
    assert_eq!(entries(), before, "something was written");
}

#[test]
fn a_deadline_ends_a_run_that_can_be_resumed() {
    // The deadline belongs to the first command: the resumed run takes longer.
    let (council, let_go) = hanging_council(Duration::from_millis(700));
    let began = Instant::now();
    let result = council.run_ask(&["--deadline", "1800ms"]);
    assert!(began.elapsed() < STEP_TIMEOUT);
    result.expect_status("incomplete", 3);
    assert_eq!(*result.value_at("error.error_code"), "deadline_exceeded");
    assert_eq!(result.value_at("rounds.r1.opinions").as_array().unwrap().len(), 2);
    check_resumes(&council, result.dialogue_id(), &let_go);
}

#[test]
fn an_interrupted_run_says_so_and_is_resumed() {
    let (council, let_go) = hanging_council(Duration::ZERO);
    let child = council
        .program
        .command()
        .args(["ask", "--json", "--no-conclusion", "Shall we go ahead?"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let began = Instant::now();
    while council.server.requests().len() < 3 {
        assert!(began.elapsed() < STEP_TIMEOUT, "nobody was asked");
        std::thread::sleep(Duration::from_millis(10));
    }
    // Let the two replies reach the journal.
    std::thread::sleep(Duration::from_millis(500));
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(130), "{}", String::from_utf8_lossy(&ended.stderr));
    let document: Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!(*value_at(&document, "status"), "incomplete");
    assert_eq!(*value_at(&document, "error.error_code"), "interrupted");
    council.assert_verified();
    check_resumes(&council, document["dialogue_id"].as_str().unwrap(), &let_go);
}

#[test]
fn a_question_comes_from_standard_input() {
    let council = TestCouncil::new(|_| ScriptedReply::Valid);
    let asked = |text: &[u8]| {
        let mut child = council
            .program
            .command()
            .args(["ask", "-", "--json", "-q", "--no-conclusion"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(text).unwrap();
        let ended = child.wait_with_output().unwrap();
        let document: Value = serde_json::from_slice(&ended.stdout).unwrap();
        (ended.status.code(), document)
    };
    let (code, document) = asked("  Ist es wahr?\nGanz sicher?  \n".as_bytes());
    assert_eq!((code, &document["status"]), (Some(0), &json!("done")));
    let seen = council.requests_for(AskPurpose::Opinion);
    assert!(seen.iter().all(|seen| seen.user.contains("\nIst es wahr?\nGanz sicher?\n=====")));
    assert!(seen.iter().all(|seen| !seen.system.contains("wahr")), "a question is no instruction");
    let calls = council.server.requests().len();
    for (text, error, expected) in
        [(&b" \n"[..], "missing_field", 1), (&[0xff, 0xfe], "unreadable", 4)]
    {
        let (code, document) = asked(text);
        assert_eq!(
            (&document["error_code"], code),
            (&json!(error), Some(expected)),
            "{document:#}"
        );
    }
    assert_eq!(council.server.requests().len(), calls);
    council.assert_verified();
}

#[test]
fn a_question_of_architecture_brings_alternatives_and_a_plan() {
    let council = TestCouncil::new(|asked| match asked.purpose {
        AskPurpose::Synthesis => asked.valid_with(json!({
            "alternatives": ["One large step, which cannot be taken back"],
            "verification_plan": ["Count the steps that were taken back"],
        })),
        AskPurpose::Opinion | AskPurpose::PeerReview => ScriptedReply::Valid,
        AskPurpose::Conclusion
        | AskPurpose::Audit
        | AskPurpose::Revision
        | AskPurpose::Restatement
        | AskPurpose::Other(_)
        | AskPurpose::Judgement
        | AskPurpose::CrossReading
        | AskPurpose::Design
        | AskPurpose::Panel
        | AskPurpose::Contribution
        | AskPurpose::Reconciliation
        | AskPurpose::Verdicts
        | AskPurpose::Adjudication => ScriptedReply::Valid,
    });
    let result = council.run_ask(&["--mode", "architecture"]);
    result.expect_status("done", 0);
    assert_eq!(*result.value_at("mode"), "architecture");
    assert_eq!(
        *result.value_at("report.alternatives.0"),
        "One large step, which cannot be taken back"
    );
    assert_eq!(
        *result.value_at("report.verification_plan.0"),
        "Count the steps that were taken back"
    );
    let seen = council.server.requests();
    assert!(seen.iter().all(|seen| seen.instructions().contains("mode: architecture")));
    assert!(council.requests_for(AskPurpose::Synthesis)[0].user.contains("\"verification_plan\""));
}

fn make_finding(fields: &Value) -> Value {
    let mut finding = json!({
        "id": "SEC-001", "title": "Key in the code", "severity": "high", "category": "security",
        "location": "src/main.rs:1", "description": "Anybody can read it.", "fix_approach": "Move it.",
    });
    finding.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    finding
}

/// Every opinion reports the finding, every reviewer confirms it, the chair merges.
fn inspection_reply(asked: &super::harness::SeatRequest<'_>) -> ScriptedReply {
    match asked.purpose {
        AskPurpose::Opinion => asked.valid_with(json!({ "findings": [make_finding(&json!({}))] })),
        AskPurpose::PeerReview => {
            let mut targets = valid_reply(asked.request)["targets"].clone();
            for target in targets.as_array_mut().unwrap() {
                target["finding_positions"] =
                    json!([{ "id": "SEC-001", "position": "confirm", "reason": "seen" }]);
            }
            asked.valid_with(json!({ "targets": targets }))
        }
        AskPurpose::Synthesis => asked.valid_with(json!({ "findings": [make_finding(&json!({
            "reported_by": ["A", "Opinion B"], "confirmed_by": ["C"], "disputed_by": [],
        }))] })),
        AskPurpose::Conclusion
        | AskPurpose::Audit
        | AskPurpose::Revision
        | AskPurpose::Restatement
        | AskPurpose::Other(_)
        | AskPurpose::Judgement
        | AskPurpose::CrossReading
        | AskPurpose::Design
        | AskPurpose::Panel
        | AskPurpose::Contribution
        | AskPurpose::Reconciliation
        | AskPurpose::Verdicts
        | AskPurpose::Adjudication => ScriptedReply::Valid,
    }
}

#[test]
fn a_review_of_files_merges_its_findings() {
    let council = TestCouncil::new(inspection_reply);
    let folder = council.program.path();
    std::fs::create_dir(folder.join("src")).unwrap();
    std::fs::write(folder.join("src/main.rs"), "let door = \"a blue door\";\n").unwrap();
    std::fs::write(folder.join("src/picture.png"), [0x89, 0x50, 0x4e, 0x47, 0, 1, 2]).unwrap();
    let result = council.run_ask(&["--mode", "review", "--context", "src"]);
    result.expect_status("done", 0);
    for seen in council.server.requests() {
        assert!(seen.user.contains("let door = \"a blue door\";"), "{} read no file", seen.model);
        assert!(!seen.system.contains("blue door"), "a file is no instruction");
    }
    assert_eq!(*result.value_at("transparency.context.files"), 1);
    let excluded = result.value_at("transparency.context.excluded.0.path").as_str().unwrap();
    assert!(excluded.ends_with("picture.png"), "{excluded}");
    assert_eq!(*result.value_at("rounds.r1.opinions.0.findings.0.id"), "SEC-001");
    let position = result.value_at("rounds.r2.reviews.0.targets.0.finding_positions.0.position");
    assert_eq!(*position, "confirm");
    let merged = result.value_at("report.findings.0");
    // Counted from the replies, not taken from the chair.
    for credit in ["reported_by", "confirmed_by"] {
        let mut seats: Vec<&str> =
            merged[credit].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        seats.sort_unstable();
        assert_eq!(seats, ["ann", "bob", "cid"], "{credit} of {merged}");
    }
    assert_eq!(merged["disputed_by"], json!([]));
    let exported = council.run_command(&["export", result.dialogue_id(), "--json"]).document;
    let claims = exported["claims"].as_array().unwrap();
    let found = claims.iter().filter(|claim| claim["label"] == "SEC-001: Key in the code").count();
    assert_eq!(found, 3, "each finding is a claim of its seat");
}

#[test]
fn findings_belong_to_reviews_alone() {
    let result = TestCouncil::new(inspection_reply).run_ask(&[]);
    result.expect_status("done", 0);
    assert_eq!(*result.value_at("rounds.r1.opinions.0.findings"), json!([]));
}

#[test]
fn a_file_that_is_not_there_ends_it_before_anybody_is_asked() {
    let council = TestCouncil::new(|_| ScriptedReply::Valid);
    let result = council.run_ask(&["--context", "nowhere.md"]);
    result.expect_status("error", 4);
    assert_eq!(council.server.requests().len(), 0);
    assert!(!council.program.path().join(".plenary").exists());
}

#[test]
fn prompts_can_be_kept_out_of_the_record_and_a_cut_run_still_goes_on() {
    let let_go = Arc::new(AtomicBool::new(false));
    let is_free = Arc::clone(&let_go);
    let council = TestCouncil::with_settings(
        move |asked| match is_free.load(Ordering::SeqCst) {
            false if asked.seat == "cid" => ScriptedReply::Hang,
            true | false => ScriptedReply::Valid,
        },
        |settings| settings["retention"] = json!({ "keep_prompts": false }),
    );
    let result = council.run_ask(&["--deadline", "1800ms"]);
    result.expect_status("incomplete", 3);
    let first: Vec<String> =
        council.requests_for(AskPurpose::Opinion).iter().map(joined_prompt).collect();
    check_resumes(&council, result.dialogue_id(), &let_go);
    let again: Vec<String> =
        council.requests_for(AskPurpose::Opinion).iter().map(joined_prompt).collect();
    assert_eq!(again.last(), first.first(), "what was written anew is what was sent before");
    let kept = crate::kit::dump_store(council.program.path());
    assert!(kept.contains("messages_sha256"), "a digest stands in their place");
    assert!(!kept.contains("You are a participant of a council"), "a prompt was kept");
}

fn joined_prompt(seen: &crate::kit::ModelRequest) -> String {
    format!("{}{}", seen.system, seen.user)
}

#[test]
fn a_question_behind_a_list_of_files_is_a_question() {
    let council = TestCouncil::new(|_| ScriptedReply::Valid);
    std::fs::write(council.program.path().join("plan.md"), "We begin on Monday.").unwrap();
    let result = council.run_command(&[
        "ask",
        "--json",
        "--no-conclusion",
        "--context",
        "plan.md",
        "Is Monday good?",
    ]);
    result.expect_status("done", 0);
    assert_eq!(*result.value_at("transparency.context.files"), 1);
    let seen = council.requests_for(AskPurpose::Opinion);
    assert!(seen[0].user.contains("Is Monday good?") && seen[0].user.contains("on Monday."));
    let ran = council.program.run_command(&["ask", "--context", "plan.md"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("there is no question"), "{ran:?}");
}

/// A lens is for the opinion of its seat; the chair learns who had one, and no other seat does.
#[test]
fn a_lens_reaches_its_seat_and_the_chair_alone() {
    let council = TestCouncil::with_settings(
        |_| ScriptedReply::Valid,
        |settings| {
            let providers = settings["council"]["providers"].as_array_mut().unwrap();
            providers[0]["lens"] = json!("skeptic");
            providers[1]["lens"] = json!("Think of the night shift.");
        },
    );
    let result = council.run_ask(&[]);
    result.expect_status("done", 0);
    let ours = "Your lens: Look first for what makes this fail";
    let theirs = "===== BEGIN request YOUR LENS ";
    for seen in council.server.requests() {
        let is_opinion = purpose_of(&seen) == AskPurpose::Opinion;
        assert_eq!(seen.user.contains(ours), is_opinion && seen.model == "model-ann", "{seen:?}");
        assert_eq!(seen.user.contains(theirs), is_opinion && seen.model == "model-bob", "{seen:?}");
        let is_chair = purpose_of(&seen) == AskPurpose::Synthesis;
        let is_told = seen.user.contains("was told where to look first: ");
        assert_eq!(is_told, is_chair, "{seen:?}");
        assert!(!is_chair || !seen.user.contains("night shift"), "the operator's words stay out");
    }
    assert_eq!(result.value_at("transparency.providers.0.lens"), "skeptic");
    let shown = council.program.run_command(&["show", result.dialogue_id()]);
    assert!(shown.stdout.contains("ann, skeptic"), "{}", shown.stdout);
}
