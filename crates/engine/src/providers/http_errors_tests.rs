//! Table tests of HTTP failures: one line per case.

use std::time::UNIX_EPOCH;

use super::*;
use crate::providers::test_samples::{load_recorded, sample_provider};

fn http_error(status: u16, body: &str) -> CallError {
    ErrorResponse { status, retry_after: None, body }.to_call_error(&sample_provider())
}

#[test]
fn a_status_and_a_body_have_a_type() {
    let check = |status: u16, body: &str, expected: CallErrorType| {
        assert_eq!(http_error(status, body).error_type, expected, "{status} {body}");
    };
    check(401, "", CallErrorType::Auth);
    check(403, r#"{"error":{"message":"no"}}"#, CallErrorType::Auth);
    check(400, r#"{"error":{"details":[{"reason":"API_KEY_INVALID"}]}}"#, CallErrorType::Auth);
    check(429, r#"{"error":{"code":"insufficient_quota"}}"#, CallErrorType::RateLimit);
    check(400, "", CallErrorType::BadRequest);
    check(404, "", CallErrorType::BadRequest);
    check(422, "", CallErrorType::BadRequest);
    check(302, "", CallErrorType::BadRequest);
    check(413, "", CallErrorType::ContextTooLong);
    check(400, r#"{"error":{"code":"context_length_exceeded"}}"#, CallErrorType::ContextTooLong);
    check(
        400,
        r#"{"error":{"message":"Prompt is too long: 9 > 8"}}"#,
        CallErrorType::ContextTooLong,
    );
    check(
        400,
        "The input token count (9) exceeds the maximum number of tokens allowed (8).",
        CallErrorType::ContextTooLong,
    );
    check(408, "", CallErrorType::Timeout);
    check(504, "", CallErrorType::Timeout);
    check(500, "", CallErrorType::ServerError);
    check(503, "overloaded", CallErrorType::ServerError);
    check(529, "", CallErrorType::ServerError);
    check(100, "", CallErrorType::Unknown);
}

#[test]
fn a_message_names_provider_status_and_reason() {
    let check = |status: u16, body: &str, expected: &str| {
        assert_eq!(http_error(status, body).message, expected, "{status} {body}");
    };
    check(500, r#"{"error":{"message":"boom"}}"#, "`openai` at api.openai.com answered 500: boom");
    check(500, r#"{"error":"boom"}"#, "`openai` at api.openai.com answered 500: boom");
    check(500, r#"{"message":"boom"}"#, "`openai` at api.openai.com answered 500: boom");
    check(
        422,
        r#"{"detail":[{"msg":"boom","input":"…"}]}"#,
        "`openai` at api.openai.com answered 422: boom",
    );
    check(
        400,
        r#"[{"error":{"message":"boom"}}]"#,
        "`openai` at api.openai.com answered 400: boom",
    );
    check(500, "boom\r\nbang", "`openai` at api.openai.com answered 500: boom bang");
    check(
        502,
        "<html>Bad gateway</html>",
        "`openai` at api.openai.com answered 502 without a message",
    );
    check(503, "", "`openai` at api.openai.com answered 503 without a message");
    check(308, "", "`openai` at api.openai.com answered 308 with a redirect; check its `base_url`");
    check(
        429,
        r#"{"error":{"message":"You exceeded your plan.","code":"insufficient_quota"}}"#,
        "`openai` at api.openai.com answered 429: the quota is used up: You exceeded your plan; add credit",
    );
    check(
        401,
        r#"{"error":{"message":"Incorrect key sk-test-0123456789abcdef."}}"#,
        "`openai` at api.openai.com answered 401: Incorrect key ***; its key is from OPENAI_API_KEY: check that key",
    );
}

#[test]
fn a_server_that_wants_a_key_is_told_from_one_that_refuses_it() {
    let provider = Provider { key_variable: None, key: None, ..sample_provider() };
    let refusal = ErrorResponse { status: 401, retry_after: None, body: "" };
    let message = refusal.to_call_error(&provider).message;
    assert!(
        message.ends_with("; no key was sent: name its variable with `api_key_env`"),
        "{message}"
    );
}

#[test]
fn a_message_stays_short_and_on_one_line() {
    let long = http_error(400, &"word\n".repeat(1_000)).message;
    assert_eq!(long.chars().count(), MESSAGE_CHARS_MAX);
    assert!(!long.contains('\n'));
}

fn rejects_schema(refusal: &ErrorResponse<'_>) -> bool {
    let sent = [RequestParameter::Schema];
    refusal.refused_parameter(&sent, Dialect::OpenAi).is_some()
}

#[test]
fn the_refused_parameter_is_found_among_those_sent() {
    let all = RequestParameter::ALL;
    let check = |body: &str, sent: &[RequestParameter], expected: Option<RequestParameter>| {
        let refusal = ErrorResponse { status: 400, retry_after: None, body };
        assert_eq!(refusal.refused_parameter(sent, Dialect::OpenAi), expected, "{body}");
    };
    let temperature = "Unsupported value: 'temperature' does not support 0.2 with this model.";
    check(temperature, all, Some(RequestParameter::Temperature));
    check(temperature, &[RequestParameter::Effort], None);
    let limit = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
    check(limit, all, Some(RequestParameter::OutputLimit));
    check(
        "Unrecognized request argument supplied: reasoning_effort",
        all,
        Some(RequestParameter::Effort),
    );
    check("thinking: Extra inputs are not permitted", all, Some(RequestParameter::Effort));
    check("output_config: Extra inputs are not permitted", all, Some(RequestParameter::Effort));
    check("streaming is disabled", all, Some(RequestParameter::Stream));
    check("stream_options: not permitted", all, Some(RequestParameter::Stream));
    check("the upstream refused the request", all, None);
    check("'temperature' cannot be set when streaming", all, Some(RequestParameter::Temperature));
    check("response_format is not supported", all, Some(RequestParameter::Schema));
    let schema = &[RequestParameter::Schema];
    check("this is not supported", schema, Some(RequestParameter::Schema));
    check("max_tokens over 4096 is not supported", schema, None);
    check("maximum context length is 8192 tokens; your max_tokens is 9000", all, None);
    check("messages: roles must alternate", all, None);
}

#[test]
fn a_refused_schema_is_told_from_other_refusals() {
    let check = |status: u16, body: &str, expected: bool| {
        let refusal = ErrorResponse { status, retry_after: None, body };
        assert_eq!(rejects_schema(&refusal), expected, "{status} {body}");
    };
    check(400, r#"{"error":{"param":"response_format"}}"#, true);
    check(400, "tools.0.custom.input_schema: too deep", true);
    check(400, r#"Unknown name "responseSchema" at 'generation_config'"#, true);
    check(422, "json_schema is not supported", true);
    check(400, "JSON mode is not enabled for this model", true);
    check(400, "temperature is out of range", false);
    check(400, "maximum context length is 8192 tokens, with your tools 9000", false);
    check(404, "model gpt-9 does not exist or does not support tools", false);
    check(401, "schema", false);
    check(500, "schema", false);
}

#[test]
fn a_missing_model_is_told_from_a_wrong_address() {
    let check = |status: u16, body: &str, expected: bool| {
        let refusal = ErrorResponse { status, retry_after: None, body };
        assert_eq!(refusal.rejects_model(), expected, "{status} {body}");
    };
    check(404, r#"{"error":{"code":"model_not_found"}}"#, true);
    check(404, r#"model "llama9" not found, try pulling it first"#, true);
    check(400, "gpt-9 is not a valid model ID", true);
    check(400, r#"{"error":{"message":"Model Not Exist"}}"#, true);
    check(400, "The model `gpt-9` does not exist or you cannot use it", true);
    check(400, "Unknown model: gpt-9", true);
    check(400, "model gpt-9 is not available here", true);
    check(400, r#"{"error":{"message":"not allowed","param":"model"}}"#, true);
    check(403, r#"{"error":{"message":"no access","code":"model_not_found"}}"#, true);
    check(403, "you may not use this model", false);
    check(404, "404 page not found", false);
    check(500, "model crashed", false);
    check(400, "temperature is not supported with this model", false);
    check(400, r#"{"error":{"message":"not with this model","param":"temperature"}}"#, false);
}

#[test]
fn the_offer_begins_with_the_likest_name_and_fits() {
    let offer = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let asked = Provider { model: "gpt-4q".to_owned(), ..sample_provider() };
    let missing = http_error(404, r#"{"error":{"message":"no such model"}}"#);
    let result =
        append_offered_models(&asked, missing.clone(), offer(&["whisper-1", "gpt-4o", "dall-e-3"]));
    assert_eq!(
        result.message,
        "`openai` at api.openai.com answered 404: no such model; it offers `gpt-4o`, `dall-e-3`, `whisper-1`; \
         `plenary models openai` lists all"
    );
    let many: Vec<String> = (0..400).map(|n| format!("{}-{n}", "long".repeat(40))).collect();
    let result = append_offered_models(&asked, missing.clone(), many);
    assert!(result.message.chars().count() <= MESSAGE_CHARS_MAX, "{}", result.message);
    assert_eq!(result.message.matches("`long").count(), 3, "{}", result.message);
    assert_eq!(append_offered_models(&asked, missing.clone(), Vec::new()), missing);
}

#[test]
fn an_error_in_place_of_a_reply_is_one() {
    let check = |error: serde_json::Value, expected: CallErrorType| {
        assert_eq!(error_in_reply(&sample_provider(), &error).error_type, expected, "{error}");
    };
    check(serde_json::json!({ "message": "slow down", "code": 429 }), CallErrorType::RateLimit);
    check(serde_json::json!({ "message": "no credits", "code": 402 }), CallErrorType::RateLimit);
    check(serde_json::json!({ "message": "upstream", "code": "oops" }), CallErrorType::ServerError);
    check(serde_json::json!("upstream"), CallErrorType::ServerError);
    check(serde_json::json!({ "type": "rate_limit_error" }), CallErrorType::RateLimit);
    check(serde_json::json!({ "code": "429" }), CallErrorType::RateLimit);
    check(serde_json::json!({ "type": "invalid_request_error" }), CallErrorType::BadRequest);
    check(serde_json::json!({ "type": "authentication_error" }), CallErrorType::Auth);
    let busy = serde_json::json!({ "type": "overloaded_error", "message": "Overloaded" });
    let busy = error_in_reply(&sample_provider(), &busy);
    assert_eq!(busy.message, "`openai` at api.openai.com reported 529 in its reply: Overloaded");
    assert!(busy.is_busy && busy.error_type == CallErrorType::ServerError);
    let failed = error_in_reply(&sample_provider(), &serde_json::json!("upstream"));
    let expected = "`openai` at api.openai.com reported an error in its reply: upstream";
    assert_eq!(failed.message, expected);
    assert!(!failed.is_busy);
}

#[test]
fn a_message_says_what_to_do_next() {
    let check = |status: u16, wait: Option<u64>, body: &str, expected: &str| {
        let retry_after = wait.map(Duration::from_secs);
        let error = ErrorResponse { status, retry_after, body }.to_call_error(&sample_provider());
        assert!(error.message.ends_with(expected), "{}", error.message);
    };
    check(429, Some(120), "Slow down.", "429: Slow down; it asks to wait 120 s; resume then");
    check(429, Some(5), "Slow down.", "429: Slow down.");
    check(402, None, "empty", "402: empty; add credit");
    let limit = "max_tokens: 8192 > 4096, which is the maximum allowed";
    check(400, None, limit, "the maximum allowed; set `max_output_tokens: 4096`");
}

#[test]
fn how_long_to_wait_is_said_in_three_ways() {
    let now = UNIX_EPOCH + Duration::from_secs(1_445_412_480);
    let check = |name: &'static str, value: &'static str, expected: Option<u64>| {
        let headers = HeaderMap::from_iter([(name.parse().unwrap(), value.parse().unwrap())]);
        let found = parse_retry_after(&headers, now).map(|wait| wait.as_millis());
        assert_eq!(found, expected.map(u128::from), "{name}: {value}");
    };
    check("retry-after", "7", Some(7_000));
    check("retry-after", " 1.5 ", Some(1_500));
    check("retry-after", "Wed, 21 Oct 2015 07:28:03 GMT", Some(3_000));
    check("retry-after", "Wed, 21 Oct 2015 07:27:00 GMT", Some(0));
    check("retry-after-ms", "250", Some(250));
    check("retry-after", "soon", None);
    check("retry-after", "-1", None);
    check("retry-after", "NaN", None);
    check("retry-after", "1e300", None);
}

/// The fixture's file name contains the status and what the server rejected.
#[track_caller]
fn check_recorded(path: &str, expected: &str) {
    let body = load_recorded(path);
    let status = path.split(['_', '.']).find_map(|word| word.parse().ok()).unwrap();
    let error = http_error(status, &body);
    assert_eq!(format!("{}: {}", error.error_type, error.message), expected, "{path}");
    let refusal = ErrorResponse { status, retry_after: None, body: &body };
    assert_eq!(rejects_schema(&refusal), path.ends_with("_schema.json"), "{path}");
    assert_eq!(refusal.rejects_model(), path.ends_with("_model.json"), "{path}");
}

#[test]
fn recorded_errors_of_openai_are_classified() {
    check_recorded(
        "openai/error_401.json",
        "auth: `openai` at api.openai.com answered 401: Incorrect API key provided: ***. You can find your API key at https://platform.openai.com/account/api-keys; its key is from OPENAI_API_KEY: check that key",
    );
    check_recorded(
        "openai/error_429.json",
        "rate_limit: `openai` at api.openai.com answered 429: Rate limit reached for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Used 29500, Requested 1200. Please try again in 1.4s.",
    );
    check_recorded(
        "openai/error_429_quota.json",
        "rate_limit: `openai` at api.openai.com answered 429: You exceeded your current quota, please check your plan and billing details; add credit",
    );
    check_recorded(
        "openai/error_500.json",
        "server_error: `openai` at api.openai.com answered 500: The server had an error while processing your request. Sorry about that!",
    );
    check_recorded(
        "openai/error_400_context.json",
        "context_too_long: `openai` at api.openai.com answered 400: This model's maximum context length is 128000 tokens. However, your messages resulted in 143022 tokens. Please reduce the length of the messages.",
    );
    check_recorded(
        "openai/error_400_schema.json",
        "bad_request: `openai` at api.openai.com answered 400: Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
    );
    check_recorded(
        "openai/error_404_model.json",
        "bad_request: `openai` at api.openai.com answered 404: The model `gpt-9` does not exist or you do not have access to it.",
    );
}

#[test]
fn recorded_errors_of_anthropic_are_classified() {
    check_recorded(
        "anthropic/error_401.json",
        "auth: `openai` at api.openai.com answered 401: invalid x-api-key; its key is from OPENAI_API_KEY: check that key",
    );
    check_recorded(
        "anthropic/error_429.json",
        "rate_limit: `openai` at api.openai.com answered 429: This request would exceed your organization's rate limit of 50 requests per minute.",
    );
    check_recorded(
        "anthropic/error_500.json",
        "server_error: `openai` at api.openai.com answered 500: Internal server error",
    );
    check_recorded(
        "anthropic/error_529.json",
        "server_error: `openai` at api.openai.com answered 529: Overloaded",
    );
    check_recorded(
        "anthropic/error_400_context.json",
        "context_too_long: `openai` at api.openai.com answered 400: prompt is too long: 208310 tokens > 200000 maximum",
    );
    check_recorded(
        "anthropic/error_400_schema.json",
        "bad_request: `openai` at api.openai.com answered 400: tools.0.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12",
    );
    check_recorded(
        "anthropic/error_404_model.json",
        "bad_request: `openai` at api.openai.com answered 404: model: claude-nine",
    );
}

#[test]
fn recorded_errors_of_gemini_are_classified() {
    check_recorded(
        "gemini/error_400_key.json",
        "auth: `openai` at api.openai.com answered 400: API key not valid. Please pass a valid API key; its key is from OPENAI_API_KEY: check that key",
    );
    check_recorded(
        "gemini/error_429.json",
        "rate_limit: `openai` at api.openai.com answered 429: Resource has been exhausted (e.g. check quota).",
    );
    check_recorded(
        "gemini/error_500.json",
        "server_error: `openai` at api.openai.com answered 500: An internal error has occurred. Please retry.",
    );
    check_recorded(
        "gemini/error_503.json",
        "server_error: `openai` at api.openai.com answered 503: The model is overloaded. Please try again later.",
    );
    check_recorded(
        "gemini/error_400_context.json",
        "context_too_long: `openai` at api.openai.com answered 400: The input token count (1200310) exceeds the maximum number of tokens allowed (1048576).",
    );
    check_recorded(
        "gemini/error_400_schema.json",
        "bad_request: `openai` at api.openai.com answered 400: Invalid JSON payload received. Unknown name \"responseSchema\" at 'generation_config': Cannot find field.",
    );
    check_recorded(
        "gemini/error_404_model.json",
        "bad_request: `openai` at api.openai.com answered 404: models/gemini-nine is not found for API version v1beta, or is not supported for generateContent.",
    );
}
