//! From text to arguments.

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::domain::ids::DialogueId;
use crate::domain::refusal::{Code, Fault};
use crate::error::Error;
use crate::record::{Fields, no_dialogue};

/// Parses the arguments of an operation.
pub fn parse(text: &str) -> Result<Value, Error> {
    serde_json::from_str(text.strip_prefix('\u{feff}').unwrap_or(text)).map_err(|error| {
        Fault::new(Code::InvalidJson, format!("the arguments are not valid JSON: {error}"))
            .suggest("send one JSON object with the operation's fields")
            .into()
    })
}

/// The dialogue that the arguments name.
pub(super) fn dialogue_id(fields: &Fields<'_>) -> Result<DialogueId, Error> {
    let mut faults = Vec::new();
    let text = fields.required_text("dialogue_id", usize::MAX, &mut faults);
    match text {
        Some(text) => text.parse().map_err(|_| no_dialogue(&text).into()),
        None => Err(crate::domain::refusal::Refusal::new(faults).into()),
    }
}

/// The digest of a document, whatever the order of its keys.
pub(super) fn digest(arguments: &Value) -> String {
    let digest = Sha256::digest(canonical(arguments).to_string().as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn canonical(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut sorted: Vec<_> = map.iter().collect();
            sorted.sort_by_key(|(key, _)| *key);
            sorted.into_iter().map(|(key, value)| (key.clone(), canonical(value))).collect()
        }
        Value::Array(list) => list.iter().map(canonical).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_keys_does_not_matter() {
        let one = parse(r#"{"a": {"x": 1, "y": [2, {"p": 1, "q": 2}]}, "b": 1}"#).unwrap();
        let two = parse(r#"{"b":1,"a":{"y":[2,{"q":2,"p":1}],"x":1}}"#).unwrap();
        let three = parse(r#"{"b":1,"a":{"y":[{"q":2,"p":1},2],"x":1}}"#).unwrap();
        assert_eq!(digest(&one), digest(&two));
        assert_ne!(digest(&one), digest(&three));
    }
}
