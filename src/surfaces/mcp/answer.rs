//! Converts the result of a call to MCP results and errors.

use rmcp::model::{CallToolResult, ContentBlock, ErrorCode, ErrorData};
use serde_json::Value;

use crate::error::Error;

/// Returns the answer as structured content, and as text for clients without support for it. An
/// error is text only, because clients validate structured content against the tool's output
/// schema.
pub(super) fn tool_result(answer: Result<String, Error>) -> CallToolResult {
    match answer.and_then(parse_structured) {
        Ok((text, value)) => {
            let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
            result.structured_content = Some(value);
            result
        }
        Err(error) => error_result(&error.to_document()),
    }
}

pub(super) fn error_result(document: &Value) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(document.to_string())])
}

/// Outside tool calls an error becomes a protocol error, with our error document as data.
pub(super) fn to_protocol_result<T>(answer: Result<T, Error>) -> Result<T, ErrorData> {
    answer.map_err(|error| {
        let code = ErrorCode(error.kind().json_rpc_code());
        ErrorData::new(code, error.full_message(), Some(error.to_document()))
    })
}

fn parse_structured(text: String) -> Result<(String, Value), Error> {
    let value = serde_json::from_str(&text).map_err(Error::Document)?;
    Ok((text, value))
}
