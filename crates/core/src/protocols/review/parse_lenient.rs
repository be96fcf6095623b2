//! Converts unambiguous variants of the review fields, as models write them, to the schema's shape.

use serde_json::{Map, Value, json};

use crate::parsing::coerce::{describe_value, quote_safely};

/// Maximum number of scores.
const SCORES_MAX: usize = 8;

const SCORE_NAME_CHARS_MAX: usize = 64;

/// Keys of the number if a score comes with its reason.
const NUMBER_KEYS: [&str; 3] = ["score", "value", "rating"];

/// Alternative names for the fields of a concern.
const CONCERN_KEYS: [(&str, &[&str]); 3] = [
    ("locus", &["quote", "location", "line"]),
    ("issue", &["concern", "problem", "description", "message"]),
    ("fix", &["suggested_fix", "suggestion", "recommendation"]),
];

/// Returns the scores as an object by name; they may come as an object, with reasons, or as a list.
/// If the names are fixed, others are dropped.
pub(crate) fn normalize_scores(given: Value, names: Option<[&str; 3]>) -> Result<Value, String> {
    let pairs: Vec<(String, Value)> = match given {
        Value::Object(fields) => fields.into_iter().collect(),
        Value::Array(items) => {
            items.into_iter().enumerate().map(score_pair).collect::<Result<Vec<_>, _>>()?
        }
        // The coercion to the schema reports the error.
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return Ok(given),
    };
    let mut kept = Map::new();
    for (written, score) in pairs {
        let name = match names {
            Some(known) => {
                let known = known.into_iter().find(|name| is_score_name(&written, name));
                let Some(name) = known else { continue };
                name.to_owned()
            }
            None => written.trim().to_owned(),
        };
        if name.is_empty() || name.chars().nth(SCORE_NAME_CHARS_MAX).is_some() {
            return Err(format!("scores: {} is no name of a score", quote_safely(&name)));
        }
        if kept.insert(name.clone(), score_number(score)).is_some() {
            return Err(format!("scores: {} is given twice", quote_safely(&name)));
        }
    }
    match kept.len() {
        0 if names.is_none() => Err("scores: empty, at least one is due".to_owned()),
        many if many > SCORES_MAX => Err(format!("scores: {many} scores, over {SCORES_MAX}")),
        _ => Ok(Value::Object(kept)),
    }
}

/// Reads `{"name": "x", "score": 3}` or `{"x": 3}`.
fn score_pair((index, item): (usize, Value)) -> Result<(String, Value), String> {
    let fault =
        |item: &Value| format!("scores[{index}]: {}, not a name and a score", describe_value(item));
    let Value::Object(mut fields) = item else { return Err(fault(&item)) };
    if let Some(Value::String(name)) = fields.swap_remove("name") {
        let score = NUMBER_KEYS.iter().find_map(|key| fields.swap_remove(*key));
        return score
            .map(|score| (name, score))
            .ok_or_else(|| format!("scores[{index}]: no score"));
    }
    let is_alone = fields.len() == 1;
    let only = fields.into_iter().next().filter(|_| is_alone);
    only.ok_or_else(|| fault(&json!({})))
}

fn score_number(score: Value) -> Value {
    let Value::Object(fields) = &score else { return score };
    let inner = NUMBER_KEYS.iter().find_map(|key| fields.get(*key));
    inner.cloned().unwrap_or(score)
}

/// `Voice Match` and `voice-match` match `voice_match`.
fn is_score_name(written: &str, name: &str) -> bool {
    written.trim().replace([' ', '-'], "_").eq_ignore_ascii_case(name)
}

/// Returns the concerns as objects with our field names; a concern without an issue is dropped.
pub(crate) fn normalize_concerns(given: Value) -> Value {
    let items = match given {
        Value::Array(items) => items,
        Value::String(text) if text.trim().is_empty() => Vec::new(),
        one @ (Value::String(_) | Value::Object(_)) => vec![one],
        Value::Null | Value::Bool(_) | Value::Number(_) => return given,
    };
    Value::Array(items.into_iter().filter_map(normalize_concern).collect())
}

fn normalize_concern(given: Value) -> Option<Value> {
    let mut fields = match given {
        Value::String(issue) => Map::from_iter([("issue".to_owned(), Value::String(issue))]),
        Value::Object(fields) => fields,
        Value::Null => return None,
        // The coercion to the schema reports the error.
        Value::Bool(_) | Value::Number(_) | Value::Array(_) => return Some(given),
    };
    for (name, others) in CONCERN_KEYS {
        let given = fields.get(name).is_some_and(|value| !value.is_null());
        let meant = others.iter().find(|other| fields.contains_key(**other));
        if let Some(value) = meant.filter(|_| !given).and_then(|other| fields.swap_remove(*other)) {
            fields.insert(name.to_owned(), value);
        }
    }
    // A line number without the `L`.
    if let Some(locus) = fields.get_mut("locus")
        && let Some(line) = locus.as_u64()
    {
        *locus = json!(format!("L{line}"));
    }
    for text in fields.values_mut() {
        *text = join_lines(text.take());
    }
    let issue = fields.get("issue");
    let is_said =
        issue.is_some_and(|issue| issue.as_str().is_none_or(|text| !text.trim().is_empty()));
    (is_said && !issue.is_some_and(Value::is_null)).then_some(Value::Object(fields))
}

/// Joins a list of texts into one text with several lines.
pub(crate) fn join_lines(given: Value) -> Value {
    let Value::Array(items) = &given else { return given };
    let lines: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
    lines.map_or_else(|| given.clone(), |lines| Value::String(lines.join("\n")))
}

/// Converts objects in a list of texts, such as an id and a reason, into one text each.
pub(crate) fn flatten_texts(given: Value) -> Value {
    let Value::Array(items) = given else { return given };
    let item = |item: Value| match &item {
        Value::Object(fields) => {
            let said: Vec<&str> = fields.values().filter_map(Value::as_str).collect();
            if said.is_empty() { item } else { Value::String(said.join(": ")) }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            item
        }
    };
    Value::Array(items.into_iter().map(item).collect())
}

/// Maps a field if it is present.
pub(crate) fn map_field(
    document: &mut Value,
    field: &str,
    how: impl FnOnce(Value) -> Result<Value, String>,
) -> Result<(), String> {
    if let Some(value) = document.get_mut(field) {
        *value = how(value.take())?;
    }
    Ok(())
}
