//! Scripts of the rehearsal panel: a list of cues, of which the first match plays.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::ask::{CallErrorType, TokenUsage};
use crate::domain::ids::ExpertSlug;
use crate::providers::CallRequest;

/// A script as written. It is recorded, so that a run can be repeated.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RehearsalScript {
    pub(super) cues: Vec<ScriptCue>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the script cannot be read: {message}{}", self.error_location())]
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
        serde_saphyr::from_str_with_options(text, options).map_err(|error| ScriptError {
            line: error.location().map(|location| location.line()),
            message: parser_message(&error),
        })
    }
}

/// The parser's message without its position, which we print ourselves, and without hints for
/// programmers.
fn parser_message(error: &serde_saphyr::Error) -> String {
    let text = error.without_snippet().to_string();
    let message = text.rsplit_once(" at line ").map_or(text.as_str(), |(message, _)| message);
    message.split(", set DuplicateKeyPolicy").next().unwrap_or(message).to_owned()
}

/// One cue: when it plays, and what.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub(super) struct ScriptCue {
    seat: Option<ExpertSlug>,
    round: Option<u8>,
    contains: Option<String>,
    pub(super) act: CueAction,
    pub(super) delay_ms: u64,
    /// How often it plays; `None` means always.
    pub(super) times: Option<u32>,
    /// Reported usage; without it an estimate that costs nothing.
    pub(super) usage: Option<TokenUsage>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum CueAction {
    Reply(Value),
    Fail(CueFailure),
}

/// How a call fails. A timeout also hangs, since the caller enforces it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(super) enum CueFailure {
    Hang,
    With(CallErrorType),
}

impl ScriptCue {
    pub(super) fn matches_request(&self, request: &CallRequest) -> bool {
        let said = |text: &str| {
            request.messages.user.contains(text) || request.messages.system.contains(text)
        };
        self.seat.as_ref().is_none_or(|seat| *seat == request.seat)
            && self.round.is_none_or(|round| round == request.round)
            && self.contains.as_deref().is_none_or(said)
    }
}

/// A cue as written in the file.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Written {
    #[serde(skip_serializing_if = "Option::is_none")]
    seat: Option<ExpertSlug>,
    #[serde(skip_serializing_if = "Option::is_none")]
    round: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    contains: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reply: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fail: Option<CueFailure>,
    #[serde(skip_serializing_if = "is_zero")]
    delay_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    times: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<TokenUsage>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl TryFrom<Written> for ScriptCue {
    type Error = &'static str;

    fn try_from(written: Written) -> Result<Self, Self::Error> {
        let act = match (written.reply, written.fail) {
            (Some(reply), None) => CueAction::Reply(reply),
            (None, Some(fail)) => CueAction::Fail(fail),
            (Some(_), Some(_)) => return Err("a cue has either `reply` or `fail`, not both"),
            (None, None) => return Err("a cue needs `reply` or `fail`"),
        };
        if written.times == Some(0) {
            return Err("`times` is at least 1");
        }
        let Written { seat, round, contains, delay_ms, times, usage, .. } = written;
        Ok(Self { seat, round, contains, act, delay_ms, times, usage })
    }
}

impl From<ScriptCue> for Written {
    fn from(cue: ScriptCue) -> Self {
        let (reply, fail) = match cue.act {
            CueAction::Reply(reply) => (Some(reply), None),
            CueAction::Fail(fail) => (None, Some(fail)),
        };
        let ScriptCue { seat, round, contains, delay_ms, times, usage, .. } = cue;
        Self { seat, round, contains, reply, fail, delay_ms, times, usage }
    }
}

impl CueFailure {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Hang => "hang",
            Self::With(error_type) => error_type.name(),
        }
    }
}

impl From<CueFailure> for String {
    fn from(fail: CueFailure) -> Self {
        fail.name().to_owned()
    }
}

impl TryFrom<String> for CueFailure {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let every = CallErrorType::ALL.iter().map(|error_type| Self::With(*error_type));
        let mut every = every.chain([Self::Hang]);
        let names: Vec<&str> = every.clone().map(Self::name).collect();
        let known = every.find(|fail| fail.name() == text);
        known.ok_or_else(|| format!("`fail` cannot be `{text}`, only {}", names.join(", ")))
    }
}
