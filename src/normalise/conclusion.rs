//! The five fields of a conclusion: rigid, and held against the record.
//!
//! What the general reader forgives is not forgiven here. An unknown field, a missing one,
//! a text where a list is due are refused, and all faults are told at once, because the
//! model that wrote it is asked again just once.

use serde_json::{Map, Value};

use super::coerce::described;
use super::examiner::{Examined, examined, strangers};
use super::reading::Normalised;
use super::rigid::read_rigidly;
use super::schema::conclusion_schema;
use crate::domain::conclusion::{Conclusion, Field, Grounds};

/// More faults than these help nobody to mend them.
const FAULTS_MAX: usize = 12;

/// Reads the five fields, no more and no fewer.
pub fn conclusion(reply: &str, grounds: &Grounds<'_>) -> Normalised<Conclusion> {
    read_rigidly(reply, conclusion_schema(), "conclusions", |value| {
        let given = object(value)?;
        let mut examined = examined(&given, Field::ALL, grounds);
        examined.faults.extend(strangers(&given));
        let Examined { recommendation, key_condition, unresolved_points, review_by, faults } =
            examined;
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
                    // Who took part, and in which version, is our fact.
                    participants: grounds.participants.to_vec(),
                })
            }
            _ => Err(told(&faults)),
        }
    })
}

/// Reads the flagged fields, and them only: whatever else is there is not looked at, and
/// stays as it was.
pub fn revision(
    reply: &str,
    original: &Conclusion,
    flagged: &[Field],
    grounds: &Grounds<'_>,
) -> Normalised<Conclusion> {
    read_rigidly(reply, conclusion_schema(), "revisions", |value| {
        let examined = examined(&object(value)?, flagged, grounds);
        if !examined.faults.is_empty() {
            return Err(told(&examined.faults));
        }
        let stood = original.clone();
        let mended = Conclusion {
            recommendation: examined.recommendation.unwrap_or(stood.recommendation),
            key_condition: examined.key_condition.unwrap_or(stood.key_condition),
            unresolved_points: examined.unresolved_points.unwrap_or(stood.unresolved_points),
            review_by: examined.review_by.unwrap_or(stood.review_by),
            participants: grounds.participants.to_vec(),
        };
        Ok(original.with(flagged, &mended))
    })
}

fn object(value: Value) -> Result<Map<String, Value>, String> {
    match value {
        Value::Object(given) => Ok(given),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Err(format!("{}, not an object", described(&value)))
        }
    }
}

/// All that is wrong, in one sentence that can go back to a model.
fn told(faults: &[String]) -> String {
    let shown = faults.iter().take(FAULTS_MAX).map(String::as_str);
    let mut told = shown.collect::<Vec<_>>().join("; ");
    if let Some(more) = faults.len().checked_sub(FAULTS_MAX).filter(|more| *more > 0) {
        told.push_str(&format!("; and {more} more"));
    }
    told
}
