//! Parses a deliberator's judgement of an artifact. Unambiguous variants of the fields, as models
//! write them, are converted to the schema's shape.
//!
//! Contradictions are kept as written: only `would_block` blocks, and a reply without it is not a
//! judgement.

use std::sync::LazyLock;

use serde_json::{Map, Value, json};

use crate::parsing::coerce::{coerce_value, describe_value, quote_safely};
use crate::parsing::reply::ParseResult;
use crate::parsing::schema::ReplyShape;
use crate::parsing::strict::parse_strict_about;
use crate::protocols::review::concern_codes::normalize_code;
use crate::protocols::review::policy::{AdjudicatorReply, ReviewDecision};
use crate::protocols::review::types::{DeliberatorJudgement, DeliberatorVerdict, ReviewConcern};

/// The prompt asks for at most eight; many more are not a judgement.
const CONCERNS_MAX: usize = 50;

/// A concern is a sentence or two and is shown in full.
const CONCERN_CHARS_MAX: usize = 4_000;

/// Maximum number of concessions, and of escalations.
const POINTS_MAX: usize = 50;

/// Parses a judgement of either round; `score_names` are the names of its scores, if they are
/// fixed.
pub fn parse_judgement(
    reply: &str,
    artifact: &str,
    shape: ReplyShape,
    score_names: Option<[&str; 3]>,
) -> ParseResult<DeliberatorJudgement> {
    let known: Vec<&str> = score_names.iter().flatten().copied().collect();
    // A truncated judgement may lack the decisive concern, so it is rejected.
    parse_strict_about(
        reply,
        artifact,
        &judgement_schema(shape, &known, &[]),
        "judgements",
        |value| {
            let value = to_expected_shape(value, score_names)?;
            let given = value.get("scores").and_then(Value::as_object);
            let names = given.filter(|_| known.is_empty()).into_iter().flat_map(Map::keys);
            let names: Vec<&str> = known.iter().copied().chain(names.map(String::as_str)).collect();
            let schema = judgement_schema(shape, &names, &[]);
            let fitted = coerce_value(value.clone(), &schema)?;
            let judgement: DeliberatorJudgement =
                serde_path_to_error::deserialize(fitted).map_err(|error| error.to_string())?;
            check_limits(&judgement)?;
            Ok(judgement)
        },
    )
}

/// Converts lenient forms of fields to the schema's shape.
fn to_expected_shape(mut value: Value, score_names: Option<[&str; 3]>) -> Result<Value, String> {
    map_field(&mut value, "scores", |given| normalize_scores(given, score_names))?;
    map_field(&mut value, "concerns", |given| Ok(normalize_concerns(given)))?;
    for field in ["concessions", "escalations"] {
        map_field(&mut value, field, |given| Ok(flatten_texts(given)))?;
    }
    for field in ["revision_brief", "delta_from_r1"] {
        map_field(&mut value, field, |given| Ok(join_lines(given)))?;
    }
    Ok(value)
}

fn check_limits(judgement: &DeliberatorJudgement) -> Result<(), String> {
    let lists = [
        ("concerns", judgement.concerns.len(), CONCERNS_MAX),
        ("concessions", judgement.concessions.len(), POINTS_MAX),
        ("escalations", judgement.escalations.len(), POINTS_MAX),
    ];
    if let Some((name, items, most)) = lists.iter().find(|(_, items, most)| items > most) {
        return Err(format!("{name}: {items} items, over {most}"));
    }
    for (index, concern) in judgement.concerns.iter().enumerate() {
        let ReviewConcern { locus, issue, fix, .. } = concern;
        for (name, text) in [("locus", locus), ("issue", issue), ("fix", fix)] {
            if text.chars().nth(CONCERN_CHARS_MAX).is_some() {
                return Err(format!(
                    "concerns[{index}].{name}: over {CONCERN_CHARS_MAX} characters"
                ));
            }
        }
    }
    Ok(())
}

/// The adjudicator does not see the artifact, but the deliberators' quotations from it.
pub fn parse_adjudication(reply: &str, artifact: &str) -> ParseResult<AdjudicatorReply> {
    let schema = adjudication_schema();
    parse_strict_about(reply, artifact, schema, "adjudications", |mut value| {
        for field in ["reasoning", "revision_brief", "downgrade_reason"] {
            map_field(&mut value, field, |given| Ok(join_lines(given)))?;
        }
        let mut word: AdjudicatorReply =
            serde_path_to_error::deserialize(coerce_value(value, schema)?)
                .map_err(|error| error.to_string())?;
        if word.reasoning.trim().is_empty() {
            return Err("reasoning: empty".to_owned());
        }
        word.downgrade_reason = word.downgrade_reason.filter(|reason| !reason.trim().is_empty());
        Ok(word)
    })
}

/// Schema of a deliberator's reply. Scores without fixed names are a list, because most servers do
/// not accept an object with arbitrary keys.
pub(crate) fn judgement_schema(shape: ReplyShape, score_names: &[&str], codes: &[String]) -> Value {
    let concede = "What peers' concerns made you give up; each begins with the id of the concern.";
    let escalate =
        "What peers' concerns made you press harder; each begins with the id of the concern.";
    let delta = "What changed since the first judgement, in a sentence.";
    let is_second = shape == ReplyShape::CrossReading;
    let fields = [
        (true, "concerns", concerns_schema(codes)),
        (is_second, "concessions", texts_schema(concede)),
        (is_second, "escalations", texts_schema(escalate)),
        (is_second, "delta_from_r1", text_schema(delta)),
        (true, "scores", scores_schema(score_names)),
        (true, "would_block", bool_schema("Whether it must not go out as it is.")),
        (true, "irreducible", bool_schema("Whether no revision could lift the block.")),
        (true, "verdict", enum_schema(DeliberatorVerdict::ALL.iter().map(|word| word.name()))),
        (true, "revision_brief", text_schema("What the author should change.")),
    ];
    let asked = fields.into_iter().filter(|(is_asked, ..)| *is_asked);
    let properties: Map<String, Value> =
        asked.map(|(_, name, schema)| (name.to_owned(), schema)).collect();
    json!({
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
        "required": ["scores", "would_block", "irreducible", "verdict"],
        "description": "A judgement of the artifact.",
    })
}

/// Schema of the adjudicator's reply.
pub(crate) fn adjudication_schema() -> &'static Value {
    static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
        json!({
            "type": "object",
            "additionalProperties": false,
            "properties": {
                "reasoning": text_schema("Why, resting on what the deliberators said and nothing else."),
                "downgrade_reason": text_schema("Which revision lifts which block; empty without a downgrade."),
                "downgrade": bool_schema("Whether a HOLD that is open to it counts as REVISE."),
                "final_verdict": enum_schema(ReviewDecision::ALL.iter().map(|word| word.name())),
                "revision_brief": text_schema("What the author should change, in order."),
            },
            "required": ["reasoning", "final_verdict"],
            "description": "The decision of the gate.",
        })
    });
    &SCHEMA
}

fn concerns_schema(codes: &[String]) -> Value {
    let mut code = text_schema("The kind of the fault.");
    if let Some(fields) = code.as_object_mut().filter(|_| !codes.is_empty()) {
        fields.insert("enum".to_owned(), json!(codes));
    }
    json!({
        "type": "array",
        "items": {
            "type": "object",
            "additionalProperties": false,
            "properties": {
                "locus": text_schema("The words it is about, copied from the artifact, or a line such as L12."),
                "issue": text_schema("What is wrong, and for whom."),
                "fix": text_schema("What to write instead."),
                "code": code,
            },
            "required": ["issue"],
        },
        "description": "Faults, the gravest first; there may be none.",
    })
}

fn scores_schema(names: &[&str]) -> Value {
    let description = "From 1, it fails, to 5, nothing to add.";
    let score = json!({ "type": "integer", "minimum": 1, "maximum": 5 });
    if names.is_empty() {
        let item = json!({
            "type": "object",
            "additionalProperties": false,
            "properties": { "name": { "type": "string" }, "score": score },
            "required": ["name", "score"],
        });
        return json!({ "type": "array", "items": item, "description": description });
    }
    let fields: Map<String, Value> =
        names.iter().map(|name| ((*name).to_owned(), score.clone())).collect();
    json!({
        "type": "object",
        "additionalProperties": false,
        "properties": fields,
        "required": names,
        "description": description,
    })
}

fn text_schema(what: &str) -> Value {
    json!({ "type": "string", "description": what })
}

fn texts_schema(what: &str) -> Value {
    json!({ "type": "array", "items": { "type": "string" }, "description": what })
}

fn bool_schema(what: &str) -> Value {
    json!({ "type": "boolean", "description": what })
}

fn enum_schema<'a>(options: impl Iterator<Item = &'a str>) -> Value {
    json!({ "type": "string", "enum": options.collect::<Vec<_>>() })
}

/// Maximum number of scores.
const SCORES_MAX: usize = 8;

const SCORE_NAME_CHARS_MAX: usize = 64;

/// Returns the scores as an object by name; they may come as an object or as a list of names and
/// scores. If the names are fixed, others are dropped.
fn normalize_scores(given: Value, names: Option<[&str; 3]>) -> Result<Value, String> {
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
            Some(known) => known.into_iter().find(|name| is_score_name(&written, name)),
            None => Some(written.trim()),
        };
        let Some(name) = name else { continue };
        if name.is_empty() || name.chars().nth(SCORE_NAME_CHARS_MAX).is_some() {
            return Err(format!("scores: {} is not the name of a score", quote_safely(name)));
        }
        if kept.insert(name.to_owned(), score).is_some() {
            return Err(format!("scores: {} is given twice", quote_safely(name)));
        }
    }
    match kept.len() {
        0 if names.is_none() => {
            Err("scores: the object is empty, but at least one score is required".to_owned())
        }
        many if many > SCORES_MAX => Err(format!("scores: {many} scores, over {SCORES_MAX}")),
        _ => Ok(Value::Object(kept)),
    }
}

/// Reads `{"name": "x", "score": 3}`.
fn score_pair((index, mut item): (usize, Value)) -> Result<(String, Value), String> {
    match (item.get("name").and_then(Value::as_str).map(str::to_owned), item.get_mut("score")) {
        (Some(name), Some(score)) => Ok((name, score.take())),
        (Some(_), None) => Err(format!("scores[{index}]: no score")),
        (None, _) => {
            Err(format!("scores[{index}]: {}, not a name and a score", describe_value(&item)))
        }
    }
}

/// `Voice Match` and `voice-match` match `voice_match`.
fn is_score_name(written: &str, name: &str) -> bool {
    written.trim().replace([' ', '-'], "_").eq_ignore_ascii_case(name)
}

/// Returns the concerns as a list of objects; an empty concern is dropped.
fn normalize_concerns(given: Value) -> Value {
    let items = match given {
        Value::Array(items) => items,
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
    fields.values_mut().for_each(|text| *text = join_lines(text.take()));
    let code = fields.shift_remove("code");
    let code = code.as_ref().and_then(Value::as_str).and_then(normalize_code);
    fields.extend(code.map(|code| ("code".to_owned(), Value::String(code))));
    let issue = fields.get("issue").and_then(Value::as_str);
    let is_empty = issue.is_some_and(|issue| issue.trim().is_empty());
    (!is_empty).then_some(Value::Object(fields))
}

/// Joins a list of texts into one text with several lines.
fn join_lines(given: Value) -> Value {
    let Value::Array(items) = &given else { return given };
    let lines: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
    lines.map_or_else(|| given.clone(), |lines| Value::String(lines.join("\n")))
}

/// Converts objects in a list of texts, such as an id and a reason, into one text each.
fn flatten_texts(given: Value) -> Value {
    let Value::Array(items) = given else { return given };
    let item = |item: Value| match &item {
        Value::Object(fields) => {
            let message: Vec<&str> = fields.values().filter_map(Value::as_str).collect();
            if message.is_empty() { item } else { Value::String(message.join(": ")) }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            item
        }
    };
    Value::Array(items.into_iter().map(item).collect())
}

/// Maps a field if it is present.
fn map_field(
    document: &mut Value,
    field: &str,
    how: impl FnOnce(Value) -> Result<Value, String>,
) -> Result<(), String> {
    if let Some(value) = document.get_mut(field) {
        *value = how(value.take())?;
    }
    Ok(())
}
