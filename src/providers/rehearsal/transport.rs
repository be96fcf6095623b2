//! Transport of the rehearsal panel, which makes no network call: its seats, their tempers, the
//! variation of replies, and scripts of cues of which the first match plays.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use crate::domain::ask::{AskPurpose, CallErrorType, FinishReason, TokenUsage};
use crate::providers::{CallError, CallReply, CallRequest};

use super::panel::MODEL;
use super::script::{CueAction, CueFailure, RehearsalScript, ScriptCue};
use super::temper::SeatTemper;
use super::variation::ReplyVariation;
use super::{audit, conclusion, gate, opinion, prompt, report, review, revision};

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

    pub(super) fn pause_before(&self, request: &CallRequest) -> Duration {
        const STEPS: u32 = 100;
        let subject = prompt::read_subject(&request.messages.user);
        let parts = [subject.as_str(), request.seat.as_str(), request.purpose.name()];
        let step = ReplyVariation::from_texts(&parts).number_below(STEPS as usize + 1);
        let third = self.pace / 3;
        third + (self.pace - third) / STEPS * u32::try_from(step).unwrap_or(STEPS)
    }
}

/// Returns the built-in reply of a seat.
fn built_in(request: &CallRequest) -> Result<String, CallError> {
    let temper = SeatTemper::for_seat(&request.seat);
    let subject = prompt::read_subject(&request.messages.user);
    let parts = [subject.as_str(), request.seat.as_str(), request.purpose.name()];
    let variation = ReplyVariation::from_texts(&parts);
    let messages = &request.messages;
    match request.purpose {
        AskPurpose::Opinion => {
            to_json(&opinion::write_opinion(temper, &subject, messages, variation))
        }
        AskPurpose::PeerReview => to_json(&review::write_review(temper, messages, variation)),
        AskPurpose::Synthesis => to_json(&report::write_report(&subject, messages, variation)),
        AskPurpose::Conclusion => {
            to_json(&conclusion::write_conclusion(&subject, messages, variation))
        }
        AskPurpose::Audit => Ok(audit::audit_conclusion(&subject, messages)),
        AskPurpose::Revision => to_json(&revision::write_revision(&subject, messages, variation)),
        AskPurpose::Restatement => Ok(audit::restate_directive(messages)),
        AskPurpose::Judgement => to_json(&gate::judge_artifact(request.seat.as_str(), messages)),
        AskPurpose::CrossReading => {
            to_json(&gate::reconsider_judgement(request.seat.as_str(), messages))
        }
        AskPurpose::Adjudication => to_json(&gate::adjudicate_review(messages)),
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
