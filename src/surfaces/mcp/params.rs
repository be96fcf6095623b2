//! Describes why the params of a known method are invalid.

use rmcp::model::{
    CallToolRequestParams, CancelTaskParams, CustomRequest, GetPromptRequestParams, GetTaskParams,
    InitializeRequestParams, PaginatedRequestParams, ReadResourceRequestParams, UpdateTaskParams,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::record::cut;

/// A sentence for the client, or `None` if the method is not supported here.
pub(super) fn objection(request: &CustomRequest) -> Option<String> {
    let params = request.params.clone().unwrap_or_else(|| json!({}));
    let reason = match request.method.as_str() {
        "initialize" => reason::<InitializeRequestParams>(params),
        "tools/call" => reason::<CallToolRequestParams>(params),
        "prompts/get" => reason::<GetPromptRequestParams>(params),
        "resources/read" => reason::<ReadResourceRequestParams>(params),
        "tasks/get" => reason::<GetTaskParams>(params),
        "tasks/update" => reason::<UpdateTaskParams>(params),
        "tasks/cancel" => reason::<CancelTaskParams>(params),
        "tools/list" | "prompts/list" | "resources/list" | "resources/templates/list" => {
            reason::<PaginatedRequestParams>(params)
        }
        "ping" | "server/discover" => None,
        _ => return None,
    };
    // The params alone are valid, so something around them is not, such as `_meta`.
    let reason = reason.unwrap_or_else(|| "they are not an object of the protocol".to_owned());
    Some(format!("the params of `{}` cannot be read: {}", request.method, cut(&reason)))
}

fn reason<P: DeserializeOwned>(params: Value) -> Option<String> {
    let read: Result<P, _> = serde_path_to_error::deserialize(params);
    let error = read.err()?;
    let place = error.path().to_string();
    // A top-level error has no path.
    Some(if place == "." { error.into_inner().to_string() } else { error.to_string() })
}
