//! Errors and warnings collected while a request is parsed.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::dialogue::entity_states::IllegalTransition;
use crate::dialogue::request_fields::{RequestFields, truncate_echo};
use crate::model::dialogue::{Dialogue, DialogueStatus};
use crate::model::ids::{DialogueId, EntityId, EntityKind, EntityTarget};
use crate::model::lifecycle::next_statuses;
use crate::model::limits::ROUND_MAX;
use crate::model::queries::DialogueName;
use crate::model::record::RecordLookup;
use crate::model::validation_error::{ErrorCode, ErrorItem, ValidationError, ValidationErrors};

#[derive(Debug, Clone, Default)]
pub struct Diagnostics {
    pub errors: Vec<ValidationError>,
    pub warnings: Vec<RequestWarning>,
}

impl Diagnostics {
    pub fn add_error(&mut self, fault: ValidationError) {
        self.errors.push(fault);
    }

    /// The parsed value, unless errors were collected.
    pub fn into_result<T>(
        self,
        read: Option<T>,
    ) -> Result<(T, Vec<RequestWarning>), ValidationErrors> {
        match read {
            Some(read) if self.errors.is_empty() => Ok((read, self.warnings)),
            Some(_) | None => Err(ValidationErrors::new(self.errors)),
        }
    }
}

/// Reads the dialogue id. An invalid id is reported as not found.
pub(crate) fn read_dialogue_id(fields: &RequestFields<'_>) -> Option<DialogueId> {
    let text = fields.require_text("dialogue_id", usize::MAX)?;
    let id = text.parse().ok();
    if id.is_none() {
        fields.add_error(dialogue_not_found(&text));
    }
    id
}

pub fn dialogue_not_found(id: &str) -> ValidationError {
    ValidationError::new(
        ErrorCode::DialogueNotFound,
        format!("dialogue '{}' not found", truncate_echo(id)),
    )
    .with_field("dialogue_id")
    .with_value(id)
    .with_suggestion(missing_id_hint(id))
}

/// Letters that a short id has at least, unless it is whole.
pub const SHORT_LETTERS_MIN: usize = 4;

/// The rule of the short form that was probably meant.
fn missing_id_hint(typed: &str) -> &'static str {
    let is_hex = !typed.is_empty() && typed.bytes().all(|byte| byte.is_ascii_hexdigit());
    if typed.to_ascii_lowercase().starts_with("latest") {
        "`latest` is the newest dialogue, `latest~1` the one before it; `plenary list` shows how many \
         there are"
    } else if typed.len() < SHORT_LETTERS_MIN && is_hex {
        "a short id has four hex digits or more; `plenary list` shows them"
    } else if typed.rsplit_once('/').is_some_and(|(_, number)| number.parse::<u32>().is_ok()) {
        "`plenary log tail` shows the ids of the last verdicts"
    } else if typed.contains('/') || typed.ends_with(".db") {
        "this looks like a file; `--store FILE` chooses another store, and `plenary list` shows its \
         dialogues"
    } else {
        "`plenary list` shows the dialogues of this store"
    }
}

/// A short id that fits several dialogues. The candidates are the options, with their titles in the
/// context.
pub fn ambiguous_id(typed: &str, candidates: &[DialogueName]) -> ValidationError {
    let titles = candidates
        .iter()
        .map(|named| json!({ "dialogue_id": named.dialogue_id, "title": named.title }));
    ValidationError::new(
        ErrorCode::AmbiguousId,
        format!("'{}' fits several dialogues", truncate_echo(typed)),
    )
    .with_field("dialogue_id")
    .with_value(typed)
    .with_options(candidates.iter().map(|named| &named.dialogue_id))
    .with_context(json!({ "candidates": titles.collect::<Vec<_>>() }))
}

/// The dialogue is closed.
pub fn dialogue_closed(dialogue: &Dialogue) -> ValidationError {
    let message = format!("dialogue '{}' is {}", dialogue.id(), dialogue.status);
    ValidationError::new(ErrorCode::DialogueClosed, message)
        .with_field("dialogue_id")
        .with_value(dialogue.id().as_str())
        .with_suggestion(match dialogue.status {
            DialogueStatus::Converged => {
                "after a final verdict only minority and dissent verdicts are accepted; create a new dialogue to continue"
            }
            DialogueStatus::Open | DialogueStatus::Converging | DialogueStatus::Abandoned => {
                "create a new dialogue to continue"
            }
        })
}

/// The dialogue has no conclusion, so no outcome can be recorded.
pub fn not_concluded(id: &DialogueId) -> ValidationError {
    ValidationError::new(ErrorCode::NotConcluded, format!("dialogue '{id}' has no conclusion"))
        .with_field("dialogue_id")
        .with_value(id.as_str())
        .with_suggestion(format!("`plenary conclude {id}` writes one"))
}

/// The critic rejected the conclusion twice, so it was not delivered and no outcome can be
/// recorded.
pub fn ended_unconverged(id: &DialogueId) -> ValidationError {
    let message = format!("dialogue '{id}' ended unconverged: no conclusion was delivered");
    ValidationError::new(ErrorCode::NotConverged, message)
        .with_field("dialogue_id")
        .with_value(id.as_str())
        .with_suggestion(format!("`plenary show {id}` shows the reason"))
}

/// Rejects every round but the next one.
pub(crate) fn out_of_order(round: u16, dialogue: &Dialogue) -> Option<ValidationError> {
    let (first, next) = (dialogue.opening.protocol.first_round(), dialogue.next_round());
    let fault = if round == u16::from(next) {
        if next <= ROUND_MAX {
            return None;
        }
        let message = format!("a dialogue has at most {} rounds", u16::from(ROUND_MAX) + 1);
        return Some(
            ValidationError::new(ErrorCode::RoundCapacityExceeded, message)
                .with_field("round")
                .with_value(round)
                .with_suggestion("register a verdict, or continue in a new dialogue"),
        );
    } else if (u16::from(first)..u16::from(next)).contains(&round) {
        ValidationError::new(
            ErrorCode::RoundAlreadyRegistered,
            format!("round {round} is already registered"),
        )
    } else {
        ValidationError::new(
            ErrorCode::InvalidRound,
            format!("round {round} is not the next round"),
        )
    };
    let hint = format!("the next round is {next}");
    Some(fault.with_field("round").with_value(round).with_options([next]).with_suggestion(hint))
}

/// The expert is not part of the dialogue.
pub(crate) fn expert_not_in_dialogue(expert: &str, dialogue: &Dialogue) -> ValidationError {
    let message =
        format!("expert '{}' is not in dialogue '{}'", truncate_echo(expert), dialogue.id());
    ValidationError::new(ErrorCode::ExpertNotInDialogue, message)
        .with_value(expert)
        .with_suggestion("create the expert first, or check the spelling of the slug")
}

pub(crate) fn not_an_id(field: &str, text: &str) -> ValidationError {
    ValidationError::new(
        ErrorCode::InvalidDisplayId,
        format!("{field} '{}' is not an id", truncate_echo(text)),
    )
    .with_field(field)
    .with_value(text)
    .with_suggestion("use a global id (P0001), a local id (MUFFIN-P0101) or an expert (@muffin)")
}

/// The id has another entity kind than the field requires.
pub(crate) fn wrong_kind(field: &str, kind: EntityKind, id: &str) -> ValidationError {
    let message =
        format!("{} ID must start with '{kind}', got '{}'", kind.title_case(), truncate_echo(id));
    ValidationError::new(ErrorCode::TypeIdMismatch, message)
        .with_field(field)
        .with_value(id)
        .with_options([kind])
}

pub fn target_not_found(id: &str, dialogue: &DialogueId) -> ValidationError {
    let message = format!("target_id '{id}' not found in dialogue '{dialogue}'");
    ValidationError::new(ErrorCode::TargetNotFound, message).with_value(id)
}

/// Same as `target_not_found`, with a suggestion.
pub(crate) fn unknown_target(
    target: &EntityTarget,
    dialogue: &Dialogue,
    facts: &RecordLookup,
) -> ValidationError {
    let fault = target_not_found(&target.to_string(), dialogue.id());
    match target {
        EntityTarget::Global(id) if id.round == dialogue.next_round() => {
            fault.with_suggestion("items of this batch have no global id yet: use the local id")
        }
        EntityTarget::Position(expert) if facts.find_expert(expert.as_str()).is_none() => {
            fault.with_suggestion(format!("there is no expert {expert} in the dialogue"))
        }
        EntityTarget::Position(expert) => {
            fault.with_suggestion(format!("{expert} has stated no perspective yet"))
        }
        EntityTarget::Global(_) | EntityTarget::Local(_) => fault.with_suggestion(
            "use the id of an item that is already registered, or that this batch registers",
        ),
    }
}

pub(crate) fn illegal_transition(
    id: EntityId,
    IllegalTransition { from, to }: IllegalTransition,
    item: &ErrorItem,
) -> ValidationError {
    let valid = next_statuses(id.kind, from);
    let names: Vec<&str> = valid.iter().map(|status| status.name()).collect();
    let listed = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    let message =
        format!("Cannot transition {id} from '{from}' to '{to}' (valid transitions: {listed})");
    ValidationError::new(ErrorCode::InvalidStatusTransition, message)
        .about_item(item)
        .with_field("status")
        .with_value(to.name())
        .with_options(names)
        .with_context(json!({"id": id.to_string(), "from": from, "to": to}))
}

/// Serialises as `{type, message, …}`, like the warnings in the export of the specification.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RequestWarning {
    #[serde(rename = "type")]
    pub kind: String,
    #[serde(flatten)]
    pub details: Map<String, Value>,
    pub message: String,
}

impl RequestWarning {
    pub fn new(kind: &str, message: impl Into<String>) -> Self {
        Self { kind: kind.to_owned(), details: Map::new(), message: message.into() }
    }

    #[must_use]
    pub fn with_detail(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.details.insert(key.to_owned(), value.into());
        self
    }

    /// The message, with the details that it does not mention.
    pub fn to_sentence(&self) -> String {
        let plain = |value: &Value| match value {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        };
        let untold: Vec<String> = self
            .details
            .iter()
            .filter_map(|(name, value)| Some((name, plain(value)?)))
            .filter(|(_, value)| !self.message.contains(value.as_str()))
            .map(|(name, value)| format!("{name} {value}"))
            .collect();
        match untold.is_empty() {
            true => self.message.clone(),
            false => format!("{} ({})", self.message, untold.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_tells_every_detail_once() {
        let warning = RequestWarning::new("missing_score", "no score")
            .with_detail("expert", "ann")
            .with_detail("round", 2);
        assert_eq!(warning.to_sentence(), "no score (expert ann, round 2)");
        let result =
            RequestWarning::new("no_effect", "T0001 is open").with_detail("target_id", "T0001");
        assert_eq!(result.to_sentence(), "T0001 is open");
    }
}
