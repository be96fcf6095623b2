//! Small dialogues, written in a line or two.

use serde_json::{Value, json};

use super::TestProject;

/// A pool of experts with these slugs, one of each tier in turn.
pub fn make_pool(slugs: &[&str]) -> Value {
    let tiers = ["Core", "Adjacent", "Wildcard"];
    let experts = slugs.iter().zip(tiers.iter().cycle());
    let experts: Vec<Value> =
        experts.map(|(slug, tier)| json!({"slug": slug, "role": "Expert", "tier": tier})).collect();
    json!({ "domain": "Testing", "experts": experts })
}

/// Opens a dialogue called `talk` with these experts.
pub fn open_dialogue(bench: &TestProject, slugs: &[&str]) -> String {
    let created =
        bench.run_ok("create", &json!({ "title": "Talk", "expert_pool": make_pool(slugs) }));
    created.get("dialogue_id").and_then(Value::as_str).unwrap().to_owned()
}

/// A batch for a round of `talk`, with extra fields.
pub fn make_batch(round: u8, fields: Value) -> Value {
    let mut batch = json!({ "dialogue_id": "talk", "round": round, "score": 10 });
    let (Value::Object(all), Value::Object(more)) = (&mut batch, fields) else { unreachable!() };
    all.extend(more);
    batch
}

/// An item with its references written as `"refine P0001, address T0001"`.
pub fn make_item(local_id: &str, references: &str) -> Value {
    let references: Vec<Value> = references
        .split(',')
        .filter_map(|reference| reference.trim().split_once(' '))
        .map(|(ref_type, target)| json!({ "type": ref_type, "target": target }))
        .collect();
    let is_tension = local_id.rsplit_once('-').is_some_and(|(_, id)| id.starts_with('T'));
    let text = if is_tension { "description" } else { "content" };
    json!({
        "local_id": local_id,
        "label": format!("Label of {local_id}"),
        text: format!("Text of {local_id}."),
        "references": references,
    })
}
