//! Budget of a run or a batch: [`Budget`] reserves the worst cost of a call before it is sent, so
//! calls in flight together never exceed it.
//!
//! A call that does not fit while others are in flight waits for what they release. Waiting calls
//! form a queue: runs of a batch in the order of their questions, calls of a run in the order of
//! arrival. **Invariant:** while a call waits, another is in flight; when the last one is settled,
//! the first of the queue is served or refused.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use plenary_core::model::ask::{AskMessages, BudgetReservation, CallCost, CallOutcome, TokenUsage};
use plenary_core::model::intervention::{DirectiveRestatement, unique_restatements};
use plenary_core::model::plan::{BudgetCaps, Seat, TokenPrice};
use plenary_core::model::run_state::{BudgetShortage, RunState};
use tokio::sync::oneshot;

use crate::engine::call_budget::{BudgetHold, QueueTicket};

/// A token is rarely shorter than three bytes, so this estimate is on the high side.
const BYTES_PER_TOKEN: u64 = 3;

/// Tokens of a request besides our messages: roles, templates, the schema.
const TOKENS_AROUND: u64 = 1_500;

/// The same for the expected cost, which is on neither side.
const USUAL_BYTES_PER_TOKEN: u64 = 4;
const USUAL_TOKENS_AROUND: u64 = 400;

/// Limits, amounts spent, and amounts reserved for calls in flight.
#[derive(Debug)]
pub struct Budget {
    caps: BudgetCaps,
    /// The shortage to report when the money is spent.
    money: BudgetShortage,
    account: Mutex<BudgetAccount>,
}

#[derive(Debug, Default)]
struct BudgetAccount {
    /// Settled and reserved amounts together.
    spent: SpentAmounts,
    /// Of these, the amounts reserved for calls that are not settled.
    in_flight: SpentAmounts,
    /// The amount that stays free for a last call.
    set_aside: Option<BudgetReservation>,
    /// Settled cost of each run of a batch, by the index of its question.
    settled: BTreeMap<usize, u64>,
    waiting: BTreeMap<QueuePosition, WaitingCall>,
    next_ticket: u64,
}

/// Position in the queue: index of the run, then ticket of the call.
pub(crate) type QueuePosition = (usize, u64);

#[derive(Debug)]
struct WaitingCall {
    worst: BudgetReservation,
    answer: oneshot::Sender<Result<(), BudgetShortage>>,
}

/// Why a reservation was not made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotReserved {
    Refused(BudgetShortage),
    /// Calls in flight may release enough.
    MustWait,
}

#[derive(Debug, Clone, Copy, Default)]
struct SpentAmounts {
    usd_micros: u64,
    tokens: u64,
    calls: u32,
}

impl Budget {
    pub fn new(caps: BudgetCaps) -> Self {
        Self { caps, money: BudgetShortage::Money, account: Mutex::default() }
    }

    /// Budget shared by all runs of a batch.
    pub fn for_batch(usd_micros: u64) -> Self {
        let caps = BudgetCaps { usd_micros, tokens: u64::MAX, calls: u32::MAX, wall_ms: u64::MAX };
        Self { money: BudgetShortage::Batch, ..Self::new(caps) }
    }

    /// Budget of a resumed run: earlier calls count, and a call lost in flight counts at its worst
    /// cost.
    pub(crate) fn for_resumed_run(caps: BudgetCaps, state: &RunState) -> Self {
        let budget = Self::new(caps);
        for call in state.all_calls() {
            let reserved = call.dispatch.reserved;
            let actual = match &call.outcome {
                CallOutcome::Replied(reply, _) => actual_cost(reserved, reply.usage, reply.cost),
                CallOutcome::Failed(failure, _) => failure.counted_cost(reserved),
                CallOutcome::InFlight | CallOutcome::Lost => reserved,
            };
            budget.with_account(|account| account.spent.add_call(actual));
        }
        unique_restatements(&state.interventions).for_each(|restated| budget.charge(0, restated));
        budget
    }

    /// Charges a restatement like a call of that run, though another process made it.
    pub(crate) fn charge(&self, council: usize, restated: &DirectiveRestatement) {
        let DirectiveRestatement { reply, .. } = restated;
        let actual = actual_cost(BudgetReservation::default(), reply.usage, reply.cost);
        self.with_account(|account| {
            account.spent.add_call(actual);
            account.add_settled(council, actual);
        });
    }

    /// Keeps an amount free for a last call while other calls are reserved; `None` frees it.
    pub(crate) fn set_aside(&self, kept: Option<BudgetReservation>) {
        self.with_account(|account| account.set_aside = kept);
    }

    /// Reserves the worst cost of a call, ahead of the queue, or returns the shortage.
    pub(crate) fn reserve(&self, worst: BudgetReservation) -> Result<(), BudgetShortage> {
        self.with_account(|account| {
            self.check_limits(account, worst)?;
            account.reserve_call(worst);
            Ok(())
        })
    }

    /// Reserves the worst cost of a call, unless it does not fit or earlier calls wait.
    pub(crate) fn reserve_hold(
        self: &Arc<Self>,
        council: usize,
        worst: BudgetReservation,
    ) -> Result<BudgetHold, NotReserved> {
        self.with_account(|account| {
            let is_served = account.waiting.keys().next().is_none_or(|first| first.0 > council);
            match self.check_limits(account, worst) {
                Ok(()) if is_served => account.reserve_call(worst),
                Err(shortage) if account.is_final(shortage) => {
                    return Err(NotReserved::Refused(shortage));
                }
                Ok(()) | Err(_) => return Err(NotReserved::MustWait),
            }
            Ok(BudgetHold::new(Arc::clone(self), council, worst))
        })
    }

    /// Like [`Self::hold`], but waits for calls in flight to release enough.
    pub(crate) async fn hold_or_wait(
        self: &Arc<Self>,
        council: usize,
        worst: BudgetReservation,
    ) -> Result<BudgetHold, BudgetShortage> {
        match self.reserve_hold(council, worst) {
            Ok(hold) => Ok(hold),
            Err(NotReserved::Refused(shortage)) => Err(shortage),
            Err(NotReserved::MustWait) => self.join_queue(council, worst).wait_served().await,
        }
    }

    fn join_queue(self: &Arc<Self>, council: usize, worst: BudgetReservation) -> QueueTicket {
        let (answer, answered) = oneshot::channel();
        self.with_account(|account| {
            let place = (council, account.next_ticket);
            account.next_ticket += 1;
            account.waiting.insert(place, WaitingCall { worst, answer });
            // The last call in flight may have been settled since the failed reservation.
            self.serve_queue(account);
            QueueTicket::new(Arc::clone(self), place, worst, answered)
        })
    }

    /// Replaces a reservation by the actual cost.
    pub(crate) fn settle_call(
        &self,
        council: usize,
        reserved: BudgetReservation,
        actual: BudgetReservation,
    ) {
        self.with_account(|account| {
            account.in_flight.end_call(reserved);
            account.spent.subtract_cost(reserved);
            account.spent.add_cost(actual);
            account.add_settled(council, actual);
            self.serve_queue(account);
        });
    }

    /// Raises a reservation for a call that costs more than expected.
    pub(crate) fn raise_reservation(
        &self,
        reserved: BudgetReservation,
        at_most: BudgetReservation,
    ) {
        self.with_account(|account| {
            for spent in [&mut account.spent, &mut account.in_flight] {
                spent.subtract_cost(reserved);
                spent.add_cost(at_most);
            }
        });
    }

    /// Releases the reservation of a call that was never sent.
    pub(crate) fn release(&self, reserved: BudgetReservation) {
        self.with_account(|account| {
            account.in_flight.end_call(reserved);
            account.spent.end_call(reserved);
            self.serve_queue(account);
        });
    }

    /// Leaves the queue, and releases a reservation that was made meanwhile.
    pub(crate) fn leave_queue(
        &self,
        place: QueuePosition,
        worst: BudgetReservation,
        answered: &mut oneshot::Receiver<Result<(), BudgetShortage>>,
    ) {
        self.with_account(|account| {
            // Answers are sent under this lock, so none can arrive after this check.
            let is_served = matches!(answered.try_recv(), Ok(Ok(())));
            if account.waiting.remove(&place).is_none() && is_served {
                account.in_flight.end_call(worst);
                account.spent.end_call(worst);
            }
            self.serve_queue(account);
        });
    }

    /// Settled cost of all runs, without reservations.
    pub(crate) fn settled_total(&self) -> u64 {
        self.with_account(|account| {
            account.spent.usd_micros.saturating_sub(account.in_flight.usd_micros)
        })
    }

    /// Settled cost of one run.
    pub(crate) fn settled_for(&self, council: usize) -> u64 {
        self.with_account(|account| account.settled.get(&council).copied().unwrap_or(0))
    }

    pub(crate) fn cap_usd_micros(&self) -> u64 {
        self.caps.usd_micros
    }

    fn check_limits(
        &self,
        account: &BudgetAccount,
        worst: BudgetReservation,
    ) -> Result<(), BudgetShortage> {
        let spent = &account.spent;
        let kept = account.set_aside.unwrap_or_default();
        let kept_calls = u32::from(account.set_aside.is_some());
        let usd = [worst, kept].map(|cost| cost.usd_micros.unwrap_or(0));
        let usd = usd.into_iter().fold(spent.usd_micros, u64::saturating_add);
        if usd > self.caps.usd_micros {
            return Err(self.money);
        }
        let tokens = spent.tokens.saturating_add(worst.tokens).saturating_add(kept.tokens);
        if tokens > self.caps.tokens {
            return Err(BudgetShortage::Tokens);
        }
        if spent.calls.saturating_add(kept_calls) >= self.caps.calls {
            return Err(BudgetShortage::Calls);
        }
        Ok(())
    }

    /// Serves the queue from its head while the money lasts. It never skips the head: an expensive
    /// call would wait for ever behind cheap ones.
    fn serve_queue(&self, account: &mut BudgetAccount) {
        while let Some((place, waiting)) = account.waiting.pop_first() {
            match self.check_limits(account, waiting.worst) {
                Ok(()) => {
                    account.reserve_call(waiting.worst);
                    if waiting.answer.send(Ok(())).is_err() {
                        account.in_flight.end_call(waiting.worst);
                        account.spent.end_call(waiting.worst);
                    }
                }
                Err(shortage) if account.is_final(shortage) => {
                    // The receiver may be gone; then the answer is not needed.
                    let _ = waiting.answer.send(Err(shortage));
                }
                Err(_) => {
                    account.waiting.insert(place, waiting);
                    return;
                }
            }
        }
    }

    fn with_account<T>(&self, work: impl FnOnce(&mut BudgetAccount) -> T) -> T {
        work(&mut self.account.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl BudgetAccount {
    fn reserve_call(&mut self, worst: BudgetReservation) {
        self.spent.add_call(worst);
        self.in_flight.add_call(worst);
    }

    fn add_settled(&mut self, council: usize, actual: BudgetReservation) {
        let settled = self.settled.entry(council).or_default();
        *settled = settled.saturating_add(actual.usd_micros.unwrap_or(0));
    }

    /// Whether waiting is pointless: the count of calls never decreases, and money is released only
    /// by calls in flight.
    fn is_final(&self, shortage: BudgetShortage) -> bool {
        match shortage {
            // `daily_budget` counts the money of the day.
            BudgetShortage::Calls | BudgetShortage::ServerMoney => true,
            BudgetShortage::Money | BudgetShortage::Tokens | BudgetShortage::Batch => {
                self.in_flight.calls == 0
            }
        }
    }
}

impl SpentAmounts {
    fn add_call(&mut self, cost: BudgetReservation) {
        self.calls = self.calls.saturating_add(1);
        self.add_cost(cost);
    }

    fn add_cost(&mut self, cost: BudgetReservation) {
        self.usd_micros = self.usd_micros.saturating_add(cost.usd_micros.unwrap_or(0));
        self.tokens = self.tokens.saturating_add(cost.tokens);
    }

    fn end_call(&mut self, cost: BudgetReservation) {
        self.calls = self.calls.saturating_sub(1);
        self.subtract_cost(cost);
    }

    fn subtract_cost(&mut self, cost: BudgetReservation) {
        self.usd_micros = self.usd_micros.saturating_sub(cost.usd_micros.unwrap_or(0));
        self.tokens = self.tokens.saturating_sub(cost.tokens);
    }
}

/// Worst cost of a call: estimated input and the longest allowed reply.
pub(crate) fn worst_cost(seat: &Seat, messages: &AskMessages) -> BudgetReservation {
    worst_cost_for_bytes(seat, messages.byte_len())
}

/// Worst cost of a call for messages of this size.
pub fn worst_cost_for_bytes(seat: &Seat, bytes: usize) -> BudgetReservation {
    estimate_cost(seat, bytes, seat.output_tokens_max)
}

/// Expected cost of a call for messages of this size, of which the provider has the first
/// `cached_bytes` in its cache, with a reply of usual length.
pub fn usual_cost_for_bytes(
    seat: &Seat,
    bytes: usize,
    cached_bytes: usize,
    output_tokens: u32,
) -> BudgetReservation {
    let input = bytes as u64 / USUAL_BYTES_PER_TOKEN + USUAL_TOKENS_AROUND;
    let cached_tokens = cached_bytes as u64 / USUAL_BYTES_PER_TOKEN;
    let usage = TokenUsage { cached_tokens, ..TokenUsage::new(input, u64::from(output_tokens)) };
    price_tokens(seat, usage)
}

/// Cost of a call whose reply broke off after this many bytes.
pub(crate) fn broken_reply_cost(
    seat: &Seat,
    messages: &AskMessages,
    reply_bytes: usize,
) -> BudgetReservation {
    price_tokens(seat, broken_reply_usage(seat, messages, reply_bytes))
}

/// Tokens of a call whose reply broke off after this many bytes.
pub(crate) fn broken_reply_usage(
    seat: &Seat,
    messages: &AskMessages,
    reply_bytes: usize,
) -> TokenUsage {
    let written = (reply_bytes as u64 / BYTES_PER_TOKEN).min(seat.output_tokens_max.into());
    TokenUsage::new(messages.byte_len() as u64 / BYTES_PER_TOKEN + TOKENS_AROUND, written)
}

fn estimate_cost(seat: &Seat, bytes: usize, output_tokens: u32) -> BudgetReservation {
    let input = bytes as u64 / BYTES_PER_TOKEN + TOKENS_AROUND;
    price_tokens(seat, TokenUsage::new(input, u64::from(output_tokens)))
}

fn price_tokens(seat: &Seat, usage: TokenUsage) -> BudgetReservation {
    BudgetReservation {
        usd_micros: seat.price.as_ref().map(|price| price_usage(price, usage)),
        tokens: usage.total_tokens(),
    }
}

/// Actual cost of a call; the reservation where the provider does not report it.
pub(crate) fn actual_cost(
    reserved: BudgetReservation,
    usage: Option<TokenUsage>,
    cost: CallCost,
) -> BudgetReservation {
    BudgetReservation {
        usd_micros: cost.usd_micros.or(reserved.usd_micros),
        tokens: usage.map_or(reserved.tokens, TokenUsage::total_tokens),
    }
}

/// Dollars per million tokens equal millionths of a dollar per token.
pub(crate) fn price_usage(price: &TokenPrice, usage: TokenUsage) -> u64 {
    let cached = usage.cached_tokens.min(usage.input_tokens);
    let written = usage.cache_write_tokens.min(usage.input_tokens - cached);
    let parts = [
        (usage.input_tokens - cached - written, price.input_per_mtok),
        (cached, price.cached_input_per_mtok.unwrap_or(price.input_per_mtok)),
        (written, price.cache_write_per_mtok.unwrap_or(price.input_per_mtok)),
        (usage.output_tokens, price.output_per_mtok),
    ];
    parts.iter().map(|(tokens, rate)| *tokens as f64 * rate).sum::<f64>().ceil() as u64
}

#[cfg(test)]
#[path = "budget_tests.rs"]
mod tests;
