//! Transport of the rehearsal panel, which makes no network call: its seats, their tempers, the
//! variation of replies, and scripts of cues of which the first match plays.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use crate::domain::ask::{ErrorType, Finish, Purpose, Usage};
use crate::providers::{CallError, Received, Request};

use super::panel::MODEL;
use super::script::{Act, Cue, Fail, Script};
use super::temper::Temper;
use super::variation::Variation;
use super::{audit, conclusion, gate, opinion, prompt, report, review, revision};

/// One per run: it counts the `times` of each cue.
#[derive(Debug, Default)]
pub struct RehearsalTransport {
    script: Script,
    /// How often each cue has played.
    played: Mutex<Vec<u32>>,
    pace: Duration,
}

impl RehearsalTransport {
    pub fn new(script: Option<Script>) -> Self {
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

    pub async fn send(&self, request: &Request) -> Result<Received, CallError> {
        let Some(cue) = self.next_cue(request) else {
            tokio::time::sleep(self.pause(request)).await;
            return Ok(received(request, built_in(request)?));
        };
        tokio::time::sleep(Duration::from_millis(cue.delay_ms)).await;
        match &cue.act {
            Act::Reply(Value::String(text)) => Ok(billed(cue, received(request, text.clone()))),
            Act::Reply(document) => Ok(billed(cue, received(request, json(document)?))),
            Act::Fail(Fail::Hang | Fail::With(ErrorType::Timeout)) => std::future::pending().await,
            Act::Fail(fail @ Fail::With(error_type)) => {
                let message = format!("the rehearsal script says `{}`", fail.name());
                Err(CallError::new(*error_type, message))
            }
        }
    }

    /// Returns the first matching cue that may still play.
    fn next_cue(&self, request: &Request) -> Option<&Cue> {
        let mut played = self.played.lock().unwrap_or_else(PoisonError::into_inner);
        let mut cues = self.script.cues.iter().zip(played.iter_mut());
        let (cue, count) = cues.find(|(cue, count)| {
            cue.matches(request) && cue.times.is_none_or(|times| **count < times)
        })?;
        *count = count.saturating_add(1);
        Some(cue)
    }

    pub(super) fn pause(&self, request: &Request) -> Duration {
        const STEPS: u32 = 100;
        let subject = prompt::subject(&request.messages.user);
        let parts = [subject.as_str(), request.seat.as_str(), request.purpose.name()];
        let step = Variation::of(&parts).below(STEPS as usize + 1);
        let third = self.pace / 3;
        third + (self.pace - third) / STEPS * u32::try_from(step).unwrap_or(STEPS)
    }
}

/// Returns the built-in reply of a seat.
fn built_in(request: &Request) -> Result<String, CallError> {
    let temper = Temper::of(&request.seat);
    let subject = prompt::subject(&request.messages.user);
    let parts = [subject.as_str(), request.seat.as_str(), request.purpose.name()];
    let variation = Variation::of(&parts);
    let messages = &request.messages;
    match request.purpose {
        Purpose::Opinion => json(&opinion::opinion(temper, &subject, messages, variation)),
        Purpose::Review => json(&review::review(temper, messages, variation)),
        Purpose::Synthesis => json(&report::report(&subject, messages, variation)),
        Purpose::Conclusion => json(&conclusion::conclusion(&subject, messages, variation)),
        Purpose::Audit => Ok(audit::audit(&subject, messages)),
        Purpose::Revision => json(&revision::revision(&subject, messages, variation)),
        Purpose::Restatement => Ok(audit::restatement(messages)),
        Purpose::Judgement => json(&gate::judgement(request.seat.as_str(), messages)),
        Purpose::CrossReading => json(&gate::cross_reading(request.seat.as_str(), messages)),
        Purpose::Adjudication => json(&gate::adjudication(messages)),
        Purpose::Other(name) => {
            let message = format!("the rehearsal panel has no reply for '{name}'; give a script");
            Err(CallError::new(ErrorType::BadRequest, message))
        }
    }
}

fn json(document: &impl Serialize) -> Result<String, CallError> {
    serde_json::to_string(document)
        .map_err(|error| CallError::new(ErrorType::Unknown, error.to_string()))
}

fn received(request: &Request, text: String) -> Received {
    let usage = Usage {
        input_tokens: estimate(&request.messages.system) + estimate(&request.messages.user),
        output_tokens: estimate(&text),
    };
    Received {
        text,
        usage: Some(usage),
        model: Some(MODEL.to_owned()),
        finish: Finish::Stop,
        cost_usd: Some(0.0),
        structured: false,
    }
}

/// Applies the usage of the cue, whose cost follows from the seat's price.
fn billed(cue: &Cue, received: Received) -> Received {
    match cue.usage {
        Some(usage) => Received { usage: Some(usage), cost_usd: None, ..received },
        None => received,
    }
}

/// Four characters per token, as in English text.
fn estimate(text: &str) -> u64 {
    text.chars().count().div_ceil(4) as u64
}
