//! Tests of reservations, settlements and prices.

use std::sync::atomic::{AtomicU64, Ordering};

use plenary_core::model::ask::CostSource;

use super::*;

fn caps(usd_micros: u64, tokens: u64, calls: u32) -> BudgetCaps {
    BudgetCaps { usd_micros, tokens, calls, wall_ms: 1_000 }
}

fn cost(usd_micros: u64, tokens: u64) -> BudgetReservation {
    BudgetReservation { usd_micros: Some(usd_micros), tokens }
}

#[test]
fn what_does_not_fit_is_refused_by_what_is_short() {
    let check =
        |limits: BudgetCaps, worst: BudgetReservation, expected: Result<(), BudgetShortage>| {
            assert_eq!(Budget::new(limits).reserve(worst), expected, "{limits:?} {worst:?}");
        };
    check(caps(10, 10, 1), cost(10, 10), Ok(()));
    check(caps(9, 10, 1), cost(10, 10), Err(BudgetShortage::Money));
    check(caps(10, 9, 1), cost(10, 10), Err(BudgetShortage::Tokens));
    check(caps(10, 10, 0), cost(0, 0), Err(BudgetShortage::Calls));
    check(caps(0, 10, 1), cost(0, 10), Ok(()));
    check(caps(0, 10, 1), BudgetReservation { usd_micros: None, tokens: 10 }, Ok(()));
    check(caps(u64::MAX - 1, 10, 1), cost(u64::MAX, 10), Err(BudgetShortage::Money));
    check(caps(10, u64::MAX - 1, 1), cost(1, u64::MAX), Err(BudgetShortage::Tokens));
}

#[test]
fn what_was_not_taken_can_be_spent_again() {
    let budget = Budget::new(caps(100, 100, 2));
    budget.reserve(cost(100, 100)).unwrap();
    assert_eq!(budget.reserve(cost(1, 1)), Err(BudgetShortage::Money));
    budget.settle_call(0, cost(100, 100), cost(30, 40));
    assert_eq!(budget.reserve(cost(71, 1)), Err(BudgetShortage::Money));
    assert_eq!(budget.reserve(cost(1, 61)), Err(BudgetShortage::Tokens));
    budget.reserve(cost(70, 60)).unwrap();
    // The call counts even if it cost nothing.
    budget.settle_call(0, cost(70, 60), cost(0, 0));
    assert_eq!(budget.reserve(cost(0, 0)), Err(BudgetShortage::Calls));
}

#[test]
fn a_call_that_was_not_sent_leaves_no_trace() {
    let budget = Budget::new(caps(100, 100, 1));
    budget.reserve(cost(100, 100)).unwrap();
    budget.release(cost(100, 100));
    budget.reserve(cost(100, 100)).unwrap();
}

#[test]
fn what_was_more_than_expected_is_seen_by_the_next() {
    let budget = Budget::new(caps(100, 100, 9));
    budget.reserve(cost(10, 10)).unwrap();
    budget.settle_call(0, cost(10, 10), cost(250, 10));
    assert_eq!(budget.reserve(cost(0, 1)), Err(BudgetShortage::Money));
}

#[test]
fn those_who_reach_in_together_never_take_too_much() {
    let budget = Budget::new(caps(10_000, 100_000, 100_000));
    let taken = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                while budget.reserve(cost(7, 1)).is_ok() {
                    taken.fetch_add(7, Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(taken.into_inner(), 10_000 / 7 * 7);
}

#[test]
fn cached_tokens_have_their_own_price() {
    let price = TokenPrice {
        cached_input_per_mtok: Some(0.3),
        cache_write_per_mtok: Some(3.75),
        ..TokenPrice::new(3.0, 15.0, "")
    };
    let check = |cached_tokens, cache_write_tokens, expected: u64| {
        let usage =
            TokenUsage { cached_tokens, cache_write_tokens, ..TokenUsage::new(10_000, 100) };
        assert_eq!(price_usage(&price, usage), expected, "{usage:?}");
    };
    check(0, 0, 31_500);
    check(10_000, 0, 4_500);
    check(0, 10_000, 39_000);
    check(4_000, 4_000, 1_500 + 6_000 + 1_200 + 15_000);
    // More than there is counts once.
    check(20_000, 20_000, 4_500);
    let usage = TokenUsage { cached_tokens: 500, ..TokenUsage::new(1_000, 0) };
    assert_eq!(price_usage(&TokenPrice::new(3.0, 15.0, ""), usage), 3_000);
}

#[test]
fn the_worst_cost_is_what_goes_in_and_all_that_may_come_out() {
    let price = TokenPrice::new(3.0, 15.0, "");
    let usage = TokenUsage::new(1_000, 2_000);
    assert_eq!(price_usage(&price, usage), 33_000);
    let part = TokenUsage::new(1, 0);
    let cheap = TokenPrice { input_per_mtok: 0.1, ..price };
    assert_eq!(price_usage(&cheap, part), 1, "a part of a millionth counts as one");
    let reserved = cost(500, 900);
    let unknown = CallCost { usd_micros: None, source: CostSource::Unknown };
    assert_eq!(actual_cost(reserved, None, unknown), reserved, "what nobody says is not nothing");
    assert_eq!(actual_cost(reserved, Some(usage), unknown), cost(500, 3_000));
}
