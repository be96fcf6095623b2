//! Batches: order, exit codes, and shared budgets.

use std::time::Duration;

use plenary_core::model::ask::AskPurpose;
use serde_json::{Value, json};

use super::harness::TestCouncil;
use crate::kit::ScriptedReply;

/// The text of each question selects its outcome.
fn batch_council(change: impl FnOnce(&mut Value)) -> TestCouncil {
    let script = |asked: &super::harness::SeatRequest<'_>| {
        let is_first = asked.purpose == AskPurpose::Opinion;
        match &asked.request.user {
            text if text.contains("Refused?") => {
                ScriptedReply::Status(401, vec![], "no".to_owned())
            }
            text if text.contains("Slow?") && is_first => {
                ScriptedReply::Slow(Duration::from_millis(600), Box::new(ScriptedReply::Valid))
            }
            text if text.contains("Slowest?") && is_first => {
                ScriptedReply::Slow(Duration::from_millis(2_500), Box::new(ScriptedReply::Valid))
            }
            _ => ScriptedReply::Valid,
        }
    };
    TestCouncil::with_settings(script, change)
}

/// Runs a batch and returns its exit code and lines.
#[track_caller]
fn run_batch(council: &TestCouncil, lines: &[&str], arguments: &[&str]) -> (i32, Vec<Value>) {
    std::fs::write(council.program.path().join("batch.jsonl"), lines.join("\n")).unwrap();
    let ran = council.program.run_command(
        &[&["ask", "--json", "-q", "--no-conclusion", "--batch", "batch.jsonl"], arguments]
            .concat(),
    );
    council.assert_verified();
    let line = |line: &str| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {ran:?}"));
    (ran.code, ran.stdout.lines().map(line).collect())
}

fn column_of<'a>(lines: &'a [Value], key: &str) -> Vec<&'a Value> {
    lines.iter().map(|line| &line[key]).collect()
}

#[test]
fn results_come_as_they_are_ready_and_the_worst_decides() {
    let council = batch_council(|_| {});
    let lines = [
        r#""Slowest?""#,
        "",
        r#"{"id": "two", "question": "Quick?", "mode": "architecture"}"#,
        r#"{"id": 3, "question": "Refused?"}"#,
    ];
    let (code, result) = run_batch(&council, &lines, &["--jobs", "3"]);
    assert_eq!(code, 3);
    assert_eq!(result.len(), 3);
    assert_eq!(result[2]["index"], 0, "the slowest comes last");
    let find = |index: usize| result.iter().find(|line| line["index"] == index).unwrap();
    let facts = |index: usize| {
        let line = find(index);
        json!([line["id"], line["status"], line["mode"]])
    };
    assert_eq!(facts(0), json!([null, "done", "general"]));
    assert_eq!(facts(1), json!(["two", "done", "architecture"]));
    assert_eq!(facts(2), json!([3, "failed", "general"]));
    assert_eq!(find(2)["error"]["error_code"], "quorum_not_met");
    let listed = council.run_command(&["list", "--json"]);
    assert_eq!(listed.value_at("dialogues").as_array().unwrap().len(), 3, "each has its record");
    let good = run_batch(&council, &[r#""Quick?""#], &[]);
    assert_eq!((good.0, column_of(&good.1, "status")), (0, vec![&json!("done")]));
}

#[test]
fn a_batch_with_a_malformed_line_calls_no_model() {
    let council = batch_council(|_| {});
    let lines = [
        r#""Good?""#,
        "not json",
        r#"{"question": "Good?", "color": "red"}"#,
        r#"{"id": 4}"#,
        r#""  ""#,
    ];
    let (code, result) = run_batch(&council, &lines, &[]);
    assert_eq!(code, 1);
    let text = result[0].to_string();
    for line in ["line 2", "line 3", "line 4", "line 5"] {
        let named = text.contains(&format!("\"message\":\"{line}: "));
        assert!(named, "{line} is not named in {text}");
    }
    assert_eq!(result[0]["errors"].as_array().unwrap().len(), 4, "the good line is not at fault");
    assert_eq!(council.server.requests().len(), 0);
    assert_eq!(run_batch(&council, &[""], &[]).0, 1, "an empty batch is none");
    assert_eq!(council.program.run_command(&["ask", "--batch", "nowhere.jsonl"]).code, 4);
}

#[test]
fn a_batch_spends_no_more_than_it_may() {
    // Every call may cost a dollar and actually costs a few cents.
    let council = batch_council(|settings| {
        settings["budget"]["usd_max"] = json!(100);
        for provider in settings["council"]["providers"].as_array_mut().unwrap() {
            provider["price"] = json!({ "input_per_mtok": 0, "output_per_mtok": 1_000 });
            provider["max_output_tokens"] = json!(1_000);
        }
    });
    let lines = [r#""One?""#; 9];
    let (code, result) = run_batch(&council, &lines, &["--jobs", "1", "--budget-usd", "6"]);
    assert_eq!(code, 3);
    let statuses = column_of(&result, "status");
    assert_eq!(result[0]["status"], "done");
    assert_eq!(*statuses[8], "incomplete");
    assert_eq!(result[8]["error"]["error_code"], "budget_exhausted");
    let cost = |line: &Value| line["metrics"]["session"]["total_cost_estimate"].as_f64();
    let spent: f64 = result.iter().filter_map(cost).sum();
    assert!(spent > 1.0 && spent <= 6.0, "{spent} dollars were spent");
}

#[test]
fn each_question_has_the_time_of_the_settings_and_all_the_time_of_the_flag() {
    let council = batch_council(|settings| settings["budget"]["wall_max"] = json!("2500ms"));
    let lines = [r#""Slow?""#; 5];
    let (code, result) = run_batch(&council, &lines, &["--jobs", "1"]);
    assert_eq!((code, column_of(&result, "status")), (0, vec![&json!("done"); 5]));
    let (code, result) = run_batch(&council, &lines, &["--jobs", "1", "--deadline", "900ms"]);
    assert_eq!(code, 3);
    let last = result.iter().find(|line| line["index"] == 4).unwrap();
    assert_eq!(last["error"]["error_code"], "deadline_exceeded");
}

/// A council in which every call costs the same, with ten times that as its estimate.
fn priced_council() -> TestCouncil {
    batch_council(|settings| {
        settings["budget"]["usd_max"] = json!(100);
        for provider in settings["council"]["providers"].as_array_mut().unwrap() {
            provider["price"] = json!({ "input_per_mtok": 0, "output_per_mtok": 1_000 });
            provider["max_output_tokens"] = json!(1_500);
        }
    })
}

fn cost_of(line: &Value) -> f64 {
    line["metrics"]["session"]["total_cost_estimate"].as_f64().unwrap_or(0.0)
}

#[test]
fn money_for_twenty_councils_ends_about_twenty_of_two_hundred() {
    let council = priced_council();
    let (_, alone) = run_batch(&council, &[r#""What does one take?""#], &[]);
    let budget = cost_of(&alone[0]) * 20.0;
    let questions: Vec<String> =
        (0..200).map(|place| format!("\"Question {place:03}?\"")).collect();
    let questions: Vec<&str> = questions.iter().map(String::as_str).collect();
    let budget_flag = format!("{budget:.6}");
    let (code, result) =
        run_batch(&council, &questions, &["--jobs", "60", "--budget-usd", &budget_flag]);
    assert_eq!((code, result.len()), (3, 200));
    let done: Vec<&Value> = result.iter().filter(|line| line["status"] == "done").collect();
    assert!(done.len() >= 18, "{} are done", done.len());
    let spent: f64 = result.iter().map(cost_of).sum();
    assert!(spent <= budget + 1e-6, "{spent} of {budget} dollars were spent");
    // Started runs come first; the others left no trace.
    let begun: Vec<&Value> = result.iter().filter(|line| !line["dialogue_id"].is_null()).collect();
    assert!(begun.len() <= done.len() + 2, "{} were begun, {} are done", begun.len(), done.len());
    let last_begun = begun.iter().map(|line| line["index"].as_u64().unwrap()).max();
    assert_eq!(last_begun, Some(begun.len() as u64 - 1), "the earlier questions come first");
    let listed = council.run_command(&["list", "--json", "--limit", "100"]);
    assert_eq!(listed.value_at("dialogues").as_array().unwrap().len(), begun.len() + 1);
    for line in result.iter().filter(|line| line["dialogue_id"].is_null()) {
        assert_eq!(line["status"], "incomplete", "{line}");
        assert_eq!(line["error"]["error_code"], "budget_exhausted", "{line}");
        let message = line["error"]["message"].as_str().unwrap();
        let start = "not asked: $";
        assert!(message.starts_with(start), "{message}");
        assert!(line["error"]["suggestion"].as_str().unwrap().contains("--batch"), "{line}");
    }
}

#[test]
fn what_the_batch_cannot_pay_for_is_said_to_be_the_batchs() {
    // The first council starts although its budget may be too small, and it is.
    let council = priced_council();
    let (_, alone) = run_batch(&council, &[r#""What does one take?""#], &[]);
    let budget = format!("{:.6}", 1.5 + cost_of(&alone[0]) / 2.0);
    let lines = [r#""One?""#, r#""Two?""#];
    let (code, result) = run_batch(&council, &lines, &["--jobs", "2", "--budget-usd", &budget]);
    assert_eq!(code, 3);
    let find = |index: usize| result.iter().find(|line| line["index"] == index).unwrap();
    let message =
        "what is left of the batch's budget (`--budget-usd`) does not cover the next call";
    assert_eq!(find(0)["error"]["message"], message, "{:#}", find(0));
    assert!(!find(0)["dialogue_id"].is_null());
    assert!(find(1)["dialogue_id"].is_null(), "{:#}", find(1));
    // With its own budget the run resumes.
    let id = find(0)["dialogue_id"].as_str().unwrap().to_owned();
    let resumed = council.run_command(&["resume", &id, "--json", "--budget-usd", "50"]);
    resumed.expect_status("done", 0);
}
