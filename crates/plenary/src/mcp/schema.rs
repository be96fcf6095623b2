//! Compact JSON schemas of tool arguments and answers. Clients send the tool list with every
//! conversation, so size matters.

use plenary_core::model::string_enum::{NULL_SAYS_SOMETHING, order_items};
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// Keywords that the derive adds to every type and clients do not need.
const NOISE_KEYWORDS: [&str; 8] =
    ["$schema", "title", "format", "minimum", "maximum", "maxLength", "maxItems", "default"];

/// Prefix of the keywords that only our own reader of arguments knows.
const OWN_KEYWORD: &str = "x-";

/// The schema of a tool's arguments. A type that is used once is marked `#[schemars(inline)]`: the
/// schema is shorter, and clients that read a single field see its type.
pub(crate) fn argument_schema<T: JsonSchema>() -> JsonObject {
    let schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>();
    let schema = simplify_schema(order_items(schema.into()));
    let mut map = schema.as_object().cloned().unwrap_or_default();
    // The tool has its own description.
    map.shift_remove("description");
    map
}

/// The schema of an answer: only its keys.
pub(crate) fn answer_schema(keys: &[&str]) -> JsonObject {
    let properties: Map<String, Value> =
        keys.iter().map(|key| ((*key).to_owned(), json!({}))).collect();
    Map::from_iter([
        ("type".to_owned(), json!("object")),
        ("properties".to_owned(), properties.into()),
    ])
}

/// Removes noise keywords, and null, because an absent field means the same.
fn simplify_schema(schema: Value) -> Value {
    match schema {
        Value::Object(map) => simplify_map(map).into(),
        Value::Array(list) => list.into_iter().map(simplify_schema).collect(),
        // `true` accepts anything; some clients only accept an object.
        Value::Bool(true) => json!({}),
        Value::Bool(false) | Value::Null | Value::Number(_) | Value::String(_) => schema,
    }
}

fn simplify_map(map: Map<String, Value>) -> Map<String, Value> {
    let types = map.get("type").filter(|_| map.contains_key(NULL_SAYS_SOMETHING)).cloned();
    let map: Map<String, Value> = map.into_iter().filter_map(simplify_entry).collect();
    let mut map = drop_null_choice(map);
    map.extend(types.map(|types| ("type".to_owned(), types)));
    map
}

fn simplify_entry((key, value): (String, Value)) -> Option<(String, Value)> {
    match (key.as_str(), value) {
        // Keys in here are field names, not keywords.
        ("properties" | "$defs", Value::Object(fields)) => {
            let fields: Map<String, Value> =
                fields.into_iter().map(|(name, field)| (name, simplify_schema(field))).collect();
            Some((key, fields.into()))
        }
        ("type", Value::Array(types)) => {
            Some((key, types.into_iter().find(|name| *name != "null")?))
        }
        (keyword, _) if NOISE_KEYWORDS.contains(&keyword) || keyword.starts_with(OWN_KEYWORD) => {
            None
        }
        (_, value) => Some((key, simplify_schema(value))),
    }
}

/// Replaces a choice between one type and null by that type.
fn drop_null_choice(mut schema: Map<String, Value>) -> Map<String, Value> {
    let is_something = |option: &Value| option.get("type").is_none_or(|name| name != "null");
    let Some(Value::Array(options)) = schema.get("anyOf") else { return schema };
    let something: Vec<&Value> = options.iter().filter(|option| is_something(option)).collect();
    if let [Value::Object(only)] = something.as_slice() {
        let only = only.clone();
        schema.shift_remove("anyOf");
        schema.extend(only);
    }
    schema
}

/// The field names of an answer type. A new or renamed field does not compile until it is listed.
macro_rules! keys {
    ($answer:ident { $($field:ident),+ $(,)? }) => {{
        fn _whole(answer: &$answer) {
            let $answer { $($field: _),+ } = answer;
        }
        &[$(stringify!($field)),+]
    }};
}
pub(crate) use keys;
