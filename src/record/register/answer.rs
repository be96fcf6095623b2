//! What the Judge hears back: which local id became which global one.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::check::CheckedUpdate;
use crate::domain::change::NewEntity;
use crate::domain::ids::{EntityId, EntityKind, LocalId};
use crate::domain::lifecycle::Status;
use crate::record::warning::Warning;

#[derive(Debug, Serialize)]
pub(super) struct Registered<'a> {
    local_id: &'a LocalId,
    id: EntityId,
    label: &'a str,
}

#[derive(Debug, Serialize)]
struct Updated {
    id: EntityId,
    status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    via: Option<EntityId>,
}

pub(super) fn compose(
    round: u8,
    entities: &[NewEntity],
    updates: &[CheckedUpdate],
    warnings: &[Warning],
) -> Value {
    let mapping: Map<String, Value> =
        entities.iter().map(|entity| (entity.local_id.to_string(), json!(entity.id))).collect();
    let mut answer = json!({ "status": "success", "round": round, "id_mapping": mapping });
    for kind in EntityKind::ALL {
        let registered: Vec<Registered<'_>> = entities
            .iter()
            .filter(|entity| entity.id.kind == *kind)
            .map(|entity| Registered {
                local_id: &entity.local_id,
                id: entity.id,
                label: &entity.label,
            })
            .collect();
        set(&mut answer, kind.section(), json!(registered));
    }
    let (tensions, others): (Vec<_>, Vec<_>) =
        updates.iter().partition(|update| update.id.kind == EntityKind::Tension);
    set(&mut answer, "tension_updates", updated(&tensions));
    set(&mut answer, "updates", updated(&others));
    set(&mut answer, "warnings", json!(warnings));
    set(&mut answer, "replayed", json!(false));
    answer
}

/// The first answer, given again.
pub fn replay(mut answer: Value) -> Value {
    set(&mut answer, "replayed", json!(true));
    answer
}

fn updated(updates: &[&CheckedUpdate]) -> Value {
    let updated = updates.iter().map(|update| Updated {
        id: update.id,
        status: update.status,
        via: update.via,
    });
    json!(updated.collect::<Vec<_>>())
}

fn set(answer: &mut Value, key: &str, value: Value) {
    if let Value::Object(map) = answer {
        map.insert(key.to_owned(), value);
    }
}
