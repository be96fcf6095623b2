//! Invalid JSON is rejected as such, and valid JSON never causes a panic.

use std::path::PathBuf;

use plenary_engine::app::dialogues::parse_arguments;
use plenary_engine::app::export_record::print_record;
use serde_json::{Value, json};

use super::corpora;
use crate::kit::{TestProgram, TestProject, make_batch, make_item, open_dialogue};

/// Every file of the suite, by name.
fn suite_files() -> Vec<(String, PathBuf)> {
    let mut files = Vec::new();
    for folder in ["test_parsing", "test_transform"] {
        for entry in
            std::fs::read_dir(corpora::corpora_folder().join("jsontestsuite").join(folder)).unwrap()
        {
            let entry = entry.unwrap();
            files.push((entry.file_name().into_string().unwrap(), entry.path()));
        }
    }
    assert!(files.len() >= 340, "the suite lost files");
    files.sort();
    files
}

/// The result that a file name of the suite requires.
enum ExpectedResult {
    Accepted,
    Refused,
    Either,
}

fn expected_result(name: &str) -> ExpectedResult {
    // JSON leaves duplicate keys to the parser; ours rejects them instead of losing one.
    if name.contains("duplicated_key") || name.contains("same_key") {
        return ExpectedResult::Refused;
    }
    match name.split_once('_') {
        Some(("y", _)) => ExpectedResult::Accepted,
        Some(("n", _)) => ExpectedResult::Refused,
        _ => ExpectedResult::Either,
    }
}

/// Parses as `--data` does; an error must have the code `invalid_json`.
#[track_caller]
fn check_parse(name: &str, text: &str) -> bool {
    match parse_arguments(text) {
        Ok(_) => true,
        Err(error) => {
            let document = error.to_document();
            assert_eq!(document["error_code"], "invalid_json", "{name}: {document:#}");
            assert_eq!(error.kind().exit_code(), 1, "{name}");
            false
        }
    }
}

#[test]
fn the_suite_is_parsed_as_it_promises() {
    let mut texts = 0;
    for (name, path) in suite_files() {
        let Ok(text) = String::from_utf8(std::fs::read(&path).unwrap()) else { continue };
        texts += 1;
        let accepted = check_parse(&name, &text);
        match expected_result(&name) {
            ExpectedResult::Accepted => assert!(accepted, "{name} was refused"),
            ExpectedResult::Refused => assert!(!accepted, "{name} was accepted"),
            ExpectedResult::Either => {}
        }
    }
    assert!(texts > 300);
}

#[test]
fn every_document_of_the_suite_is_refused_or_answered_by_every_operation() {
    let bench = TestProject::new();
    open_dialogue(&bench, &["ann"]);
    for (name, path) in suite_files() {
        let Ok(text) = String::from_utf8(std::fs::read(&path).unwrap()) else { continue };
        let Ok(document) = parse_arguments(&text) else { continue };
        for operation in ["create", "panel", "expert", "register", "verdict", "context", "export"] {
            // One of them has a title and is a valid dialogue.
            if let Err(error) = bench.run_operation(operation, &document) {
                assert_eq!(error.to_document()["status"], "error", "{name}");
            }
            let wrapped = json!({
                "dialogue_id": &document, "title": &document, "round": &document, "score": &document,
                "panel": &document, "perspectives": &document, "verdict_id": &document,
            });
            let refusal = bench.run_operation(operation, &wrapped);
            assert!(refusal.is_err() || document.is_string(), "{operation} took {name}");
        }
    }
    bench.assert_verified();
}

#[test]
fn a_file_that_is_not_text_is_unreadable() {
    let program = TestProgram::new();
    let not_text: Vec<PathBuf> = suite_files()
        .into_iter()
        .map(|(_, path)| path)
        .filter(|path| String::from_utf8(std::fs::read(path).unwrap()).is_err())
        .collect();
    assert!(not_text.len() >= 15, "only {}", not_text.len());
    for path in not_text {
        let ran = program.run_command(&[
            "dialogue",
            "create",
            "--json",
            "--data",
            path.to_str().unwrap(),
        ]);
        let document: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!((ran.code, &document["error_code"]), (4, &json!("unreadable")), "{path:?}");
    }
}

#[test]
fn depth_has_a_limit() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(check_parse("shallow", &nested(100)));
    for depth in [1_000, 100_000] {
        assert!(!check_parse("deep", &nested(depth)));
        assert!(!check_parse("unclosed", &"[".repeat(depth)));
        assert!(!check_parse(
            "objects",
            &format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth))
        ));
    }
    let program = TestProgram::new();
    let file = program.path().join("deep.json");
    std::fs::write(&file, nested(100_000)).unwrap();
    let ran = program.run_command(&["dialogue", "create", "--json", "--data", "deep.json"]);
    let document: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((ran.code, &document["error_code"]), (1, &json!("invalid_json")));
}

/// Requests with `depth` nested lists in the fields that accept any value.
fn deep_dialogues(depth: usize) -> [String; 2] {
    let lists = format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
    let expert = format!(r#"{{"role":"R","tier":"Core","whatever":{lists}}}"#);
    [
        format!(r#"{{"title":"Deep","background":{lists}}}"#),
        format!(r#"{{"title":"Deep","expert_pool":{{"experts":[{expert}]}}}}"#),
    ]
}

#[test]
fn what_is_accepted_can_be_read_again_however_deep() {
    let mut accepted = 0;
    let depths = [1, 40, 60, 63, 64, 100, 120, 121, 122, 123, 124, 125, 126, 127];
    for text in depths.into_iter().flat_map(deep_dialogues) {
        let Ok(arguments) = parse_arguments(&text) else { continue };
        let bench = TestProject::new();
        match bench.run_operation("create", &arguments) {
            Ok(_) => {
                accepted += 1;
                let exported = bench.export_dialogue("deep");
                assert_eq!(exported["background"], arguments["background"]);
                assert_eq!(exported["expert_pool"]["experts"], arguments["expert_pool"]["experts"]);
                bench.run_ok("context", &json!({ "dialogue_id": "deep" }));
            }
            Err(error) => assert_eq!(error.to_document()["error_code"], "field_too_long", "{text}"),
        }
        bench.assert_verified();
    }
    assert!(accepted >= 6, "only {accepted}");
}

#[test]
fn a_document_cannot_smuggle_depth_inside_a_string() {
    // The name under which serde_json hides raw text in a value.
    let mut inner = "1".to_owned();
    for _ in 0..8 {
        let lists = format!("{}{inner}{}", "[".repeat(100), "]".repeat(100));
        inner = json!({ "$serde_json::private::RawValue": lists }).to_string();
    }
    let bench = TestProject::new();
    let Ok(arguments) = parse_arguments(&format!(r#"{{"title":"Deep","background":{inner}}}"#))
    else {
        return;
    };
    if bench.run_operation("create", &arguments).is_ok() {
        bench.export_dialogue("deep");
    }
    bench.assert_verified();
}

#[test]
fn numbers_are_kept_to_the_last_bit() {
    let bench = TestProject::new();
    let mut numbers =
        vec![0.1 + 0.2, 1e23, 5e-324, f64::MAX, f64::MIN_POSITIVE, 9007199254740993.0];
    // Fractions with seventeen digits, which a fast parser gets wrong by one bit.
    let mut state = 7_u64;
    for _ in 0..500 {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        numbers.push((state >> 11) as f64 / (1_u64 << 53) as f64);
    }
    let experts: Vec<Value> = numbers
        .iter()
        .filter(|number| (0.0..=1.0).contains(*number))
        .take(150)
        .map(|number| json!({ "role": "R", "tier": "Core", "relevance": number }))
        .collect();
    let text = json!({
        "title": "Talk", "background": numbers, "expert_pool": { "experts": experts },
    })
    .to_string();
    bench.run_ok("create", &parse_arguments(&text).unwrap());
    let mut recommendation = make_item("MUFFIN-R0001", "");
    recommendation["parameters"] = json!({ "numbers": numbers });
    let round = make_batch(0, json!({ "recommendations": [recommendation] })).to_string();
    bench.run_ok("register", &parse_arguments(&round).unwrap());
    // Compared as text, because the test's own parser is under test.
    let exported = print_record(&bench.project, &json!({ "dialogue_id": "talk" }));
    let expected = json!(numbers).to_string();
    assert_eq!(exported.unwrap().text.matches(&expected).count(), 2, "a number changed");
    bench.assert_verified();
}
