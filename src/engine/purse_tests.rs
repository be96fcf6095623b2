//! What fits is set aside, what does not is not, however many reach in at once.

use std::sync::atomic::{AtomicU64, Ordering};

use super::*;

fn caps(usd_micros: u64, tokens: u64, calls: u32) -> Caps {
    Caps { usd_micros, tokens, calls, wall_ms: 1_000 }
}

fn cost(usd_micros: u64, tokens: u64) -> Reservation {
    Reservation { usd_micros: Some(usd_micros), tokens }
}

#[test]
fn what_does_not_fit_is_refused_by_what_is_short() {
    let check = |limits: Caps, worst: Reservation, expected: Result<(), Shortage>| {
        assert_eq!(Purse::new(limits).reserve(worst), expected, "{limits:?} {worst:?}");
    };
    check(caps(10, 10, 1), cost(10, 10), Ok(()));
    check(caps(9, 10, 1), cost(10, 10), Err(Shortage::Money));
    check(caps(10, 9, 1), cost(10, 10), Err(Shortage::Tokens));
    check(caps(10, 10, 0), cost(0, 0), Err(Shortage::Calls));
    check(caps(0, 10, 1), cost(0, 10), Ok(()));
    check(caps(0, 10, 1), Reservation { usd_micros: None, tokens: 10 }, Ok(()));
    check(caps(u64::MAX - 1, 10, 1), cost(u64::MAX, 10), Err(Shortage::Money));
    check(caps(10, u64::MAX - 1, 1), cost(1, u64::MAX), Err(Shortage::Tokens));
}

#[test]
fn what_was_not_taken_can_be_spent_again() {
    let purse = Purse::new(caps(100, 100, 2));
    purse.reserve(cost(100, 100)).unwrap();
    assert_eq!(purse.reserve(cost(1, 1)), Err(Shortage::Money));
    purse.settle(0, cost(100, 100), cost(30, 40));
    assert_eq!(purse.reserve(cost(71, 1)), Err(Shortage::Money));
    assert_eq!(purse.reserve(cost(1, 61)), Err(Shortage::Tokens));
    purse.reserve(cost(70, 60)).unwrap();
    // The call itself is spent, whatever became of it.
    purse.settle(0, cost(70, 60), cost(0, 0));
    assert_eq!(purse.reserve(cost(0, 0)), Err(Shortage::Calls));
}

#[test]
fn a_call_that_was_not_sent_leaves_no_trace() {
    let purse = Purse::new(caps(100, 100, 1));
    purse.reserve(cost(100, 100)).unwrap();
    purse.give_back(cost(100, 100));
    purse.reserve(cost(100, 100)).unwrap();
}

#[test]
fn what_was_more_than_expected_is_seen_by_the_next() {
    let purse = Purse::new(caps(100, 100, 9));
    purse.reserve(cost(10, 10)).unwrap();
    purse.settle(0, cost(10, 10), cost(250, 10));
    assert_eq!(purse.reserve(cost(0, 1)), Err(Shortage::Money));
}

#[test]
fn those_who_reach_in_together_never_take_too_much() {
    let purse = Purse::new(caps(10_000, 100_000, 100_000));
    let taken = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                while purse.reserve(cost(7, 1)).is_ok() {
                    taken.fetch_add(7, Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(taken.into_inner(), 10_000 / 7 * 7);
}

#[test]
fn the_worst_cost_is_what_goes_in_and_all_that_may_come_out() {
    let price = Price { input_per_mtok: 3.0, output_per_mtok: 15.0, source: String::new() };
    let usage = Usage { input_tokens: 1_000, output_tokens: 2_000 };
    assert_eq!(price_of(&price, usage), 33_000);
    let part = Usage { input_tokens: 1, output_tokens: 0 };
    let cheap = Price { input_per_mtok: 0.1, ..price };
    assert_eq!(price_of(&cheap, part), 1, "a part of a millionth counts as one");
    let reserved = cost(500, 900);
    let unknown = Cost { usd_micros: None, source: crate::domain::ask::CostSource::Unknown };
    assert_eq!(actual(reserved, None, unknown), reserved, "what nobody says is not nothing");
    assert_eq!(actual(reserved, Some(usage), unknown), cost(500, 3_000));
}
