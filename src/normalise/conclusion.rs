//! Parses the five fields of a conclusion strictly and validates them against the record.
//!
//! Unlike the lenient parser, this one rejects unknown fields, missing fields and wrong types. It
//! reports all errors at once, because the model gets only one retry.

use serde_json::{Map, Value};

use super::coerce::describe_value;
use super::examiner::{ValidatedFields, unknown_fields, validate_fields};
use super::reading::ParseResult;
use super::rigid::parse_strict;
use super::schema::conclusion_schema;
use crate::domain::conclusion::{Conclusion, ConclusionContext, ConclusionField};

/// More errors than these do not help a model to correct its reply.
const ERRORS_MAX: usize = 12;

/// Parses a conclusion with exactly five fields.
pub fn parse_conclusion(reply: &str, grounds: &ConclusionContext<'_>) -> ParseResult<Conclusion> {
    parse_strict(reply, conclusion_schema(), "conclusions", |value| {
        let given = into_object(value)?;
        let mut examined = validate_fields(&given, ConclusionField::ALL, grounds);
        examined.errors.extend(unknown_fields(&given));
        let ValidatedFields {
            recommendation,
            key_condition,
            unresolved_points,
            review_by,
            errors: faults,
        } = examined;
        let read = recommendation.zip(key_condition).zip(unresolved_points).zip(review_by);
        match read {
            Some((((recommendation, key_condition), unresolved_points), review_by))
                if faults.is_empty() =>
            {
                Ok(Conclusion {
                    recommendation,
                    key_condition,
                    unresolved_points,
                    review_by,
                    // Participants and their versions come from the record, not from the reply.
                    participants: grounds.participants.to_vec(),
                })
            }
            _ => Err(join_errors(&faults)),
        }
    })
}

/// Parses the flagged fields of a revision. Other fields are ignored and keep their original value.
pub fn parse_revision(
    reply: &str,
    original: &Conclusion,
    flagged: &[ConclusionField],
    grounds: &ConclusionContext<'_>,
) -> ParseResult<Conclusion> {
    parse_strict(reply, conclusion_schema(), "revisions", |value| {
        let examined = validate_fields(&into_object(value)?, flagged, grounds);
        if !examined.errors.is_empty() {
            return Err(join_errors(&examined.errors));
        }
        let stood = original.clone();
        let mended = Conclusion {
            recommendation: examined.recommendation.unwrap_or(stood.recommendation),
            key_condition: examined.key_condition.unwrap_or(stood.key_condition),
            unresolved_points: examined.unresolved_points.unwrap_or(stood.unresolved_points),
            review_by: examined.review_by.unwrap_or(stood.review_by),
            participants: grounds.participants.to_vec(),
        };
        Ok(original.with_fields(flagged, &mended))
    })
}

fn into_object(value: Value) -> Result<Map<String, Value>, String> {
    match value {
        Value::Object(given) => Ok(given),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Err(format!("{}, not an object", describe_value(&value)))
        }
    }
}

/// Joins all errors into one line that can be sent back to a model.
fn join_errors(faults: &[String]) -> String {
    let shown = faults.iter().take(ERRORS_MAX).map(String::as_str);
    let mut told = shown.collect::<Vec<_>>().join("; ");
    if let Some(more) = faults.len().checked_sub(ERRORS_MAX).filter(|more| *more > 0) {
        told.push_str(&format!("; and {more} more"));
    }
    told
}
