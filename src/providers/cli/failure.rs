//! Classifies errors of agent programs: by the server's status if known, else by known phrases.

use serde_json::Value;

use crate::domain::ask::CallErrorType;
use crate::providers::process::ProgramOutput;
use crate::providers::request::CallError;

/// Lower-case phrases; the first match decides.
const ERROR_PHRASES: [(&str, CallErrorType); 32] = [
    ("not logged in", CallErrorType::Auth),
    ("/login", CallErrorType::Auth),
    ("set an auth method", CallErrorType::Auth),
    ("api key not valid", CallErrorType::Auth),
    ("invalid api key", CallErrorType::Auth),
    ("incorrect api key", CallErrorType::Auth),
    ("missing environment variable", CallErrorType::Auth),
    ("api_key environment variable", CallErrorType::Auth),
    ("failed to authenticate", CallErrorType::Auth),
    ("authentication", CallErrorType::Auth),
    ("unauthorized", CallErrorType::Auth),
    ("usage policy", CallErrorType::Refused),
    ("prompt is too long", CallErrorType::ContextTooLong),
    ("context window", CallErrorType::ContextTooLong),
    ("maximum context length", CallErrorType::ContextTooLong),
    ("maximum number of tokens", CallErrorType::ContextTooLong),
    ("rate limit", CallErrorType::RateLimit),
    ("usage limit", CallErrorType::RateLimit),
    ("too many requests", CallErrorType::RateLimit),
    ("quota", CallErrorType::RateLimit),
    ("overloaded", CallErrorType::ServerError),
    ("high demand", CallErrorType::ServerError),
    ("server-side issue", CallErrorType::ServerError),
    ("internal server error", CallErrorType::ServerError),
    ("unable to connect", CallErrorType::Network),
    ("connection failed", CallErrorType::Network),
    ("connection error", CallErrorType::Network),
    ("connection refused", CallErrorType::Network),
    ("error sending request", CallErrorType::Network),
    ("stream disconnected", CallErrorType::Network),
    ("fetch failed", CallErrorType::Network),
    ("econnrefused", CallErrorType::Network),
];

/// Classifies an error text, with the server's status if the program reported it.
pub(super) fn classify_error(text: &str, status: Option<u64>) -> CallError {
    let (text, inner_status) = unwrap_server_error(text);
    let status = status.or(inner_status).or_else(|| find_status(&text));
    let lower = text.to_lowercase();
    let by_clue =
        ERROR_PHRASES.iter().find(|(clue, _)| lower.contains(clue)).map(|(_, found)| *found);
    // Some servers report an invalid key as 400, so phrases take precedence there.
    let error_type = match status {
        Some(400) => by_clue.unwrap_or(CallErrorType::BadRequest),
        Some(401 | 403) => CallErrorType::Auth,
        Some(408 | 504) => CallErrorType::Timeout,
        Some(413) => CallErrorType::ContextTooLong,
        Some(404 | 405 | 409 | 422) => CallErrorType::BadRequest,
        Some(429) => CallErrorType::RateLimit,
        Some(500..=599) => CallErrorType::ServerError,
        Some(_) | None => by_clue.unwrap_or(CallErrorType::Unknown),
    };
    let message = if text.trim().is_empty() { "it failed without a word" } else { text.trim() };
    CallError::new(error_type, message)
}

/// Error of a program that failed or whose output cannot be parsed.
pub(super) fn exit_error(talk: &ProgramOutput) -> CallError {
    let said = talk.stderr.trim();
    if talk.succeeded {
        return unreadable_error("its output is not what this program is known to write");
    }
    let CallError { error_type, message, .. } = classify_error(last_lines(said), None);
    CallError::new(error_type, format!("{}: {message}", talk.ending))
}

pub(super) fn unreadable_error(message: &str) -> CallError {
    CallError::new(CallErrorType::ParseError, message)
}

/// Returns the last lines, which contain the error; earlier lines are progress and warnings.
fn last_lines(text: &str) -> &str {
    const LINES_MAX: usize = 4;
    let start = text.rmatch_indices('\n').nth(LINES_MAX - 1).map_or(0, |(place, _)| place);
    text.get(start..).unwrap_or(text)
}

/// Extracts message and status if the text is the server's JSON error.
fn unwrap_server_error(text: &str) -> (String, Option<u64>) {
    let document: Option<Value> = serde_json::from_str(text.trim()).ok();
    let error = document.as_ref().and_then(|document| document.get("error"));
    let message = error.and_then(|error| error.get("message")).and_then(Value::as_str);
    let status = error.and_then(|error| error.get("code")).and_then(Value::as_u64);
    message.map_or_else(|| (text.to_owned(), None), |message| (message.to_owned(), status))
}

/// Finds a status in a sentence such as `unexpected status 401 Unauthorized` or `last status: 429`.
fn find_status(text: &str) -> Option<u64> {
    let lower = text.to_lowercase();
    lower.split("status").skip(1).find_map(|rest| {
        let number = rest.trim_start_matches([':', ' ']).get(..3)?;
        number.parse().ok().filter(|status| (400..=599).contains(status))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_complaint_is_understood_by_its_status_then_by_its_words() {
        let check = |text: &str, status: Option<u64>, expected: CallErrorType| {
            assert_eq!(classify_error(text, status).error_type, expected, "{text:?} {status:?}");
        };
        check("anything", Some(401), CallErrorType::Auth);
        check("anything", Some(529), CallErrorType::ServerError);
        check("anything", Some(400), CallErrorType::BadRequest);
        check("API key not valid. Please pass a valid API key.", Some(400), CallErrorType::Auth);
        check("unexpected status 401 Unauthorized: x", None, CallErrorType::Auth);
        check(
            "exceeded retry limit, last status: 429 Too Many Requests",
            None,
            CallErrorType::RateLimit,
        );
        check("unexpected status 529 <unknown status code>", None, CallErrorType::ServerError);
        check("the status of 123 things", None, CallErrorType::Unknown);
        check("status", None, CallErrorType::Unknown);
        check("Prompt is too long", None, CallErrorType::ContextTooLong);
        check(r#"{"error":{"code":503,"message":"busy"}}"#, None, CallErrorType::ServerError);
        check(
            r#"{"error":{"code":"invalid","message":"no such model"}}"#,
            None,
            CallErrorType::Unknown,
        );
        check("", None, CallErrorType::Unknown);
    }

    #[test]
    fn the_servers_own_words_are_taken_out_of_their_envelope() {
        let error = classify_error(r#"{"error":{"code":500,"message":"the cat sat on it"}}"#, None);
        assert_eq!(error.message, "the cat sat on it");
    }
}
