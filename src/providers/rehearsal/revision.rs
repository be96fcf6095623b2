//! Reply of the rehearsal panel's reviser: changes only the flagged fields.

use serde_json::{Map, Value, json};

use crate::domain::ask::Messages;
use crate::domain::conclusion::{Conclusion, Field, miscounts};

use super::audit::WANTS;
use super::conclusion::{conclusion, in_days, unresolved_points};
use super::docket;
use super::prompt::part;
use super::shape::shaped;
use super::variation::Variation;

/// Earlier than the review date of any draft.
const SOON_DAYS: u32 = 14;

/// For an objection that our critic did not raise.
const FURTHER: &str = "What would count as a failure is written down beforehand.";

/// Revises each flagged field.
pub(super) fn revision(subject: &str, messages: &Messages, variation: Variation) -> Value {
    let user = &messages.user;
    let shown = part(user, "CONCLUSION").and_then(|text| serde_json::from_str(text).ok());
    // If neutralizing made the draft invalid JSON, write it again.
    let draft = shown.unwrap_or_else(|| conclusion(subject, messages, variation));
    let flagged = docket::flagged(user);
    let mended = flagged.map(|field| (field.name().to_owned(), mended(field, &draft, user)));
    Value::Object(mended.collect::<Map<_, _>>())
}

fn mended(field: Field, draft: &Conclusion, user: &str) -> Value {
    match field {
        Field::Recommendation => recommendation(&draft.recommendation, user).into(),
        Field::KeyCondition => with_sentence(field, &draft.key_condition).into(),
        Field::UnresolvedPoints => {
            // Either a point is missing, or there is one too many.
            let count = draft.unresolved_points.len().checked_sub(1).unwrap_or(1);
            json!(unresolved_points(user, count))
        }
        Field::ReviewBy => json!(in_days(user, SOON_DAYS)),
        Field::Participants => json!(docket::participants(user)),
    }
}

/// Applies the format constraint if the draft violates it, else adds the critic's sentence.
fn recommendation(draft: &str, user: &str) -> String {
    let question = part(user, "QUESTION").unwrap_or_default();
    if miscounts(question, draft).is_empty() {
        return with_sentence(Field::Recommendation, draft);
    }
    shaped(question, draft).unwrap_or_else(|| draft.to_owned())
}

/// Adds the sentence the critic misses.
fn with_sentence(field: Field, text: &str) -> String {
    let missing = WANTS.iter().find(|want| want.field == field && !text.contains(want.mended_by));
    let sentence = missing.map_or(FURTHER, |want| want.mended_by);
    format!("{} {sentence}", text.trim_end())
}
