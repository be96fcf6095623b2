//! How to ask and to stop: plans, deadlines, interruptions, standard input, modes, files.

use std::io::Write;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use plenary::domain::ask::Purpose;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::harness::{Council, seat_of};
use crate::kit::{Play, at, fitting};

/// Timeout for one step on a busy machine.
const SURELY: Duration = Duration::from_secs(60);

/// Cid hangs in the first round until released; later replies take `a_while`.
fn held_up(a_while: Duration) -> (Council, Arc<AtomicBool>) {
    let let_go = Arc::new(AtomicBool::new(false));
    let is_free = Arc::clone(&let_go);
    let council = Council::new(move |asked| match is_free.load(Ordering::SeqCst) {
        true => Play::Slow(a_while, Box::new(Play::Fitting)),
        false if asked.seat == "cid" => Play::Hang,
        false => Play::Fitting,
    });
    (council, let_go)
}

/// Only the call in flight is repeated.
#[track_caller]
fn resumes(council: &Council, id: &str, let_go: &AtomicBool) {
    let_go.store(true, Ordering::SeqCst);
    let resumed = council.run(&["resume", id, "--json"]);
    resumed.expect("done", 0);
    assert_eq!(*resumed.at("error"), Value::Null);
    assert_eq!(*resumed.at("transparency.starts"), 2);
    assert_eq!(*resumed.at("metrics.session.repeated_calls"), 1);
    let mut asked: Vec<String> = council.seen(Purpose::Opinion).iter().map(seat_of).collect();
    asked.sort();
    assert_eq!(asked, ["ann", "bob", "cid", "cid"]);
}

#[test]
fn a_dry_run_asks_nobody_and_writes_nothing() {
    let council = Council::new(|_| Play::Fitting);
    std::fs::write(council.program.path().join("batch.jsonl"), "\"One?\"\n").unwrap();
    let entries = || std::fs::read_dir(council.program.path()).unwrap().count();
    let before = entries();
    let told = council.ask(&["--dry-run"]);
    told.expect("planned", 0);
    assert_eq!(*told.at("estimate.calls"), 7);
    assert_eq!(*told.at("chairs"), json!(["dot"]));
    let seats = told.at("seats").as_array().unwrap();
    assert_eq!(seats.len(), 4);
    let text = council.program.run(&["ask", "Shall we?", "--dry-run"]);
    assert!(text.code == 0 && text.stdout.contains("Nobody was asked"), "{text:?}");
    let batch = council.program.run(&["ask", "--dry-run", "--batch", "batch.jsonl"]);
    assert_eq!(batch.code, 64, "{batch:?}");
    assert_eq!(council.server.seen().len(), 0);
    assert_eq!(entries(), before, "something was written");
}

#[test]
fn a_deadline_ends_a_run_that_can_be_resumed() {
    // The deadline belongs to the first command: the resumed run takes longer.
    let (council, let_go) = held_up(Duration::from_millis(700));
    let began = Instant::now();
    let told = council.ask(&["--deadline", "1800ms"]);
    assert!(began.elapsed() < SURELY);
    told.expect("incomplete", 3);
    assert_eq!(*told.at("error.error_code"), "deadline_exceeded");
    assert_eq!(told.at("rounds.r1.opinions").as_array().unwrap().len(), 2);
    resumes(&council, told.id(), &let_go);
}

#[test]
fn an_interrupted_run_says_so_and_is_resumed() {
    let (council, let_go) = held_up(Duration::ZERO);
    let child = council
        .program
        .command()
        .args(["ask", "--json", "--no-conclusion", "Shall we go ahead?"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let began = Instant::now();
    while council.server.seen().len() < 3 {
        assert!(began.elapsed() < SURELY, "nobody was asked");
        std::thread::sleep(Duration::from_millis(10));
    }
    // Let the two replies reach the journal.
    std::thread::sleep(Duration::from_millis(500));
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(130), "{}", String::from_utf8_lossy(&ended.stderr));
    let document: Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!(*at(&document, "status"), "incomplete");
    assert_eq!(*at(&document, "error.error_code"), "interrupted");
    council.verify();
    resumes(&council, document["dialogue_id"].as_str().unwrap(), &let_go);
}

#[test]
fn a_question_comes_from_standard_input() {
    let council = Council::new(|_| Play::Fitting);
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
    let seen = council.seen(Purpose::Opinion);
    assert!(seen.iter().all(|seen| seen.user.contains("\nIst es wahr?\nGanz sicher?\n=====")));
    assert!(seen.iter().all(|seen| !seen.system.contains("wahr")), "a question is no instruction");
    let calls = council.server.seen().len();
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
    assert_eq!(council.server.seen().len(), calls);
    council.verify();
}

#[test]
fn a_question_of_architecture_brings_alternatives_and_a_plan() {
    let council = Council::new(|asked| match asked.purpose {
        Purpose::Synthesis => asked.with(json!({
            "alternatives": ["One large step, which cannot be taken back"],
            "verification_plan": ["Count the steps that were taken back"],
        })),
        Purpose::Opinion | Purpose::Review => Play::Fitting,
        Purpose::Conclusion
        | Purpose::Audit
        | Purpose::Revision
        | Purpose::Restatement
        | Purpose::Other(_)
        | Purpose::Judgement
        | Purpose::CrossReading
        | Purpose::Adjudication => Play::Fitting,
    });
    let told = council.ask(&["--mode", "architecture"]);
    told.expect("done", 0);
    assert_eq!(*told.at("mode"), "architecture");
    assert_eq!(*told.at("report.alternatives.0"), "One large step, which cannot be taken back");
    assert_eq!(*told.at("report.verification_plan.0"), "Count the steps that were taken back");
    let seen = council.server.seen();
    assert!(seen.iter().all(|seen| seen.system.contains("mode: architecture")));
    assert!(council.seen(Purpose::Synthesis)[0].system.contains("\"verification_plan\""));
}

fn finding(fields: &Value) -> Value {
    let mut finding = json!({
        "id": "SEC-001", "title": "Key in the code", "severity": "high", "category": "security",
        "location": "src/main.rs:1", "description": "Anybody can read it.", "fix_approach": "Move it.",
    });
    finding.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    finding
}

/// Every opinion reports the finding, every reviewer confirms it, the chair merges.
fn inspect(asked: &super::harness::Asked<'_>) -> Play {
    match asked.purpose {
        Purpose::Opinion => asked.with(json!({ "findings": [finding(&json!({}))] })),
        Purpose::Review => {
            let mut targets = fitting(asked.seen)["targets"].clone();
            for target in targets.as_array_mut().unwrap() {
                target["finding_positions"] =
                    json!([{ "id": "SEC-001", "position": "confirm", "reason": "seen" }]);
            }
            asked.with(json!({ "targets": targets }))
        }
        Purpose::Synthesis => asked.with(json!({ "findings": [finding(&json!({
            "reported_by": ["A", "Opinion B"], "confirmed_by": ["C"], "disputed_by": [],
        }))] })),
        Purpose::Conclusion
        | Purpose::Audit
        | Purpose::Revision
        | Purpose::Restatement
        | Purpose::Other(_)
        | Purpose::Judgement
        | Purpose::CrossReading
        | Purpose::Adjudication => Play::Fitting,
    }
}

#[test]
fn a_review_of_files_merges_its_findings() {
    let council = Council::new(inspect);
    let folder = council.program.path();
    std::fs::create_dir(folder.join("src")).unwrap();
    std::fs::write(folder.join("src/main.rs"), "let door = \"a blue door\";\n").unwrap();
    std::fs::write(folder.join("src/picture.png"), [0x89, 0x50, 0x4e, 0x47, 0, 1, 2]).unwrap();
    let told = council.ask(&["--mode", "review", "--context", "src"]);
    told.expect("done", 0);
    for seen in council.server.seen() {
        assert!(seen.user.contains("let door = \"a blue door\";"), "{} read no file", seen.model);
        assert!(!seen.system.contains("blue door"), "a file is no instruction");
    }
    assert_eq!(*told.at("transparency.context.files"), 1);
    let excluded = told.at("transparency.context.excluded.0.path").as_str().unwrap();
    assert!(excluded.ends_with("picture.png"), "{excluded}");
    assert_eq!(*told.at("rounds.r1.opinions.0.findings.0.id"), "SEC-001");
    let position = told.at("rounds.r2.reviews.0.targets.0.finding_positions.0.position");
    assert_eq!(*position, "confirm");
    let letter = |letter: &str| told.at(&format!("transparency.letter_map.{letter}")).clone();
    let merged = told.at("report.findings.0");
    assert_eq!(merged["reported_by"], json!([letter("A"), letter("B")]));
    assert_eq!(merged["confirmed_by"], json!([letter("C")]));
    assert_eq!(merged["disputed_by"], json!([]));
    let exported = council.run(&["export", told.id(), "--json"]).document;
    let claims = exported["claims"].as_array().unwrap();
    let found = claims.iter().filter(|claim| claim["label"] == "SEC-001: Key in the code").count();
    assert_eq!(found, 3, "each finding is a claim of its seat");
}

#[test]
fn findings_belong_to_reviews_alone() {
    let told = Council::new(inspect).ask(&[]);
    told.expect("done", 0);
    assert_eq!(*told.at("rounds.r1.opinions.0.findings"), json!([]));
}

#[test]
fn a_file_that_is_not_there_ends_it_before_anybody_is_asked() {
    let council = Council::new(|_| Play::Fitting);
    let told = council.ask(&["--context", "nowhere.md"]);
    told.expect("error", 4);
    assert_eq!(council.server.seen().len(), 0);
    assert!(!council.program.path().join(".plenary").exists());
}

#[test]
fn prompts_can_be_kept_out_of_the_record_and_a_cut_run_still_goes_on() {
    let let_go = Arc::new(AtomicBool::new(false));
    let is_free = Arc::clone(&let_go);
    let council = Council::with(
        move |asked| match is_free.load(Ordering::SeqCst) {
            false if asked.seat == "cid" => Play::Hang,
            true | false => Play::Fitting,
        },
        |settings| settings["retention"] = json!({ "keep_prompts": false }),
    );
    let told = council.ask(&["--deadline", "1800ms"]);
    told.expect("incomplete", 3);
    let first: Vec<String> = council.seen(Purpose::Opinion).iter().map(prompt_of).collect();
    resumes(&council, told.id(), &let_go);
    let again: Vec<String> = council.seen(Purpose::Opinion).iter().map(prompt_of).collect();
    assert_eq!(again.last(), first.first(), "what was written anew is what was sent before");
    let kept = crate::kit::dump(council.program.path());
    assert!(kept.contains("messages_sha256"), "a digest stands in their place");
    assert!(!kept.contains("You are a participant of a council"), "a prompt was kept");
}

fn prompt_of(seen: &crate::kit::Seen) -> String {
    format!("{}{}", seen.system, seen.user)
}

#[test]
fn a_question_behind_a_list_of_files_is_a_question() {
    let council = Council::new(|_| Play::Fitting);
    std::fs::write(council.program.path().join("plan.md"), "We begin on Monday.").unwrap();
    let told = council.run(&[
        "ask",
        "--json",
        "--no-conclusion",
        "--context",
        "plan.md",
        "Is Monday good?",
    ]);
    told.expect("done", 0);
    assert_eq!(*told.at("transparency.context.files"), 1);
    let seen = council.seen(Purpose::Opinion);
    assert!(seen[0].user.contains("Is Monday good?") && seen[0].user.contains("on Monday."));
    let ran = council.program.run(&["ask", "--context", "plan.md"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("the question is empty"), "{ran:?}");
}
