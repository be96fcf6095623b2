//! `expert_create`: adds an expert during a dialogue. Also checks slugs and colours for all
//! requests.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::dialogue::diagnostics::{RequestWarning, dialogue_closed, out_of_order};
use crate::dialogue::request::{OperationRequest, Place};
use crate::dialogue::request_fields::truncate_echo;
use crate::model::dialogue::{Dialogue, ExpertProfile, ExpertSource, ExpertTier};
use crate::model::ids::{DialogueId, ExpertSlug};
use crate::model::journal::JournalEvent;
use crate::model::limits::{
    EXPERT_SLUG_BYTES_MAX, EXPERTS_MAX, LINE_CHARS_MAX, ROUND_MAX, TEXT_CHARS_MAX,
};
use crate::model::record::RecordLookup;
use crate::model::string_enum::word_schema;
use crate::model::validation_error::{ErrorCode, ValidationError, ValidationErrors};

/// Arguments of `expert_create`.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ExpertRequest {
    pub dialogue_id: DialogueId,
    /// Short name: [a-z][a-z0-9_-]{0,31}
    #[schemars(length(max = LINE_CHARS_MAX))]
    expert_slug: ExpertSlug,
    #[schemars(length(max = LINE_CHARS_MAX))]
    role: String,
    #[schemars(schema_with = "word_schema::<ExpertTier>")]
    tier: ExpertTier,
    /// Why the panel needs it; name the tension.
    #[schemars(length(max = TEXT_CHARS_MAX))]
    reason: String,
    #[schemars(length(max = TEXT_CHARS_MAX))]
    description: Option<String>,
    #[schemars(length(max = LINE_CHARS_MAX))]
    focus: Option<String>,
    #[schemars(range(min = 0.0, max = 1.0))]
    relevance: Option<f64>,
    #[schemars(length(max = LINE_CHARS_MAX), extend("format" = "hex_color"))]
    color: Option<String>,
    #[schemars(length(max = TEXT_CHARS_MAX))]
    mandate: Option<String>,
    #[schemars(range(max = ROUND_MAX))]
    first_round: Option<u8>,
}

impl OperationRequest for ExpertRequest {}

impl ExpertRequest {
    fn profile(&self, first_round: u8) -> ExpertProfile {
        let (slug, role) = (self.expert_slug.clone(), self.role.clone());
        ExpertProfile {
            description: self.description.clone(),
            focus: self.focus.clone(),
            relevance: self.relevance,
            color: self.color.clone(),
            creation_reason: Some(self.reason.clone()),
            mandate: self.mandate.clone(),
            first_round: Some(first_round),
            ..ExpertProfile::new(slug, role, self.tier, ExpertSource::Created)
        }
    }
}

pub fn decide_expert(
    request: &ExpertRequest,
    dialogue: &Dialogue,
    facts: &RecordLookup,
) -> Result<(ExpertProfile, Vec<JournalEvent>), ValidationErrors> {
    let slug = &request.expert_slug;
    if dialogue.status.is_closed() {
        return Err(dialogue_closed(dialogue).into());
    }
    if facts.find_expert(slug.as_str()).is_some() {
        let message = format!("expert '{slug}' is already in dialogue '{}'", dialogue.id());
        return Err(ValidationError::new(ErrorCode::ExpertExists, message)
            .with_field("expert_slug")
            .with_value(slug.as_str())
            .with_suggestion("choose another slug")
            .into());
    }
    if facts.experts.len() >= EXPERTS_MAX {
        let message = format!("a dialogue has at most {EXPERTS_MAX} experts");
        return Err(ValidationError::new(ErrorCode::FieldTooLong, message)
            .with_field("expert_slug")
            .into());
    }
    let next = dialogue.next_round();
    let first_round = request.first_round.unwrap_or(next);
    if let Some(fault) = out_of_order(u16::from(next), dialogue) {
        return Err(fault.into());
    }
    if first_round < next {
        let message = format!("first_round {first_round} is over; the next round is {next}");
        return Err(ValidationError::new(ErrorCode::InvalidRound, message)
            .with_field("first_round")
            .into());
    }
    let profile = request.profile(first_round);
    Ok((profile.clone(), vec![JournalEvent::ExpertAdded(profile)]))
}

/// A late start is usually a slip of the pen: the dialogue may end before it.
pub fn warn_late_start(expert: &ExpertProfile, dialogue: &Dialogue) -> Option<RequestWarning> {
    let (next, first) = (dialogue.next_round(), expert.first_round?);
    let message =
        format!("{} joins in round {first}, and the next round is {next}", expert.expert_slug);
    (first > next.saturating_add(1)).then(|| RequestWarning::new("late_start", message))
}

/// Returns the fault of a text that is not a colour.
pub(crate) fn color_fault(place: &Place<'_>, text: &str) -> Option<ValidationError> {
    let fault = || {
        ValidationError::new(
            ErrorCode::InvalidType,
            "field 'color' must be a hex colour such as #3B82F6",
        )
    };
    (!is_hex_color(text))
        .then(|| fault().about_item(place.item).with_field(place.field).with_value(text))
}

fn is_hex_color(text: &str) -> bool {
    text.strip_prefix('#')
        .is_some_and(|digits| digits.len() == 6 && digits.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// Returns the fault of a text that is not an expert slug.
pub(crate) fn slug_fault(place: &Place<'_>, text: &str) -> Option<ValidationError> {
    if text.parse::<ExpertSlug>().is_ok() {
        return None;
    }
    let name = place.field;
    let message = format!(
        "{name} '{}' is not a name: a lower-case letter, then letters, digits, '-' or '_', at most {EXPERT_SLUG_BYTES_MAX} in all ('judge' is taken)",
        truncate_echo(text)
    );
    let fault = ValidationError::new(ErrorCode::InvalidSlug, message)
        .about_item(place.item)
        .with_field(name)
        .with_value(text);
    Some(match suggest_slug(text) {
        Some(corrected) => fault.with_suggestion(format!("try '{corrected}'")),
        None => fault,
    })
}

/// Suggests the valid slug closest to an invalid one; `None` if no letter is usable.
fn suggest_slug(text: &str) -> Option<ExpertSlug> {
    let kept: String = text
        .to_ascii_lowercase()
        .chars()
        .filter(|letter| letter.is_ascii_alphanumeric() || "-_".contains(*letter))
        .skip_while(|letter| !letter.is_ascii_lowercase())
        .take(EXPERT_SLUG_BYTES_MAX)
        .collect();
    kept.parse().ok()
}
