//! The specification's own examples: the NVIDIA dialogue of three rounds, its id mapping, its
//! export, its errors.

use std::path::Path;

use plenary_engine::app::export_record::print_record;
use serde_json::{Value, json};

use crate::kit::{TestProgram, TestProject, dump_store, read_fixture, value_at};

pub const ID: &str = "nvidia-investment-decision";

/// The steps of `examples/nvidia`, in order.
const STEPS: [(&str, &str); 10] = [
    ("create", "01-create"),
    ("register", "02-round-0"),
    ("panel", "03-panel-1"),
    ("register", "04-round-1"),
    ("expert", "05-expert-palmier"),
    ("panel", "06-panel-2"),
    ("register", "07-round-2"),
    ("verdict", "08-verdict-final"),
    ("verdict", "09-verdict-minority"),
    ("verdict", "10-verdict-dissent"),
];

/// Runs the first steps of the example and returns their answers.
pub fn run_steps(bench: &TestProject, steps: usize) -> Vec<Value> {
    let played = STEPS.iter().take(steps);
    played
        .map(|(operation, file)| {
            bench.run_ok(operation, &read_fixture(&format!("examples/nvidia/{file}.json")))
        })
        .collect()
}

#[test]
fn the_bulk_register_example_is_answered_as_the_seed_says() {
    let bench = TestProject::new();
    let answers = run_steps(&bench, 4);
    let answer = &answers[3];
    assert_eq!(
        value_at(answer, "id_mapping"),
        &json!({
            "MUFFIN-P0101": "P0101",
            "CUPCAKE-P0101": "P0102",
            "SCONE-P0101": "P0103",
            "DONUT-R0101": "R0101",
            "CROISSANT-T0101": "T0101",
            "MUFFIN-E0101": "E0101",
            "MUFFIN-C0101": "C0101",
        })
    );
    assert_eq!(
        value_at(answer, "perspectives"),
        &json!([
            { "local_id": "MUFFIN-P0101", "id": "P0101", "label": "Options viability confirmed" },
            { "local_id": "CUPCAKE-P0101", "id": "P0102", "label": "Concentration risk mitigated" },
            { "local_id": "SCONE-P0101", "id": "P0103", "label": "Execution timeline concern" },
        ])
    );
    assert_eq!(
        value_at(answer, "tension_updates"),
        &json!([
            { "id": "T0001", "status": "addressed", "via": "R0101" },
            { "id": "T0002", "status": "resolved", "via": "P0102" },
        ])
    );
    assert_eq!(
        (value_at(answer, "round"), value_at(answer, "replayed")),
        (&json!(1), &json!(false))
    );
}

#[test]
fn the_whole_dialogue_ends_converged_with_three_verdicts() {
    let bench = TestProject::new();
    let answers = run_steps(&bench, STEPS.len());
    assert_eq!(value_at(&answers[0], "dialogue_id"), ID);
    assert_eq!(value_at(&answers[4], "expert.first_round"), 2);
    assert_eq!(value_at(&answers[7], "dialogue_status"), "converged");
    let export = bench.export_dialogue(ID);
    let types: Vec<&Value> = value_at(&export, "verdicts")
        .as_array()
        .unwrap()
        .iter()
        .map(|v| value_at(v, "type"))
        .collect();
    assert_eq!(types, ["final", "minority", "dissent"]);
    assert_eq!(value_at(&export, "status"), "converged");
    bench.assert_verified();
}

/// A place in the export, and the keys that the specification shows there.
const KEYS: [(&str, &str); 12] = [
    (
        "",
        "id title question date status totalRounds totalAlignment expert_pool experts rounds perspectives \
         recommendations tensions evidence claims moves verdicts warnings protocol conclusion rehearsal headHash",
    ),
    ("/expert_pool", "domain experts"),
    ("/experts/0", "slug role tier source scores total color"),
    ("/experts/12", "creationReason"),
    ("/rounds/0", "round title score summary experts"),
    ("/rounds/0/experts/muffin", "score raw mapping actions"),
    ("/perspectives/0", "id label content contributors round status references events created_at"),
    ("/recommendations/0", "parameters adoptedInVerdict addresses_tensions builds_on"),
    ("/tensions/0", "description relatedPerspectives"),
    ("/evidence/0", "supports"),
    ("/claims/0", "depends_on"),
    (
        "/verdicts/0",
        "id type round author recommendation description conditions tensionsResolved tensionsAccepted \
         recommendationsAdopted keyEvidence keyClaims vote confidence",
    ),
];

#[test]
fn the_export_has_the_seeds_keys() {
    let bench = TestProject::new();
    run_steps(&bench, STEPS.len());
    let export = bench.export_dialogue(ID);
    for (place, keys) in KEYS {
        let section = export.pointer(place).unwrap_or_else(|| panic!("nothing at {place}"));
        for key in keys.split_whitespace() {
            assert!(section.get(key).is_some(), "{place} has no {key}: {section:#}");
        }
    }
    assert!(value_at(&export, "verdicts.1").get("supportingExperts").is_some());
    for absent in ["origin", "rounds_data", "proposals"] {
        assert!(!export.to_string().contains(&format!("\"{absent}\"")), "{absent} is superseded");
    }
}

#[test]
fn lifecycles_and_actions_come_out_as_the_seed_tells_them() {
    let bench = TestProject::new();
    run_steps(&bench, STEPS.len());
    let export = bench.export_dialogue(ID);
    assert_eq!(
        value_at(&export, "perspectives.0.events"),
        &json!([
            { "type": "created", "round": 0, "by": ["muffin"] },
            { "type": "refined", "round": 1, "by": ["muffin"], "result": "P0101" },
        ])
    );
    let actions = value_at(&export, "rounds.1.experts.muffin.actions").as_array().unwrap();
    assert!(actions.contains(
        &json!({ "type": "perspective", "action": "refined", "id": "P0101", "refines": "P0001" })
    ));
    let actions = value_at(&export, "rounds.1.experts.donut.actions").as_array().unwrap();
    assert!(actions.contains(
        &json!({ "type": "recommendation", "action": "amended", "id": "R0101", "amends": "R0001" })
    ));
    assert_eq!(value_at(&export, "rounds.1.experts.muffin.mapping.MUFFIN-P0101"), "P0101");
}

#[test]
fn the_same_record_gives_the_same_bytes() {
    let (one, two) = (TestProject::new(), TestProject::new());
    run_steps(&one, STEPS.len());
    run_steps(&two, STEPS.len());
    for format in ["json", "markdown"] {
        let arguments = json!({ "dialogue_id": ID, "format": format });
        let text = |bench: &TestProject| print_record(&bench.project, &arguments).unwrap().text;
        assert_eq!(text(&one), text(&one));
        assert_eq!(text(&one), text(&two));
    }
}

#[test]
fn an_export_is_written_where_it_may_be_and_counted() {
    let bench = TestProject::new();
    run_steps(&bench, STEPS.len());
    let exported = bench.run_ok("export_file", &json!({ "dialogue_id": ID }));
    assert!(
        value_at(&exported, "path")
            .as_str()
            .unwrap()
            .ends_with(&format!(".plenary/dialogues/{ID}/dialogue.json"))
    );
    assert_eq!(
        value_at(&exported, "stats"),
        &json!({"rounds": 3, "experts": 13, "perspectives": 24, "recommendations": 8, "tensions": 12, "evidence": 6, "claims": 4, "totalAlignment": 290})
    );
    let written = read_fixture(value_at(&exported, "path").as_str().unwrap());
    assert_eq!(written, bench.export_dialogue(ID));
    let elsewhere = bench.run_ok(
        "export_file",
        &json!({ "dialogue_id": ID, "output_path": "out/deep/nvidia.json" }),
    );
    assert!(
        Path::new(value_at(&elsewhere, "path").as_str().unwrap())
            .starts_with(bench.folder.path().canonicalize().unwrap())
    );
}

#[test]
fn the_context_gives_everyone_the_same_and_each_their_own() {
    let bench = TestProject::new();
    run_steps(&bench, 6);
    let context = bench.run_ok("context", &json!({ "dialogue_id": ID, "round": 2 }));
    assert_eq!(value_at(&context, "dialogue.current_round"), 2);
    assert_eq!(value_at(&context, "prior_rounds").as_array().unwrap().len(), 2);
    assert_eq!(value_at(&context, "prior_rounds.0.expert_contributions.0.expert"), "muffin");
    assert!(
        value_at(&context, "prior_rounds.0.expert_contributions.0.perspectives.0.content")
            .as_str()
            .unwrap()
            .len()
            > 40
    );
    let palmier = value_at(&context, "experts.palmier");
    assert_eq!(
        (value_at(palmier, "source"), value_at(palmier, "your_score")),
        (&json!("created"), &json!(0))
    );
    assert!(palmier.get("creation_reason").is_some() && palmier.get("mandate").is_some());
    let muffin = value_at(&context, "experts.muffin.round_context").as_str().unwrap();
    assert!(muffin.contains("T0001"), "muffin is not reminded of T0001: {muffin}");
    assert!(!context.to_string().contains("MUFFIN-"), "a local id reached the context");
    let active: Vec<&Value> = value_at(&context, "active_tensions")
        .as_array()
        .unwrap()
        .iter()
        .map(|t| value_at(t, "status"))
        .collect();
    assert!(active.iter().all(|status| **status != "resolved"));
}

#[test]
fn every_refusal_says_what_the_specification_promises_and_changes_nothing() {
    let folder =
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("tests/fixtures/errors");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    files.sort();
    let cases: Vec<String> = files
        .into_iter()
        .map(|name| name.into_string().unwrap())
        .filter(|name| name.ends_with(".json"))
        .collect();
    assert!(cases.len() >= 90, "only {} cases", cases.len());
    // Cases without preconditions share one store; they must not change it.
    let shared = TestProject::new();
    run_steps(&shared, 4);
    for name in cases {
        let case = read_fixture(&format!("tests/fixtures/errors/{name}"));
        let own = case.get("before").map(|before| {
            let bench = TestProject::new();
            run_steps(&bench, 4);
            for step in before.as_array().unwrap() {
                bench.run_ok(value_at(step, "op").as_str().unwrap(), value_at(step, "arguments"));
            }
            bench
        });
        let bench = own.as_ref().unwrap_or(&shared);
        let before = dump_store(bench.folder.path());
        let refusal = bench
            .expect_error(value_at(&case, "op").as_str().unwrap(), value_at(&case, "arguments"));
        assert_contains(&refusal, value_at(&case, "expect"), &name);
        assert!(dump_store(bench.folder.path()) == before, "{name} changed the store");
    }
}

#[track_caller]
fn assert_contains(document: &Value, expected: &Value, name: &str) {
    assert!(contains_expected(document, expected), "{name}: expected {expected:#} in {document:#}");
}

/// Objects may contain more than expected; lists must match exactly, in any order.
fn contains_expected(found: &Value, expected: &Value) -> bool {
    match (found, expected) {
        (Value::Object(found), Value::Object(expected)) => expected.iter().all(|(key, value)| {
            found.get(key).is_some_and(|found| contains_expected(found, value))
        }),
        (Value::Array(found), Value::Array(expected)) => {
            found.len() == expected.len()
                && expected
                    .iter()
                    .all(|value| found.iter().any(|found| contains_expected(found, value)))
        }
        _ => found == expected,
    }
}

#[test]
fn the_program_plays_the_dialogue_from_files_alone() {
    let program = TestProgram::new();
    for (operation, file) in STEPS {
        let (code, answer) = program
            .run_operation(operation, &read_fixture(&format!("examples/nvidia/{file}.json")));
        assert_eq!(
            (code, value_at(&answer, "status")),
            (0, &json!("success")),
            "{file}: {answer:#}"
        );
    }
    let progress: Value =
        serde_json::from_str(&program.run_command(&["dialogue", "progress", ID, "--json"]).stdout)
            .unwrap();
    assert_eq!(value_at(&progress, "estimated_rounds_remaining"), 0);
    assert_eq!(program.run_command(&["verify"]).code, 0);
}
