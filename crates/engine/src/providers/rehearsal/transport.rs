//! Transport of the rehearsal panel, which makes no network call: its seats, their tempers, the
//! variation of replies, and scripts of cues of which the first match plays.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use plenary_core::model::ask::{
    AskPurpose, CallErrorType, FinishReason, TokenUsage, TransportKind,
};
use plenary_core::model::ids::ExpertSlug;
use plenary_core::model::plan::{SeatRole, TokenPrice};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::providers::rehearsal::conclusion::{
    audit_conclusion, restate_directive, write_conclusion, write_revision,
};
use crate::providers::rehearsal::opinion::write_opinion;
use crate::providers::rehearsal::prompt::read_subject;
use crate::providers::rehearsal::report::{write_report, write_review};
use crate::providers::rehearsal::review::judgement::{
    adjudicate_review, judge_artifact, reconsider_judgement,
};
use crate::providers::transport::{CallError, CallReply, CallRequest, Provider};

/// One per run: it counts the `times` of each cue.
#[derive(Debug, Default)]
pub struct RehearsalTransport {
    script: RehearsalScript,
    /// How often each cue has played.
    played: Mutex<Vec<u32>>,
    pace: Duration,
}

impl RehearsalTransport {
    pub fn new(script: Option<RehearsalScript>) -> Self {
        let script = script.unwrap_or_default();
        let played = Mutex::new(vec![0; script.cues.len()]);
        Self { script, played, pace: Duration::ZERO }
    }

    /// Makes a reply take between a third of this time and all of it, so that a person can watch. A
    /// script's delay takes precedence.
    #[must_use]
    pub fn with_pace(self, pace: Duration) -> Self {
        Self { pace, ..self }
    }

    pub async fn send(&self, request: &CallRequest) -> Result<CallReply, CallError> {
        let Some(cue) = self.next_cue(request) else {
            tokio::time::sleep(self.pause_before(request)).await;
            return Ok(to_reply(request, built_in(request)?));
        };
        tokio::time::sleep(Duration::from_millis(cue.delay_ms)).await;
        match &cue.act {
            CueAction::Reply(Value::String(text)) => {
                Ok(apply_usage(cue, to_reply(request, text.clone())))
            }
            CueAction::Reply(document) => {
                Ok(apply_usage(cue, to_reply(request, to_json(document)?)))
            }
            CueAction::Fail(CueFailure::Hang | CueFailure::With(CallErrorType::Timeout)) => {
                std::future::pending().await
            }
            CueAction::Fail(fail @ CueFailure::With(error_type)) => {
                let message = format!("the rehearsal script says `{}`", fail.name());
                Err(CallError::new(*error_type, message))
            }
        }
    }

    /// Returns the first matching cue that may still play.
    fn next_cue(&self, request: &CallRequest) -> Option<&ScriptCue> {
        let mut played = self.played.lock().unwrap_or_else(PoisonError::into_inner);
        let mut cues = self.script.cues.iter().zip(played.iter_mut());
        let (cue, count) = cues.find(|(cue, count)| {
            cue.matches_request(request) && cue.times.is_none_or(|times| **count < times)
        })?;
        *count = count.saturating_add(1);
        Some(cue)
    }

    pub(crate) fn pause_before(&self, request: &CallRequest) -> Duration {
        const STEPS: u32 = 100;
        let subject = read_subject(&request.messages.user);
        let parts = [subject.as_str(), request.seat.as_str(), request.purpose.name()];
        let step = ReplyVariation::from_texts(&parts).number_below(STEPS as usize + 1);
        let third = self.pace / 3;
        third + (self.pace - third) / STEPS * u32::try_from(step).unwrap_or(STEPS)
    }
}

/// Returns the built-in reply of a seat.
fn built_in(request: &CallRequest) -> Result<String, CallError> {
    let temper = SeatTemper::for_seat(&request.seat);
    let subject = read_subject(&request.messages.user);
    let parts = [subject.as_str(), request.seat.as_str(), request.purpose.name()];
    let variation = ReplyVariation::from_texts(&parts);
    let messages = &request.messages;
    match request.purpose {
        AskPurpose::Opinion => to_json(&write_opinion(temper, &subject, messages, variation)),
        AskPurpose::PeerReview => to_json(&write_review(temper, messages, variation)),
        AskPurpose::Synthesis => to_json(&write_report(&subject, messages, variation)),
        AskPurpose::Conclusion => to_json(&write_conclusion(&subject, messages, variation)),
        AskPurpose::Audit => Ok(audit_conclusion(&subject, messages)),
        AskPurpose::Revision => to_json(&write_revision(&subject, messages, variation)),
        AskPurpose::Restatement => Ok(restate_directive(messages)),
        AskPurpose::Judgement => to_json(&judge_artifact(request.seat.as_str(), messages)),
        AskPurpose::CrossReading => to_json(&reconsider_judgement(request.seat.as_str(), messages)),
        AskPurpose::Adjudication => to_json(&adjudicate_review(messages)),
        AskPurpose::Other(name) => {
            let message = format!("the rehearsal panel has no reply for '{name}'; give a script");
            Err(CallError::new(CallErrorType::BadRequest, message))
        }
    }
}

fn to_json(document: &impl Serialize) -> Result<String, CallError> {
    serde_json::to_string(document)
        .map_err(|error| CallError::new(CallErrorType::Unknown, error.to_string()))
}

fn to_reply(request: &CallRequest, text: String) -> CallReply {
    let usage = TokenUsage {
        input_tokens: estimate_tokens(&request.messages.system)
            + estimate_tokens(&request.messages.user),
        output_tokens: estimate_tokens(&text),
    };
    CallReply {
        text,
        usage: Some(usage),
        model: Some(MODEL.to_owned()),
        finish: FinishReason::Stop,
        cost_usd: Some(0.0),
        structured: false,
    }
}

/// Applies the usage of the cue, whose cost follows from the seat's price.
fn apply_usage(cue: &ScriptCue, received: CallReply) -> CallReply {
    match cue.usage {
        Some(usage) => CallReply { usage: Some(usage), cost_usd: None, ..received },
        None => received,
    }
}

/// Four characters per token, as in English text.
fn estimate_tokens(text: &str) -> u64 {
    text.chars().count().div_ceil(4) as u64
}

pub(crate) const MODEL: &str = "rehearsal-1";
const OUTPUT_TOKENS_MAX: u32 = 2_000;

/// Three seats; the first chairs, and the others can replace it.
pub fn rehearsal_panel() -> Vec<Provider> {
    SeatTemper::ALL.iter().filter_map(|temper| rehearsal_seat(*temper)).collect()
}

fn rehearsal_seat(temper: SeatTemper) -> Option<Provider> {
    let price = TokenPrice {
        input_per_mtok: 0.0,
        output_per_mtok: 0.0,
        source: TransportKind::Rehearsal.name().to_owned(),
    };
    Some(Provider {
        name: temper.name().parse().ok()?,
        roles: vec![SeatRole::Participant, SeatRole::Chair],
        model: MODEL.to_owned(),
        family: "rehearsal".to_owned(),
        version: None,
        transports: vec![TransportKind::Rehearsal],
        dialect: None,
        base_url: None,
        key_variable: None,
        key: None,
        command: Vec::new(),
        mcp: None,
        price: Some(price),
        output_tokens_max: OUTPUT_TOKENS_MAX,
        temperature: None,
        timeouts: None,
    })
}

/// A script as written. It is recorded, so that a run can be repeated.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RehearsalScript {
    pub(crate) cues: Vec<ScriptCue>,
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
pub(crate) struct ScriptCue {
    seat: Option<ExpertSlug>,
    round: Option<u8>,
    contains: Option<String>,
    pub(crate) act: CueAction,
    pub(crate) delay_ms: u64,
    /// How often it plays; `None` means always.
    pub(crate) times: Option<u32>,
    /// Reported usage; without it an estimate that costs nothing.
    pub(crate) usage: Option<TokenUsage>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum CueAction {
    Reply(Value),
    Fail(CueFailure),
}

/// How a call fails. A timeout also hangs, since the caller enforces it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) enum CueFailure {
    Hang,
    With(CallErrorType),
}

impl ScriptCue {
    pub(crate) fn matches_request(&self, request: &CallRequest) -> bool {
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
    pub(crate) fn name(self) -> &'static str {
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SeatTemper {
    Optimist,
    Skeptic,
    Pragmatist,
}

impl SeatTemper {
    pub(crate) const ALL: [Self; 3] = [Self::Optimist, Self::Skeptic, Self::Pragmatist];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Optimist => "optimist",
            Self::Skeptic => "skeptic",
            Self::Pragmatist => "pragmatist",
        }
    }

    /// A seat of another name, as in a configured panel, gets a temper by its hash.
    pub(crate) fn for_seat(seat: &ExpertSlug) -> Self {
        let named = Self::ALL.into_iter().find(|temper| seat.as_str().starts_with(temper.name()));
        let drawn = ReplyVariation::from_texts(&[seat.as_str()]).number_below(Self::ALL.len());
        named.or(Self::ALL.get(drawn).copied()).unwrap_or(Self::Pragmatist)
    }
}

#[derive(Debug, Clone)]
pub(crate) struct ReplyVariation {
    bytes: Vec<u8>,
    drawn: usize,
}

impl ReplyVariation {
    pub(crate) fn from_texts(parts: &[&str]) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update(part.as_bytes());
            // Separate the parts, so that their boundaries matter.
            hash.update([0]);
        }
        Self { bytes: hash.finalize().to_vec(), drawn: 0 }
    }

    /// Returns a number below `end`.
    pub(crate) fn number_below(&mut self, end: usize) -> usize {
        let byte = self.bytes.iter().cycle().nth(self.drawn % self.bytes.len().max(1));
        self.drawn += 1;
        usize::from(byte.copied().unwrap_or_default()) % end.max(1)
    }

    pub(crate) fn pick_one(&mut self, options: &[&'static str]) -> &'static str {
        options.get(self.number_below(options.len())).copied().unwrap_or_default()
    }

    /// Returns several neighbouring entries of a list.
    pub(crate) fn pick_some(&mut self, options: &[&str], count: usize) -> Vec<String> {
        let start = self.number_below(options.len());
        options
            .iter()
            .cycle()
            .skip(start)
            .take(count.min(options.len()))
            .map(|text| (*text).to_owned())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_seats_sit_at_the_table_and_cost_nothing() {
        let panel = rehearsal_panel();
        let names: Vec<&str> = panel.iter().map(|seat| seat.name.as_str()).collect();
        assert_eq!(names, ["optimist", "skeptic", "pragmatist"]);
        for seat in panel {
            assert_eq!(seat.roles, SeatRole::ALL);
            assert_eq!(seat.transports, [TransportKind::Rehearsal]);
            let price = seat.price.unwrap();
            assert_eq!(price.input_per_mtok + price.output_per_mtok, 0.0);
        }
    }
}
