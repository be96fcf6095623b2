//! What a server says about its limits: in headers of every answer, and in the answer to a call that
//! came too early.

use std::time::{Duration, SystemTime};

use plenary_core::model::time::Moment;
use reqwest::header::HeaderMap;
use serde_json::Value;

use crate::providers::http_errors::parse_retry_after;

/// Headers that say how much is left, and when it is full again.
const LIMIT_HEADERS: [(&str, &str); 7] = [
    ("x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"),
    ("x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"),
    ("x-ratelimit-remaining", "x-ratelimit-reset"),
    ("anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset"),
    ("anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset"),
    ("anthropic-ratelimit-input-tokens-remaining", "anthropic-ratelimit-input-tokens-reset"),
    ("anthropic-ratelimit-output-tokens-remaining", "anthropic-ratelimit-output-tokens-reset"),
];

/// Numbers of seconds above this are a time since 1970, not a wait.
const WAIT_SECONDS_MAX: f64 = 1e8;

/// Numbers above this are milliseconds since 1970.
const EPOCH_SECONDS_MAX: f64 = 1e11;

/// Time until the server accepts calls again, if a header says that nothing is left.
pub(crate) fn parse_exhausted(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let resets = LIMIT_HEADERS.iter().filter_map(|(remaining, reset)| {
        let is_used_up = text(remaining)?.parse::<f64>().ok()? <= 0.0;
        is_used_up.then(|| parse_reset(text(reset)?, now)).flatten()
    });
    resets.max()
}

/// The wait that a refusal names: by `Retry-After`, by a reset header, or in its body.
pub(crate) fn parse_wait(headers: &HeaderMap, body: &str, now: SystemTime) -> Option<Duration> {
    parse_retry_after(headers, now)
        .or_else(|| parse_exhausted(headers, now))
        .or_else(|| parse_retry_info(body))
}

/// Gemini names the wait in a detail of its error: `"retryDelay": "33s"`.
fn parse_retry_info(body: &str) -> Option<Duration> {
    if !body.contains("retryDelay") {
        return None;
    }
    let document: Value = serde_json::from_str(body).ok()?;
    let details = document.pointer("/error/details")?.as_array()?;
    let delay = details.iter().find_map(|detail| detail.get("retryDelay")?.as_str())?;
    parse_go_duration(delay)
}

/// A duration (`6m0s`, `120ms`), seconds, a time since 1970, or an RFC 3339 date.
fn parse_reset(text: &str, now: SystemTime) -> Option<Duration> {
    let since_epoch = now.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    let from_now = |epoch: Duration| epoch.saturating_sub(since_epoch);
    if let Ok(number) = text.parse::<f64>() {
        let seconds = if number > EPOCH_SECONDS_MAX { number / 1e3 } else { number };
        let time = Duration::try_from_secs_f64(seconds).ok()?;
        return Some(if seconds > WAIT_SECONDS_MAX { from_now(time) } else { time });
    }
    if let Ok(moment) = text.parse::<Moment>() {
        let epoch: Moment = "1970-01-01T00:00:00Z".parse().ok()?;
        return Some(from_now(Duration::from_millis(moment.millis_since(epoch))));
    }
    parse_go_duration(text)
}

/// `1h2m3.5s`, `120ms`.
fn parse_go_duration(text: &str) -> Option<Duration> {
    let (mut rest, mut total) = (text, 0.0);
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, after) = rest.split_at(digits);
        let (unit, seconds) = [("ms", 1e-3), ("h", 3_600.0), ("m", 60.0), ("s", 1.0)]
            .into_iter()
            .find(|(unit, _)| after.starts_with(unit))?;
        total += number.parse::<f64>().ok()? * seconds;
        rest = after.strip_prefix(unit)?;
    }
    Duration::try_from_secs_f64(total).ok().filter(|_| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use reqwest::header::{HeaderName, HeaderValue};

    use super::*;

    /// 2026-11-18T08:00:00Z
    fn sample_now() -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_794_988_800)
    }

    fn headers_of(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let pair = |(name, value): &(&'static str, &str)| {
            (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())
        };
        pairs.iter().map(pair).collect()
    }

    #[test]
    fn a_reset_is_read_in_every_notation() {
        let check = |text: &str, expected_ms: Option<u64>| {
            let found = parse_reset(text, sample_now());
            assert_eq!(found, expected_ms.map(Duration::from_millis), "{text}");
        };
        check("1s", Some(1_000));
        check("6m0s", Some(360_000));
        check("120ms", Some(120));
        check("1h2m3.5s", Some(3_723_500));
        check("7", Some(7_000));
        check("0.25", Some(250));
        check("1794988812", Some(12_000));
        check("1794988812500", Some(12_500));
        check("2026-11-18T08:00:30Z", Some(30_000));
        check("2026-11-18T07:00:00Z", Some(0));
        check("soon", None);
        check("", None);
        check("5x", None);
        check("-3", None);
    }

    #[test]
    fn only_a_used_up_limit_is_waited_for_and_the_longest_counts() {
        let check = |pairs: &[(&'static str, &str)], expected: Option<u64>| {
            let found = parse_exhausted(&headers_of(pairs), sample_now());
            assert_eq!(found, expected.map(Duration::from_secs), "{pairs:?}");
        };
        check(
            &[("x-ratelimit-remaining-requests", "4"), ("x-ratelimit-reset-requests", "9s")],
            None,
        );
        check(
            &[("x-ratelimit-remaining-requests", "0"), ("x-ratelimit-reset-requests", "9s")],
            Some(9),
        );
        check(
            &[
                ("anthropic-ratelimit-requests-remaining", "0"),
                ("anthropic-ratelimit-requests-reset", "2026-11-18T08:00:05Z"),
                ("anthropic-ratelimit-output-tokens-remaining", "0"),
                ("anthropic-ratelimit-output-tokens-reset", "2026-11-18T08:00:20Z"),
            ],
            Some(20),
        );
        check(&[("x-ratelimit-remaining-tokens", "0")], None);
    }

    #[test]
    fn a_refusal_names_its_wait_in_headers_or_body() {
        let body = r#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure"},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"33s"}]}}"#;
        let named = |pairs: &[(&'static str, &str)], body: &str| {
            parse_wait(&headers_of(pairs), body, sample_now()).map(|wait| wait.as_secs())
        };
        assert_eq!(named(&[("retry-after", "3")], body), Some(3));
        assert_eq!(named(&[], body), Some(33));
        assert_eq!(named(&[], "{}"), None);
    }
}
