//! Daily budget of servers, over all runs of one store.
//!
//! The journal records what each call may cost and did cost, so a restarted server, or a second one
//! over the same store, counts the same calls. A call belongs to the UTC day on which it was sent.
//! Reservations that are not journalled yet are known to this process alone: two servers can exceed
//! the limit by calls that both send at the same moment.

use std::collections::{HashMap, HashSet};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use plenary_core::model::ask::BudgetReservation;
use plenary_core::model::ids::DialogueId;
use plenary_core::model::intervention::Intervention;
use plenary_core::model::journal::JournalEvent;
use plenary_core::model::run_state::BudgetShortage;
use plenary_core::model::time::Day;
use tokio::sync::Notify;

use crate::clock::System;
use crate::engine::budget::{NotReserved, actual_cost};
use crate::store::error::StoreError;
use crate::store::traits::{GlobalEntry, Store};

/// Budget of one day. Without a limit nothing is counted.
#[derive(Debug)]
pub struct DailyBudget {
    store: Arc<dyn Store>,
    ambient: Arc<dyn System>,
    spending: Mutex<DaySpending>,
    /// Signals the end of a call of this process: it may have released money.
    released: Notify,
}

type CallKey = (DialogueId, u32);

#[derive(Debug)]
struct DaySpending {
    limit_micros: Option<u64>,
    day: Day,
    /// Position of the last journal entry that was counted.
    upto: u64,
    /// Calls of this process that are not settled yet.
    in_flight: usize,
    /// Cost of each call: the reservation, until the actual cost is known.
    calls: HashMap<CallKey, BudgetReservation>,
    /// Restatements of directives, which are no calls of a run.
    restatements_micros: u64,
    /// Restated directives that are not confirmed yet: confirming one costs nothing.
    unconfirmed: HashSet<(DialogueId, String)>,
}

impl DailyBudget {
    pub fn new(store: Arc<dyn Store>, ambient: Arc<dyn System>) -> Self {
        let spending = Mutex::new(DaySpending::new(None, ambient.now().utc_day()));
        Self { store, ambient, spending, released: Notify::new() }
    }

    /// Sets the limit, also for running runs; `None` removes it.
    pub fn set_limit(&self, limit_micros: Option<u64>) {
        self.lock().limit_micros = limit_micros;
    }

    /// Reserves the worst cost of a call, or says that the day's money does not cover it.
    /// [`Self::finish_call`] must follow.
    pub(crate) fn reserve(
        &self,
        id: &DialogueId,
        call: u32,
        worst: BudgetReservation,
    ) -> Result<(), NotReserved> {
        let mut spending = self.lock();
        if let Err(shortage) = self.check_limit(&mut spending, worst) {
            return Err(match spending.in_flight {
                0 => NotReserved::Refused(shortage),
                _ => NotReserved::MustWait,
            });
        }
        spending.in_flight += 1;
        if spending.limit_micros.is_some() {
            spending.calls.insert((id.clone(), call), worst);
        }
        Ok(())
    }

    /// Like [`Self::reserve`], but waits for calls of this process in flight. They wait for nothing
    /// of the daily budget themselves, so one of them ends.
    pub(crate) async fn reserve_or_wait(
        &self,
        id: &DialogueId,
        call: u32,
        worst: BudgetReservation,
    ) -> Result<(), BudgetShortage> {
        loop {
            let mut released = pin!(self.released.notified());
            // From here on no notification is missed.
            released.as_mut().enable();
            match self.reserve(id, call, worst) {
                Ok(()) => return Ok(()),
                Err(NotReserved::Refused(shortage)) => return Err(shortage),
                Err(NotReserved::MustWait) => released.await,
            }
        }
    }

    /// Ends a call whose cost is settled or final.
    pub(crate) fn finish_call(&self) {
        let mut spending = self.lock();
        spending.in_flight = spending.in_flight.saturating_sub(1);
        drop(spending);
        self.released.notify_waiters();
    }

    /// Replaces the reservation of a call by its actual cost.
    pub(crate) fn settle(&self, id: &DialogueId, call: u32, actual: BudgetReservation) {
        if let Some(cost) = self.lock().calls.get_mut(&(id.clone(), call)) {
            *cost = actual;
        }
    }

    /// Releases the reservation of a call that was never sent.
    pub(crate) fn release_call(&self, id: &DialogueId, call: u32) {
        self.lock().calls.remove(&(id.clone(), call));
    }

    /// Reserves the worst cost of a restatement. The journal records the cost later, and never if
    /// the reply could not be read.
    pub(crate) fn reserve_restatement(
        &self,
        worst: BudgetReservation,
    ) -> Result<(), BudgetShortage> {
        let mut spending = self.lock();
        self.check_limit(&mut spending, worst)?;
        spending.add_restatement(worst.usd_micros);
        Ok(())
    }

    /// Releases that reservation: the restatement was not billed, or the journal records its cost.
    pub(crate) fn release_restatement(&self, worst: BudgetReservation) {
        let mut spending = self.lock();
        spending.restatements_micros =
            spending.restatements_micros.saturating_sub(worst.usd_micros.unwrap_or(0));
    }

    /// Checks that the day's money covers a call. A store that cannot be read covers nothing.
    fn check_limit(
        &self,
        spending: &mut DaySpending,
        worst: BudgetReservation,
    ) -> Result<(), BudgetShortage> {
        let Some(limit) = spending.limit_micros else { return Ok(()) };
        self.count_new_entries(spending).map_err(|_| BudgetShortage::ServerMoney)?;
        let total = spending.total_micros().saturating_add(worst.usd_micros.unwrap_or(0));
        if total > limit { Err(BudgetShortage::ServerMoney) } else { Ok(()) }
    }

    /// Counts new journal entries, or all of a new day.
    fn count_new_entries(&self, spending: &mut DaySpending) -> Result<(), StoreError> {
        let today = self.ambient.now().utc_day();
        if spending.day != today {
            let in_flight = spending.in_flight;
            *spending = DaySpending { in_flight, ..DaySpending::new(spending.limit_micros, today) };
        }
        for entry in self.store.load_cost_entries(spending.upto, today.start_moment())? {
            spending.count_entry(entry);
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, DaySpending> {
        self.spending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl DaySpending {
    fn new(limit_micros: Option<u64>, day: Day) -> Self {
        Self {
            limit_micros,
            day,
            upto: 0,
            in_flight: 0,
            calls: HashMap::new(),
            restatements_micros: 0,
            unconfirmed: HashSet::new(),
        }
    }

    fn total_micros(&self) -> u64 {
        let calls = self.calls.values().map(|cost| cost.usd_micros.unwrap_or(0));
        calls.fold(self.restatements_micros, u64::saturating_add)
    }

    fn add_restatement(&mut self, usd_micros: Option<u64>) {
        self.restatements_micros = self.restatements_micros.saturating_add(usd_micros.unwrap_or(0));
    }

    /// Counts an entry. Entries of this process repeat what is known already.
    #[expect(clippy::wildcard_enum_match_arm, reason = "no other change costs anything")]
    fn count_entry(&mut self, entry: GlobalEntry) {
        let GlobalEntry { global_seq: place, dialogue_id, changes } = entry;
        self.upto = place;
        for change in changes {
            match change {
                JournalEvent::CallSent(sending) => {
                    self.calls
                        .entry((dialogue_id.clone(), sending.call))
                        .or_insert(sending.reserved);
                }
                JournalEvent::ReplyKept { call, reply } => {
                    if let Some(cost) = self.calls.get_mut(&(dialogue_id.clone(), call)) {
                        *cost = actual_cost(*cost, reply.usage, reply.cost);
                    }
                }
                JournalEvent::CallFailed { call, failure, .. } => {
                    if let Some(cost) = self.calls.get_mut(&(dialogue_id.clone(), call)) {
                        *cost = failure.counted_cost(*cost);
                    }
                }
                JournalEvent::Intervened { intervention, .. } => {
                    self.count_directive(&dialogue_id, intervention);
                }
                _ => {}
            }
        }
    }

    fn count_directive(&mut self, id: &DialogueId, intervention: Intervention) {
        let Intervention::Directive { text, restatement: Some(restatement), confirmed } =
            intervention
        else {
            return;
        };
        let key = (id.clone(), text);
        if confirmed && self.unconfirmed.remove(&key) {
            return;
        }
        self.add_restatement(restatement.reply.cost.usd_micros);
        if !confirmed {
            self.unconfirmed.insert(key);
        }
    }
}

#[cfg(test)]
#[path = "daily_budget_tests.rs"]
mod tests;
