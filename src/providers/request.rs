//! What is asked of a transport, and what it gives back.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::domain::ask::{ErrorType, Finish, Messages, Purpose, Usage};
use crate::domain::ids::ExpertSlug;

/// One call, ready to be sent.
#[derive(Debug, Clone)]
pub struct Request {
    /// Who is asked, in which round, for what: never on the wire. The rehearsal panel
    /// plays by it.
    pub seat: ExpertSlug,
    pub round: u8,
    pub purpose: Purpose,
    pub messages: Arc<Messages>,
    /// The JSON schema the reply must follow, where the wire can carry it.
    pub schema: Option<Arc<Value>>,
    /// What is left of the ask's time. The caller enforces it by dropping the call;
    /// a transport that can say so on the wire, or kill what it started, does that too.
    pub time_left: Duration,
}

/// What came back, before it was journalled.
#[derive(Debug, Clone, PartialEq)]
pub struct Received {
    pub text: String,
    pub usage: Option<Usage>,
    /// The model that says it answered.
    pub model: Option<String>,
    pub finish: Finish,
    /// What the provider itself says the call cost, in dollars.
    pub cost_usd: Option<f64>,
    /// Whether the schema was on the wire.
    pub structured: bool,
}

/// Why nothing came back. The message holds no key, no prompt and no header.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct CallError {
    pub error_type: ErrorType,
    pub message: String,
    /// How long the server asks us to wait.
    pub retry_after: Option<Duration>,
}

impl CallError {
    pub fn new(error_type: ErrorType, message: impl Into<String>) -> Self {
        Self { error_type, message: message.into(), retry_after: None }
    }
}
