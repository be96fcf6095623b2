//! Converts the result of a call to MCP results and errors.

use rmcp::model::{CallToolResult, ContentBlock, ErrorCode, ErrorData};
use serde_json::Value;

use crate::error::Error;

/// Returns the answer as structured content, and as text for clients without support for it. An
/// error is text only, because clients validate structured content against the tool's output
/// schema.
pub(super) fn result(answer: Result<String, Error>) -> CallToolResult {
    match answer.and_then(structured) {
        Ok((text, value)) => {
            let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
            result.structured_content = Some(value);
            result
        }
        Err(error) => refusal(&error.document()),
    }
}

pub(super) fn refusal(document: &Value) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(document.to_string())])
}

/// Outside tool calls an error becomes a protocol error, with our error document as data.
pub(super) fn or_protocol_error<T>(answer: Result<T, Error>) -> Result<T, ErrorData> {
    answer.map_err(|error| {
        let code = ErrorCode(error.kind().json_rpc_code());
        ErrorData::new(code, error.sentence(), Some(error.document()))
    })
}

fn structured(text: String) -> Result<(String, Value), Error> {
    let value = serde_json::from_str(&text).map_err(Error::Document)?;
    Ok((text, value))
}
