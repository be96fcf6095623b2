//! Recomputes the spending of a run from its journal entries alone.

use std::collections::BTreeMap;

use plenary_core::model::ask::{BudgetReservation, CallDispatch};
use plenary_core::model::intervention::Intervention;
use plenary_core::model::journal::{JournalEntry, JournalEvent};
use plenary_core::model::plan::BudgetCaps;

/// Spent and reserved amounts, entry by entry.
#[derive(Default)]
struct SpendingLedger {
    calls: u32,
    /// For each call the reservation, and the actual cost once known.
    settled_calls: BTreeMap<u32, (BudgetReservation, Option<BudgetReservation>)>,
    /// Spending when the current asks were prepared; no call was in flight then.
    spent_before: (u64, u64),
}

impl SpendingLedger {
    fn apply_event(&mut self, change: &JournalEvent, caps: BudgetCaps, whose: &str) {
        if let JournalEvent::AskPrepared { .. } = change {
            self.spent_before = self.total_spent(|_, actual| actual);
        }
        if let JournalEvent::CallSent(sending) = change {
            self.check_send(sending, caps, whose);
        }
        if let JournalEvent::ReplyKept { call, reply } = change {
            let known = self.settled_calls.get_mut(call).unwrap();
            known.1 = Some(BudgetReservation {
                usd_micros: reply.cost.usd_micros.or(known.0.usd_micros),
                tokens: reply.usage.unwrap().total_tokens(),
            });
        }
        if let JournalEvent::Intervened { intervention, .. } = change {
            self.charge_restatement(intervention);
        }
        if let JournalEvent::CallFailed { call, failure, .. } = change {
            let known = self.settled_calls.get_mut(call).unwrap();
            known.1 = Some(failure.counted_cost(known.0));
        }
    }

    /// A restatement is not a call of the run, but the run pays for it.
    fn charge_restatement(&mut self, intervention: &Intervention) {
        let reply = &intervention.restatement().unwrap().reply;
        self.calls += 1;
        let (usd_micros, tokens) = (reply.cost.usd_micros, reply.usage.unwrap().total_tokens());
        let paid = BudgetReservation { usd_micros, tokens };
        self.settled_calls.insert(0, (paid, Some(paid)));
    }

    fn check_send(&mut self, sending: &CallDispatch, caps: BudgetCaps, whose: &str) {
        self.calls += 1;
        self.settled_calls.insert(sending.call, (sending.reserved, None));
        assert!(self.calls <= caps.calls, "{whose}: {} calls", self.calls);
        // A bill above its estimate may arrive while this call is in flight.
        let lesser = |reserved: BudgetReservation, actual: BudgetReservation| BudgetReservation {
            usd_micros: reserved.usd_micros.min(actual.usd_micros),
            tokens: reserved.tokens.min(actual.tokens),
        };
        let (usd, tokens) = self.total_spent(lesser);
        assert!(usd <= caps.usd_micros, "{whose}: {usd} of {caps:?}");
        assert!(tokens <= caps.tokens, "{whose}: {tokens} of {caps:?}");
        let usd = self.spent_before.0.saturating_add(sending.reserved.usd_micros.unwrap_or(0));
        let tokens = self.spent_before.1.saturating_add(sending.reserved.tokens);
        let is_seen = usd <= caps.usd_micros && tokens <= caps.tokens;
        assert!(is_seen, "{whose}: what was too much was not seen");
    }

    /// Calls in flight count as reserved; finished calls count as `settled` computes.
    fn total_spent(
        &self,
        settled: impl Fn(BudgetReservation, BudgetReservation) -> BudgetReservation,
    ) -> (u64, u64) {
        let counted = self.settled_calls.values().map(|(reserved, actual)| match actual {
            Some(actual) => settled(*reserved, *actual),
            None => *reserved,
        });
        counted.fold((0, 0), |(usd, tokens), one| {
            (usd + one.usd_micros.unwrap_or(0), tokens + one.tokens)
        })
    }
}

pub fn audit_spending(entries: &[JournalEntry], caps: BudgetCaps, whose: &str) -> (u64, u64) {
    let mut ledger = SpendingLedger::default();
    let changes = entries.iter().flat_map(|entry| &entry.events);
    changes.for_each(|change| ledger.apply_event(change, caps, whose));
    ledger.total_spent(|_, actual| actual)
}
