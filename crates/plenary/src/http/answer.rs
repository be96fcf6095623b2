//! Answers of the API: JSON with an entity tag, and errors as `application/problem+json`.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use plenary_core::model::validation_error::{ErrorCode, ValidationError, ValidationErrors};
use plenary_engine::app::dialogues::parse_arguments;
use plenary_engine::error::{Error, to_json_text};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::http::router::ApiState;

/// A body has at most the size of an MCP message: a whole round of a dialogue.
pub(crate) const BODY_BYTES_MAX: usize = 16 << 20;

/// Code of a body that is not JSON; the status of all other refused requests says that it was read.
const INVALID_JSON: &str = "invalid_json";

/// A request that failed, as the client reads it.
#[derive(Debug)]
pub(crate) struct ApiProblem {
    status: StatusCode,
    /// The error document of the command line and MCP.
    document: Value,
}

impl ApiProblem {
    /// A problem of HTTP itself, which other interfaces do not have.
    pub(crate) fn new(status: StatusCode, code: &str, message: &str, suggestion: &str) -> Self {
        let document = json!({
            "status": "error", "error_code": code, "message": message, "suggestion": suggestion,
        });
        Self { status, document }
    }

    /// The problem of an address that names a part which the record does not have.
    pub(crate) fn for_address(mut self) -> Self {
        if self.document.get("error_code").is_some_and(|code| code == "target_not_found") {
            self.status = StatusCode::NOT_FOUND;
        }
        self
    }
}

impl From<Error> for ApiProblem {
    fn from(error: Error) -> Self {
        let document = error.to_document();
        let is_unread = document.get("error_code").is_some_and(|code| code == INVALID_JSON);
        let status = StatusCode::from_u16(error.http_status()).ok().filter(|_| !is_unread);
        Self { status: status.unwrap_or(StatusCode::BAD_REQUEST), document }
    }
}

impl From<ValidationError> for ApiProblem {
    fn from(fault: ValidationError) -> Self {
        Error::from(fault).into()
    }
}

impl From<ValidationErrors> for ApiProblem {
    fn from(faults: ValidationErrors) -> Self {
        Error::from(faults).into()
    }
}

impl IntoResponse for ApiProblem {
    /// The members of RFC 9457, and beside them the error document.
    fn into_response(self) -> Response {
        let Self { status, document } = self;
        let code = document.get("error_code").and_then(Value::as_str).unwrap_or("error");
        let message = document.get("message").and_then(Value::as_str);
        let mut problem = json!({
            "type": format!("urn:plenary:error:{code}"),
            "title": status.canonical_reason().unwrap_or("Error"),
            "status": status.as_u16(),
            "detail": message.unwrap_or("the request failed"),
        });
        if let (Value::Object(problem), Value::Object(document)) = (&mut problem, document) {
            // `status` is the HTTP status here.
            problem.extend(document.into_iter().filter(|(name, _)| name != "status"));
        }
        let headers = [(header::CONTENT_TYPE, "application/problem+json")];
        (status, headers, problem.to_string()).into_response()
    }
}

/// Answers with a JSON document.
pub(crate) fn json_answer(answer: &impl Serialize) -> Result<Response, ApiProblem> {
    json_text(StatusCode::OK, to_json_text(answer)?)
}

pub(crate) fn json_text(status: StatusCode, text: String) -> Result<Response, ApiProblem> {
    Ok((status, [(header::CONTENT_TYPE, "application/json")], text).into_response())
}

/// The state of what a client reads. It changes with every journal entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EntityTag(String);

impl EntityTag {
    /// The head of the journal, and what the answer has that is not in the journal.
    pub(crate) fn new(head: &str, beside: &str) -> Self {
        Self(if beside.is_empty() { format!("\"{head}\"") } else { format!("\"{head}.{beside}\"") })
    }

    /// `304 Not Modified`, if the client has this state.
    pub(crate) fn unchanged(&self, headers: &HeaderMap) -> Option<Response> {
        let known = headers.get(header::IF_NONE_MATCH)?.to_str().ok()?;
        let known = known.split(',').map(|tag| tag.trim().trim_start_matches("W/"));
        let is_known = known.into_iter().any(|tag| tag == self.0 || tag == "*");
        is_known.then(|| self.mark(StatusCode::NOT_MODIFIED.into_response()))
    }

    /// The answer with this tag. A client asks again before it uses its copy.
    pub(crate) fn mark(&self, mut answer: Response) -> Response {
        if let Ok(tag) = HeaderValue::from_str(&self.0) {
            answer.headers_mut().insert(header::ETAG, tag);
        }
        let private = HeaderValue::from_static("private, no-cache");
        answer.headers_mut().insert(header::CACHE_CONTROL, private);
        answer
    }
}

/// Reads a JSON body; an empty one is an empty object.
pub(crate) async fn read_body(
    state: &Arc<ApiState>,
    request: Request,
) -> Result<Value, ApiProblem> {
    let (parts, body) = request.into_parts();
    let bytes = read_bytes(state, body).await?;
    if bytes.is_empty() {
        return Ok(json!({}));
    }
    let media = parts.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let is_json = |media: &str| {
        media
            .split(';')
            .next()
            .is_some_and(|name| name.trim().eq_ignore_ascii_case("application/json"))
    };
    if !media.is_some_and(is_json) {
        return Err(ApiProblem::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "unsupported_media_type",
            "the body is not marked as JSON",
            "send `Content-Type: application/json`",
        ));
    }
    let text = std::str::from_utf8(&bytes)
        .map_err(|_| ValidationError::new(ErrorCode::InvalidJson, "the body is not UTF-8 text"))?;
    Ok(parse_arguments(text)?)
}

async fn read_bytes(state: &Arc<ApiState>, body: Body) -> Result<axum::body::Bytes, ApiProblem> {
    let read = timeout(state.body_timeout, axum::body::to_bytes(body, BODY_BYTES_MAX)).await;
    let Ok(read) = read else {
        return Err(ApiProblem::new(
            StatusCode::REQUEST_TIMEOUT,
            "request_timeout",
            "the body did not come in time",
            "send the request again",
        ));
    };
    read.map_err(|_| {
        ApiProblem::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "body_too_large",
            &format!("a body has at most {BODY_BYTES_MAX} bytes"),
            "send less at once",
        )
    })
}
