//! Parses MCP messages strictly, or returns a [`MessageError`] with the reply to the sender.

use plenary_core::dialogue::request_fields::truncate_echo;
use plenary_core::model::strict_json::StrictJson;
use rmcp::model::{
    CallToolRequestParams, CancelTaskParams, ClientJsonRpcMessage, ClientRequest, CustomRequest,
    ErrorCode, ErrorData, GetPromptRequestParams, GetTaskParams, InitializeRequestParams,
    JsonRpcMessage, PaginatedRequestParams, ReadResourceRequestParams, RequestId,
    ServerJsonRpcMessage, UpdateTaskParams,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::mcp::request_slots::WAITING_MAX;

/// Larger messages get an error, on both transports. Tools have smaller limits with more specific
/// errors.
pub(crate) const MESSAGE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Maximum of messages in a batch, because each may need an answer.
const BATCH_MESSAGES_MAX: usize = 1_000;

/// Deeper than the arguments of any tool, and safe for the stack.
const STRICT_JSON: StrictJson = StrictJson {
    depth_max: 100,
    duplicate_key: |key| format!("the key `{key}` occurs twice"),
    too_deep: || "the JSON is nested too deeply".to_owned(),
};

/// Metadata key by which a request names its protocol version; only the newest version uses it.
const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";

/// A message that cannot be processed.
#[derive(Debug, PartialEq)]
pub(crate) struct MessageError {
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
    pub(crate) fn too_long(beginning: &[u8]) -> Self {
        let message = format!("the message is over the limit of {MESSAGE_BYTES_MAX} bytes");
        Self::new(ErrorRecipient::recover_from(beginning), ErrorCode::INVALID_REQUEST, message)
    }

    pub(crate) fn duplicate_id(id: &RequestId) -> Self {
        let message = "a request with this id is still active";
        Self::new(ErrorRecipient::Request(id.clone()), ErrorCode::INVALID_REQUEST, message)
    }

    pub(crate) fn too_many_waiting(id: &RequestId) -> Self {
        let message = format!("{WAITING_MAX} calls already wait for runs; wait for their answers");
        Self::new(ErrorRecipient::Request(id.clone()), ErrorCode::INVALID_REQUEST, message)
    }

    /// The reply, or `None` if the message has no id.
    pub(crate) fn reply_if_addressed(self) -> Option<ServerJsonRpcMessage> {
        match self.recipient {
            ErrorRecipient::Request(_) | ErrorRecipient::InvalidId => Some(self.into_reply()),
            ErrorRecipient::Unknown => None,
        }
    }

    /// The reply for a transport that always needs one.
    pub(crate) fn into_reply(self) -> ServerJsonRpcMessage {
        let id = match self.recipient {
            ErrorRecipient::Request(id) => Some(id),
            ErrorRecipient::InvalidId | ErrorRecipient::Unknown => None,
        };
        ServerJsonRpcMessage::error(self.error, id)
    }

    /// Whether the request is known and only its params are invalid.
    pub(crate) fn is_params_error(&self) -> bool {
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
pub(crate) fn read_messages(bytes: &[u8]) -> Vec<Result<ClientJsonRpcMessage, MessageError>> {
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
pub(crate) fn read_message(bytes: &[u8]) -> Result<ClientJsonRpcMessage, MessageError> {
    let invalid = |message: &str| {
        Err(MessageError::new(ErrorRecipient::Unknown, ErrorCode::INVALID_REQUEST, message))
    };
    if bytes.trim_ascii().is_empty() {
        return invalid("the body is empty");
    }
    let value = parse_value(bytes)?;
    if value.is_array() {
        return invalid("HTTP accepts no batch; send its messages one by one");
    }
    parse_message(value)
}

fn parse_value(bytes: &[u8]) -> Result<Value, MessageError> {
    let unread = |message: String| {
        MessageError::new(ErrorRecipient::recover_from(bytes), ErrorCode::PARSE_ERROR, message)
    };
    let text =
        std::str::from_utf8(bytes).map_err(|_| unread("the message is not UTF-8".to_owned()))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    STRICT_JSON
        .parse_json(text)
        .map_err(|error| unread(format!("the message is not valid JSON: {error}")))
}

fn parse_message(value: Value) -> Result<ClientJsonRpcMessage, MessageError> {
    let whose = ErrorRecipient::from_message(&value);
    let invalid =
        |message: &str| MessageError::new(whose.clone(), ErrorCode::INVALID_REQUEST, message);
    if value.get("jsonrpc").is_none_or(|version| version != "2.0") {
        return Err(invalid("the message is not JSON-RPC 2.0"));
    }
    if whose == ErrorRecipient::InvalidId {
        return Err(invalid("the id must be a string or a 64-bit integer"));
    }
    let is_handshake_of_none = is_obsolete_handshake(&value);
    let message: ClientJsonRpcMessage = serde_json::from_value(value)
        .map_err(|_| invalid("the message is not part of the protocol"))?;
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

/// A sentence for the client, or `None` if the method is not supported here.
pub(crate) fn describe_params_error(request: &CustomRequest) -> Option<String> {
    let params = request.params.clone().unwrap_or_else(|| json!({}));
    let reason = match request.method.as_str() {
        "initialize" => find_params_error::<InitializeRequestParams>(params),
        "tools/call" => find_params_error::<CallToolRequestParams>(params),
        "prompts/get" => find_params_error::<GetPromptRequestParams>(params),
        "resources/read" => find_params_error::<ReadResourceRequestParams>(params),
        "tasks/get" => find_params_error::<GetTaskParams>(params),
        "tasks/update" => find_params_error::<UpdateTaskParams>(params),
        "tasks/cancel" => find_params_error::<CancelTaskParams>(params),
        "tools/list" | "prompts/list" | "resources/list" | "resources/templates/list" => {
            find_params_error::<PaginatedRequestParams>(params)
        }
        "ping" | "server/discover" => None,
        _ => return None,
    };
    // The params alone are valid, so something around them is not, such as `_meta`.
    let reason = reason.unwrap_or_else(|| "they are not a valid object".to_owned());
    Some(format!("cannot read the params of `{}`: {}", request.method, truncate_echo(&reason)))
}

fn find_params_error<P: DeserializeOwned>(params: Value) -> Option<String> {
    let read: Result<P, _> = serde_path_to_error::deserialize(params);
    let error = read.err()?;
    let place = error.path().to_string();
    // A top-level error has no path.
    Some(if place == "." { error.into_inner().to_string() } else { error.to_string() })
}

/// Finds the top-level `id` of invalid or truncated JSON in one pass, without allocation or
/// recursion.
pub(crate) fn recover_id(line: &[u8]) -> Option<RequestId> {
    let mut depth = 0_usize;
    let mut place = 0;
    while let Some(byte) = line.get(place) {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1)?,
            b'"' => {
                let end = find_text_end(line, place)?;
                if depth == 1
                    && line.get(place..=end) == Some(br#""id""#)
                    && let Some(id) = read_value_after(line, end + 1)
                {
                    return Some(id);
                }
                place = end;
            }
            _ => {}
        }
        place += 1;
    }
    None
}

/// Index of the closing quote of the string that starts here.
fn find_text_end(line: &[u8], start: usize) -> Option<usize> {
    let mut place = start + 1;
    loop {
        match line.get(place)? {
            b'\\' => place += 2,
            b'"' => return Some(place),
            _ => place += 1,
        }
    }
}

/// The string or number after a colon.
fn read_value_after(line: &[u8], place: usize) -> Option<RequestId> {
    /// A longer value is not an id.
    const ID_BYTES_MAX: usize = 1_000;
    let rest = line.get(place..)?.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
    let rest = rest.get(..rest.len().min(ID_BYTES_MAX))?;
    let end = match rest.first()? {
        b'"' => find_text_end(rest, 0)? + 1,
        // Read a number to its end: a part of it would be another id.
        _ => rest
            .iter()
            .position(|byte| matches!(byte, b',' | b'}') || byte.is_ascii_whitespace())?,
    };
    serde_json::from_slice(rest.get(..end)?).ok()
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

#[cfg(test)]
mod salvage_tests {
    use super::*;

    #[test]
    fn an_id_is_found_wherever_it_stands() {
        let deep = format!(r#"{{"a":{}1{},"id":7}}"#, "[".repeat(100_000), "]".repeat(100_000));
        for (line, id) in [
            (r#"{"id":1,"method":"#, Some(RequestId::Number(1))),
            (r#"{"x":"}]\"","id" : "a\"b" , oops"#, Some(RequestId::String("a\"b".into()))),
            (r#"{"params":{"id":3},"id":-4}"#, Some(RequestId::Number(-4))),
            (&deep, Some(RequestId::Number(7))),
            (r#"{"params":{"id":3}}"#, None),
            (r#"{"id":1.5}"#, None),
            (r#"{"id":null,"x":1}"#, None),
            (r#"{"id":{"id":2}}"#, None),
            (r#"id: 4"#, None),
            (r#"{"id"#, None),
            (r#"}}}{"id":1}"#, None),
            ("", None),
        ] {
            assert_eq!(recover_id(line.as_bytes()), id, "{}", &line[..line.len().min(80)]);
        }
    }
}
