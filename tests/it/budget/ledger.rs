//! Recomputes the spending of a run from its journal entries alone.

use std::collections::BTreeMap;

use plenary::domain::ask::{Reservation, Sending};
use plenary::domain::change::{Change, Entry};
use plenary::domain::intervention::Intervention;
use plenary::domain::plan::Caps;

/// Spent and reserved amounts, entry by entry.
#[derive(Default)]
struct Ledger {
    calls: u32,
    /// For each call the reservation, and the actual cost once known.
    known: BTreeMap<u32, (Reservation, Option<Reservation>)>,
    /// Spending when the current asks were prepared; no call was in flight then.
    before: (u64, u64),
}

impl Ledger {
    fn take_in(&mut self, change: &Change, caps: Caps, whose: &str) {
        if let Change::AskPrepared { .. } = change {
            self.before = self.total(|_, actual| actual);
        }
        if let Change::CallSent(sending) = change {
            self.send(sending, caps, whose);
        }
        if let Change::ReplyKept { call, reply } = change {
            let known = self.known.get_mut(call).unwrap();
            known.1 = Some(Reservation {
                usd_micros: reply.cost.usd_micros.or(known.0.usd_micros),
                tokens: reply.usage.unwrap().total(),
            });
        }
        if let Change::Intervened { intervention, .. } = change {
            self.restated(intervention);
        }
        if let Change::CallFailed { call, failure, .. } = change {
            let known = self.known.get_mut(call).unwrap();
            let unbilled = failure.error_type.is_unbilled();
            known.1 = Some(if unbilled { Reservation::default() } else { known.0 });
        }
    }

    /// A restatement is not a call of the run, but the run pays for it.
    fn restated(&mut self, intervention: &Intervention) {
        let reply = &intervention.restatement().unwrap().reply;
        self.calls += 1;
        let (usd_micros, tokens) = (reply.cost.usd_micros, reply.usage.unwrap().total());
        let paid = Reservation { usd_micros, tokens };
        self.known.insert(0, (paid, Some(paid)));
    }

    fn send(&mut self, sending: &Sending, caps: Caps, whose: &str) {
        self.calls += 1;
        self.known.insert(sending.call, (sending.reserved, None));
        assert!(self.calls <= caps.calls, "{whose}: {} calls", self.calls);
        // A bill above its estimate may arrive while this call is in flight.
        let lesser = |reserved: Reservation, actual: Reservation| Reservation {
            usd_micros: reserved.usd_micros.min(actual.usd_micros),
            tokens: reserved.tokens.min(actual.tokens),
        };
        let (usd, tokens) = self.total(lesser);
        assert!(usd <= caps.usd_micros, "{whose}: {usd} of {caps:?}");
        assert!(tokens <= caps.tokens, "{whose}: {tokens} of {caps:?}");
        let usd = self.before.0.saturating_add(sending.reserved.usd_micros.unwrap_or(0));
        let tokens = self.before.1.saturating_add(sending.reserved.tokens);
        let is_seen = usd <= caps.usd_micros && tokens <= caps.tokens;
        assert!(is_seen, "{whose}: what was too much was not seen");
    }

    /// Calls in flight count as reserved; finished calls count as `settled` computes.
    fn total(&self, settled: impl Fn(Reservation, Reservation) -> Reservation) -> (u64, u64) {
        let counted = self.known.values().map(|(reserved, actual)| match actual {
            Some(actual) => settled(*reserved, *actual),
            None => *reserved,
        });
        counted.fold((0, 0), |(usd, tokens), one| {
            (usd + one.usd_micros.unwrap_or(0), tokens + one.tokens)
        })
    }
}

pub fn audited(entries: &[Entry], caps: Caps, whose: &str) -> (u64, u64) {
    let mut ledger = Ledger::default();
    let changes = entries.iter().flat_map(|entry| &entry.changes);
    changes.for_each(|change| ledger.take_in(change, caps, whose));
    ledger.total(|_, actual| actual)
}
