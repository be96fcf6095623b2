//! What is set aside for one call: in the run's budget, in that of its batch, and in what servers
//! may spend in a day.
//!
//! A hold is settled with what the call took, or given back when the call was not sent. One that
//! is dropped while its call is on the way counts at its worst: the provider may charge for it.

use std::sync::Arc;

use tokio::sync::oneshot;

use super::daily_budget::DailyBudget;
use super::purse::{NotReserved, Place, Purse};
use crate::domain::ask::Reservation;
use crate::domain::ids::DialogueId;
use crate::domain::intervention::Restatement;
use crate::domain::transcript::Shortage;

/// A council's part in the budget of its batch.
#[derive(Debug, Clone)]
pub struct BatchShare {
    pub purse: Arc<Purse>,
    /// The place of its question: earlier ones are served first.
    pub council: usize,
}

/// A run's part in what servers may spend in a day.
#[derive(Debug, Clone)]
pub(super) struct DailyShare {
    pub(super) budget: Arc<DailyBudget>,
    pub(super) id: DialogueId,
}

/// All that pays for the calls of a run.
#[derive(Debug)]
pub(super) struct CallBudgets {
    own: Arc<Purse>,
    batch: Option<BatchShare>,
    daily: Option<DailyShare>,
}

/// What is set aside for one call.
#[derive(Debug)]
pub(super) struct CallHold {
    own: Hold,
    batch: Option<Hold>,
    daily: Option<DailyHold>,
}

impl CallBudgets {
    pub(super) fn new(own: Purse, batch: Option<BatchShare>) -> Self {
        Self { own: Arc::new(own), batch, daily: None }
    }

    pub(super) fn with_daily(self, daily: Option<DailyShare>) -> Self {
        Self { daily, ..self }
    }

    /// Sets the worst cost of a call aside in both budgets, or in none.
    pub(super) fn hold(&self, worst: Reservation) -> Result<CallHold, NotReserved> {
        let own = self.own.hold(0, worst)?;
        // Where the batch's budget does not cover it, the own hold is dropped, and so given back.
        let batch = self.batch.as_ref().map(|share| share.purse.hold(share.council, worst));
        Ok(CallHold { own, batch: batch.transpose()?, daily: None })
    }

    /// The same, after what calls in flight give back. The batch's part comes last: what is set
    /// aside there belongs to calls that wait for nothing else.
    pub(super) async fn hold_or_wait(&self, worst: Reservation) -> Result<CallHold, Shortage> {
        let own = self.own.hold_or_wait(0, worst).await?;
        let batch = match &self.batch {
            Some(share) => Some(share.purse.hold_or_wait(share.council, worst).await?),
            None => None,
        };
        Ok(CallHold { own, batch, daily: None })
    }

    /// Adds the day's part to a hold. Where the day's money does not cover it, the hold is dropped,
    /// and so given back.
    pub(super) fn hold_for_today(
        &self,
        hold: CallHold,
        call: u32,
        worst: Reservation,
    ) -> Result<CallHold, NotReserved> {
        let Some(share) = &self.daily else { return Ok(hold) };
        share.budget.reserve(&share.id, call, worst)?;
        Ok(hold.with_daily(share, call))
    }

    /// The same, after what calls in flight give back. The day's part is the last one: a call that
    /// has it waits for nothing else.
    pub(super) async fn hold_for_today_or_wait(
        &self,
        hold: CallHold,
        call: u32,
        worst: Reservation,
    ) -> Result<CallHold, Shortage> {
        let Some(share) = &self.daily else { return Ok(hold) };
        share.budget.reserve_or_wait(&share.id, call, worst).await?;
        Ok(hold.with_daily(share, call))
    }

    /// What another process spent in the name of the run.
    pub(super) fn pay_for(&self, restated: &Restatement) {
        self.own.pay_for(0, restated);
        if let Some(share) = &self.batch {
            share.purse.pay_for(share.council, restated);
        }
    }
}

impl CallHold {
    fn with_daily(self, share: &DailyShare, call: u32) -> Self {
        Self { daily: Some(DailyHold { share: share.clone(), call, is_final: false }), ..self }
    }

    /// From here on the call may be charged for.
    pub(super) fn mark_sent(&mut self) {
        self.each(|hold| hold.is_sent = true);
        self.daily.iter_mut().for_each(|daily| daily.is_final = true);
    }

    /// The call takes more than was set aside for it, if it does.
    pub(super) fn raise(&mut self, at_most: Reservation) {
        self.each(|hold| {
            hold.purse.raise(hold.amount, at_most);
            hold.amount = at_most;
        });
        self.daily.iter_mut().for_each(|daily| daily.settle(at_most));
    }

    /// Puts what the call took in the place of what was set aside.
    pub(super) fn settle(mut self, actual: Reservation) {
        self.each(|hold| hold.settle(actual));
        self.daily.iter_mut().for_each(|daily| daily.settle(actual));
    }

    fn each(&mut self, work: impl Fn(&mut Hold)) {
        work(&mut self.own);
        self.batch.iter_mut().for_each(work);
    }
}

/// What is set aside for one call of the day's money.
#[derive(Debug)]
struct DailyHold {
    share: DailyShare,
    call: u32,
    /// The call was sent: what is counted for it stays.
    is_final: bool,
}

impl DailyHold {
    fn settle(&mut self, actual: Reservation) {
        self.is_final = true;
        self.share.budget.settle(&self.share.id, self.call, actual);
    }
}

impl Drop for DailyHold {
    fn drop(&mut self) {
        if !self.is_final {
            self.share.budget.give_back(&self.share.id, self.call);
        }
        self.share.budget.release();
    }
}

/// What is set aside for one call in one budget.
#[derive(Debug)]
pub(super) struct Hold {
    purse: Arc<Purse>,
    council: usize,
    amount: Reservation,
    is_sent: bool,
    is_settled: bool,
}

impl Hold {
    pub(super) fn new(purse: Arc<Purse>, council: usize, amount: Reservation) -> Self {
        Self { purse, council, amount, is_sent: false, is_settled: false }
    }

    fn settle(&mut self, actual: Reservation) {
        self.is_settled = true;
        self.purse.settle(self.council, self.amount, actual);
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        match (self.is_settled, self.is_sent) {
            (true, _) => {}
            (false, true) => self.purse.settle(self.council, self.amount, self.amount),
            (false, false) => self.purse.give_back(self.amount),
        }
    }
}

/// A place in the queue of a budget, which is left when nothing waits there any more.
#[derive(Debug)]
pub(super) struct QueuePlace {
    purse: Arc<Purse>,
    place: Place,
    worst: Reservation,
    answered: oneshot::Receiver<Result<(), Shortage>>,
    is_over: bool,
}

impl QueuePlace {
    pub(super) fn new(
        purse: Arc<Purse>,
        place: Place,
        worst: Reservation,
        answered: oneshot::Receiver<Result<(), Shortage>>,
    ) -> Self {
        Self { purse, place, worst, answered, is_over: false }
    }

    /// Waits until the money is there, or cannot come any more.
    pub(super) async fn served(mut self) -> Result<Hold, Shortage> {
        let answer = (&mut self.answered).await;
        self.is_over = true;
        // The queue answers everybody that it lets go of.
        let answer = answer.unwrap_or(Err(Shortage::Money));
        answer.map(|()| Hold::new(Arc::clone(&self.purse), self.place.0, self.worst))
    }
}

impl Drop for QueuePlace {
    fn drop(&mut self) {
        if !self.is_over {
            self.purse.leave_queue(self.place, self.worst, &mut self.answered);
        }
    }
}

#[cfg(test)]
#[path = "call_hold_tests.rs"]
mod tests;
