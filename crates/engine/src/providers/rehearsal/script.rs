//! Scripts of the rehearsal panel (`--rehearse FILE`): a list of cues. The first cue that matches a
//! call and may still play decides the reply or the failure.

use plenary_core::model::ask::{AskPurpose, CallErrorType, TokenUsage};
use plenary_core::model::ids::ExpertSlug;
use plenary_core::model::run_state::RunState;
use plenary_core::model::string_enum::StringEnum;
use plenary_core::protocols::protocol::Protocols;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::providers::transport::CallRequest;

/// A script as written. The plan records it, so that a run can be repeated.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RehearsalScript {
    pub(crate) cues: Vec<ScriptCue>,
}

/// One cue: the calls it matches, and what it plays.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ScriptCue {
    #[serde(skip_serializing_if = "Option::is_none")]
    seat: Option<ExpertSlug>,
    #[serde(skip_serializing_if = "Option::is_none")]
    round: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "read_purpose")]
    purpose: Option<AskPurpose>,
    #[serde(skip_serializing_if = "Option::is_none")]
    contains: Option<String>,
    /// A text, or a document that is sent as JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reply: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "read_failure")]
    pub(crate) fail: Option<CallErrorType>,
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) delay_ms: u64,
    /// How often it plays; `None` means always.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) times: Option<u32>,
    /// Reported usage; without it an estimate that costs nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) usage: Option<TokenUsage>,
}

fn read_failure<'de, D: Deserializer<'de>>(source: D) -> Result<Option<CallErrorType>, D::Error> {
    let text = String::deserialize(source)?;
    let known = CallErrorType::named(&text).map(Some);
    known.ok_or_else(|| {
        let options = CallErrorType::options().join(", ");
        Error::custom(format!("`fail` cannot be `{text}`; it is one of {options}"))
    })
}

fn read_purpose<'de, D: Deserializer<'de>>(source: D) -> Result<Option<AskPurpose>, D::Error> {
    let text = String::deserialize(source)?;
    // Some purposes belong to one protocol.
    let mut known = AskPurpose::ALL.to_vec();
    for purpose in Protocols::built_in().list_purposes() {
        if !known.contains(&purpose) {
            known.push(purpose);
        }
    }
    let found = known.iter().copied().find(|purpose| purpose.name() == text);
    found.map(Some).ok_or_else(|| {
        let options: Vec<&str> = known.iter().map(|purpose| purpose.name()).collect();
        let options = options.join(", ");
        Error::custom(format!("`purpose` cannot be `{text}`; it is one of {options}"))
    })
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot read the script: {message}{}", self.error_location())]
pub struct ScriptError {
    pub message: String,
    pub line: Option<u64>,
}

impl ScriptError {
    fn error_location(&self) -> String {
        self.line.map(|line| format!(" (line {line})")).unwrap_or_default()
    }
}

impl RehearsalScript {
    pub fn parse_yaml(text: &str) -> Result<Self, ScriptError> {
        let options = serde_saphyr::options! { strict_booleans: true, with_snippet: false };
        let script: Self =
            serde_saphyr::from_str_with_options(text, options).map_err(|error| ScriptError {
                line: error.location().map(|location| location.line()),
                message: parser_message(&error),
            })?;
        let fault = (1..).zip(&script.cues).find_map(|(number, cue)| {
            cue.find_fault().map(|fault| format!("cue {number} {fault}"))
        });
        match fault {
            Some(message) => Err(ScriptError { message, line: None }),
            None => Ok(script),
        }
    }
}

/// What a person should know of a script after its run: cues that no call can have played.
pub fn list_script_notes(state: &RunState) -> Vec<String> {
    let Some(script) = state.plan.rehearsal_script.clone() else { return Vec::new() };
    let Ok(RehearsalScript { cues }) = serde_json::from_value(script) else { return Vec::new() };
    if cues.is_empty() {
        return vec!["the script has no cue; the built-in replies were used".to_owned()];
    }
    let is_unused = |cue: &ScriptCue| {
        let mut asks = state.asks.iter().map(|asked| &asked.ask);
        !asks.any(|ask| cue.fits_ask(&ask.seat, ask.round, ask.purpose))
    };
    let unused = (1..).zip(&cues).filter(|(_, cue)| is_unused(cue));
    unused
        .map(|(number, _)| format!("cue {number} of the script fits no call of this run"))
        .collect()
}

/// The parser's message without its position, which we print ourselves, and without hints for
/// programmers.
fn parser_message(error: &serde_saphyr::Error) -> String {
    let text = error.without_snippet().to_string();
    let message = text.rsplit_once(" at line ").map_or(text.as_str(), |(message, _)| message);
    message.split(", set DuplicateKeyPolicy").next().unwrap_or(message).to_owned()
}

impl ScriptCue {
    fn find_fault(&self) -> Option<&'static str> {
        match (&self.reply, &self.fail) {
            (Some(_), Some(_)) => Some("has both `reply` and `fail`; keep one of them"),
            (None, None) => Some("needs `reply` or `fail`"),
            (Some(_), None) | (None, Some(_)) => {
                (self.times == Some(0)).then_some("has `times: 0`; `times` is at least 1")
            }
        }
    }

    pub(crate) fn matches_request(&self, request: &CallRequest) -> bool {
        let is_contained = |text: &str| {
            request.messages.user_message().contains(text) || request.messages.system.contains(text)
        };
        self.fits_ask(&request.seat, request.round, request.purpose)
            && self.contains.as_deref().is_none_or(is_contained)
    }

    fn fits_ask(&self, seat: &ExpertSlug, round: u8, purpose: AskPurpose) -> bool {
        self.seat.as_ref().is_none_or(|own| own == seat)
            && self.round.is_none_or(|own| own == round)
            && self.purpose.is_none_or(|own| own == purpose)
    }
}
