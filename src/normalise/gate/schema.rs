//! Schemas of the review documents. Findings come before the conclusions drawn from them, because a
//! server with strict schemas makes the model write in this order.

use std::sync::LazyLock;

use serde_json::{Map, Value, json};

use crate::domain::gate::{DeliberatorVerdict, ReviewDecision};
use crate::normalise::ReplyShape;

/// Schema of a deliberator's reply. Scores without fixed names are a list, because most servers do
/// not accept an object with arbitrary keys.
pub(in crate::normalise) fn judgement_schema(shape: ReplyShape, score_names: &[&str]) -> Value {
    let mut fields = Map::new();
    fields.insert("concerns".to_owned(), concerns_schema());
    if shape == ReplyShape::CrossReading {
        fields.insert(
            "concessions".to_owned(),
            texts_schema(
                "What peers' concerns made you give up; each begins with the id of the concern.",
            ),
        );
        fields.insert("escalations".to_owned(), texts_schema("What peers' concerns made you press harder; each begins with the id of the concern."));
    }
    fields.insert("scores".to_owned(), scores_schema(score_names));
    fields.insert("would_block".to_owned(), bool_schema("Whether it must not go out as it is."));
    fields
        .insert("irreducible".to_owned(), bool_schema("Whether no revision could lift the block."));
    fields.insert(
        "verdict".to_owned(),
        enum_schema(DeliberatorVerdict::ALL.iter().map(|word| word.name())),
    );
    if shape == ReplyShape::CrossReading {
        let what = "What changed since the first judgement, in a sentence.";
        fields.insert("delta_from_r1".to_owned(), text_schema(what));
    }
    fields.insert("revision_brief".to_owned(), text_schema("What the author should change."));
    json!({
        "type": "object",
        "additionalProperties": false,
        "properties": fields,
        "required": ["scores", "would_block", "irreducible", "verdict"],
        "description": "A judgement of the artifact.",
    })
}

/// Schema of the adjudicator's reply.
pub(in crate::normalise) fn adjudication_schema() -> &'static Value {
    static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
        json!({
            "type": "object",
            "additionalProperties": false,
            "properties": {
                "reasoning": text_schema("Why, resting on what the deliberators said and nothing else."),
                "downgrade": bool_schema("Whether a HOLD that is open to it counts as REVISE."),
                "downgrade_reason": text_schema("Which revision lifts which block; empty without a downgrade."),
                "final_verdict": enum_schema(ReviewDecision::ALL.iter().map(|word| word.name())),
                "revision_brief": text_schema("What the author should change, in order."),
            },
            "required": ["reasoning", "final_verdict"],
            "description": "The decision of the gate.",
        })
    });
    &SCHEMA
}

fn concerns_schema() -> Value {
    json!({
        "type": "array",
        "items": {
            "type": "object",
            "additionalProperties": false,
            "properties": {
                "locus": text_schema("The words it is about, copied from the artifact, or a line such as L12."),
                "issue": text_schema("What is wrong, and for whom."),
                "fix": text_schema("What to write instead."),
            },
            "required": ["issue"],
        },
        "description": "Faults, the gravest first; there may be none.",
    })
}

fn scores_schema(names: &[&str]) -> Value {
    let score = json!({ "type": "integer", "minimum": 1, "maximum": 5 });
    if names.is_empty() {
        let item = json!({
            "type": "object",
            "additionalProperties": false,
            "properties": { "name": { "type": "string" }, "score": score },
            "required": ["name", "score"],
        });
        return json!({
            "type": "array",
            "items": item,
            "description": "From 1, it fails, to 5, nothing to add.",
        });
    }
    let fields: Map<String, Value> =
        names.iter().map(|name| ((*name).to_owned(), score.clone())).collect();
    json!({
        "type": "object",
        "additionalProperties": false,
        "properties": fields,
        "required": names,
        "description": "From 1, it fails, to 5, nothing to add.",
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
