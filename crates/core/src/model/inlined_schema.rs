//! JSON schemas without references: schemars inlines every subschema.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::Value;

use crate::model::string_enum::StringEnum;

/// The schema of `T` without `$ref` and `$defs`: models, servers and our own reader look at single
/// fields.
pub fn inlined_schema<T: JsonSchema>() -> Value {
    let settings =
        SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    order_items(settings.into_generator().into_root_schema_for::<T>().to_value())
}

/// Marks a field in which null has its own meaning.
pub const NULL_SAYS_SOMETHING: &str = "x-null-says-something";

/// The schema of a string enum.
pub fn word_schema<W: StringEnum>(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": W::options() })
}

/// Restores the order of the keywords inside `items`, which schemars sorts there, so that the bytes
/// sent to models and clients stay the same.
pub fn order_items(schema: Value) -> Value {
    order_node(schema, false)
}

fn order_node(schema: Value, is_in_items: bool) -> Value {
    let Value::Object(node) = schema else { return schema };
    let mut keywords: Vec<(String, Value)> = node.into_iter().collect();
    if is_in_items {
        keywords.sort_by_key(|(keyword, _)| match keyword.as_str() {
            "type" => 0,
            "additionalProperties" => 1,
            "description" => 3,
            _ => 2,
        });
    }
    let ordered = keywords.into_iter().map(|(keyword, value)| match (keyword.as_str(), value) {
        ("items", items) => (keyword, order_node(items, true)),
        ("properties", Value::Object(fields)) => {
            let fields = fields.into_iter();
            (keyword, fields.map(|(name, field)| (name, order_node(field, is_in_items))).collect())
        }
        (_, value) => (keyword, value),
    });
    ordered.collect()
}
