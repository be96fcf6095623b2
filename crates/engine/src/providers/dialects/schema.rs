//! Adapts a JSON schema to what each server accepts. Called by
//! [`adapt_schema`](super::adapt_schema).

use serde_json::{Map, Value, json};

/// Keywords that matter to a model. Others (titles, defaults, number formats) are removed, because
/// servers reject keywords they do not know.
const KEYWORDS: [&str; 15] = [
    "type",
    "description",
    "enum",
    "properties",
    "required",
    "items",
    "anyOf",
    "additionalProperties",
    "minimum",
    "maximum",
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "pattern",
];

/// Keeps only the keywords above. Our schemas have no references, because schemars inlines them.
pub(crate) fn inline_refs(schema: &Value) -> Value {
    Value::Object(plain_node(schema))
}

fn plain_node(node: &Value) -> Map<String, Value> {
    let mut whole = Map::new();
    for (key, value) in node.as_object().into_iter().flatten() {
        match key.as_str() {
            "anyOf" | "oneOf" => {
                let options = value.as_array().into_iter().flatten().map(inline_refs);
                whole.insert("anyOf".to_owned(), options.collect());
            }
            "const" => drop(whole.insert("enum".to_owned(), json!([value]))),
            "items" => drop(whole.insert(key.clone(), inline_refs(value))),
            "properties" => drop(whole.insert(key.clone(), plain_properties(value))),
            known if KEYWORDS.contains(&known) => drop(whole.insert(key.clone(), value.clone())),
            _ => {}
        }
    }
    whole
}

fn plain_properties(properties: &Value) -> Value {
    let fields = properties.as_object().into_iter().flatten();
    fields.map(|(name, node)| (name.clone(), inline_refs(node))).collect()
}

/// Adds the keywords of `part`. Objects and arrays are merged; otherwise the existing value wins,
/// so a field's description beats that of its type.
fn merge_keywords(whole: &mut Map<String, Value>, part: Map<String, Value>) {
    for (key, value) in part {
        match (whole.get_mut(&key), value) {
            (Some(Value::Object(known)), Value::Object(more)) => known.extend(more),
            (Some(Value::Array(known)), Value::Array(more)) => known.extend(more),
            (Some(_), _) => {}
            (None, value) => drop(whole.insert(key, value)),
        }
    }
}

/// For OpenAI's strict mode: closes every object, requires every field, and removes bounds that
/// some models reject; the prompt states them.
pub(crate) fn to_strict(schema: &Value) -> Value {
    let mut schema = close_objects(schema);
    visit_nodes(&mut schema, &|node| {
        node.retain(|key, _| !["minimum", "maximum"].contains(&key.as_str()));
    });
    schema
}

/// Closes objects, requires all fields, and removes bounds other than those of numbers.
fn close_objects(schema: &Value) -> Value {
    let mut schema = inline_refs(schema);
    visit_nodes(&mut schema, &|node| {
        let bounds = ["minItems", "maxItems", "minLength", "maxLength", "pattern"];
        node.retain(|key, _| !bounds.contains(&key.as_str()));
        if let Some(names) = property_names(node) {
            node.insert("required".to_owned(), names);
            node.insert("additionalProperties".to_owned(), Value::Bool(false));
        }
    });
    schema
}

/// With a smaller output limit, a model that fills the whole schema is cut off.
pub(crate) const SMALL_OUTPUT_TOKENS: u32 = 2_000;

/// Approximate number of texts in a document; each gets an equal share of the output limit.
const TEXTS_PER_DOCUMENT: u32 = 12;

/// For small models behind servers that compile the schema to a grammar: limits lists and texts so
/// that the whole document fits the output limit. Numbers keep their bounds, because such models
/// otherwise exceed them repeatedly.
pub(crate) fn to_bounded(schema: &Value, output_tokens_max: u32) -> Value {
    let mut schema = close_objects(schema);
    visit_nodes(&mut schema, &|node| {
        let kind = node.get("type");
        let is = |word: &str| match kind {
            Some(Value::Array(words)) => words.iter().any(|known| known == word),
            known => known.is_some_and(|known| known == word),
        };
        if is("array") {
            node.insert("maxItems".to_owned(), json!(2));
        } else if is("string") && !node.contains_key("enum") {
            node.insert("maxLength".to_owned(), json!(output_tokens_max / TEXTS_PER_DOCUMENT));
        }
    });
    schema
}

/// For Gemini: one type per value, `null` as a flag, and an explicit field order.
pub(crate) fn to_open_api(schema: &Value) -> Value {
    let mut schema = inline_refs(schema);
    visit_nodes(&mut schema, &|node| {
        node.remove("additionalProperties");
        if remove_null(node) {
            node.insert("nullable".to_owned(), Value::Bool(true));
        }
        if let Some(names) = property_names(node) {
            node.insert("propertyOrdering".to_owned(), names);
        }
    });
    schema
}

fn property_names(node: &Map<String, Value>) -> Option<Value> {
    Some(json!(node.get("properties")?.as_object()?.keys().collect::<Vec<_>>()))
}

/// Removes `null` from types and options; returns whether it was present.
fn remove_null(node: &mut Map<String, Value>) -> bool {
    let mut found = false;
    for key in ["type", "enum", "anyOf"] {
        let Some(Value::Array(options)) = node.get_mut(key) else { continue };
        let before = options.len();
        options.retain(|option| {
            !option.is_null() && option != "null" && option.get("type") != Some(&json!("null"))
        });
        found |= options.len() < before;
        let [only] = options.as_mut_slice() else { continue };
        match (key, only.take()) {
            ("type", only) => drop(node.insert(key.to_owned(), only)),
            ("anyOf", Value::Object(only)) => {
                node.remove(key);
                merge_keywords(node, only);
            }
            (_, only) => drop(node.insert(key.to_owned(), json!([only]))),
        }
    }
    found
}

/// Visits every schema inside a schema prepared by [`inline_refs`], innermost first.
fn visit_nodes(node: &mut Value, visit: &dyn Fn(&mut Map<String, Value>)) {
    let Some(fields) = node.as_object_mut() else { return };
    if let Some(Value::Object(properties)) = fields.get_mut("properties") {
        properties.values_mut().for_each(|inner| visit_nodes(inner, visit));
    }
    if let Some(items) = fields.get_mut("items") {
        visit_nodes(items, visit);
    }
    if let Some(Value::Array(options)) = fields.get_mut("anyOf") {
        options.iter_mut().for_each(|inner| visit_nodes(inner, visit));
    }
    visit(fields);
}

#[cfg(test)]
mod tests {
    use plenary_core::model::string_enum::inlined_schema;
    use plenary_core::protocols::council::report_types::ChairReport;
    use plenary_core::protocols::council::types::{OpinionReply, PeerReview};
    use schemars::JsonSchema;

    use super::*;

    fn check(suit: fn(&Value) -> Value, schema: &Value, expected: &Value) {
        assert_eq!(suit(schema), *expected, "{schema:#}");
    }

    #[test]
    fn only_what_says_something_to_a_model_is_kept() {
        let schema = json!({
            "$schema": "x", "title": "T", "type": "object",
            "properties": {
                "a": { "description": "mine", "const": "x", "default": "x" },
                "title": { "oneOf": [{ "type": "string", "format": "uri" }] },
                "c": true,
            },
        });
        let expected = json!({
            "type": "object",
            "properties": {
                "a": { "description": "mine", "enum": ["x"] },
                "title": { "anyOf": [{ "type": "string" }] },
                "c": {},
            },
        });
        check(inline_refs, &schema, &expected);
    }

    #[test]
    fn strict_closes_objects_and_requires_every_field() {
        let schema = json!({
            "type": "object",
            "properties": {
                "a": { "type": "integer", "minimum": 1 },
                "b": { "type": "array", "items": { "type": "object", "properties": {} } },
            },
            "required": ["a"],
        });
        let inner = json!({
            "type": "object", "properties": {}, "required": [], "additionalProperties": false,
        });
        let expected = json!({
            "type": "object",
            "properties": { "a": { "type": "integer" }, "b": { "type": "array", "items": inner } },
            "required": ["a", "b"],
            "additionalProperties": false,
        });
        check(to_strict, &schema, &expected);
    }

    #[test]
    fn a_small_model_is_held_to_bounds_that_others_are_told_of() {
        let score = json!({ "type": "integer", "minimum": 1, "maximum": 5 });
        let list = json!({ "type": "array", "items": { "type": "string" }, "maxItems": 8 });
        let schema = json!({ "type": "object", "properties": { "score": score, "list": list } });
        let item = json!({ "type": "string", "maxLength": 20 });
        let expected = json!({
            "type": "object",
            "properties": {
                "score": score,
                "list": { "type": "array", "items": item, "maxItems": 2 },
            },
            "required": ["score", "list"],
            "additionalProperties": false,
        });
        check(|schema| to_bounded(schema, 240), &schema, &expected);
    }

    #[test]
    fn gemini_takes_null_as_a_flag() {
        let nullable = json!({ "nullable": true, "type": "string" });
        check(to_open_api, &json!({ "type": ["string", "null"] }), &nullable);
        let option = json!({ "anyOf": [{ "type": "string" }, { "type": "null" }] });
        check(to_open_api, &option, &nullable);
        let words = json!({ "type": "string", "enum": ["a", null] });
        check(to_open_api, &words, &json!({ "type": "string", "enum": ["a"], "nullable": true }));
    }

    /// The council's schemas keep no keyword that a server rejects.
    #[test]
    fn the_documents_of_a_council_suit_every_dialect() {
        fn keys(node: &Value, found: &mut Vec<String>) {
            let mut node = node.clone();
            let all = std::cell::RefCell::new(Vec::new());
            visit_nodes(&mut node, &|fields| all.borrow_mut().extend(fields.keys().cloned()));
            found.extend(all.into_inner());
        }
        fn all<T: JsonSchema>(suit: fn(&Value) -> Value) -> Vec<String> {
            let mut found = Vec::new();
            keys(&suit(&inlined_schema::<T>()), &mut found);
            found
        }
        let used = |suit: fn(&Value) -> Value| {
            let mut found =
                [all::<OpinionReply>(suit), all::<PeerReview>(suit), all::<ChairReport>(suit)]
                    .concat();
            found.sort();
            found.dedup();
            found.join(" ")
        };
        assert_eq!(
            used(to_strict),
            "additionalProperties description enum items properties required type"
        );
        assert_eq!(
            used(to_open_api),
            "description enum items maximum minimum nullable properties propertyOrdering required type"
        );
    }
}
