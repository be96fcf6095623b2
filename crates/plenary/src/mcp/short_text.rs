//! [`shorten_text`]: the text beside structured content. Clients that read structured content would
//! otherwise pay for a long result twice.

use serde_json::{Map, Value, json};

/// A shorter result is repeated as it is.
const TEXT_BYTES_MAX: usize = 4_000;

/// Longest string of a short text: a recommendation or a brief fits.
const STRING_CHARS_MAX: usize = 1_200;

/// Longest list or object inside, as JSON.
const PART_BYTES_MAX: usize = 400;

/// Levels of objects that are kept: the answer, its result, and the parts of the result.
const DEPTH_MAX: usize = 3;

/// Where the left out parts are.
const NOTE: &str = "shortened; the whole result is in structuredContent";

/// The text of a result: the whole JSON if it is short, else its main fields.
pub(crate) fn shorten_text(value: &Value) -> String {
    let text = value.to_string();
    if text.len() <= TEXT_BYTES_MAX {
        return text;
    }
    let mut short = shorten_value(value, 0);
    if let Some(fields) = short.as_object_mut() {
        fields.insert("note".to_owned(), json!(NOTE));
    }
    short.to_string()
}

fn shorten_value(value: &Value, depth: usize) -> Value {
    match value {
        Value::String(text) => {
            let cut: String = text.chars().take(STRING_CHARS_MAX).collect();
            json!(if cut.len() < text.len() { format!("{cut}…") } else { cut })
        }
        Value::Object(fields) if depth < DEPTH_MAX => {
            let kept = fields.iter().filter_map(|(name, field)| {
                shorten_field(field, depth + 1).map(|field| (name.clone(), field))
            });
            Value::Object(kept.collect::<Map<String, Value>>())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            value.clone()
        }
    }
}

/// A field of a short text; `None` for a long list or a deep object.
fn shorten_field(field: &Value, depth: usize) -> Option<Value> {
    let is_long = field.to_string().len() > PART_BYTES_MAX;
    match field {
        Value::Array(_) if is_long => None,
        Value::Object(_) if is_long && depth >= DEPTH_MAX => None,
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_) => Some(shorten_value(field, depth)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_result_is_repeated_and_a_long_one_keeps_its_main_fields() {
        let short = json!({"status": "done", "ids": [1, 2]});
        assert_eq!(shorten_text(&short), short.to_string());
        let long = json!({
            "status": "done", "dialogue_id": "tea",
            "result": {
                "terminal_state": "clean", "rounds": {"r1": {"opinions": ["x".repeat(9_000)]}},
                "conclusion": {"recommendation": "r".repeat(3_000), "unresolved_points": []},
            },
        });
        let text = shorten_text(&long);
        let read: Value = serde_json::from_str(&text).unwrap();
        assert!(text.len() < 2_000, "{}", text.len());
        assert_eq!(read["result"]["terminal_state"], "clean");
        let message = read["result"]["conclusion"]["recommendation"].as_str().unwrap();
        assert_eq!(message.chars().count(), 1_201);
        assert_eq!((&read["dialogue_id"], &read["note"]), (&json!("tea"), &json!(NOTE)));
        assert_eq!(read["result"]["rounds"], json!({}));
    }
}
