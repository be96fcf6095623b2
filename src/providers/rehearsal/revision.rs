//! Reply of the rehearsal panel's reviser: changes only the flagged fields.

use serde_json::{Map, Value, json};

use crate::domain::ask::AskMessages;
use crate::domain::conclusion::{Conclusion, ConclusionField, find_violations};

use super::audit::CRITIC_DEMANDS;
use super::conclusion::{date_in_days, list_unresolved_points, write_conclusion};
use super::docket;
use super::prompt::find_part;
use super::shape::shape_draft;
use super::variation::ReplyVariation;

/// Earlier than the review date of any draft.
const SOON_DAYS: u32 = 14;

/// For an objection that our critic did not raise.
const FURTHER: &str = "What would count as a failure is written down beforehand.";

/// Revises each flagged field.
pub(super) fn write_revision(
    subject: &str,
    messages: &AskMessages,
    variation: ReplyVariation,
) -> Value {
    let user = &messages.user;
    let shown = find_part(user, "CONCLUSION").and_then(|text| serde_json::from_str(text).ok());
    // If neutralizing made the draft invalid JSON, write it again.
    let draft = shown.unwrap_or_else(|| write_conclusion(subject, messages, variation));
    let flagged = docket::flagged_fields(user);
    let mended = flagged.map(|field| (field.name().to_owned(), revise_field(field, &draft, user)));
    Value::Object(mended.collect::<Map<_, _>>())
}

fn revise_field(field: ConclusionField, draft: &Conclusion, user: &str) -> Value {
    match field {
        ConclusionField::Recommendation => {
            revise_recommendation(&draft.recommendation, user).into()
        }
        ConclusionField::KeyCondition => add_sentence(field, &draft.key_condition).into(),
        ConclusionField::UnresolvedPoints => {
            // Either a point is missing, or there is one too many.
            let count = draft.unresolved_points.len().checked_sub(1).unwrap_or(1);
            json!(list_unresolved_points(user, count))
        }
        ConclusionField::ReviewBy => json!(date_in_days(user, SOON_DAYS)),
        ConclusionField::Participants => json!(docket::read_participants(user)),
    }
}

/// Applies the format constraint if the draft violates it, else adds the critic's sentence.
fn revise_recommendation(draft: &str, user: &str) -> String {
    let question = find_part(user, "QUESTION").unwrap_or_default();
    if find_violations(question, draft).is_empty() {
        return add_sentence(ConclusionField::Recommendation, draft);
    }
    shape_draft(question, draft).unwrap_or_else(|| draft.to_owned())
}

/// Adds the sentence the critic misses.
fn add_sentence(field: ConclusionField, text: &str) -> String {
    let missing =
        CRITIC_DEMANDS.iter().find(|want| want.field == field && !text.contains(want.revised_by));
    let sentence = missing.map_or(FURTHER, |want| want.revised_by);
    format!("{} {sentence}", text.trim_end())
}
