//! Parses a deliberator's judgement of an artifact.
//!
//! Contradictions are kept as written: only `would_block` blocks, and a reply without it is not a
//! judgement.

use serde_json::{Map, Value};

use super::schema::judgement_schema;
use super::spoken::{flatten_texts, join_lines, map_field, normalize_concerns, normalize_scores};
use crate::domain::gate::{DeliberatorJudgement, ReviewConcern};
use crate::normalise::ReplyShape;
use crate::normalise::coerce::coerce_value;
use crate::normalise::reading::ParseResult;
use crate::normalise::rigid::parse_strict_about;

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
    parse_strict_about(reply, artifact, &judgement_schema(shape, &known), "judgements", |value| {
        let value = to_expected_shape(value, score_names)?;
        let given = value.get("scores").and_then(Value::as_object);
        let names = given.filter(|_| known.is_empty()).into_iter().flat_map(Map::keys);
        let names: Vec<&str> = known.iter().copied().chain(names.map(String::as_str)).collect();
        let schema = judgement_schema(shape, &names);
        let fitted = coerce_value(value.clone(), &schema)?;
        let judgement: DeliberatorJudgement =
            serde_path_to_error::deserialize(fitted).map_err(|error| error.to_string())?;
        check_limits(&judgement)?;
        Ok(judgement)
    })
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
        let ReviewConcern { locus, issue, fix } = concern;
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
