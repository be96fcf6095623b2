//! Classifies errors of agent programs: by the server's status if known, else by known phrases.

use serde_json::Value;

use crate::domain::ask::ErrorType;
use crate::providers::process::Talk;
use crate::providers::request::CallError;

/// Lower-case phrases; the first match decides.
const CLUES: [(&str, ErrorType); 32] = [
    ("not logged in", ErrorType::Auth),
    ("/login", ErrorType::Auth),
    ("set an auth method", ErrorType::Auth),
    ("api key not valid", ErrorType::Auth),
    ("invalid api key", ErrorType::Auth),
    ("incorrect api key", ErrorType::Auth),
    ("missing environment variable", ErrorType::Auth),
    ("api_key environment variable", ErrorType::Auth),
    ("failed to authenticate", ErrorType::Auth),
    ("authentication", ErrorType::Auth),
    ("unauthorized", ErrorType::Auth),
    ("usage policy", ErrorType::Refused),
    ("prompt is too long", ErrorType::ContextTooLong),
    ("context window", ErrorType::ContextTooLong),
    ("maximum context length", ErrorType::ContextTooLong),
    ("maximum number of tokens", ErrorType::ContextTooLong),
    ("rate limit", ErrorType::RateLimit),
    ("usage limit", ErrorType::RateLimit),
    ("too many requests", ErrorType::RateLimit),
    ("quota", ErrorType::RateLimit),
    ("overloaded", ErrorType::ServerError),
    ("high demand", ErrorType::ServerError),
    ("server-side issue", ErrorType::ServerError),
    ("internal server error", ErrorType::ServerError),
    ("unable to connect", ErrorType::Network),
    ("connection failed", ErrorType::Network),
    ("connection error", ErrorType::Network),
    ("connection refused", ErrorType::Network),
    ("error sending request", ErrorType::Network),
    ("stream disconnected", ErrorType::Network),
    ("fetch failed", ErrorType::Network),
    ("econnrefused", ErrorType::Network),
];

/// Classifies an error text, with the server's status if the program reported it.
pub(super) fn complaint(text: &str, status: Option<u64>) -> CallError {
    let (text, inner_status) = unwrapped(text);
    let status = status.or(inner_status).or_else(|| status_in(&text));
    let lower = text.to_lowercase();
    let by_clue = CLUES.iter().find(|(clue, _)| lower.contains(clue)).map(|(_, found)| *found);
    // Some servers report an invalid key as 400, so phrases take precedence there.
    let error_type = match status {
        Some(400) => by_clue.unwrap_or(ErrorType::BadRequest),
        Some(401 | 403) => ErrorType::Auth,
        Some(408 | 504) => ErrorType::Timeout,
        Some(413) => ErrorType::ContextTooLong,
        Some(404 | 405 | 409 | 422) => ErrorType::BadRequest,
        Some(429) => ErrorType::RateLimit,
        Some(500..=599) => ErrorType::ServerError,
        Some(_) | None => by_clue.unwrap_or(ErrorType::Unknown),
    };
    let message = if text.trim().is_empty() { "it failed without a word" } else { text.trim() };
    CallError::new(error_type, message)
}

/// Error of a program that failed or whose output cannot be parsed.
pub(super) fn ended(talk: &Talk) -> CallError {
    let said = talk.stderr.trim();
    if talk.succeeded {
        return unreadable("its output is not what this program is known to write");
    }
    let CallError { error_type, message, .. } = complaint(last_lines(said), None);
    CallError::new(error_type, format!("{}: {message}", talk.ending))
}

pub(super) fn unreadable(message: &str) -> CallError {
    CallError::new(ErrorType::ParseError, message)
}

/// Returns the last lines, which contain the error; earlier lines are progress and warnings.
fn last_lines(text: &str) -> &str {
    const LINES_MAX: usize = 4;
    let start = text.rmatch_indices('\n').nth(LINES_MAX - 1).map_or(0, |(place, _)| place);
    text.get(start..).unwrap_or(text)
}

/// Extracts message and status if the text is the server's JSON error.
fn unwrapped(text: &str) -> (String, Option<u64>) {
    let document: Option<Value> = serde_json::from_str(text.trim()).ok();
    let error = document.as_ref().and_then(|document| document.get("error"));
    let message = error.and_then(|error| error.get("message")).and_then(Value::as_str);
    let status = error.and_then(|error| error.get("code")).and_then(Value::as_u64);
    message.map_or_else(|| (text.to_owned(), None), |message| (message.to_owned(), status))
}

/// Finds a status in a sentence such as `unexpected status 401 Unauthorized` or `last status: 429`.
fn status_in(text: &str) -> Option<u64> {
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
        let check = |text: &str, status: Option<u64>, expected: ErrorType| {
            assert_eq!(complaint(text, status).error_type, expected, "{text:?} {status:?}");
        };
        check("anything", Some(401), ErrorType::Auth);
        check("anything", Some(529), ErrorType::ServerError);
        check("anything", Some(400), ErrorType::BadRequest);
        check("API key not valid. Please pass a valid API key.", Some(400), ErrorType::Auth);
        check("unexpected status 401 Unauthorized: x", None, ErrorType::Auth);
        check(
            "exceeded retry limit, last status: 429 Too Many Requests",
            None,
            ErrorType::RateLimit,
        );
        check("unexpected status 529 <unknown status code>", None, ErrorType::ServerError);
        check("the status of 123 things", None, ErrorType::Unknown);
        check("status", None, ErrorType::Unknown);
        check("Prompt is too long", None, ErrorType::ContextTooLong);
        check(r#"{"error":{"code":503,"message":"busy"}}"#, None, ErrorType::ServerError);
        check(
            r#"{"error":{"code":"invalid","message":"no such model"}}"#,
            None,
            ErrorType::Unknown,
        );
        check("", None, ErrorType::Unknown);
    }

    #[test]
    fn the_servers_own_words_are_taken_out_of_their_envelope() {
        let error = complaint(r#"{"error":{"code":500,"message":"the cat sat on it"}}"#, None);
        assert_eq!(error.message, "the cat sat on it");
    }
}
