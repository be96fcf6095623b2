//! Transport of the rehearsal panel, which makes no network call, and its three seats.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use plenary_core::model::ask::{AskMessages, CallErrorType, TokenUsage, TransportKind};
use plenary_core::model::plan::{SeatRole, TokenPrice};
use serde_json::Value;

use crate::providers::rehearsal::replies::{COUNCIL_SEATS, write_reply};
use crate::providers::rehearsal::script::{RehearsalScript, ScriptCue};
use crate::providers::transport::{CallError, CallReply, CallRequest, Provider, WireSchema};

pub(crate) const MODEL: &str = "rehearsal-1";
const OUTPUT_TOKENS_MAX: u32 = 2_000;

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
            return write_reply(request).map(|text| to_reply(request, text));
        };
        tokio::time::sleep(Duration::from_millis(cue.delay_ms)).await;
        match cue.fail {
            Some(error_type) => {
                let message = format!("the rehearsal script says `{error_type}`");
                // A real timeout leaves no time for a retry.
                let is_final = error_type == CallErrorType::Timeout;
                Err(CallError { is_final, ..CallError::new(error_type, message) })
            }
            None => Ok(play_cue(request, cue)),
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

    /// The pause differs by seat and purpose.
    pub(crate) fn pause_before(&self, request: &CallRequest) -> Duration {
        const STEPS: u32 = 100;
        let bytes = request.seat.as_str().bytes().chain(request.purpose.name().bytes());
        let step = bytes.map(u32::from).sum::<u32>() % STEPS;
        let third = self.pace / 3;
        third + (self.pace - third) / STEPS * step
    }
}

/// The reply of a cue. Its usage costs what the seat's price says.
fn play_cue(request: &CallRequest, cue: &ScriptCue) -> CallReply {
    let text = match &cue.reply {
        Some(Value::String(text)) => text.clone(),
        Some(document) => document.to_string(),
        None => String::new(),
    };
    let estimated = to_reply(request, text);
    match cue.usage {
        Some(usage) => CallReply { usage: Some(usage), cost_usd: None, ..estimated },
        None => estimated,
    }
}

fn to_reply(request: &CallRequest, text: String) -> CallReply {
    let AskMessages { system, user, .. } = &*request.messages;
    let parts = [system.as_str(), request.messages.shared_text(), user];
    let input_tokens = parts.into_iter().map(estimate_tokens).sum();
    let usage = TokenUsage::new(input_tokens, estimate_tokens(&text));
    CallReply {
        usage: Some(usage),
        model: Some(MODEL.to_owned()),
        cost_usd: Some(0.0),
        ..CallReply::from_text(text)
    }
}

/// Four characters per token, as in English text.
fn estimate_tokens(text: &str) -> u64 {
    text.chars().count().div_ceil(4) as u64
}

/// Three seats; the first chairs, and the others can replace it.
pub fn rehearsal_panel() -> Vec<Provider> {
    COUNCIL_SEATS.iter().filter_map(|seat| rehearsal_seat(seat.name)).collect()
}

fn rehearsal_seat(name: &str) -> Option<Provider> {
    let price = TokenPrice::new(0.0, 0.0, TransportKind::Rehearsal.name());
    Some(Provider {
        name: name.parse().ok()?,
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
        input_tokens_max: None,
        effort: None,
        lens: None,
        lenses: Vec::new(),
        timeouts: None,
        wire_schema: WireSchema::Auto,
        max_in_flight: None,
    })
}
