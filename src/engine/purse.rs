//! The budget: the worst cost of a call is set aside before it is sent, so that
//! calls in flight together cannot overshoot what each alone would have kept to.

use std::sync::{Mutex, PoisonError};

use crate::domain::ask::{Cost, Messages, Reservation, Usage};
use crate::domain::intervention::{Restatement, restatements};
use crate::domain::plan::{Caps, Price, Seat};
use crate::domain::transcript::{CallOutcome, Shortage, Transcript};

/// A token is rarely shorter than three bytes: an estimate that errs on the dear side.
const BYTES_PER_TOKEN: u64 = 3;

/// What a request carries besides our messages: roles, templates, the schema.
const TOKENS_AROUND: u64 = 1_500;

/// What may be spent, what was, and what is set aside.
#[derive(Debug)]
pub struct Purse {
    caps: Caps,
    spent: Mutex<Spent>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Spent {
    usd_micros: u64,
    tokens: u64,
    calls: u32,
}

impl Purse {
    pub fn new(caps: Caps) -> Self {
        Self { caps, spent: Mutex::default() }
    }

    /// What an earlier part of the run spent counts; so does, at its worst, what was lost in flight.
    pub(super) fn after(caps: Caps, transcript: &Transcript) -> Self {
        let purse = Self::new(caps);
        for call in transcript.calls() {
            let reserved = call.sending.reserved;
            let actual = match &call.outcome {
                CallOutcome::Replied(reply, _) => actual(reserved, reply.usage, reply.cost),
                CallOutcome::Failed(failure, _) if failure.error_type.is_unbilled() => {
                    Reservation::default()
                }
                CallOutcome::InFlight | CallOutcome::Lost | CallOutcome::Failed(..) => reserved,
            };
            purse.with(|spent| spent.call(actual));
        }
        restatements(&transcript.interventions).for_each(|restated| purse.pay_for(restated));
        purse
    }

    /// What a restatement took counts like a call, though somebody else made it.
    pub(super) fn pay_for(&self, restated: &Restatement) {
        let Restatement { reply, .. } = restated;
        let actual = actual(Reservation::default(), reply.usage, reply.cost);
        self.with(|spent| spent.call(actual));
    }

    /// Sets the worst cost of a call aside, or says what there is too little of.
    pub(super) fn reserve(&self, worst: Reservation) -> Result<(), Shortage> {
        self.with(|spent| {
            let usd = spent.usd_micros.saturating_add(worst.usd_micros.unwrap_or(0));
            if usd > self.caps.usd_micros {
                return Err(Shortage::Money);
            }
            if spent.tokens.saturating_add(worst.tokens) > self.caps.tokens {
                return Err(Shortage::Tokens);
            }
            if spent.calls >= self.caps.calls {
                return Err(Shortage::Calls);
            }
            spent.call(worst);
            Ok(())
        })
    }

    /// Puts what the call really took in the place of what was set aside.
    pub(super) fn settle(&self, reserved: Reservation, actual: Reservation) {
        self.with(|spent| {
            spent.take(reserved);
            spent.add(actual);
        });
    }

    /// A call that was never sent gives everything back.
    pub(super) fn give_back(&self, reserved: Reservation) {
        self.with(|spent| {
            spent.take(reserved);
            spent.calls = spent.calls.saturating_sub(1);
        });
    }

    fn with<T>(&self, work: impl FnOnce(&mut Spent) -> T) -> T {
        work(&mut self.spent.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Spent {
    fn call(&mut self, cost: Reservation) {
        self.calls = self.calls.saturating_add(1);
        self.add(cost);
    }

    fn add(&mut self, cost: Reservation) {
        self.usd_micros = self.usd_micros.saturating_add(cost.usd_micros.unwrap_or(0));
        self.tokens = self.tokens.saturating_add(cost.tokens);
    }

    fn take(&mut self, cost: Reservation) {
        self.usd_micros = self.usd_micros.saturating_sub(cost.usd_micros.unwrap_or(0));
        self.tokens = self.tokens.saturating_sub(cost.tokens);
    }
}

/// The most a call can cost: what goes in, estimated, and as much as may come out.
pub(super) fn worst(seat: &Seat, messages: &Messages) -> Reservation {
    worst_of(seat, messages.bytes())
}

/// The same, for messages that are not written yet.
pub fn worst_of(seat: &Seat, bytes: usize) -> Reservation {
    let input = bytes as u64 / BYTES_PER_TOKEN + TOKENS_AROUND;
    let output = u64::from(seat.output_tokens_max);
    let usage = Usage { input_tokens: input, output_tokens: output };
    Reservation {
        usd_micros: seat.price.as_ref().map(|price| price_of(price, usage)),
        tokens: usage.total(),
    }
}

/// What a call really took; where the provider does not say, what was set aside.
pub(super) fn actual(reserved: Reservation, usage: Option<Usage>, cost: Cost) -> Reservation {
    Reservation {
        usd_micros: cost.usd_micros.or(reserved.usd_micros),
        tokens: usage.map_or(reserved.tokens, Usage::total),
    }
}

/// Dollars for a million tokens are millionths of a dollar for one.
pub(super) fn price_of(price: &Price, usage: Usage) -> u64 {
    let input = usage.input_tokens as f64 * price.input_per_mtok;
    let output = usage.output_tokens as f64 * price.output_per_mtok;
    (input + output).ceil() as u64
}

#[cfg(test)]
#[path = "purse_tests.rs"]
mod tests;
