//! JSON schemas of the documents that models return, used in requests and for parsing.
//!
//! They are derived from the types once and then reduced: no titles, defaults or number formats,
//! because each costs tokens in every ask.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use schemars::JsonSchema;
use serde_json::{Map, Value, json};

use crate::model::string_enum::inlined_schema;
use crate::protocols::conclusion::parse_fields::WrittenConclusion;
use crate::protocols::council::report_types::ChairReport;
use crate::protocols::council::types::{OpinionReply, PeerReview, QuestionMode};
use crate::protocols::review::parse::{adjudication_schema, judgement_schema};

/// Keywords that a model does not need.
const DROPPED_KEYWORDS: [&str; 4] = ["$schema", "title", "default", "format"];

/// Fields of one mode only. A server with strict schemas would make the model fill them in every
/// mode.
const MODE_FIELDS: [(&str, QuestionMode); 4] = [
    ("findings", QuestionMode::Review),
    ("finding_positions", QuestionMode::Review),
    ("alternatives", QuestionMode::Architecture),
    ("verification_plan", QuestionMode::Architecture),
];

/// Fields that name an opinion or its author by letter, or a participant by name.
const NAMING_FIELDS: [&str; 9] = [
    "agent",
    "agents_involved",
    "letter",
    "provider",
    "reviewer",
    "mentioned_by",
    "reported_by",
    "confirmed_by",
    "disputed_by",
];

/// More than the panels and modes of one process; a few kilobytes each.
const CACHE_MAX: usize = 256;

/// The shape of a reply that has a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReplyShape {
    Opinion,
    PeerReview,
    Report,
    Conclusion,
    Judgement,
    CrossReading,
    Adjudication,
}

type SchemaCache = BTreeMap<(ReplyShape, QuestionMode, Vec<String>), Arc<Value>>;

/// Returns the schema of a reply; `names` are the letters or names it may use. `None` if the reply
/// is plain text. Equal arguments return the same `Arc`, so that callers can cache what they derive
/// from it.
pub fn reply_schema(shape: ReplyShape, mode: QuestionMode, names: &[String]) -> Arc<Value> {
    static CACHE: Mutex<SchemaCache> = Mutex::new(BTreeMap::new());
    let mut kept = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    if kept.len() >= CACHE_MAX {
        kept.clear();
    }
    let key = (shape, mode, names.to_vec());
    if let Some(made) = kept.get(&key) {
        return Arc::clone(made);
    }
    let made: Arc<Value> = build_schema(shape, mode, names).into();
    kept.insert(key, Arc::clone(&made));
    made
}

/// Builds the schema for one ask; for a deliberator, `names` are its score names.
fn build_schema(shape: ReplyShape, mode: QuestionMode, names: &[String]) -> Value {
    let scores: Vec<&str> = names.iter().map(String::as_str).collect();
    match shape {
        ReplyShape::Opinion => schema_for_ask(&OPINION_SCHEMA, mode, names),
        ReplyShape::PeerReview => schema_for_ask(&PEER_REVIEW_SCHEMA, mode, names),
        ReplyShape::Report => schema_for_ask(&REPORT_SCHEMA, mode, names),
        ReplyShape::Conclusion => schema_for_ask(&CONCLUSION_SCHEMA, mode, names),
        ReplyShape::Judgement | ReplyShape::CrossReading => judgement_schema(shape, &scores),
        ReplyShape::Adjudication => adjudication_schema().clone(),
    }
}

fn schema_for_ask(whole: &Value, mode: QuestionMode, names: &[String]) -> Value {
    let mut schema = whole.clone();
    for (field, _) in MODE_FIELDS.iter().filter(|(_, only)| *only != mode) {
        drop_field(&mut schema, field);
    }
    if !names.is_empty() {
        restrict_names(&mut schema, names);
    }
    schema
}

/// Restricts naming fields to the names that were shown.
fn restrict_names(schema: &mut Value, names: &[String]) {
    let Value::Object(node) = schema else { return };
    if let Some(Value::Object(properties)) = node.get_mut("properties") {
        for (name, inner) in properties {
            restrict_names(inner, names);
            if NAMING_FIELDS.contains(&name.as_str()) {
                let text = if inner.get("items").is_some() { &mut inner["items"] } else { inner };
                if let Value::Object(text) = text {
                    text.insert("enum".to_owned(), json!(names));
                }
            }
        }
    }
    if let Some(items) = node.get_mut("items") {
        restrict_names(items, names);
    }
}

/// Removes a field at every level.
fn drop_field(schema: &mut Value, field: &str) {
    let Value::Object(node) = schema else { return };
    if let Some(Value::Object(properties)) = node.get_mut("properties") {
        properties.shift_remove(field);
        properties.values_mut().for_each(|inner| drop_field(inner, field));
    }
    if let Some(items) = node.get_mut("items") {
        drop_field(items, field);
    }
}

pub(crate) static OPINION_SCHEMA: LazyLock<Value> = LazyLock::new(document_schema::<OpinionReply>);
pub(crate) static PEER_REVIEW_SCHEMA: LazyLock<Value> =
    LazyLock::new(document_schema::<PeerReview>);
pub(crate) static REPORT_SCHEMA: LazyLock<Value> = LazyLock::new(document_schema::<ChairReport>);
pub(crate) static CONCLUSION_SCHEMA: LazyLock<Value> =
    LazyLock::new(document_schema::<WrittenConclusion>);

fn document_schema<T: JsonSchema>() -> Value {
    compact_schema(&inlined_schema::<T>())
}

/// Removes the keywords that a model does not need.
fn compact_schema(schema: &Value) -> Value {
    let Value::Object(fields) = schema else { return schema.clone() };
    let kept = fields.iter().filter(|(key, _)| !DROPPED_KEYWORDS.contains(&key.as_str()));
    Value::Object(kept.map(|(key, value)| (key.clone(), small_part(key, value))).collect())
}

fn small_part(key: &str, value: &Value) -> Value {
    match (key, value) {
        // Field names are not keywords: a field may be called `title`.
        ("properties", Value::Object(fields)) => {
            let fields = fields.iter().map(|(name, schema)| (name.clone(), compact_schema(schema)));
            Value::Object(fields.collect::<Map<_, _>>())
        }
        ("items", schema) => compact_schema(schema),
        ("description", Value::String(text)) => Value::String(text.replace('\n', " ")),
        (_, other) => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_opinion_is_described_in_few_words() {
        insta::assert_snapshot!(OPINION_SCHEMA.to_string(), @r#"{"type":"object","properties":{"summary":{"type":"string","description":"The answer in two or three sentences."},"details":{"type":"object","properties":{"understanding":{"type":"string","description":"What you take the question to be."},"key_considerations":{"type":"array","items":{"type":"string"}},"recommendation":{"type":"string"},"rationale":{"type":"string"}},"required":["recommendation"]},"risks":{"type":"array","items":{"type":"object","properties":{"description":{"type":"string"},"severity":{"type":"string","enum":["low","medium","high"]},"mitigation":{"type":["string","null"]}},"required":["description","severity"]}},"assumptions":{"type":"array","items":{"type":"string"}},"questions":{"type":"array","items":{"type":"string"},"description":"What you would need to know to be surer."},"confidence":{"type":"string","enum":["low","medium","high"]},"stance":{"type":"string","enum":["approve","reject","conditional","abstain","none"],"description":"`none` when the question is not one of approval."},"findings":{"type":"array","items":{"type":"object","properties":{"id":{"type":"string","description":"Such as `SEC-001`."},"title":{"type":"string"},"severity":{"type":"string","enum":["low","medium","high"]},"category":{"type":"string"},"location":{"type":"string","description":"File and line, where it can be said."},"description":{"type":"string"},"fix_approach":{"type":"string"}},"required":["id","title","severity","description"],"description":"A fault of the material under review."},"description":"Only in mode review: faults of the files."}},"required":["summary","details","confidence","stance"],"description":"An opinion as its model gave it."}"#);
    }

    #[test]
    fn no_schema_refers_to_another_place() {
        for schema in [&OPINION_SCHEMA, &PEER_REVIEW_SCHEMA, &REPORT_SCHEMA, &CONCLUSION_SCHEMA] {
            let text = schema.to_string();
            for word in ["$ref", "$defs", "$schema", "\"default\"", "\"format\""] {
                assert!(!text.contains(word), "{word} in {text}");
            }
            assert!(text.len() < 4_000, "{} bytes", text.len());
        }
    }

    #[test]
    fn a_conclusion_is_closed_at_every_level() {
        insta::assert_snapshot!(CONCLUSION_SCHEMA.to_string(), @r#"{"type":"object","additionalProperties":false,"properties":{"recommendation":{"type":"string","description":"What was decided and why. A format that the question asks for applies to this text."},"key_condition":{"type":"string","description":"The one assumption that must hold; if it fails, the recommendation is to be revisited."},"unresolved_points":{"type":"array","items":{"type":"object","additionalProperties":false,"properties":{"point":{"type":"string","description":"What they disagree on."},"agents_involved":{"type":"array","items":{"type":"string"}},"claims":{"type":"array","items":{"type":"object","additionalProperties":false,"properties":{"id":{"type":"string","description":"Its id in the record, such as P0101."},"agent":{"type":"string"},"claim":{"type":"string"}},"required":["id","agent","claim"]},"description":"What each of them said."}},"required":["point","agents_involved","claims"]},"description":"Disagreements of the record that were left standing; none are invented, there may be none."},"review_by":{"type":"string","description":"The day on which to revisit this: YYYY-MM-DD, later than today."},"participants":{"type":"array","items":{"type":"object","additionalProperties":false,"properties":{"agent":{"type":"string"},"version":{"type":"string"}},"required":["agent","version"]},"description":"Who took part."}},"required":["recommendation","key_condition","unresolved_points","review_by","participants"],"description":"A conclusion: exactly these five fields."}"#);
    }

    #[test]
    fn a_conclusion_names_who_took_part() {
        let names = ["claude".to_owned(), "openai".to_owned()];
        let schema = reply_schema(ReplyShape::Conclusion, QuestionMode::General, &names);
        let point = &schema["properties"]["unresolved_points"]["items"]["properties"];
        let expected = json!(["claude", "openai"]);
        assert_eq!(point["agents_involved"]["items"]["enum"], expected);
        assert_eq!(point["claims"]["items"]["properties"]["agent"]["enum"], expected);
        assert_eq!(point["claims"]["items"]["properties"]["id"].get("enum"), None);
    }

    #[test]
    fn a_field_called_title_stays() {
        let finding = &OPINION_SCHEMA["properties"]["findings"]["items"];
        assert_eq!(finding["properties"]["title"]["type"], "string");
        assert_eq!(finding["required"][1], "title");
    }

    #[test]
    fn a_merged_finding_has_the_fields_of_a_finding() {
        let merged = &REPORT_SCHEMA["properties"]["findings"]["items"]["properties"];
        assert!(merged.get("fix_approach").is_some() && merged.get("disputed_by").is_some());
    }
}
