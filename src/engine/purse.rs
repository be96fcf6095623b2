//! The budget: the worst cost of a call is set aside before it is sent, so that
//! calls in flight together cannot overshoot what each alone would have kept to.
//!
//! A call that does not fit while others are in flight waits for what they give back. Calls
//! wait in a queue: councils of a batch in the order of their questions, the calls of a
//! council in the order in which they came. **Invariant:** while a call waits, another is in
//! flight; when the last one is settled, the first of the queue is served or refused.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::oneshot;

use super::call_hold::{Hold, QueuePlace};
use crate::domain::ask::{Cost, Messages, Reservation, Usage};
use crate::domain::intervention::{Restatement, restatements};
use crate::domain::plan::{Caps, Price, Seat};
use crate::domain::transcript::{CallOutcome, Shortage, Transcript};

/// A token is rarely shorter than three bytes: an estimate that errs on the dear side.
const BYTES_PER_TOKEN: u64 = 3;

/// What a request carries besides our messages: roles, templates, the schema.
const TOKENS_AROUND: u64 = 1_500;

/// How much models usually write in a reply.
const USUAL_OUTPUT_TOKENS: u32 = 1_500;

/// What may be spent, what was, and what is set aside.
#[derive(Debug)]
pub struct Purse {
    caps: Caps,
    /// What it says is short when its money is.
    money: Shortage,
    account: Mutex<Account>,
}

#[derive(Debug, Default)]
struct Account {
    /// What is settled, and what is set aside.
    spent: Spent,
    /// Of that, what is set aside for calls that are not settled yet.
    in_flight: Spent,
    /// What is settled of each council of a batch, by the place of its question.
    settled: BTreeMap<usize, u64>,
    waiting: BTreeMap<Place, Waiting>,
    next_ticket: u64,
}

/// A place in the queue: the council's first, then the call's.
pub(super) type Place = (usize, u64);

#[derive(Debug)]
struct Waiting {
    worst: Reservation,
    answer: oneshot::Sender<Result<(), Shortage>>,
}

/// Why nothing was set aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NotReserved {
    Refused(Shortage),
    /// Calls that are in flight may give enough back.
    MustWait,
}

#[derive(Debug, Clone, Copy, Default)]
struct Spent {
    usd_micros: u64,
    tokens: u64,
    calls: u32,
}

impl Purse {
    pub fn new(caps: Caps) -> Self {
        Self { caps, money: Shortage::Money, account: Mutex::default() }
    }

    /// What all councils of a batch may spend together.
    pub fn of_batch(usd_micros: u64) -> Self {
        let caps = Caps { usd_micros, tokens: u64::MAX, calls: u32::MAX, wall_ms: u64::MAX };
        Self { money: Shortage::Batch, ..Self::new(caps) }
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
            purse.with(|account| account.spent.call(actual));
        }
        restatements(&transcript.interventions).for_each(|restated| purse.pay_for(0, restated));
        purse
    }

    /// What a restatement took counts like a call of that council, though another process made it.
    pub(super) fn pay_for(&self, council: usize, restated: &Restatement) {
        let Restatement { reply, .. } = restated;
        let actual = actual(Reservation::default(), reply.usage, reply.cost);
        self.with(|account| {
            account.spent.call(actual);
            account.note_settled(council, actual);
        });
    }

    /// Sets the worst cost of a call aside, or says what there is too little of. It passes by
    /// those who wait.
    pub(super) fn reserve(&self, worst: Reservation) -> Result<(), Shortage> {
        self.with(|account| {
            self.covers(account, worst)?;
            account.set_aside(worst);
            Ok(())
        })
    }

    /// Sets the worst cost of a call aside, unless it does not fit or others waited before it.
    pub(super) fn hold(
        self: &Arc<Self>,
        council: usize,
        worst: Reservation,
    ) -> Result<Hold, NotReserved> {
        self.with(|account| {
            let is_served = account.waiting.keys().next().is_none_or(|first| first.0 > council);
            match self.covers(account, worst) {
                Ok(()) if is_served => account.set_aside(worst),
                Err(shortage) if account.is_final(shortage) => {
                    return Err(NotReserved::Refused(shortage));
                }
                Ok(()) | Err(_) => return Err(NotReserved::MustWait),
            }
            Ok(Hold::new(Arc::clone(self), council, worst))
        })
    }

    /// The same, after what calls in flight give back.
    pub(super) async fn hold_or_wait(
        self: &Arc<Self>,
        council: usize,
        worst: Reservation,
    ) -> Result<Hold, Shortage> {
        match self.hold(council, worst) {
            Ok(hold) => Ok(hold),
            Err(NotReserved::Refused(shortage)) => Err(shortage),
            Err(NotReserved::MustWait) => self.queue(council, worst).served().await,
        }
    }

    fn queue(self: &Arc<Self>, council: usize, worst: Reservation) -> QueuePlace {
        let (answer, answered) = oneshot::channel();
        self.with(|account| {
            let place = (council, account.next_ticket);
            account.next_ticket += 1;
            account.waiting.insert(place, Waiting { worst, answer });
            // The last call may have been settled since this one did not fit.
            self.serve(account);
            QueuePlace::new(Arc::clone(self), place, worst, answered)
        })
    }

    /// Puts what the call really took in the place of what was set aside.
    pub(super) fn settle(&self, council: usize, reserved: Reservation, actual: Reservation) {
        self.with(|account| {
            account.in_flight.end_call(reserved);
            account.spent.take(reserved);
            account.spent.add(actual);
            account.note_settled(council, actual);
            self.serve(account);
        });
    }

    /// A call turns out to take more than was set aside for it.
    pub(super) fn raise(&self, reserved: Reservation, at_most: Reservation) {
        self.with(|account| {
            for spent in [&mut account.spent, &mut account.in_flight] {
                spent.take(reserved);
                spent.add(at_most);
            }
        });
    }

    /// A call that was never sent gives everything back.
    pub(super) fn give_back(&self, reserved: Reservation) {
        self.with(|account| {
            account.in_flight.end_call(reserved);
            account.spent.end_call(reserved);
            self.serve(account);
        });
    }

    /// Leaves the queue. What was set aside by then, without a call that takes it, is free.
    pub(super) fn leave_queue(
        &self,
        place: Place,
        worst: Reservation,
        answered: &mut oneshot::Receiver<Result<(), Shortage>>,
    ) {
        self.with(|account| {
            // Answers are given under this lock: none can come after it was looked for.
            let is_served = matches!(answered.try_recv(), Ok(Ok(())));
            if account.waiting.remove(&place).is_none() && is_served {
                account.in_flight.end_call(worst);
                account.spent.end_call(worst);
            }
            self.serve(account);
        });
    }

    /// What all councils have taken by now, without what is set aside.
    pub(super) fn settled(&self) -> u64 {
        self.with(|account| account.spent.usd_micros.saturating_sub(account.in_flight.usd_micros))
    }

    /// What one council has taken by now.
    pub(super) fn settled_of(&self, council: usize) -> u64 {
        self.with(|account| account.settled.get(&council).copied().unwrap_or(0))
    }

    pub(super) fn cap_usd_micros(&self) -> u64 {
        self.caps.usd_micros
    }

    fn covers(&self, account: &Account, worst: Reservation) -> Result<(), Shortage> {
        let spent = &account.spent;
        let usd = spent.usd_micros.saturating_add(worst.usd_micros.unwrap_or(0));
        if usd > self.caps.usd_micros {
            return Err(self.money);
        }
        if spent.tokens.saturating_add(worst.tokens) > self.caps.tokens {
            return Err(Shortage::Tokens);
        }
        if spent.calls >= self.caps.calls {
            return Err(Shortage::Calls);
        }
        Ok(())
    }

    /// Serves the queue from its head, as far as the money goes. The head is not passed by:
    /// a dear call would wait for ever behind cheap ones.
    fn serve(&self, account: &mut Account) {
        while let Some((place, waiting)) = account.waiting.pop_first() {
            match self.covers(account, waiting.worst) {
                Ok(()) => {
                    account.set_aside(waiting.worst);
                    if waiting.answer.send(Ok(())).is_err() {
                        account.in_flight.end_call(waiting.worst);
                        account.spent.end_call(waiting.worst);
                    }
                }
                Err(shortage) if account.is_final(shortage) => {
                    // A call that is not waited for any more needs no answer.
                    let _ = waiting.answer.send(Err(shortage));
                }
                Err(_) => {
                    account.waiting.insert(place, waiting);
                    return;
                }
            }
        }
    }

    fn with<T>(&self, work: impl FnOnce(&mut Account) -> T) -> T {
        work(&mut self.account.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Account {
    fn set_aside(&mut self, worst: Reservation) {
        self.spent.call(worst);
        self.in_flight.call(worst);
    }

    fn note_settled(&mut self, council: usize, actual: Reservation) {
        let settled = self.settled.entry(council).or_default();
        *settled = settled.saturating_add(actual.usd_micros.unwrap_or(0));
    }

    /// Whether waiting would not help: calls are not given back, and money only by what is in
    /// flight.
    fn is_final(&self, shortage: Shortage) -> bool {
        match shortage {
            // The day's money is counted elsewhere (`daily_budget`).
            Shortage::Calls | Shortage::ServerMoney => true,
            Shortage::Money | Shortage::Tokens | Shortage::Batch => self.in_flight.calls == 0,
        }
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

    fn end_call(&mut self, cost: Reservation) {
        self.calls = self.calls.saturating_sub(1);
        self.take(cost);
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
    cost_of(seat, bytes, seat.output_tokens_max)
}

/// What a call is expected to cost: what goes in, and as much as models usually write.
pub fn usual_of(seat: &Seat, bytes: usize) -> Reservation {
    cost_of(seat, bytes, usual_output_tokens(seat))
}

pub fn usual_output_tokens(seat: &Seat) -> u32 {
    seat.output_tokens_max.min(USUAL_OUTPUT_TOKENS)
}

fn cost_of(seat: &Seat, bytes: usize, output_tokens: u32) -> Reservation {
    let input = bytes as u64 / BYTES_PER_TOKEN + TOKENS_AROUND;
    let usage = Usage { input_tokens: input, output_tokens: u64::from(output_tokens) };
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
