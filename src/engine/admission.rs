//! Which councils of a batch may begin.
//!
//! A council begins only when the budget covers all that it is expected to take, besides what the
//! councils that have begun are still expected to take. So those finish, and the money is not
//! spread over many that do not. The budget itself is kept by [`Purse`], call by call: an
//! expectation that is too low makes a council stop early, and never overspends.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::purse::Purse;

/// How much more than expected councils may take that run together before any is done. They
/// come to their last calls at the same time, and would all miss the money for them.
const UNLEARNED_FACTOR: f64 = 2.0;

/// With fewer councils done than this, how much they differ is not known.
const RATIOS_MIN: usize = 3;

/// Some councils are asked again or revise their conclusion, and some are not.
const UNLEARNED_SPREAD: f64 = 0.25;

/// Councils that took the same may differ by this all the same.
const SPREAD_MIN: f64 = 0.05;

/// Two deviations above the mean: one sum in forty takes more.
const DEVIATIONS: f64 = 2.0;

/// What a council is expected to take, in millionths of a dollar.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ExpectedCost {
    pub council: u64,
    /// What its dearest call is expected to take, and what must be set aside for it.
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

/// Whether a council may begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admitted {
    Now,
    /// When another has ended, it may.
    Later,
    /// Never: so much is left, and so much is needed.
    Never {
        left_usd_micros: u64,
        needed_usd_micros: u64,
    },
}

/// The councils of a batch that have begun, and what is known of their cost.
#[derive(Debug)]
pub struct BatchAdmission {
    purse: Arc<Purse>,
    running: BTreeMap<usize, ExpectedCost>,
    /// Of each council that is done: what it took, over what it was expected to take.
    ratios: Vec<f64>,
    /// A council began although the expectation said that its money does not suffice, and it
    /// did not.
    has_run_out: bool,
}

impl BatchAdmission {
    pub fn new(purse: Arc<Purse>) -> Self {
        Self { purse, running: BTreeMap::new(), ratios: Vec::new(), has_run_out: false }
    }

    /// Asks for the next council in order. One that may begin now has begun.
    pub fn admit(&mut self, council: usize, expected: ExpectedCost) -> Admitted {
        let left = self.purse.cap_usd_micros().saturating_sub(self.purse.settled());
        let needed = self.needed(expected);
        if needed > left && !self.is_worth_a_try(expected, left) {
            if !self.running.is_empty() {
                return Admitted::Later;
            }
            return Admitted::Never { left_usd_micros: left, needed_usd_micros: needed };
        }
        self.running.insert(council, expected);
        Admitted::Now
    }

    /// A council has ended: what it did not take is free, and the next expectations are better.
    pub fn end(&mut self, council: usize, how: CouncilEnd) {
        let Some(expected) = self.running.remove(&council) else { return };
        match how {
            CouncilEnd::Done if expected.council > 0 => {
                let taken = self.purse.settled_of(council);
                self.ratios.push(taken as f64 / expected.council as f64);
            }
            CouncilEnd::OutOfMoney => self.has_run_out = true,
            CouncilEnd::Done | CouncilEnd::Otherwise => {}
        }
    }

    /// Before any council is done, an expectation is a guess that errs on the dear side. A first
    /// one may begin alone if the budget covers each of its calls: it shows what councils take.
    fn is_worth_a_try(&self, expected: ExpectedCost, left: u64) -> bool {
        let is_first = self.running.is_empty() && self.ratios.is_empty() && !self.has_run_out;
        is_first && expected.call_worst <= left
    }

    /// What the councils that have begun and this one will still take: all their calls, for one
    /// call at a time what is set aside and given back, and what they may take beyond that.
    fn needed(&self, expected: ExpectedCost) -> u64 {
        let factor = self.factor();
        let scaled = |usd_micros: u64| (usd_micros as f64 * factor).ceil() as u64;
        let running = self.running.iter().map(|(council, cost)| {
            scaled(cost.council).saturating_sub(self.purse.settled_of(*council))
        });
        let to_come = running.fold(scaled(expected.council), u64::saturating_add);
        let all = || self.running.values().chain([&expected]);
        let surplus = all().map(|cost| cost.call_worst.saturating_sub(scaled(cost.call_usual)));
        let squares: f64 = all().map(|cost| (cost.council as f64 * factor).powi(2)).sum();
        let beyond = (DEVIATIONS * self.spread() * squares.sqrt()).ceil() as u64;
        to_come.saturating_add(surplus.max().unwrap_or(0)).saturating_add(beyond)
    }

    /// What councils take, over what they are expected to: the mean, because it is the sum of
    /// them that must fit. Before any is done, those that run together might all take more.
    fn factor(&self) -> f64 {
        match (self.ratios.is_empty(), self.running.is_empty()) {
            (true, true) => 1.0,
            (true, false) => UNLEARNED_FACTOR,
            (false, _) => self.ratios.iter().sum::<f64>() / self.ratios.len() as f64,
        }
    }

    /// How far one council lies from the mean, as a part of it.
    fn spread(&self) -> f64 {
        let (count, mean) = (self.ratios.len(), self.factor());
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
#[path = "admission_tests.rs"]
mod tests;
