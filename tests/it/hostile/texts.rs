//! Texts: input comes back byte for byte from every field.

use plenary_engine::app::project::Project;
use plenary_engine::files::allowed_folders::AllowedFolders;
use plenary_engine::store::sqlite::store::SqliteStore;
use serde_json::{Value, json};

use super::corpora;
use crate::kit::{FixedClock, TestProject, make_batch, make_item, make_pool, open_dialogue};

const LINE_CHARS_MAX: usize = 1_000;

/// Non-blank texts that fit a line, and those that only fit a page.
fn line_texts() -> Vec<String> {
    let fits = |text: &String| !text.trim().is_empty() && text.chars().count() <= LINE_CHARS_MAX;
    corpora::all_texts().into_iter().filter(fits).collect()
}

fn page_texts() -> Vec<String> {
    corpora::all_texts().into_iter().filter(|text| !text.trim().is_empty()).collect()
}

/// Without a disk, because these tests write thousands of times.
fn project_in_memory() -> TestProject {
    let folder = tempfile::tempdir().unwrap();
    let project = Project::new(
        std::sync::Arc::new(SqliteStore::in_memory().unwrap()),
        std::sync::Arc::new(FixedClock::default()),
        AllowedFolders::new(folder.path(), &folder.path().join("plenary.db"), &[]),
    );
    TestProject { folder, project }
}

/// Section, letter and text field of each kind.
const KINDS: [(&str, char, &str); 5] = [
    ("perspectives", 'P', "content"),
    ("recommendations", 'R', "content"),
    ("tensions", 'T', "description"),
    ("evidence", 'E', "content"),
    ("claims", 'C', "content"),
];

/// A round of up to 99 items of each kind with these texts.
fn make_round(round: u8, texts: &[String]) -> Value {
    let mut fields = json!({});
    for ((section, letter, text_field), texts) in KINDS.iter().zip(texts.chunks(99)) {
        let items = texts.iter().zip(1..).map(|(text, seq)| {
            let mut item = make_item(&format!("ANN-{letter}{round:02}{seq:02}"), "");
            item["label"] = json!(text.chars().take(LINE_CHARS_MAX).collect::<String>());
            item[text_field] = json!(text);
            item
        });
        fields[section] = items.collect();
    }
    make_batch(round, fields)
}

/// The texts at `path` of each element of a list, in order.
fn texts_at(list: &Value, path: &str) -> Vec<String> {
    let texts = list.as_array().unwrap().iter().filter_map(|element| element.pointer(path));
    texts.map(|text| text.as_str().unwrap().to_owned()).collect()
}

#[track_caller]
fn check_texts(message: &[String], expected: &[String]) {
    assert_eq!(message.len(), expected.len());
    for (message, expected) in message.iter().zip(expected) {
        assert_eq!(message, expected);
    }
}

#[test]
fn labels_and_contents_come_back_from_export_and_cite() {
    let bench = TestProject::new();
    open_dialogue(&bench, &["ann"]);
    let texts = page_texts();
    let rounds: Vec<&[String]> = texts.chunks(99 * KINDS.len()).collect();
    for (round, texts) in (0..).zip(&rounds) {
        bench.run_ok("register", &make_round(round, texts));
    }
    let exported = bench.export_dialogue("talk");
    for ((section, letter, text_field), place) in KINDS.iter().zip(0..) {
        let expected: Vec<String> = rounds
            .iter()
            .filter_map(|texts| texts.chunks(99).nth(place))
            .flatten()
            .cloned()
            .collect();
        let pointer = format!("/{text_field}");
        check_texts(&texts_at(&exported[section], &pointer), &expected);
        let ids = texts_at(&exported[section], "/id");
        for (ids, expected) in ids.chunks(400).zip(expected.chunks(400)) {
            let cited = bench.run_ok("cite", &json!({ "dialogue_id": "talk", "ids": ids }));
            check_texts(&texts_at(&cited["citations"], "/content"), expected);
            let labels: Vec<String> =
                expected.iter().map(|text| text.chars().take(LINE_CHARS_MAX).collect()).collect();
            check_texts(&texts_at(&cited["citations"], "/label"), &labels);
        }
        assert!(!ids.is_empty() && ids.iter().all(|id| id.starts_with(*letter)));
    }
    bench.assert_verified();
}

#[test]
fn contexts_and_reasons_come_back() {
    let bench = TestProject::new();
    open_dialogue(&bench, &["ann"]);
    let texts = page_texts();
    let moves: Vec<Value> = texts
        .iter()
        .map(|text| json!({ "expert": "ann", "type": "request", "context": text }))
        .collect();
    // A transition into the current state only records its reason.
    let updates: Vec<Value> = texts
        .iter()
        .map(|text| json!({ "id": "ANN-T0001", "status": "open", "by": "ann", "reason": text }))
        .collect();
    let fields = json!({ "tensions": [make_item("ANN-T0001", "")], "moves": moves, "tension_updates": updates });
    bench.run_ok("register", &make_batch(0, fields));
    let exported = bench.export_dialogue("talk");
    check_texts(&texts_at(&exported["moves"], "/context"), &texts);
    check_texts(&texts_at(&exported["tensions"][0]["events"], "/reason"), &texts);
    bench.assert_verified();
}

#[test]
fn round_titles_summaries_and_replies_come_back() {
    let bench = project_in_memory();
    let texts = line_texts();
    for texts in texts.chunks(100) {
        let created =
            bench.run_ok("create", &json!({ "title": "Talk", "expert_pool": make_pool(&["ann"]) }));
        let id = created["dialogue_id"].as_str().unwrap();
        for (text, round) in texts.iter().zip(0..) {
            let fields = json!({
                "dialogue_id": id, "title": text, "summary": text, "raw_content": { "ann": text },
            });
            bench.run_ok("register", &make_batch(round, fields));
        }
        let rounds = &bench.export_dialogue(id)["rounds"];
        check_texts(&texts_at(rounds, "/title"), texts);
        check_texts(&texts_at(rounds, "/summary"), texts);
        check_texts(&texts_at(rounds, "/experts/ann/raw"), texts);
    }
    bench.assert_verified();
}

#[test]
fn titles_questions_backgrounds_and_roles_come_back() {
    let bench = project_in_memory();
    let mut crowded = 0;
    for text in line_texts() {
        let expert = json!({ "slug": "ann", "role": text, "tier": "Core", "focus": text });
        let arguments = json!({
            "title": text, "question": text, "background": { text.as_str(): [text] },
            "expert_pool": { "domain": text, "experts": [expert] },
        });
        let created = match bench.run_operation("create", &arguments) {
            Ok(created) => created,
            Err(error) => {
                assert_eq!(error.to_document()["error_code"], "too_many_similar_titles");
                crowded += 1;
                continue;
            }
        };
        let exported = bench.export_dialogue(created["dialogue_id"].as_str().unwrap());
        let texts =
            ["/title", "/question", "/experts/0/role", "/experts/0/focus", "/expert_pool/domain"];
        for path in texts {
            assert_eq!(exported.pointer(path).unwrap(), text.as_str(), "{path}");
        }
        assert_eq!(exported["background"], arguments["background"]);
    }
    assert!(crowded < 100, "{crowded} titles found no id");
    bench.assert_verified();
}

#[test]
fn verdicts_come_back() {
    let bench = TestProject::new();
    open_dialogue(&bench, &["ann"]);
    bench.run_ok("register", &make_round(0, &[]));
    let texts = line_texts();
    for (place, conditions) in texts.chunks(25).enumerate() {
        let text = &conditions[0];
        bench.run_ok(
            "verdict",
            &json!({
                "dialogue_id": "talk", "verdict_id": format!("V{place}"), "verdict_type": "interim",
                "recommendation": text, "description": text, "conditions": conditions,
            }),
        );
        let given = &bench.export_dialogue("talk")["verdicts"][place];
        assert_eq!(given["recommendation"], text.as_str());
        assert_eq!(given["description"], text.as_str());
        assert_eq!(given["conditions"], json!(conditions));
    }
    bench.assert_verified();
}

#[test]
fn no_text_breaks_a_search() {
    let bench = TestProject::new();
    open_dialogue(&bench, &["ann"]);
    for text in page_texts() {
        bench.run_ok("similar", &json!({ "query": text }));
    }
}
