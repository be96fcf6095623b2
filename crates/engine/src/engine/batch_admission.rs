//! Decides which councils of a batch may start.
//!
//! A council starts only if the budget covers its expected cost and the remaining expected cost of
//! the running councils. So the running ones finish, instead of many that stop half way. [`Budget`]
//! enforces the limit call by call: an expectation that is too low makes a council stop early, but
//! never overspends.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::engine::budget::Budget;

/// Factor for councils that run together before the first one is done: they reach their last calls
/// at the same time and would all run short.
const UNLEARNED_FACTOR: f64 = 2.0;

/// With fewer finished councils than this, their spread is unknown.
const RATIOS_MIN: usize = 3;

/// Assumed spread: some councils retry calls or revise their conclusion, some do not.
const UNLEARNED_SPREAD: f64 = 0.25;

/// Smallest spread to assume, even if all councils so far cost the same.
const SPREAD_MIN: f64 = 0.05;

/// Two deviations above the mean: about one sum in forty costs more.
const DEVIATIONS: f64 = 2.0;

/// Expected cost of a council, in millionths of a dollar.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ExpectedCost {
    pub council: u64,
    /// Expected cost of its most expensive call, and the reservation it needs.
    pub call_usual: u64,
    pub call_worst: u64,
}

/// How a council ended, as far as the budget is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CouncilEnd {
    Done,
    OutOfMoney,
    Otherwise,
}

/// Whether a council may start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdmissionResult {
    Now,
    /// Ask again when another council has ended.
    Later,
    /// Never: the budget does not cover it.
    Never {
        left_usd_micros: u64,
        needed_usd_micros: u64,
    },
}

/// The running councils of a batch, and what is known of their cost.
#[derive(Debug)]
pub struct BatchAdmission {
    budget: Arc<Budget>,
    running: BTreeMap<usize, ExpectedCost>,
    /// Actual over expected cost of each finished council.
    ratios: Vec<f64>,
    /// The first council started although its expected cost was not covered, and ran out of money.
    has_run_out: bool,
}

impl BatchAdmission {
    pub fn new(budget: Arc<Budget>) -> Self {
        Self { budget, running: BTreeMap::new(), ratios: Vec::new(), has_run_out: false }
    }

    /// Asks whether the next council may start, and if so counts it as running.
    pub fn admit_council(&mut self, council: usize, expected: ExpectedCost) -> AdmissionResult {
        let left = self.budget.cap_usd_micros().saturating_sub(self.budget.settled_total());
        let needed = self.money_needed(expected);
        if needed > left && !self.is_worth_a_try(expected, left) {
            if !self.running.is_empty() {
                return AdmissionResult::Later;
            }
            return AdmissionResult::Never { left_usd_micros: left, needed_usd_micros: needed };
        }
        self.running.insert(council, expected);
        AdmissionResult::Now
    }

    /// Records the end of a council: its unused money is free, and later estimates improve.
    pub fn end_council(&mut self, council: usize, how: CouncilEnd) {
        let Some(expected) = self.running.remove(&council) else { return };
        match how {
            CouncilEnd::Done if expected.council > 0 => {
                let taken = self.budget.settled_for(council);
                self.ratios.push(taken as f64 / expected.council as f64);
            }
            CouncilEnd::OutOfMoney => self.has_run_out = true,
            CouncilEnd::Done | CouncilEnd::Otherwise => {}
        }
    }

    /// Before any council is done, the expected cost is a guess on the high side. A first council
    /// may start alone if the budget covers its most expensive call: it shows what councils cost.
    fn is_worth_a_try(&self, expected: ExpectedCost, left: u64) -> bool {
        let is_first = self.running.is_empty() && self.ratios.is_empty() && !self.has_run_out;
        is_first && expected.call_worst <= left
    }

    /// Money that the running councils and this one still need: all their calls, the reservation of
    /// one call beyond its usual cost, and a margin.
    fn money_needed(&self, expected: ExpectedCost) -> u64 {
        let factor = self.cost_factor();
        let scaled = |usd_micros: u64| (usd_micros as f64 * factor).ceil() as u64;
        let running = self.running.iter().map(|(council, cost)| {
            scaled(cost.council).saturating_sub(self.budget.settled_for(*council))
        });
        let to_come = running.fold(scaled(expected.council), u64::saturating_add);
        let all = || self.running.values().chain([&expected]);
        let surplus = all().map(|cost| cost.call_worst.saturating_sub(scaled(cost.call_usual)));
        let squares: f64 = all().map(|cost| (cost.council as f64 * factor).powi(2)).sum();
        let beyond = (DEVIATIONS * self.cost_spread() * squares.sqrt()).ceil() as u64;
        to_come.saturating_add(surplus.max().unwrap_or(0)).saturating_add(beyond)
    }

    /// Mean of actual over expected cost: the mean, because the sum of all must fit. Before any
    /// council is done, councils that run together might all cost more.
    fn cost_factor(&self) -> f64 {
        match (self.ratios.is_empty(), self.running.is_empty()) {
            (true, true) => 1.0,
            (true, false) => UNLEARNED_FACTOR,
            (false, _) => self.ratios.iter().sum::<f64>() / self.ratios.len() as f64,
        }
    }

    /// Relative deviation of one council from the mean.
    fn cost_spread(&self) -> f64 {
        let (count, mean) = (self.ratios.len(), self.cost_factor());
        match count {
            0 => 0.0,
            _ if count < RATIOS_MIN => UNLEARNED_SPREAD,
            _ => {
                let squares: f64 = self.ratios.iter().map(|ratio| (ratio - mean).powi(2)).sum();
                let deviation = (squares / count as f64).sqrt();
                if mean > 0.0 { (deviation / mean).max(SPREAD_MIN) } else { SPREAD_MIN }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use plenary_core::model::ask::BudgetReservation;
    use proptest::prelude::*;

    use super::*;

    fn micros(usd_micros: u64) -> BudgetReservation {
        BudgetReservation { usd_micros: Some(usd_micros), tokens: 0 }
    }

    fn expected(council: u64, call_worst: u64) -> ExpectedCost {
        ExpectedCost { council, call_usual: council / 10, call_worst }
    }

    /// Lets `jobs` councils at once take what `costs` says, in calls of a tenth that may cost
    /// `call_worst`; how many are done, ran out, and never began.
    fn play(cap: u64, jobs: usize, costs: &[u64], cost: ExpectedCost) -> (usize, usize, usize) {
        let budget = Arc::new(Budget::for_batch(cap));
        let mut admission = BatchAdmission::new(Arc::clone(&budget));
        let (mut next, mut running) = (0, Vec::<(usize, u64)>::new());
        let (mut done, mut short, mut refused) = (0, 0, 0);
        loop {
            while running.len() < jobs && next < costs.len() {
                match admission.admit_council(next, cost) {
                    AdmissionResult::Now => running.push((next, 0)),
                    AdmissionResult::Later => break,
                    AdmissionResult::Never { .. } => refused += 1,
                }
                next += 1;
            }
            if running.is_empty() {
                assert_eq!(next, costs.len(), "a council waits for nothing");
                return (done, short, refused);
            }
            // Each takes a tenth in turn: the worst way to share a budget.
            running.retain_mut(|(council, calls)| {
                let Ok(hold) = budget.reserve_hold(*council, micros(cost.call_worst)) else {
                    admission.end_council(*council, CouncilEnd::OutOfMoney);
                    short += 1;
                    return false;
                };
                drop(hold);
                budget.reserve(micros(costs[*council] / 10)).unwrap();
                budget.settle_call(
                    *council,
                    micros(costs[*council] / 10),
                    micros(costs[*council] / 10),
                );
                *calls += 1;
                if *calls == 10 {
                    admission.end_council(*council, CouncilEnd::Done);
                    done += 1;
                }
                *calls < 10
            });
        }
    }

    #[test]
    fn money_for_twenty_ends_about_twenty_however_many_could_begin() {
        for jobs in [1, 8, 60, 200] {
            // As expected, much cheaper than expected, and a little dearer than that.
            for council in [1_000, 10_000, 900] {
                let (done, short, refused) =
                    play(20_000, jobs, &[1_000; 200], expected(council, 1_500));
                assert!(done >= 18, "{jobs} jobs, expected {council}: {done} done, {short} short");
                assert_eq!(done + short + refused, 200);
                assert!(short <= 1, "{jobs} jobs, expected {council}: {short} short");
            }
        }
    }

    #[test]
    fn what_costs_nothing_always_begins() {
        let (done, short, refused) = play(0, 4, &[0; 9], ExpectedCost::default());
        assert_eq!((done, short, refused), (9, 0, 0));
    }

    #[test]
    fn a_first_council_is_tried_alone_and_not_again_when_it_ran_out() {
        let budget = Arc::new(Budget::for_batch(1_000));
        let mut admission = BatchAdmission::new(budget);
        let dear = expected(5_000, 800);
        assert_eq!(admission.admit_council(0, dear), AdmissionResult::Now);
        assert_eq!(admission.admit_council(1, dear), AdmissionResult::Later);
        admission.end_council(0, CouncilEnd::OutOfMoney);
        let never = AdmissionResult::Never { left_usd_micros: 1_000, needed_usd_micros: 5_300 };
        assert_eq!(admission.admit_council(1, dear), never);
        // A cheaper question may still be asked.
        assert_eq!(admission.admit_council(2, expected(500, 500)), AdmissionResult::Now);
    }

    #[test]
    fn not_even_a_first_council_begins_when_one_call_is_too_dear() {
        let mut admission = BatchAdmission::new(Arc::new(Budget::for_batch(1_000)));
        assert!(matches!(
            admission.admit_council(0, expected(5_000, 1_001)),
            AdmissionResult::Never { .. }
        ));
    }

    proptest! {
        #[test]
        fn every_council_ends_or_is_refused(
            cap in 0_u64..50_000,
            jobs in 1_usize..30,
            costs in proptest::collection::vec(0_u64..4_000, 1..60),
            council in 1_u64..5_000,
            call_worst in 500_u64..3_000,
        ) {
            let cost = ExpectedCost { council, call_usual: (council / 10).min(call_worst), call_worst };
            let (done, short, refused) = play(cap, jobs, &costs, cost);
            prop_assert_eq!(done + short + refused, costs.len());
        }
    }
}
