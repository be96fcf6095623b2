//! Reservation for one call: in the budget of the run, of its batch, and of the day.
//!
//! A [`CallHold`] is settled with the actual cost, or released when the call was not sent. If it is
//! dropped while its call is in flight, it counts at its worst cost: the provider may charge it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use plenary_core::model::ask::BudgetReservation;
use plenary_core::model::ids::DialogueId;
use plenary_core::model::intervention::DirectiveRestatement;
use plenary_core::model::run_state::BudgetShortage;
use tokio::sync::oneshot;

use crate::engine::budget::{Budget, NotReserved, QueuePosition};
use crate::engine::daily_budget::DailyBudget;

/// Share of a run in the budget of its batch.
#[derive(Debug, Clone)]
pub struct BatchShare {
    pub budget: Arc<Budget>,
    /// Index of its question: earlier ones are served first.
    pub council: usize,
}

/// Share of a run in the daily budget of servers.
#[derive(Debug, Clone)]
pub(crate) struct DailyShare {
    pub(crate) budget: Arc<DailyBudget>,
    pub(crate) id: DialogueId,
}

/// The budgets that pay for the calls of a run. They also number the calls.
#[derive(Debug)]
pub(crate) struct CallBudgets {
    own: Arc<Budget>,
    batch: Option<BatchShare>,
    daily: Option<DailyShare>,
    next_call: AtomicU32,
}

/// Reservation of one call in every budget.
#[derive(Debug)]
pub(crate) struct CallHold {
    pub(crate) call: u32,
    own: BudgetHold,
    batch: Option<BudgetHold>,
    daily: Option<DailyHold>,
}

impl CallBudgets {
    pub(crate) fn new(own: Budget, batch: Option<BatchShare>) -> Self {
        Self { own: Arc::new(own), batch, daily: None, next_call: AtomicU32::new(0) }
    }

    /// Adds the daily budget of servers, and the number of the next call.
    pub(crate) fn with_daily(self, daily: Option<DailyShare>, next_call: u32) -> Self {
        Self { daily, next_call: AtomicU32::new(next_call), ..self }
    }

    /// Keeps an amount of the run's own budget free for its last call.
    pub(crate) fn set_aside(&self, kept: Option<BudgetReservation>) {
        self.own.set_aside(kept);
    }

    /// Reserves the worst cost of a call in every budget, or in none: if one does not cover it, the
    /// holds of the others are dropped and so released.
    pub(crate) fn hold(&self, worst: BudgetReservation) -> Result<CallHold, NotReserved> {
        let own = self.own.reserve_hold(0, worst)?;
        let batch =
            self.batch.as_ref().map(|share| share.budget.reserve_hold(share.council, worst));
        let mut hold = self.number_call(own, batch.transpose()?);
        if let Some(share) = &self.daily {
            share.budget.reserve(&share.id, hold.call, worst)?;
            hold.daily = Some(DailyHold::new(share, hold.call));
        }
        Ok(hold)
    }

    /// Like [`Self::hold`], but waits. The budgets with more waiting calls come last: a call that
    /// has the reservation of the day waits for nothing else.
    pub(crate) async fn hold_or_wait(
        &self,
        worst: BudgetReservation,
    ) -> Result<CallHold, BudgetShortage> {
        let own = self.own.hold_or_wait(0, worst).await?;
        let batch = match &self.batch {
            Some(share) => Some(share.budget.hold_or_wait(share.council, worst).await?),
            None => None,
        };
        let mut hold = self.number_call(own, batch);
        if let Some(share) = &self.daily {
            share.budget.reserve_or_wait(&share.id, hold.call, worst).await?;
            hold.daily = Some(DailyHold::new(share, hold.call));
        }
        Ok(hold)
    }

    fn number_call(&self, own: BudgetHold, batch: Option<BudgetHold>) -> CallHold {
        let call = self.next_call.fetch_add(1, Ordering::Relaxed);
        CallHold { call, own, batch, daily: None }
    }

    /// Charges what another process spent for the run.
    pub(crate) fn charge(&self, restated: &DirectiveRestatement) {
        self.own.charge(0, restated);
        if let Some(share) = &self.batch {
            share.budget.charge(share.council, restated);
        }
    }
}

impl CallHold {
    /// The call is sent: from here on the provider may charge for it.
    pub(crate) fn mark_sent(&mut self) {
        self.for_each_hold(|hold| hold.is_sent = true);
        self.daily.iter_mut().for_each(|daily| daily.is_final = true);
    }

    /// Raises the reservation of a call that costs more than expected.
    pub(crate) fn raise(&mut self, at_most: BudgetReservation) {
        self.for_each_hold(|hold| {
            hold.budget.raise_reservation(hold.amount, at_most);
            hold.amount = at_most;
        });
        self.daily.iter_mut().for_each(|daily| daily.settle(at_most));
    }

    /// Replaces the reservation by the actual cost.
    pub(crate) fn settle(mut self, actual: BudgetReservation) {
        self.for_each_hold(|hold| hold.settle(actual));
        self.daily.iter_mut().for_each(|daily| daily.settle(actual));
    }

    fn for_each_hold(&mut self, work: impl Fn(&mut BudgetHold)) {
        work(&mut self.own);
        self.batch.iter_mut().for_each(work);
    }
}

/// Reservation of one call in the daily budget.
#[derive(Debug)]
struct DailyHold {
    share: DailyShare,
    call: u32,
    /// The call was sent: its cost stays counted.
    is_final: bool,
}

impl DailyHold {
    fn new(share: &DailyShare, call: u32) -> Self {
        Self { share: share.clone(), call, is_final: false }
    }

    fn settle(&mut self, actual: BudgetReservation) {
        self.is_final = true;
        self.share.budget.settle(&self.share.id, self.call, actual);
    }
}

impl Drop for DailyHold {
    fn drop(&mut self) {
        if !self.is_final {
            self.share.budget.release_call(&self.share.id, self.call);
        }
        self.share.budget.finish_call();
    }
}

/// Reservation of one call in one budget.
#[derive(Debug)]
pub(crate) struct BudgetHold {
    budget: Arc<Budget>,
    council: usize,
    amount: BudgetReservation,
    is_sent: bool,
    is_settled: bool,
}

impl BudgetHold {
    pub(crate) fn new(budget: Arc<Budget>, council: usize, amount: BudgetReservation) -> Self {
        Self { budget, council, amount, is_sent: false, is_settled: false }
    }

    fn settle(&mut self, actual: BudgetReservation) {
        self.is_settled = true;
        self.budget.settle_call(self.council, self.amount, actual);
    }
}

impl Drop for BudgetHold {
    fn drop(&mut self) {
        match (self.is_settled, self.is_sent) {
            (true, _) => {}
            (false, true) => self.budget.settle_call(self.council, self.amount, self.amount),
            (false, false) => self.budget.release(self.amount),
        }
    }
}

/// A waiting call in the queue of a budget. Dropping it leaves the queue.
#[derive(Debug)]
pub(crate) struct QueueTicket {
    budget: Arc<Budget>,
    place: QueuePosition,
    worst: BudgetReservation,
    answered: oneshot::Receiver<Result<(), BudgetShortage>>,
    is_over: bool,
}

impl QueueTicket {
    pub(crate) fn new(
        budget: Arc<Budget>,
        place: QueuePosition,
        worst: BudgetReservation,
        answered: oneshot::Receiver<Result<(), BudgetShortage>>,
    ) -> Self {
        Self { budget, place, worst, answered, is_over: false }
    }

    /// Waits until the reservation is made or refused.
    pub(crate) async fn wait_served(mut self) -> Result<BudgetHold, BudgetShortage> {
        let answer = (&mut self.answered).await;
        self.is_over = true;
        // The queue always answers before it drops a sender.
        let answer = answer.unwrap_or(Err(BudgetShortage::Money));
        answer.map(|()| BudgetHold::new(Arc::clone(&self.budget), self.place.0, self.worst))
    }
}

impl Drop for QueueTicket {
    fn drop(&mut self) {
        if !self.is_over {
            self.budget.leave_queue(self.place, self.worst, &mut self.answered);
        }
    }
}

#[cfg(test)]
#[path = "call_budget_tests.rs"]
mod tests;
