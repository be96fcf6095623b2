//! [`CitedId`]: what an id of `cite` names, and the errors for a text that is no such id.

use plenary_core::model::ids::{EntityId, VerdictId};
use plenary_core::model::validation_error::{ErrorCode, ValidationError};
use plenary_core::report::provenance::ProvenanceTarget;

/// The part of a dialogue that an id names.
pub(crate) enum CitedId {
    Entity(EntityId),
    Call(u32),
    /// `conclusion.recommendation`, `verdict.report`, or the id of a verdict.
    Part(String),
}

impl CitedId {
    /// `conclusion/recommendation` is the same as `conclusion.recommendation`.
    fn parse(text: &str) -> Option<Self> {
        if let Ok(id) = text.parse() {
            return Some(Self::Entity(id));
        }
        let dotted = text.replacen('/', ".", 1);
        let is_part = ProvenanceTarget::parse(&dotted).is_some();
        let is_word = text.parse::<VerdictId>().is_ok();
        (is_part || is_word).then_some(Self::Part(dotted))
    }
}

pub(crate) fn not_an_id(text: &str) -> ValidationError {
    ValidationError::new(ErrorCode::InvalidDisplayId, format!("'{text}' is not an id"))
        .with_suggestion(
            "ids look like P0101, my-dialogue/P0101, my-dialogue/call/7, \
             my-dialogue/conclusion.recommendation or my-dialogue/verdict.final",
        )
}

/// The error for a dialogue where a part of it is expected.
pub(crate) fn whole_dialogue(text: &str) -> ValidationError {
    let message = format!("'{text}' is a dialogue, and `cite` explains a part of one");
    ValidationError::new(ErrorCode::InvalidDisplayId, message).with_suggestion(format!(
        "name a part, such as {text}/R0101 or {text}/conclusion.recommendation; `plenary show {text}` \
         shows the whole dialogue"
    ))
}

/// `my-dialogue/P0101` or `my-dialogue/call/7`; without the name where the dialogue is known.
pub(crate) fn parse_address<'a>(
    dialogue: Option<&'a str>,
    text: &'a str,
) -> Result<(&'a str, CitedId), ValidationError> {
    let named_call = match text.rsplit_once('/') {
        Some(("call", number)) => Some((None, number)),
        Some((before, number)) => before.strip_suffix("/call").map(|name| (Some(name), number)),
        None => None,
    };
    let (named, part) = match (named_call, text.split_once('/')) {
        (Some((named, number)), _) => {
            (named, CitedId::Call(number.parse().map_err(|_| not_an_id(text))?))
        }
        (None, Some(("conclusion" | "verdict", _))) if dialogue.is_some() => {
            (None, CitedId::parse(text).ok_or_else(|| not_an_id(text))?)
        }
        (None, Some((named, id))) => {
            (Some(named), CitedId::parse(id).ok_or_else(|| not_an_id(text))?)
        }
        (None, None) => (None, CitedId::parse(text).ok_or_else(|| not_an_id(text))?),
    };
    let dialogue = named.or(dialogue).ok_or_else(|| {
        let message = format!("'{text}' names no dialogue");
        ValidationError::new(ErrorCode::MissingField, message)
            .with_field("dialogue_id")
            .with_suggestion(format!("write 'my-dialogue/{text}', or name the dialogue"))
    })?;
    Ok((dialogue, part))
}
