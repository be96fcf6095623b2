//! Input and output of a transport: [`CallRequest`], [`CallReply`] and [`CallError`].

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::domain::ask::{AskMessages, AskPurpose, CallErrorType, FinishReason, TokenUsage};
use crate::domain::ids::ExpertSlug;

/// One call, ready to be sent.
#[derive(Debug, Clone)]
pub struct CallRequest {
    /// Seat, round and purpose are never sent. The rehearsal panel uses them.
    pub seat: ExpertSlug,
    pub round: u8,
    pub purpose: AskPurpose,
    pub messages: Arc<AskMessages>,
    /// JSON schema of the reply, for transports that can send one.
    pub schema: Option<Arc<Value>>,
    /// Rest of the ask's timeout. The caller enforces it by dropping the call; a transport that can
    /// also kill its process or set a timeout on the wire does so.
    pub time_left: Duration,
}

/// Reply of a model, before the engine journals it.
#[derive(Debug, Clone, PartialEq)]
pub struct CallReply {
    pub text: String,
    pub usage: Option<TokenUsage>,
    /// Model name from the reply.
    pub model: Option<String>,
    pub finish: FinishReason,
    /// Cost of the call in dollars, if the provider reports it.
    pub cost_usd: Option<f64>,
    /// Whether the request contained the schema.
    pub structured: bool,
}

/// Reason of a failed call. The message contains no key, prompt or header.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct CallError {
    pub error_type: CallErrorType,
    pub message: String,
    /// Wait the server asks for.
    pub retry_after: Option<Duration>,
}

impl CallError {
    pub fn new(error_type: CallErrorType, message: impl Into<String>) -> Self {
        Self { error_type, message: message.into(), retry_after: None }
    }
}
