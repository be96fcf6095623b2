//! Many questions at once: order, exit codes, and money that is shared.

use std::time::Duration;

use plenary::domain::ask::Purpose;
use serde_json::{Value, json};

use super::house::Council;
use crate::kit::Play;

/// Questions say by themselves what should become of them.
fn council(change: impl FnOnce(&mut Value)) -> Council {
    let script = |asked: &super::house::Asked<'_>| {
        let is_first = asked.purpose == Purpose::Opinion;
        match &asked.seen.user {
            text if text.contains("Refused?") => Play::Status(401, vec![], "no".to_owned()),
            text if text.contains("Slow?") && is_first => {
                Play::Slow(Duration::from_millis(600), Box::new(Play::Fitting))
            }
            text if text.contains("Slowest?") && is_first => {
                Play::Slow(Duration::from_millis(2_500), Box::new(Play::Fitting))
            }
            _ => Play::Fitting,
        }
    };
    Council::with(script, change)
}

/// Exit code and lines of a batch.
#[track_caller]
fn run(council: &Council, lines: &[&str], arguments: &[&str]) -> (i32, Vec<Value>) {
    std::fs::write(council.program.path().join("batch.jsonl"), lines.join("\n")).unwrap();
    let ran = council.program.run(
        &[&["ask", "--json", "-q", "--no-conclusion", "--batch", "batch.jsonl"], arguments]
            .concat(),
    );
    council.verify();
    let line = |line: &str| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {ran:?}"));
    (ran.code, ran.stdout.lines().map(line).collect())
}

fn column<'a>(lines: &'a [Value], key: &str) -> Vec<&'a Value> {
    lines.iter().map(|line| &line[key]).collect()
}

#[test]
fn results_come_as_they_are_ready_and_the_worst_decides() {
    let council = council(|_| {});
    let lines = [
        r#""Slowest?""#,
        "",
        r#"{"id": "two", "question": "Quick?", "mode": "architecture"}"#,
        r#"{"id": 3, "question": "Refused?"}"#,
    ];
    let (code, told) = run(&council, &lines, &["--jobs", "3"]);
    assert_eq!(code, 3);
    assert_eq!(told.len(), 3);
    assert_eq!(told[2]["index"], 0, "the slowest comes last");
    let find = |index: usize| told.iter().find(|line| line["index"] == index).unwrap();
    let facts = |index: usize| {
        let line = find(index);
        json!([line["id"], line["status"], line["mode"]])
    };
    assert_eq!(facts(0), json!([null, "done", "general"]));
    assert_eq!(facts(1), json!(["two", "done", "architecture"]));
    assert_eq!(facts(2), json!([3, "failed", "general"]));
    assert_eq!(find(2)["error"]["error_code"], "quorum_not_met");
    let listed = council.run(&["list", "--json"]);
    assert_eq!(listed.at("dialogues").as_array().unwrap().len(), 3, "each has its record");
    let good = run(&council, &[r#""Quick?""#], &[]);
    assert_eq!((good.0, column(&good.1, "status")), (0, vec![&json!("done")]));
}

#[test]
fn a_batch_with_a_malformed_line_asks_nobody() {
    let council = council(|_| {});
    let lines = [
        r#""Good?""#,
        "not json",
        r#"{"question": "Good?", "color": "red"}"#,
        r#"{"id": 4}"#,
        r#""  ""#,
    ];
    let (code, told) = run(&council, &lines, &[]);
    assert_eq!(code, 1);
    let text = told[0].to_string();
    for line in ["line 2", "line 3", "line 4", "line 5"] {
        let named = text.contains(&format!("\"message\":\"{line}: "));
        assert!(named, "{line} is not named in {text}");
    }
    assert_eq!(told[0]["errors"].as_array().unwrap().len(), 4, "the good line is not at fault");
    assert_eq!(council.server.seen().len(), 0);
    assert_eq!(run(&council, &[""], &[]).0, 1, "an empty batch is none");
    assert_eq!(council.program.run(&["ask", "--batch", "nowhere.jsonl"]).code, 4);
}

#[test]
fn a_batch_spends_no_more_than_it_may() {
    // Every call may cost a dollar and really costs some cents.
    let council = council(|settings| {
        settings["budget"]["usd_max"] = json!(100);
        for provider in settings["council"]["providers"].as_array_mut().unwrap() {
            provider["price"] = json!({ "input_per_mtok": 0, "output_per_mtok": 1_000 });
            provider["max_output_tokens"] = json!(1_000);
        }
    });
    let lines = [r#""One?""#; 9];
    let (code, told) = run(&council, &lines, &["--jobs", "1", "--budget-usd", "6"]);
    assert_eq!(code, 3);
    let statuses = column(&told, "status");
    assert_eq!(told[0]["status"], "done");
    assert_eq!(*statuses[8], "incomplete");
    assert_eq!(told[8]["error"]["error_code"], "budget_exhausted");
    let cost = |line: &Value| line["metrics"]["session"]["total_cost_estimate"].as_f64();
    let spent: f64 = told.iter().filter_map(cost).sum();
    assert!(spent > 1.0 && spent <= 6.0, "{spent} dollars were spent");
}

#[test]
fn each_question_has_the_time_of_the_settings_and_all_the_time_of_the_flag() {
    let council = council(|settings| settings["budget"]["wall_max"] = json!("2500ms"));
    let lines = [r#""Slow?""#; 5];
    let (code, told) = run(&council, &lines, &["--jobs", "1"]);
    assert_eq!((code, column(&told, "status")), (0, vec![&json!("done"); 5]));
    let (code, told) = run(&council, &lines, &["--jobs", "1", "--deadline", "900ms"]);
    assert_eq!(code, 3);
    let last = told.iter().find(|line| line["index"] == 4).unwrap();
    assert_eq!(last["error"]["error_code"], "deadline_exceeded");
}
