//! The five fields of a conclusion: rigid, and held against the record.
//!
//! What the general reader forgives is not forgiven here. An unknown field, a missing one,
//! a text where a list is due are refused, and all faults are told at once, because the
//! model that wrote it is asked again just once.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::coerce::{described, quoted};
use super::examiner::Examiner;
use super::reading::Normalised;
use super::reply::{Manner, read_by};
use super::schema::conclusion_schema;
use crate::domain::conclusion::{Conclusion, Field, Grounds};

/// More faults than these help nobody to mend them.
const FAULTS_MAX: usize = 12;

/// A conclusion: exactly these five fields.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "the schema is derived from it; values are read one by one")]
pub(super) struct WrittenConclusion {
    /// What was decided and why. A format that the question asks for applies to this text.
    recommendation: String,
    /// The one assumption that must hold; if it fails, the recommendation is to be revisited.
    key_condition: String,
    /// Disagreements of the record that were left standing; none are invented, there may be none.
    unresolved_points: Vec<WrittenPoint>,
    /// The day on which to revisit this: YYYY-MM-DD, later than today.
    review_by: String,
    /// Who took part.
    participants: Vec<WrittenParticipant>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenPoint {
    /// What they disagree on.
    pub(super) point: String,
    pub(super) agents_involved: Vec<String>,
    /// What each of them said.
    pub(super) claims: Vec<WrittenClaim>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenClaim {
    /// Its id in the record, such as P0101.
    pub(super) id: String,
    pub(super) agent: String,
    pub(super) claim: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenParticipant {
    pub(super) agent: String,
    #[expect(dead_code, reason = "which version took part is on record, whatever is written")]
    version: String,
}

/// Reads the five fields, no more and no fewer.
pub fn conclusion(reply: &str, grounds: &Grounds<'_>) -> Normalised<Conclusion> {
    read_by(reply, conclusion_schema(), Manner::Rigid, |value| {
        let given = object(value)?;
        let mut examiner = Examiner::new(grounds);
        let (recommendation, key_condition) = examiner.texts(&given, Field::ALL);
        let unresolved_points = examiner.points(&given, Field::ALL);
        let review_by = examiner.review_by(&given, Field::ALL);
        examiner.participants(&given, Field::ALL);
        examiner.strangers(&given);
        let faults = examiner.into_faults();
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
    read_by(reply, conclusion_schema(), Manner::Rigid, |value| {
        let given = object(value)?;
        let mut examiner = Examiner::new(grounds);
        let mut mended = original.clone();
        let (recommendation, key_condition) = examiner.texts(&given, flagged);
        let unresolved_points = examiner.points(&given, flagged);
        let review_by = examiner.review_by(&given, flagged);
        examiner.participants(&given, flagged);
        let faults = examiner.into_faults();
        if !faults.is_empty() {
            return Err(told(&faults));
        }
        mended.recommendation = recommendation.unwrap_or(mended.recommendation);
        mended.key_condition = key_condition.unwrap_or(mended.key_condition);
        mended.unresolved_points = unresolved_points.unwrap_or(mended.unresolved_points);
        mended.review_by = review_by.unwrap_or(mended.review_by);
        mended.participants = grounds.participants.to_vec();
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

/// The fault of a field that nobody asked for.
pub(super) fn stranger(name: &str) -> String {
    format!("unknown field {}", quoted(name))
}
