//! JSON schemas of the documents that models return, used in requests and for parsing.
//!
//! They are derived from the types once and then reduced: no titles, defaults or number formats,
//! because each costs tokens in every ask.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use schemars::JsonSchema;
use serde_json::{Map, Value, json};

use crate::model::string_enum::inlined_schema;
use crate::protocols::alignment::types::{DesignReply, PanelReply, ReconcileReply, VerdictsReply};
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

/// Fields that a model writes after the others of their object, in this order, so that it reasons
/// before it decides. The types keep the order of the public documents.
const LATE_FIELDS: [&str; 20] = [
    "rationale",
    "reason",
    "risks",
    "uncertainties",
    "suggested_verification",
    "success_criteria",
    "resolution",
    "position",
    "severity",
    "consensus",
    "priority",
    "rating",
    "recommendation",
    "conclusion",
    "statement",
    "outcome",
    "next_actions",
    "summary",
    "confidence",
    "stance",
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
    Design,
    Panel,
    Reconciliation,
    Verdicts,
}

type SchemaCache = BTreeMap<(ReplyShape, QuestionMode, Vec<String>, Vec<String>), Arc<Value>>;

/// Returns the schema of a reply; `names` are the letters or names it may use. `None` if the reply
/// is plain text. Equal arguments return the same `Arc`, so that callers can cache what they derive
/// from it.
pub fn reply_schema(shape: ReplyShape, mode: QuestionMode, names: &[String]) -> Arc<Value> {
    reply_schema_with_codes(shape, mode, names, &[])
}

/// The same for a deliberator whose concerns have one of these codes.
pub fn reply_schema_with_codes(
    shape: ReplyShape,
    mode: QuestionMode,
    names: &[String],
    codes: &[String],
) -> Arc<Value> {
    static CACHE: Mutex<SchemaCache> = Mutex::new(BTreeMap::new());
    let mut kept = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    if kept.len() >= CACHE_MAX {
        kept.clear();
    }
    let key = (shape, mode, names.to_vec(), codes.to_vec());
    if let Some(made) = kept.get(&key) {
        return Arc::clone(made);
    }
    let made: Arc<Value> = build_schema(shape, mode, names, codes).into();
    kept.insert(key, Arc::clone(&made));
    made
}

/// Builds the schema for one ask; for a deliberator, `names` are its score names.
fn build_schema(
    shape: ReplyShape,
    mode: QuestionMode,
    names: &[String],
    codes: &[String],
) -> Value {
    let scores: Vec<&str> = names.iter().map(String::as_str).collect();
    match shape {
        ReplyShape::Opinion => {
            let mut schema = schema_for_ask(&OPINION_SCHEMA, mode, names);
            raise_recommendation(&mut schema);
            order_fields(schema)
        }
        ReplyShape::PeerReview => order_fields(schema_for_ask(&PEER_REVIEW_SCHEMA, mode, names)),
        ReplyShape::Report => order_fields(schema_for_ask(&REPORT_SCHEMA, mode, names)),
        ReplyShape::Conclusion => schema_for_ask(&CONCLUSION_SCHEMA, mode, names),
        ReplyShape::Judgement | ReplyShape::CrossReading => judgement_schema(shape, &scores, codes),
        ReplyShape::Adjudication => adjudication_schema().clone(),
        ReplyShape::Design => DESIGN_SCHEMA.clone(),
        ReplyShape::Panel => PANEL_SCHEMA.clone(),
        ReplyShape::Reconciliation => RECONCILIATION_SCHEMA.clone(),
        ReplyShape::Verdicts => VERDICTS_SCHEMA.clone(),
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

/// Moves the recommendation out of `details`, so that a model writes it after the risks. The parser
/// moves it back.
fn raise_recommendation(schema: &mut Value) {
    let details = schema.pointer_mut("/properties/details").and_then(Value::as_object_mut);
    let Some(details) = details else { return };
    details.shift_remove("required");
    let inner = details.get_mut("properties").and_then(Value::as_object_mut);
    let Some(moved) = inner.and_then(|inner| inner.shift_remove("recommendation")) else { return };
    if let Some(Value::Object(fields)) = schema.get_mut("properties") {
        fields.insert("recommendation".to_owned(), moved);
    }
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.push(json!("recommendation"));
    }
}

/// Sorts the properties at every level: reasons first, then [`LATE_FIELDS`].
fn order_fields(schema: Value) -> Value {
    let rank =
        |name: &str| LATE_FIELDS.iter().position(|late| *late == name).map_or(0, |at| at + 1);
    let Value::Object(mut node) = schema else { return schema };
    if let Some(Value::Object(properties)) = node.get_mut("properties") {
        let mut fields: Vec<_> = std::mem::take(properties).into_iter().collect();
        fields.sort_by_key(|(name, _)| rank(name));
        properties.extend(fields.into_iter().map(|(name, inner)| (name, order_fields(inner))));
    }
    if let Some(items) = node.get_mut("items") {
        *items = order_fields(items.take());
    }
    Value::Object(node)
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
pub(crate) fn drop_field(schema: &mut Value, field: &str) {
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

pub(crate) static DESIGN_SCHEMA: LazyLock<Value> = LazyLock::new(document_schema::<DesignReply>);
pub(crate) static PANEL_SCHEMA: LazyLock<Value> = LazyLock::new(document_schema::<PanelReply>);
pub(crate) static RECONCILIATION_SCHEMA: LazyLock<Value> =
    LazyLock::new(document_schema::<ReconcileReply>);
pub(crate) static VERDICTS_SCHEMA: LazyLock<Value> =
    LazyLock::new(document_schema::<VerdictsReply>);

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
        insta::assert_snapshot!(OPINION_SCHEMA.to_string(), @r#"{"type":"object","properties":{"summary":{"type":"string","description":"The answer and its main reason."},"details":{"type":"object","properties":{"understanding":{"type":"string","description":"What you take the question to be."},"key_considerations":{"type":"array","items":{"type":"string"}},"alternatives_considered":{"type":"array","items":{"type":"string"},"description":"Options that were not chosen, each with the reason."},"evidence":{"type":"array","items":{"type":"string"},"description":"Facts and figures, each with its source."},"recommendation":{"type":"string"},"rationale":{"type":"string"}},"required":["recommendation"]},"risks":{"type":"array","items":{"type":"object","properties":{"description":{"type":"string"},"severity":{"type":"string","enum":["low","medium","high"]},"mitigation":{"type":["string","null"]}},"required":["description","severity"]}},"assumptions":{"type":"array","items":{"type":"string"}},"questions":{"type":"array","items":{"type":"string"},"description":"What you would need to know to be surer."},"confidence":{"type":"string","enum":["low","medium","high"]},"stance":{"type":"string","enum":["approve","reject","conditional","abstain","none"],"description":"`none` when the question is not one of approval."},"findings":{"type":"array","items":{"type":"object","properties":{"id":{"type":"string","description":"Such as `SEC-001`."},"title":{"type":"string"},"severity":{"type":"string","enum":["low","medium","high"]},"category":{"type":"string"},"location":{"type":"string","description":"File and line, where it can be said."},"description":{"type":"string"},"fix_approach":{"type":"string"}},"required":["id","title","severity","description"],"description":"A fault of the material under review."},"description":"Only in mode review: faults of the files."}},"required":["summary","details","confidence","stance"],"description":"An opinion as its model gave it."}"#);
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
        insta::assert_snapshot!(CONCLUSION_SCHEMA.to_string(), @r###"{"type":"object","additionalProperties":false,"properties":{"unresolved_points":{"type":"array","items":{"type":"object","additionalProperties":false,"properties":{"point":{"type":"string","description":"What they disagree on."},"agents_involved":{"type":"array","items":{"type":"string"}},"claims":{"type":"array","items":{"type":"object","additionalProperties":false,"properties":{"id":{"type":"string","description":"Its id in the record, such as P0101, or the id of a verdict."},"agent":{"type":"string"},"claim":{"type":"string"}},"required":["id","agent","claim"]},"description":"What each of them said."}},"required":["point","agents_involved","claims"]},"description":"Disagreements that the record left open; none are invented, there may be none."},"recommendation":{"type":"string","description":"What was decided and why. A format that the question asks for applies to this text."},"key_condition":{"type":"string","description":"The one assumption that must hold; if it fails, the recommendation is to be revisited."},"review_by":{"type":"string","description":"The day on which to revisit this: YYYY-MM-DD, later than today."},"participants":{"type":"array","items":{"type":"object","additionalProperties":false,"properties":{"agent":{"type":"string"},"version":{"type":"string"}},"required":["agent","version"]},"description":"Who took part."}},"required":["unresolved_points","recommendation","key_condition","review_by","participants"],"description":"A conclusion: exactly these five fields."}"###);
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
