//! What came of a call, as the protocol carries it.

use rmcp::model::{CallToolResult, ContentBlock, ErrorCode, ErrorData};
use serde_json::Value;

use crate::error::Error;

/// The answer as structured content and, for clients that do not know that, as text. An error
/// is text alone: clients hold structured content against the schema of an answer.
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

/// Where no tool answers, an error is the protocol's own; our document goes with it.
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
