//! Names: dialogue ids, slugs, local ids and targets accept only their alphabet.

use plenary_core::model::ids::{DialogueId, ExpertSlug, LocalId, VerdictId};
use serde_json::{Value, json};

use super::corpora;
use crate::kit::{TestProject, make_batch, make_item, open_dialogue};

/// Names that look like a valid one.
const LOOK_ALIKES: [&str; 14] = [
    "аnn",
    "ａｎｎ",
    "ann\u{200b}",
    "\u{202e}nna",
    "ann\u{0}",
    "ann ",
    " ann",
    "ann\n",
    "Ann",
    "ÀNN",
    "ŀann",
    "ann/../bob",
    "ann.",
    "-ann",
];

fn hostile_names() -> Vec<String> {
    let long = [33, 81, 1_000, 5_000].map(|length| "a".repeat(length));
    let own = LOOK_ALIKES.map(str::to_owned).into_iter().chain(long);
    corpora::all_texts()
        .into_iter()
        .chain(corpora::read_corpus("path_traversal"))
        .chain(own)
        .collect()
}

fn project_with_dialogue() -> TestProject {
    let bench = TestProject::new();
    open_dialogue(&bench, &["ann", "bob"]);
    bench.run_ok(
        "register",
        &make_batch(0, json!({ "perspectives": [make_item("ANN-P0001", "")] })),
    );
    bench
}

/// Runs an operation with each name; its error codes must be among `codes`.
#[track_caller]
fn check_names(
    names: &[String],
    codes: &[&str],
    run: impl Fn(&TestProject, &str) -> Option<Value>,
) {
    let bench = project_with_dialogue();
    let head = bench.store().verify_record(None, None).unwrap().head;
    for name in names {
        let Some(document) = run(&bench, name) else { continue };
        for code in error_codes(&document) {
            assert!(codes.contains(&code.as_str()), "{name:?}: {document:#}");
        }
    }
    assert_eq!(
        bench.store().verify_record(None, None).unwrap().head,
        head,
        "something was written"
    );
}

/// The code of an error, or the codes of all its faults.
fn error_codes(document: &Value) -> Vec<String> {
    let text = |fault: &Value| fault["error_code"].as_str().unwrap().to_owned();
    match document["errors"].as_array() {
        Some(faults) => faults.iter().map(text).collect(),
        None => vec![text(document)],
    }
}

#[test]
fn no_text_is_a_dialogue() {
    let names = hostile_names();
    let (blank, names): (Vec<_>, Vec<_>) =
        names.into_iter().partition(|name| name.trim().is_empty());
    for operation in ["export", "export_file", "progress", "context", "register", "cite"] {
        let run = |bench: &TestProject, name: &str| {
            let mut arguments = json!({ "dialogue_id": name });
            match operation {
                "register" => arguments = json!({ "dialogue_id": name, "round": 1, "score": 0 }),
                "cite" => {
                    arguments = json!({ "dialogue_id": name, "ids": ["P0001"] });
                    let refusal = bench.run_operation("cite", &arguments);
                    return Some(refusal.unwrap_or_else(|error| error.to_document()));
                }
                _ => {}
            }
            Some(bench.expect_error(operation, &arguments))
        };
        // The dialogue of a citation is plain text.
        check_names(&names, &["dialogue_not_found", "field_too_long"], run);
        let missing = ["missing_field", "dialogue_not_found"];
        check_names(&blank, &missing, run);
    }
}

#[test]
fn only_cite_limits_the_length_of_an_id() {
    let long = "a".repeat(5_000);
    let refusal = project_with_dialogue().expect_error("progress", &json!({ "dialogue_id": long }));
    assert_eq!(refusal["error_code"], "dialogue_not_found");
    assert!(refusal.to_string().len() < 1_000, "the id is echoed whole");
}

#[test]
fn a_name_is_its_alphabet_or_nothing() {
    for name in hostile_names() {
        let plain = |extra: &str| {
            name.bytes().all(|byte| {
                byte.is_ascii_lowercase()
                    || byte.is_ascii_digit()
                    || extra.as_bytes().contains(&byte)
            })
        };
        let starts = |test: fn(&u8) -> bool| name.as_bytes().first().is_some_and(test);
        let slug =
            plain("-_") && starts(u8::is_ascii_lowercase) && name.len() <= 32 && name != "judge";
        assert_eq!(name.parse::<ExpertSlug>().is_ok(), slug, "slug {name:?}");
        let dialogue = plain("-") && starts(|byte| *byte != b'-') && name.len() <= 80;
        assert_eq!(name.parse::<DialogueId>().is_ok(), dialogue, "dialogue {name:?}");
        assert!(name.parse::<LocalId>().is_err(), "local id {name:?}");
        if let Ok(id) = name.parse::<VerdictId>() {
            assert_eq!(id.as_str(), name);
            assert!(name.len() <= 64 && name.is_ascii(), "verdict {name:?}");
        }
    }
}

#[test]
fn an_expert_is_refused_or_exactly_named() {
    let bench = project_with_dialogue();
    let before = bench.export_dialogue("talk")["experts"].as_array().unwrap().len();
    let mut created = 0;
    for name in hostile_names() {
        let arguments = json!({
            "dialogue_id": "talk", "expert_slug": name, "role": "R", "tier": "Core", "reason": "why",
        });
        match bench.run_operation("expert", &arguments) {
            Ok(answer) => {
                assert_eq!(answer["expert"]["expert_slug"], name.as_str());
                created += 1;
            }
            Err(error) => {
                let codes = ["invalid_slug", "missing_field", "field_too_long", "expert_exists"];
                let document = error.to_document();
                let code = document["error_code"].as_str().unwrap();
                assert!(codes.contains(&code), "{name:?}: {document:#}");
            }
        }
    }
    let experts = bench.export_dialogue("talk")["experts"].as_array().unwrap().len();
    assert_eq!(experts, before + created);
    assert!(created > 0, "`undefined` is a good name");
    bench.assert_verified();
}

#[test]
fn a_pool_is_refused_whole_for_one_bad_name() {
    let names: Vec<String> =
        hostile_names().into_iter().filter(|name| name.parse::<ExpertSlug>().is_err()).collect();
    let codes = ["invalid_slug", "field_too_long", "missing_field"];
    check_names(&names, &codes, |bench, name| {
        let experts = json!([
            { "slug": "good", "role": "R", "tier": "Core" },
            { "slug": name, "role": "R", "tier": "Core" },
        ]);
        let arguments = json!({ "title": "Pool", "expert_pool": { "experts": experts } });
        // An empty name counts as absent and gets a default.
        (!name.is_empty()).then(|| bench.expect_error("create", &arguments))
    });
}

#[test]
fn every_bad_local_id_target_and_actor_of_a_batch_is_named() {
    let names = hostile_names();
    let codes = [
        "invalid_local_id",
        "invalid_display_id",
        "target_not_found",
        "expert_not_in_dialogue",
        "missing_field",
        "field_too_long",
    ];
    // A batch with bad ids only: each must be reported.
    let local: Vec<Value> = names.iter().map(|name| make_item(name, "")).collect();
    let targets = |seq: usize, name: &String| {
        let mut good = make_item(&format!("BOB-P01{:02}", seq + 1), "");
        good["references"] = json!([{ "type": "support", "target": name }]);
        good["contributors"] = json!([name]);
        good
    };
    for names in names.chunks(99) {
        let items: Vec<Value> = names.iter().enumerate().map(|(seq, n)| targets(seq, n)).collect();
        let moves: Vec<Value> = names
            .iter()
            .map(|name| json!({ "expert": name, "type": "defend", "target": name }))
            .collect();
        let updates: Vec<Value> = names
            .iter()
            .map(|name| json!({ "id": name, "status": "refined", "by": name, "via": name }))
            .collect();
        let fields = json!({ "perspectives": items, "moves": moves, "updates": updates });
        check_names(&["all".to_owned()], &codes, |bench, _| {
            let refusal = bench.expect_error("register", &make_batch(1, fields.clone()));
            let faults = refusal["errors"].as_array().unwrap();
            // Target, contributor, mover, moved, updated, by and via; one fault may cover a few.
            assert!(faults.len() >= names.len() * 4, "only {} faults", faults.len());
            Some(refusal)
        });
    }
    check_names(&["all".to_owned()], &codes, |bench, _| {
        let refusal =
            bench.expect_error("register", &make_batch(1, json!({ "perspectives": local })));
        assert!(refusal["errors"].as_array().unwrap().len() >= local.len());
        Some(refusal)
    });
}

#[test]
fn a_citation_of_nonsense_is_an_error_beside_the_good_ones() {
    let bench = project_with_dialogue();
    for names in hostile_names().chunks(250) {
        let short: Vec<&String> =
            names.iter().filter(|name| name.chars().count() <= 1_000).collect();
        let mut ids: Vec<&str> = short.iter().map(|name| name.as_str()).collect();
        ids.push("talk/P0001");
        let cited = bench.run_ok("cite", &json!({ "ids": ids }));
        assert_eq!(cited["citations"].as_array().unwrap().len(), 1);
        assert_eq!(cited["errors"].as_array().unwrap().len(), short.len());
    }
}

#[test]
fn a_slug_has_its_length() {
    let bench = project_with_dialogue();
    let check = |operation: &str, arguments: Value, code: Option<&str>| {
        let answer =
            bench.run_operation(operation, &arguments).map_err(|error| error.to_document());
        let found = answer.err().map(|refusal| refusal["error_code"].as_str().unwrap().to_owned());
        assert_eq!(found.as_deref(), code, "{arguments}");
    };
    let expert = |slug: String| json!({ "dialogue_id": "talk", "expert_slug": slug, "role": "R", "tier": "Core", "reason": "w" });
    check("expert", expert("a".repeat(32)), None);
    check("expert", expert("a".repeat(33)), Some("invalid_slug"));
    check("expert", expert("a".repeat(1_001)), Some("field_too_long"));
    let local = |slug: String| json!({ "perspectives": [make_item(&format!("{slug}-P0101"), "")] });
    check("register", make_batch(1, local("A".repeat(33))), Some("batch_validation_failed"));
    check("register", make_batch(1, local("A".repeat(32))), None);
    let verdict = |id: String| {
        json!({ "dialogue_id": "talk", "verdict_id": id, "verdict_type": "interim",
                "recommendation": "r", "description": "d" })
    };
    check("verdict", verdict("v".repeat(65)), Some("invalid_slug"));
    check("verdict", verdict("v".repeat(64)), None);
    let created = bench.run_ok("create", &json!({ "title": "ß".repeat(500) }));
    assert_eq!(created["dialogue_id"].as_str().unwrap().len(), 60);
    bench.assert_verified();
}
