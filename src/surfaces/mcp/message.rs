//! Parses MCP messages strictly, or returns a [`MessageError`] with the reply to the sender.

use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorCode, ErrorData, JsonRpcMessage, RequestId,
    ServerJsonRpcMessage,
};
use serde_json::Value;

use super::params::describe_params_error;
use super::request_slots::WAITING_MAX;
use super::salvage::recover_id;
use crate::domain::strict_json::StrictJson;

/// Larger messages get an error, on both transports. Tools have smaller limits with more specific
/// errors.
pub(super) const MESSAGE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Maximum of messages in a batch, because each may need an answer.
const BATCH_MESSAGES_MAX: usize = 1_000;

/// Deeper than the arguments of any tool, and safe for the stack.
const STRICT_JSON: StrictJson = StrictJson {
    depth_max: 100,
    duplicate_key: |key| format!("the key `{key}` is there twice"),
    too_deep: || "it is nested too deep".to_owned(),
};

/// Metadata key by which a request names its protocol version; only the newest version uses it.
const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";

/// A message that cannot be processed.
#[derive(Debug, PartialEq)]
pub(super) struct MessageError {
    recipient: ErrorRecipient,
    error: ErrorData,
}

/// The request to which an error replies.
#[derive(Debug, Clone, PartialEq)]
enum ErrorRecipient {
    Request(RequestId),
    /// The id is invalid, but the client waits for a reply.
    InvalidId,
    Unknown,
}

impl MessageError {
    fn new(whose: ErrorRecipient, code: ErrorCode, message: impl Into<String>) -> Self {
        Self { recipient: whose, error: ErrorData::new(code, message.into(), None) }
    }

    /// Recovers the id from the part that was read.
    pub(super) fn too_long(beginning: &[u8]) -> Self {
        let message = format!("the message is over the limit of {MESSAGE_BYTES_MAX} bytes");
        Self::new(ErrorRecipient::recover_from(beginning), ErrorCode::INVALID_REQUEST, message)
    }

    pub(super) fn duplicate_id(id: &RequestId) -> Self {
        let message = "a request with this id is being worked on";
        Self::new(ErrorRecipient::Request(id.clone()), ErrorCode::INVALID_REQUEST, message)
    }

    pub(super) fn too_many_waiting(id: &RequestId) -> Self {
        let message = format!("{WAITING_MAX} calls wait for runs already: wait for their answers");
        Self::new(ErrorRecipient::Request(id.clone()), ErrorCode::INVALID_REQUEST, message)
    }

    /// The reply, or `None` if the message has no id.
    pub(super) fn reply_if_addressed(self) -> Option<ServerJsonRpcMessage> {
        match self.recipient {
            ErrorRecipient::Request(_) | ErrorRecipient::InvalidId => Some(self.into_reply()),
            ErrorRecipient::Unknown => None,
        }
    }

    /// The reply for a transport that always needs one.
    pub(super) fn into_reply(self) -> ServerJsonRpcMessage {
        let id = match self.recipient {
            ErrorRecipient::Request(id) => Some(id),
            ErrorRecipient::InvalidId | ErrorRecipient::Unknown => None,
        };
        ServerJsonRpcMessage::error(self.error, id)
    }

    /// Whether the request is known and only its params are invalid.
    pub(super) fn is_params_error(&self) -> bool {
        self.error.code == ErrorCode::INVALID_PARAMS
    }
}

impl ErrorRecipient {
    fn recover_from(bytes: &[u8]) -> Self {
        recover_id(bytes).map_or(Self::Unknown, Self::Request)
    }

    fn from_message(message: &Value) -> Self {
        match message.get("id") {
            None | Some(Value::Null) => Self::Unknown,
            Some(id) => serde_json::from_value(id.clone()).map_or(Self::InvalidId, Self::Request),
        }
    }
}

/// Reads one message or, as older protocol versions allow, a batch.
pub(super) fn read_messages(bytes: &[u8]) -> Vec<Result<ClientJsonRpcMessage, MessageError>> {
    if bytes.trim_ascii().is_empty() {
        return Vec::new();
    }
    match parse_value(bytes) {
        Ok(Value::Array(batch)) if batch.len() > BATCH_MESSAGES_MAX => {
            let message = format!("a batch has at most {BATCH_MESSAGES_MAX} messages");
            vec![Err(MessageError::new(
                ErrorRecipient::InvalidId,
                ErrorCode::INVALID_REQUEST,
                message,
            ))]
        }
        Ok(Value::Array(batch)) => batch.into_iter().map(parse_message).collect(),
        Ok(value) => vec![parse_message(value)],
        Err(unread) => vec![Err(unread)],
    }
}

/// Reads one message and refuses a batch: an HTTP request has one response.
pub(super) fn read_message(bytes: &[u8]) -> Result<ClientJsonRpcMessage, MessageError> {
    let invalid = |message: &str| {
        Err(MessageError::new(ErrorRecipient::Unknown, ErrorCode::INVALID_REQUEST, message))
    };
    if bytes.trim_ascii().is_empty() {
        return invalid("there is no message");
    }
    let value = parse_value(bytes)?;
    if value.is_array() {
        return invalid("a batch is not taken here: send its messages one by one");
    }
    parse_message(value)
}

fn parse_value(bytes: &[u8]) -> Result<Value, MessageError> {
    let unread = |message: String| {
        MessageError::new(ErrorRecipient::recover_from(bytes), ErrorCode::PARSE_ERROR, message)
    };
    let text = std::str::from_utf8(bytes).map_err(|_| unread("it is not UTF-8".to_owned()))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    STRICT_JSON.parse_json(text).map_err(|error| unread(format!("it is not valid JSON: {error}")))
}

fn parse_message(value: Value) -> Result<ClientJsonRpcMessage, MessageError> {
    let whose = ErrorRecipient::from_message(&value);
    let invalid =
        |message: &str| MessageError::new(whose.clone(), ErrorCode::INVALID_REQUEST, message);
    if value.get("jsonrpc").is_none_or(|version| version != "2.0") {
        return Err(invalid("it is not a JSON-RPC 2.0 message"));
    }
    if whose == ErrorRecipient::InvalidId {
        return Err(invalid("its id is neither a text nor an integer of 64 bits"));
    }
    let is_handshake_of_none = is_obsolete_handshake(&value);
    let message: ClientJsonRpcMessage = serde_json::from_value(value)
        .map_err(|_| invalid("it is not a message of the protocol"))?;
    // The library treats a request with invalid params as a custom method, so check the params
    // here.
    if let JsonRpcMessage::Request(request) = &message
        && let ClientRequest::CustomRequest(custom) = &request.request
        && !is_handshake_of_none
        && let Some(objection) = describe_params_error(custom)
    {
        return Err(MessageError::new(whose, ErrorCode::INVALID_PARAMS, objection));
    }
    Ok(message)
}

/// Whether a client of the newest version sends `initialize`, which that version does not have.
/// Such a request is an unknown method, so its params are not checked.
fn is_obsolete_handshake(message: &Value) -> bool {
    let version = message.pointer("/params/_meta").and_then(|meta| meta.get(VERSION_KEY));
    version.is_some() && message.get("method").is_some_and(|method| method == "initialize")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The replies to a line: error code, and whether it has an id.
    fn answered(line: &str) -> Vec<(i32, bool)> {
        let errors = read_messages(line.as_bytes()).into_iter().filter_map(Result::err);
        let answers = errors.filter_map(MessageError::reply_if_addressed).map(|answer| {
            let JsonRpcMessage::Error(error) = answer else { panic!("{answer:?}") };
            (error.error.code.0, error.id.is_some())
        });
        answers.collect()
    }

    #[test]
    fn whoever_waits_is_answered_also_where_its_id_cannot_be_written() {
        for (line, answer) in [
            (
                r#"{"jsonrpc":"2.0","id":18446744073709551615,"method":"ping"}"#,
                Some((-32600, false)),
            ),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, Some((-32600, false))),
            (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, Some((-32600, false))),
            (r#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#, Some((-32600, true))),
            (r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{}}"#, Some((-32602, true))),
            (r#"{"jsonrpc":"1.0","method":"ping"}"#, None),
            (r#"{"jsonrpc":"2.0","id":7,"method":"no/such"}"#, None),
            (r#"{"jsonrpc":"2.0","id":7,"method":"initialize"}"#, Some((-32602, true))),
            (
                r#"{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#,
                None,
            ),
        ] {
            assert_eq!(answered(line), Vec::from_iter(answer), "{line}");
        }
    }

    #[test]
    fn by_http_there_is_one_message_or_none() {
        for body in ["", " \n", "[]", r#"[{"jsonrpc":"2.0","id":7,"method":"ping"}]"#, "nonsense"] {
            assert!(read_message(body.as_bytes()).is_err(), "{body}");
        }
        assert!(read_message(br#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#).is_ok());
    }
}
