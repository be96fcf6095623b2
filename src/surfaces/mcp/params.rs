//! Describes why the params of a known method are invalid.

use rmcp::model::{
    CallToolRequestParams, CancelTaskParams, CustomRequest, GetPromptRequestParams, GetTaskParams,
    InitializeRequestParams, PaginatedRequestParams, ReadResourceRequestParams, UpdateTaskParams,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::record::truncate_echo;

/// A sentence for the client, or `None` if the method is not supported here.
pub(super) fn describe_params_error(request: &CustomRequest) -> Option<String> {
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
    let reason = reason.unwrap_or_else(|| "they are not an object of the protocol".to_owned());
    Some(format!("the params of `{}` cannot be read: {}", request.method, truncate_echo(&reason)))
}

fn find_params_error<P: DeserializeOwned>(params: Value) -> Option<String> {
    let read: Result<P, _> = serde_path_to_error::deserialize(params);
    let error = read.err()?;
    let place = error.path().to_string();
    // A top-level error has no path.
    Some(if place == "." { error.into_inner().to_string() } else { error.to_string() })
}
