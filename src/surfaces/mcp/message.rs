//! From bytes to messages, strictly; or what is wrong with them, for whoever sent them.

use rmcp::model::{
    ClientJsonRpcMessage, ErrorCode, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
};
use serde_json::Value;

use super::salvage::id_of;
use crate::domain::strict_json::Strict;

/// A message of more is answered with an error, by whichever transport it comes; the limit on
/// what a tool takes is smaller, and has better words.
pub(super) const MESSAGE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// More than any tool takes, and less than a stack holds.
const STRICT: Strict = Strict {
    depth_max: 100,
    key_twice: |key| format!("the key `{key}` is there twice"),
    too_deep: || "it is nested too deep".to_owned(),
};

/// A message that cannot be taken.
#[derive(Debug, PartialEq)]
pub(super) struct Unread {
    id: Option<RequestId>,
    error: ErrorData,
}

impl Unread {
    fn new(id: Option<RequestId>, code: ErrorCode, message: impl Into<String>) -> Self {
        Self { id, error: ErrorData::new(code, message.into(), None) }
    }

    /// As much of it as was read may still say whose it was.
    pub(super) fn too_long(beginning: &[u8]) -> Self {
        let message = format!("the message is over the limit of {MESSAGE_BYTES_MAX} bytes");
        Self::new(id_of(beginning), ErrorCode::INVALID_REQUEST, message)
    }

    pub(super) fn in_flight(id: &RequestId) -> Self {
        let message = "a request with this id is being worked on";
        Self::new(Some(id.clone()), ErrorCode::INVALID_REQUEST, message)
    }

    /// What is answered; nothing, where nobody could tell what it answers.
    pub(super) fn answer(self) -> Option<ServerJsonRpcMessage> {
        self.id.map(|id| ServerJsonRpcMessage::error(self.error, Some(id)))
    }

    /// The same where somebody waits for an answer in any case.
    pub(super) fn answer_or_null(self) -> ServerJsonRpcMessage {
        ServerJsonRpcMessage::error(self.error, self.id)
    }
}

/// Reads one message, or a batch of them as older versions allow.
pub(super) fn read(bytes: &[u8]) -> Vec<Result<ClientJsonRpcMessage, Unread>> {
    if bytes.trim_ascii().is_empty() {
        return Vec::new();
    }
    match value(bytes) {
        Ok(Value::Array(batch)) => batch.into_iter().map(message).collect(),
        Ok(value) => vec![message(value)],
        Err(unread) => vec![Err(unread)],
    }
}

fn value(bytes: &[u8]) -> Result<Value, Unread> {
    let unread = |message: String| Unread::new(id_of(bytes), ErrorCode::PARSE_ERROR, message);
    let text = std::str::from_utf8(bytes).map_err(|_| unread("it is not UTF-8".to_owned()))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    STRICT.read(text).map_err(|error| unread(format!("it is not valid JSON: {error}")))
}

fn message(value: Value) -> Result<ClientJsonRpcMessage, Unread> {
    let id = value.get("id").and_then(|id| serde_json::from_value(id.clone()).ok());
    let invalid = |message: &str| Unread::new(id.clone(), ErrorCode::INVALID_REQUEST, message);
    if value.get("jsonrpc").is_none_or(|version| version != "2.0") {
        return Err(invalid("it is not a JSON-RPC 2.0 message"));
    }
    let has_id = value.get("id").is_some_and(|id| !id.is_null());
    let message: ClientJsonRpcMessage = serde_json::from_value(value)
        .map_err(|_| invalid("it is not a message of the protocol"))?;
    match message {
        // An id of another kind is read as no id, and the request as a notification.
        JsonRpcMessage::Notification(_) if has_id => Err(invalid("its id is no text or integer")),
        JsonRpcMessage::Request(_)
        | JsonRpcMessage::Response(_)
        | JsonRpcMessage::Notification(_)
        | JsonRpcMessage::Error(_) => Ok(message),
    }
}
