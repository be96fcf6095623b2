//! The calls of a run as rows of a waterfall, and one call with its messages and its reply.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::model::ask::{AskPurpose, TransportKind};
use crate::model::ids::ExpertSlug;
use crate::model::time::Moment;
use crate::report::calls::{CallDocument, CallStatus, SentMessage};

/// All calls of a run, in the order in which they were sent.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CallsAnswer {
    pub calls: Vec<CallRow>,
}

/// One call, without its texts.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct CallRow {
    pub call: u32,
    pub seat: ExpertSlug,
    pub purpose: AskPurpose,
    pub round: u8,
    /// The model that answered; without a reply the model that was asked.
    pub model: String,
    pub transport: TransportKind,
    pub status: CallStatus,
    pub started_at: Moment,
    /// Time to the first part of the reply; none if it did not stream.
    pub first_byte_ms: Option<u64>,
    pub duration_ms: Option<u64>,
    pub tokens_in: Option<u64>,
    /// Input tokens that the provider read from its cache.
    pub tokens_cached: Option<u64>,
    pub tokens_out: Option<u64>,
    pub cost_usd: Option<f64>,
    /// Number of the attempt on this transport, from 1.
    pub attempt: u8,
    /// The transport that failed before, if any.
    pub fallback: Option<TransportKind>,
    /// Why the call failed.
    pub error: Option<String>,
}

/// One call with its texts.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CallDetail {
    #[serde(flatten)]
    pub row: CallRow,
    /// Empty if the settings kept prompts out of the record.
    pub messages: Vec<SentMessage>,
    pub raw: Option<String>,
    /// What the parser made of the reply.
    pub parse: Option<Value>,
}

impl CallsAnswer {
    pub fn from_calls(calls: &[CallDocument]) -> Self {
        Self { calls: calls.iter().map(CallRow::from_call).collect() }
    }
}

impl CallRow {
    pub fn from_call(call: &CallDocument) -> Self {
        Self {
            call: call.call,
            seat: call.seat.clone(),
            purpose: call.purpose,
            round: call.round,
            model: call.model_served.clone().unwrap_or_else(|| call.model_asked.clone()),
            transport: call.transport,
            status: call.status,
            started_at: call.timing.sent_at,
            first_byte_ms: call.timing.first_byte_ms,
            duration_ms: call.timing.duration_ms,
            tokens_in: call.usage.map(|usage| usage.input_tokens),
            tokens_cached: call.usage.map(|usage| usage.cached_tokens),
            tokens_out: call.usage.map(|usage| usage.output_tokens),
            cost_usd: call.cost.and_then(|cost| cost.usd),
            attempt: call.attempt,
            fallback: call.fallback.as_ref().map(|fallback| fallback.from),
            error: call
                .error
                .as_ref()
                .map(|error| format!("{}: {}", error.error_type, error.message)),
        }
    }
}

impl CallDetail {
    pub fn from_call(call: &CallDocument) -> Self {
        Self {
            row: CallRow::from_call(call),
            messages: call.messages.clone(),
            raw: call.raw.clone(),
            parse: call.parse.clone(),
        }
    }
}
