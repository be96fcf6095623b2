//! Compact JSON schemas of tool arguments and answers. Clients send the tool list with every
//! conversation, so size matters.

use rmcp::model::JsonObject;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::domain::words::Word;

/// Keywords that the derive adds to every type and clients do not need.
const NOISE: [&str; 7] =
    ["$schema", "title", "format", "minimum", "maximum", "default", NULL_SAYS_SOMETHING];

/// Marks a field in which null has its own meaning.
const NULL_SAYS_SOMETHING: &str = "null_says_something";

/// The schema of a tool's arguments.
pub(super) fn arguments<T: JsonSchema>() -> JsonObject {
    let schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>();
    match plain(schema.into()) {
        Value::Object(map) => in_place(map),
        // Unreachable: the schema of a struct is an object.
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Map::new()
        }
    }
}

/// The schema of an answer: only its keys.
pub(super) fn answer(keys: &[&str]) -> JsonObject {
    let properties: Map<String, Value> =
        keys.iter().map(|key| ((*key).to_owned(), json!({}))).collect();
    Map::from_iter([
        ("type".to_owned(), json!("object")),
        ("properties".to_owned(), properties.into()),
    ])
}

/// The schema of a string enum.
pub(super) fn word<W: Word>(_: &mut SchemaGenerator) -> Schema {
    let options = json!({ "type": "string", "enum": W::options() });
    Schema::try_from(options).unwrap_or_default()
}

/// The schema of a string that may be null. It lists no other type: some clients send the typed
/// text unchanged only for a plain string.
pub(super) fn text_or_null(_: &mut SchemaGenerator) -> Schema {
    let schema = json!({ "type": ["string", "null"], NULL_SAYS_SOMETHING: true });
    Schema::try_from(schema).unwrap_or_default()
}

/// Removes noise keywords, and null, because an absent field means the same.
fn plain(schema: Value) -> Value {
    match schema {
        Value::Object(map) => plain_map(map).into(),
        Value::Array(list) => list.into_iter().map(plain).collect(),
        // `true` accepts anything; some clients only accept an object.
        Value::Bool(true) => json!({}),
        Value::Bool(false) | Value::Null | Value::Number(_) | Value::String(_) => schema,
    }
}

fn plain_map(map: Map<String, Value>) -> Map<String, Value> {
    let types = map.get("type").filter(|_| map.contains_key(NULL_SAYS_SOMETHING)).cloned();
    let map: Map<String, Value> = map.into_iter().filter_map(plain_entry).collect();
    let mut map = without_choice(map);
    map.extend(types.map(|types| ("type".to_owned(), types)));
    map
}

fn plain_entry((key, value): (String, Value)) -> Option<(String, Value)> {
    match (key.as_str(), value) {
        // Keys in here are field names, not keywords.
        ("properties" | "$defs", Value::Object(fields)) => {
            let fields: Map<String, Value> =
                fields.into_iter().map(|(name, field)| (name, plain(field))).collect();
            Some((key, fields.into()))
        }
        ("type", Value::Array(types)) => {
            Some((key, types.into_iter().find(|name| *name != "null")?))
        }
        (keyword, _) if NOISE.contains(&keyword) => None,
        (_, value) => Some((key, plain(value))),
    }
}

/// Replaces a choice between one type and null by that type.
fn without_choice(mut schema: Map<String, Value>) -> Map<String, Value> {
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

/// Inlines definitions that are used once: the schema is shorter, and clients that read a single
/// field see its type.
fn in_place(mut schema: Map<String, Value>) -> JsonObject {
    let Some(Value::Object(definitions)) = schema.shift_remove("$defs") else { return schema };
    let text = format!("{}{}", json!(schema), json!(definitions));
    let is_shared = |name: &String| text.matches(&json!(reference(name)).to_string()).count() > 1;
    let (shared, lone): (Map<_, _>, Map<_, _>) =
        definitions.into_iter().partition(|(name, _)| is_shared(name));
    let mut whole = placed(schema, &lone);
    if !shared.is_empty() {
        whole.insert("$defs".to_owned(), placed(shared, &lone).into());
    }
    whole
}

fn placed(schema: Map<String, Value>, lone: &Map<String, Value>) -> Map<String, Value> {
    let within = |value: Value| match value {
        Value::Object(map) => placed(map, lone).into(),
        Value::Array(_) | Value::String(_) | Value::Number(_) | Value::Bool(_) | Value::Null => {
            value
        }
    };
    let named = schema.get("$ref").and_then(Value::as_str);
    let found = lone.iter().find(|(name, _)| named == Some(&reference(name)));
    match found {
        Some((_, Value::Object(definition))) => {
            let mut definition = placed(definition.clone(), lone);
            definition.extend(schema.into_iter().filter(|(key, _)| key != "$ref"));
            definition
        }
        Some(_) | None => schema.into_iter().map(|(key, value)| (key, within(value))).collect(),
    }
}

fn reference(definition: &str) -> String {
    format!("#/$defs/{definition}")
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
pub(super) use keys;
