//! Random dialogues return their input; a single random fault gives exactly its error and leaves
//! every row unchanged.

use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng};
use serde_json::{Value, json};

use crate::kit::{TestProject, dump_store, open_dialogue, pick_repeats, value_at};

const EXPERTS: [&str; 4] = ["ann", "bob", "cid", "dora_2"];
const KINDS: [(&str, &str); 5] = [
    ("P", "perspectives"),
    ("R", "recommendations"),
    ("T", "tensions"),
    ("E", "evidence"),
    ("C", "claims"),
];

/// Random choices from proptest's generator, so that a failure can be replayed from its seed.
struct RandomChoices(TestRng);

impl RandomChoices {
    fn new(seed: u64) -> Self {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        Self(TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
    }

    fn number_below(&mut self, limit: usize) -> usize {
        (self.0.next_u64() % limit as u64) as usize
    }

    fn pick_one<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.number_below(from.len())]
    }

    /// Text with every kind of difficult character.
    fn random_text(&mut self) -> String {
        let pieces = [
            "plain",
            "É",
            "日本",
            "\"quoted\"",
            "\\",
            "\n",
            "\t",
            "\u{0}",
            "\u{202e}",
            "🧁",
            "'; DROP",
            "<|im_end|>",
            "]]>",
            "\u{1b}[31m",
            "%s",
            "{{x}}",
        ];
        let count = 1 + self.number_below(6);
        let mut text: String = (0..count).map(|_| *self.pick_one(&pieces)).collect();
        text.push('x');
        text
    }
}

/// The content of a dialogue so far, as the test expects it.
#[derive(Default)]
struct ExpectedDialogueContent {
    /// Global ids with their input.
    entities: Vec<(String, Value)>,
    batches: Vec<Value>,
}

/// A valid batch for a round, with references to any existing entity.
fn valid_batch(
    dice: &mut RandomChoices,
    memory: &ExpectedDialogueContent,
    round: usize,
    at_least: usize,
) -> Value {
    let mut batch =
        json!({ "dialogue_id": "talk", "round": round, "score": dice.number_below(200) });
    let mut fresh: Vec<String> = Vec::new();
    for (letter, section) in KINDS {
        let mut items = Vec::new();
        for seq in 1..=at_least + dice.number_below(3) {
            let expert = *dice.pick_one(&EXPERTS);
            let local_id = format!("{}-{letter}{round:02}{seq:02}", expert.to_uppercase());
            let mut item = json!({ "local_id": local_id, "label": dice.random_text(), text_field(section): dice.random_text(), "contributors": [expert] });
            if letter == "R" {
                item["parameters"] =
                    json!({ dice.random_text(): dice.random_text(), "n": dice.number_below(9) });
            }
            fresh.push(local_id);
            items.push(item);
        }
        batch[section] = json!(items);
    }
    let known: Vec<String> =
        memory.entities.iter().map(|(id, _)| id.clone()).chain(fresh).collect();
    for (letter, section) in KINDS {
        for place in 0..batch[section].as_array().unwrap().len() {
            let own = batch[section][place]["local_id"].as_str().unwrap().to_owned();
            let references = valid_references(dice, letter, &own, &known);
            batch[section][place]["references"] = json!(references);
        }
    }
    for expert in EXPERTS.iter().take(dice.number_below(5)) {
        batch["expert_scores"][expert] = json!(dice.number_below(20));
        batch["raw_content"][expert] = json!(dice.random_text());
    }
    batch["moves"] = json!([{ "expert": dice.pick_one(&EXPERTS), "type": "converge" }]);
    if !known.is_empty() {
        let (expert, target) = (dice.pick_one(&EXPERTS), dice.pick_one(&known));
        let defend =
            json!({ "expert": expert, "type": "defend", "target": target, "context": "x" });
        batch["moves"].as_array_mut().unwrap().push(defend);
    }
    batch
}

fn entity_letter(id: &str) -> char {
    id.rsplit('-').next().unwrap().chars().next().unwrap()
}

fn valid_references(
    dice: &mut RandomChoices,
    letter: &str,
    own: &str,
    known: &[String],
) -> Vec<Value> {
    let mut references: Vec<Value> = Vec::new();
    for _ in 0..dice.number_below(4) {
        let target = dice.pick_one(known);
        let mut types = vec!["support", "oppose", "question", "depend"];
        if entity_letter(target) == 'T' {
            types.extend(["address", "resolve", "reopen"]);
        }
        if letter.starts_with(entity_letter(target)) {
            types.push("refine");
        }
        let reference = json!({ "type": dice.pick_one(&types), "target": target });
        if target != own && !references.contains(&reference) {
            references.push(reference);
        }
    }
    references
}

/// Registers random rounds and records their input by id.
fn register_random_rounds(
    bench: &TestProject,
    dice: &mut RandomChoices,
    rounds: usize,
) -> ExpectedDialogueContent {
    open_dialogue(bench, &EXPERTS);
    let mut memory = ExpectedDialogueContent::default();
    for round in 0..rounds {
        let batch = valid_batch(dice, &memory, round, 0);
        let answer = bench.run_ok("register", &batch);
        let mapping = value_at(&answer, "id_mapping").clone();
        for (_, section) in KINDS {
            for item in batch[section].as_array().unwrap() {
                let global = mapping[item["local_id"].as_str().unwrap()].as_str().unwrap();
                memory.entities.push((global.to_owned(), with_global_ids(item, &mapping)));
            }
        }
        memory.batches.push(batch);
    }
    memory
}

/// The item with references as global ids, as the export should return it.
fn with_global_ids(item: &Value, mapping: &Value) -> Value {
    let mut item = item.clone();
    for reference in item["references"].as_array_mut().unwrap() {
        if let Some(global) = mapping.get(reference["target"].as_str().unwrap()) {
            reference["target"] = global.clone();
        }
    }
    let mut seen: Vec<Value> = Vec::new();
    item["references"].as_array_mut().unwrap().retain(|reference| {
        let new = !seen.contains(reference);
        seen.push(reference.clone());
        new
    });
    item
}

fn make_config(few: u32, often: u32) -> ProptestConfig {
    ProptestConfig {
        cases: pick_repeats(few, often),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(make_config(24, 1_000))]

    #[test]
    fn a_random_dialogue_gives_back_what_went_in(seed in any::<u64>(), rounds in 1_usize..5) {
        let bench = TestProject::new();
        let mut dice = RandomChoices::new(seed);
        let memory = register_random_rounds(&bench, &mut dice, rounds);
        let export = bench.export_dialogue("talk");
        let mut exported = 0;
        for (_, section) in KINDS {
            for entity in value_at(&export, section).as_array().unwrap() {
                exported += 1;
                let sent = &memory.entities.iter().find(|(id, _)| *id == *value_at(entity, "id")).unwrap().1;
                for field in ["label", "content", "description", "contributors", "parameters", "references"] {
                    prop_assert_eq!(entity.get(field), sent.get(field), "{} of {}", field, value_at(entity, "id"));
                }
            }
        }
        prop_assert_eq!(exported, memory.entities.len());
        for (round, batch) in memory.batches.iter().enumerate() {
            let back = value_at(&export, &format!("rounds.{round}"));
            prop_assert_eq!(value_at(back, "score"), value_at(batch, "score"));
            for (expert, score) in batch["expert_scores"].as_object().into_iter().flatten() {
                prop_assert_eq!(value_at(back, &format!("experts.{expert}.score")), score);
                prop_assert_eq!(value_at(back, &format!("experts.{expert}.raw")), &batch["raw_content"][expert]);
            }
            let again = bench.run_ok("register", batch);
            prop_assert_eq!(value_at(&again, "replayed"), &json!(true));
        }
        bench.assert_verified();
    }

    #[test]
    fn a_single_fault_gives_exactly_that_error_and_changes_nothing(seed in any::<u64>()) {
        let bench = TestProject::new();
        let mut dice = RandomChoices::new(seed);
        let memory = register_random_rounds(&bench, &mut dice, 2);
        let before = dump_store(bench.folder.path());
        for _ in 0..8 {
            let mut batch = valid_batch(&mut dice, &memory, 2, 1);
            let (about, code, spoil) = *dice.pick_one(&FAULTS);
            let (_, section) = *dice.pick_one(&KINDS);
            spoil(&mut batch, section);
            let refusal = bench.expect_error("register", &batch);
            let codes: Vec<&Value> = value_at(&refusal, "errors").as_array().unwrap().iter().map(|e| value_at(e, "error_code")).collect();
            prop_assert!(codes == [code], "{} in {}: {:#}", about, section, refusal);
        }
        prop_assert!(dump_store(bench.folder.path()) == before, "a refused batch left something behind");
    }
}

/// Puts a fault into a valid batch; most go into the first item of a random section.
type InsertFault = fn(&mut Value, &str);

/// Fault, expected code, and how to create it. One line per fault.
const FAULTS: [(&str, &str, InsertFault); 26] = [
    ("no label", "missing_field", |batch, section| batch[section][0]["label"] = Value::Null),
    ("blank text", "missing_field", |batch, section| {
        batch[section][0][text_field(section)] = json!(" ")
    }),
    ("label is a number", "invalid_type", |batch, section| batch[section][0]["label"] = json!(7)),
    ("label too long", "field_too_long", |batch, section| {
        batch[section][0]["label"] = json!("x".repeat(1_001))
    }),
    ("an item is no object", "invalid_type", |batch, section| {
        batch[section].as_array_mut().unwrap().push(json!("P"))
    }),
    ("unknown contributor", "expert_not_in_dialogue", |batch, section| {
        batch[section][0]["contributors"] = json!(["ann", "nobody"])
    }),
    ("unknown reference type", "invalid_ref_type", |batch, section| {
        add_reference(batch, section, "endorse", "P0001")
    }),
    ("target is no id", "invalid_display_id", |batch, section| {
        add_reference(batch, section, "support", "first")
    }),
    ("no such target", "target_not_found", |batch, section| {
        add_reference(batch, section, "support", "P0198")
    }),
    ("no such local id of an earlier round", "target_not_found", |batch, section| {
        add_reference(batch, section, "support", "ANN-P0077")
    }),
    ("no such local id of this round", "target_not_found", |batch, section| {
        add_reference(batch, section, "resolve", "ANN-T0277")
    }),
    ("points at itself", "invalid_ref_target", |batch, section| {
        let own = batch[section][0]["local_id"].as_str().unwrap().to_owned();
        add_reference(batch, section, "support", &own);
    }),
    ("resolves a claim", "invalid_ref_target", |batch, _| {
        let claim = batch["claims"][0]["local_id"].as_str().unwrap().to_owned();
        add_reference(batch, "perspectives", "resolve", &claim);
    }),
    ("a slip in a field's name", "not_supported", |batch, section| {
        batch[section][0]["refrences"] =
            batch[section][0].as_object_mut().unwrap().remove("references").unwrap();
    }),
    ("no score", "missing_field", |batch, _| batch["score"] = Value::Null),
    ("score is a text", "invalid_type", |batch, _| batch["score"] = json!("high")),
    ("score for nobody", "expert_not_in_dialogue", |batch, _| {
        batch["expert_scores"] = json!({"nobody": 1})
    }),
    ("reply of nobody", "expert_not_in_dialogue", |batch, _| {
        batch["raw_content"] = json!({"nobody": "x"})
    }),
    ("unknown move", "invalid_enum", |batch, _| {
        batch["moves"] = json!([{"expert": "ann", "type": "shout", "target": "P0001"}])
    }),
    ("move of nobody", "expert_not_in_dialogue", |batch, _| {
        batch["moves"] = json!([{"expert": "nobody", "type": "converge"}])
    }),
    ("bridge to one", "missing_field", |batch, _| {
        batch["moves"] = json!([{"expert": "ann", "type": "bridge", "targets": [batch["perspectives"][0]["local_id"]]}]);
    }),
    ("update of nothing", "target_not_found", |batch, _| {
        batch["tension_updates"] = json!([{"id": "T0098", "status": "addressed", "by": ["ann"]}]);
    }),
    ("illegal step", "invalid_status_transition", |batch, _| {
        batch["tension_updates"] = json!([{"id": batch["tensions"][0]["local_id"], "status": "reopened", "by": ["judge"]}]);
    }),
    ("resolved by a stranger", "not_authorized", |batch, _| {
        batch["tensions"][0]["contributors"] = json!(["ann"]);
        batch["tension_updates"] =
            json!([{"id": batch["tensions"][0]["local_id"], "status": "resolved", "by": ["bob"]}]);
    }),
    ("unknown entity type", "invalid_entity_type", |batch, _| {
        batch["refs"] = json!([{"source_type": "X", "source_id": "P0001", "ref_type": "support", "target_id": "P0001"}]);
    }),
    ("refines another kind", "refine_type_mismatch", |batch, _| {
        let (perspective, claim) =
            (&batch["perspectives"][0]["local_id"], &batch["claims"][0]["local_id"]);
        batch["refs"] =
            json!([{"source_id": perspective, "ref_type": "refine", "target_id": claim}]);
    }),
];

fn text_field(section: &str) -> &'static str {
    if section == "tensions" { "description" } else { "content" }
}

fn add_reference(batch: &mut Value, section: &str, ref_type: &str, target: &str) {
    batch[section][0]["references"] = json!([{ "type": ref_type, "target": target }]);
}
