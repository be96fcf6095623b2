//! Decides whether a failed call is repeated and how long to wait first. Pure: the caller supplies
//! the remaining time and the random number.

use std::time::Duration;

use plenary_core::model::ask::CallErrorType;

use crate::providers::transport::CallError;

/// Attempts per transport.
pub const ATTEMPTS_MAX: u8 = 2;

/// Base wait before the second attempt; it doubles with each later one.
const BACKOFF_BASE: Duration = Duration::from_millis(500);

/// Returns the wait before the next attempt, or `None` if a retry cannot help, would exceed
/// [`ATTEMPTS_MAX`], or would end after the ask's timeout. Attempts count from 1.
pub fn retry_delay(
    error: &CallError,
    attempt: u8,
    time_left: Duration,
    dice: u64,
) -> Option<Duration> {
    let may_pass = is_transient(error.error_type) && !error.is_final;
    if attempt == 0 || attempt >= ATTEMPTS_MAX || !may_pass {
        return None;
    }
    let wait = match error.retry_after {
        Some(asked) => add_jitter(asked, time_left, dice),
        None => backoff_delay(attempt, dice),
    };
    (wait < time_left).then_some(wait)
}

/// Adds jitter to the server's wait where time allows, so that seats rejected together do not retry
/// together.
fn add_jitter(asked: Duration, time_left: Duration, dice: u64) -> Duration {
    let later = asked.saturating_add(random_jitter(BACKOFF_BASE / 2, dice));
    if later < time_left { later } else { asked }
}

/// Half of the step is fixed; up to one more step is random.
fn backoff_delay(attempt: u8, dice: u64) -> Duration {
    let doublings = u32::from(attempt.saturating_sub(1));
    let step = BACKOFF_BASE.saturating_mul(2_u32.saturating_pow(doublings));
    step / 2 + random_jitter(step, dice)
}

/// Random duration from zero up to `most`.
fn random_jitter(most: Duration, dice: u64) -> Duration {
    let millis = u64::try_from(most.as_millis()).unwrap_or(u64::MAX).max(1);
    Duration::from_millis(dice % millis)
}

/// Whether the same call may succeed a moment later.
pub fn is_transient(error_type: CallErrorType) -> bool {
    match error_type {
        CallErrorType::Timeout
        | CallErrorType::RateLimit
        | CallErrorType::Network
        | CallErrorType::ServerError
        | CallErrorType::ParseError
        | CallErrorType::Unknown => true,
        CallErrorType::Auth
        | CallErrorType::BadRequest
        | CallErrorType::ContextTooLong
        | CallErrorType::Refused => false,
    }
}

/// Whether another transport to the same model may be tried.
///
/// Connection, login, rate limit, server and parse errors are specific to one transport: an agent
/// program has its own login and quota. A timeout has used up the ask's time. A bad or too long
/// request fails on every transport. A refusal is an answer; asking again elsewhere would
/// circumvent it.
pub fn allows_fallback(error_type: CallErrorType) -> bool {
    match error_type {
        CallErrorType::Network
        | CallErrorType::Auth
        | CallErrorType::RateLimit
        | CallErrorType::ServerError
        | CallErrorType::ParseError
        | CallErrorType::Unknown => true,
        CallErrorType::Timeout
        | CallErrorType::BadRequest
        | CallErrorType::ContextTooLong
        | CallErrorType::Refused => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    fn millis(wait: Option<Duration>) -> Option<u128> {
        wait.map(|wait| wait.as_millis())
    }

    fn error(error_type: CallErrorType, retry_after_ms: Option<u64>) -> CallError {
        let retry_after = retry_after_ms.map(Duration::from_millis);
        CallError { retry_after, ..CallError::new(error_type, "it failed") }
    }

    #[test]
    fn what_may_pass_is_tried_once_more() {
        let tried: Vec<CallErrorType> = CallErrorType::ALL
            .iter()
            .copied()
            .filter(|kind| retry_delay(&error(*kind, None), 1, MINUTE, 0).is_some())
            .collect();
        assert_eq!(
            tried,
            [
                CallErrorType::Timeout,
                CallErrorType::RateLimit,
                CallErrorType::Network,
                CallErrorType::ParseError,
                CallErrorType::ServerError,
                CallErrorType::Unknown
            ]
        );
    }

    #[test]
    fn a_final_error_is_not_tried_again() {
        let spent = CallError { is_final: true, ..error(CallErrorType::RateLimit, Some(1)) };
        assert_eq!(retry_delay(&spent, 1, MINUTE, 0), None);
    }

    #[test]
    fn there_is_no_third_attempt() {
        let network = error(CallErrorType::Network, None);
        let tried = [0, 1, 2, 3].map(|attempt| retry_delay(&network, attempt, MINUTE, 0).is_some());
        assert_eq!(tried, [false, true, false, false]);
    }

    #[test]
    fn waits_are_spread_by_chance() {
        let check = |dice: u64, expected: u128| {
            let wait = retry_delay(&error(CallErrorType::ServerError, None), 1, MINUTE, dice);
            assert_eq!(millis(wait), Some(expected), "dice {dice}");
        };
        check(0, 250);
        check(499, 749);
        check(500, 250);
        check(u64::MAX, 250 + u128::from(u64::MAX % 500));
    }

    #[test]
    fn the_server_is_waited_for_while_there_is_time() {
        let check = |asked: u64, left: u64, dice: u64, expected: Option<u128>| {
            let busy = error(CallErrorType::RateLimit, Some(asked));
            let wait = retry_delay(&busy, 1, Duration::from_millis(left), dice);
            assert_eq!(millis(wait), expected, "asked {asked} of {left}");
        };
        check(1_000, 60_000, 0, Some(1_000));
        check(1_000, 60_000, 100, Some(1_100));
        check(1_000, 1_050, 100, Some(1_000));
        check(1_000, 1_000, 0, None);
        check(3_600_000, 60_000, 0, None);
        check(u64::MAX, 60_000, 7, None);
    }

    #[test]
    fn no_wait_outlasts_the_ask() {
        assert_eq!(retry_delay(&error(CallErrorType::Timeout, None), 1, Duration::ZERO, 0), None);
    }

    #[test]
    fn another_way_is_tried_when_this_one_is_at_fault() {
        let stays: Vec<&str> = CallErrorType::ALL
            .iter()
            .filter(|kind| !allows_fallback(**kind))
            .map(|kind| kind.name())
            .collect();
        assert_eq!(stays, ["timeout", "bad_request", "refused", "context_too_long"]);
    }
}
