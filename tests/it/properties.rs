//! Random dialogues return their input; a single random fault gives exactly its error and leaves
//! every row unchanged.

use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng};
use serde_json::{Value, json};

use crate::kit::{Bench, at, dump, open_dialogue, times};

const EXPERTS: [&str; 4] = ["ann", "bob", "cid", "dora_2"];
const KINDS: [(&str, &str); 5] = [
    ("P", "perspectives"),
    ("R", "recommendations"),
    ("T", "tensions"),
    ("E", "evidence"),
    ("C", "claims"),
];

/// Random choices from proptest's generator, so that a failure can be replayed from its seed.
struct Dice(TestRng);

impl Dice {
    fn new(seed: u64) -> Self {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        Self(TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.0.next_u64() % limit as u64) as usize
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    /// Text with every kind of difficult character.
    fn text(&mut self) -> String {
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
        let count = 1 + self.below(6);
        let mut text: String = (0..count).map(|_| *self.pick(&pieces)).collect();
        text.push('x');
        text
    }
}

/// The content of a dialogue so far, as the test expects it.
#[derive(Default)]
struct Memory {
    /// Global ids with their input.
    entities: Vec<(String, Value)>,
    batches: Vec<Value>,
}

/// A valid batch for a round, with references to any existing entity.
fn valid_batch(dice: &mut Dice, memory: &Memory, round: usize, at_least: usize) -> Value {
    let mut batch = json!({ "dialogue_id": "talk", "round": round, "score": dice.below(200) });
    let mut fresh: Vec<String> = Vec::new();
    for (letter, section) in KINDS {
        let mut items = Vec::new();
        for seq in 1..=at_least + dice.below(3) {
            let expert = *dice.pick(&EXPERTS);
            let local_id = format!("{}-{letter}{round:02}{seq:02}", expert.to_uppercase());
            let mut item = json!({ "local_id": local_id, "label": dice.text(), text_field(section): dice.text(), "contributors": [expert] });
            if letter == "R" {
                item["parameters"] = json!({ dice.text(): dice.text(), "n": dice.below(9) });
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
    for expert in EXPERTS.iter().take(dice.below(5)) {
        batch["expert_scores"][expert] = json!(dice.below(20));
        batch["raw_content"][expert] = json!(dice.text());
    }
    batch["moves"] = json!([{ "expert": dice.pick(&EXPERTS), "type": "converge" }]);
    if !known.is_empty() {
        let (expert, target) = (dice.pick(&EXPERTS), dice.pick(&known));
        let defend =
            json!({ "expert": expert, "type": "defend", "target": target, "context": "x" });
        batch["moves"].as_array_mut().unwrap().push(defend);
    }
    batch
}

fn kind_of(id: &str) -> char {
    id.rsplit('-').next().unwrap().chars().next().unwrap()
}

fn valid_references(dice: &mut Dice, letter: &str, own: &str, known: &[String]) -> Vec<Value> {
    let mut references: Vec<Value> = Vec::new();
    for _ in 0..dice.below(4) {
        let target = dice.pick(known);
        let mut types = vec!["support", "oppose", "question", "depend"];
        if kind_of(target) == 'T' {
            types.extend(["address", "resolve", "reopen"]);
        }
        if letter.starts_with(kind_of(target)) {
            types.push("refine");
        }
        let reference = json!({ "type": dice.pick(&types), "target": target });
        if target != own && !references.contains(&reference) {
            references.push(reference);
        }
    }
    references
}

/// Registers random rounds and records their input by id.
fn play(bench: &Bench, dice: &mut Dice, rounds: usize) -> Memory {
    open_dialogue(bench, &EXPERTS);
    let mut memory = Memory::default();
    for round in 0..rounds {
        let batch = valid_batch(dice, &memory, round, 0);
        let answer = bench.must("register", &batch);
        let mapping = at(&answer, "id_mapping").clone();
        for (_, section) in KINDS {
            for item in batch[section].as_array().unwrap() {
                let global = mapping[item["local_id"].as_str().unwrap()].as_str().unwrap();
                memory.entities.push((global.to_owned(), globalised(item, &mapping)));
            }
        }
        memory.batches.push(batch);
    }
    memory
}

/// The item with references as global ids, as the export should return it.
fn globalised(item: &Value, mapping: &Value) -> Value {
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

fn config(few: u32, often: u32) -> ProptestConfig {
    ProptestConfig {
        cases: times(few, often),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config(24, 1_000))]

    #[test]
    fn a_random_dialogue_gives_back_what_went_in(seed in any::<u64>(), rounds in 1_usize..5) {
        let bench = Bench::new();
        let mut dice = Dice::new(seed);
        let memory = play(&bench, &mut dice, rounds);
        let export = bench.export("talk");
        let mut exported = 0;
        for (_, section) in KINDS {
            for entity in at(&export, section).as_array().unwrap() {
                exported += 1;
                let sent = &memory.entities.iter().find(|(id, _)| *id == *at(entity, "id")).unwrap().1;
                for field in ["label", "content", "description", "contributors", "parameters", "references"] {
                    prop_assert_eq!(entity.get(field), sent.get(field), "{} of {}", field, at(entity, "id"));
                }
            }
        }
        prop_assert_eq!(exported, memory.entities.len());
        for (round, batch) in memory.batches.iter().enumerate() {
            let back = at(&export, &format!("rounds.{round}"));
            prop_assert_eq!(at(back, "score"), at(batch, "score"));
            for (expert, score) in batch["expert_scores"].as_object().into_iter().flatten() {
                prop_assert_eq!(at(back, &format!("experts.{expert}.score")), score);
                prop_assert_eq!(at(back, &format!("experts.{expert}.raw")), &batch["raw_content"][expert]);
            }
            let again = bench.must("register", batch);
            prop_assert_eq!(at(&again, "replayed"), &json!(true));
        }
        bench.verify();
    }

    #[test]
    fn a_single_fault_gives_exactly_that_error_and_changes_nothing(seed in any::<u64>()) {
        let bench = Bench::new();
        let mut dice = Dice::new(seed);
        let memory = play(&bench, &mut dice, 2);
        let before = dump(bench.folder.path());
        for _ in 0..8 {
            let mut batch = valid_batch(&mut dice, &memory, 2, 1);
            let (about, code, spoil) = *dice.pick(&FAULTS);
            let (_, section) = *dice.pick(&KINDS);
            spoil(&mut batch, section);
            let refusal = bench.refused("register", &batch);
            let codes: Vec<&Value> = at(&refusal, "errors").as_array().unwrap().iter().map(|e| at(e, "error_code")).collect();
            prop_assert!(codes == [code], "{} in {}: {:#}", about, section, refusal);
        }
        prop_assert!(dump(bench.folder.path()) == before, "a refused batch left something behind");
    }
}

/// Puts a fault into a valid batch; most go into the first item of a random section.
type Spoil = fn(&mut Value, &str);

/// Fault, expected code, and how to create it. One line per fault.
const FAULTS: [(&str, &str, Spoil); 26] = [
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
        refer(batch, section, "endorse", "P0001")
    }),
    ("target is no id", "invalid_display_id", |batch, section| {
        refer(batch, section, "support", "first")
    }),
    ("no such target", "target_not_found", |batch, section| {
        refer(batch, section, "support", "P0198")
    }),
    ("no such local id of an earlier round", "target_not_found", |batch, section| {
        refer(batch, section, "support", "ANN-P0077")
    }),
    ("no such local id of this round", "target_not_found", |batch, section| {
        refer(batch, section, "resolve", "ANN-T0277")
    }),
    ("points at itself", "invalid_ref_target", |batch, section| {
        let own = batch[section][0]["local_id"].as_str().unwrap().to_owned();
        refer(batch, section, "support", &own);
    }),
    ("resolves a claim", "invalid_ref_target", |batch, _| {
        let claim = batch["claims"][0]["local_id"].as_str().unwrap().to_owned();
        refer(batch, "perspectives", "resolve", &claim);
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

fn refer(batch: &mut Value, section: &str, ref_type: &str, target: &str) {
    batch[section][0]["references"] = json!([{ "type": ref_type, "target": target }]);
}
