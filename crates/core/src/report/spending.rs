//! What runs cost, summed by model, provider, day or dialogue: the document of `plenary cost`.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::model::ask::{CallOutcome, ModelReply, TokenUsage};
use crate::model::ids::ExpertSlug;
use crate::model::run_state::RunState;
use crate::model::string_enum::words;
use crate::model::time::Moment;
use crate::report::run_metrics::{all_restatements, cached_share, known_usd_micros, to_dollars};

words! {
    /// How `plenary cost` groups calls.
    pub enum SpendingGroup {
        Model = "model",
        Provider = "provider",
        Day = "day",
        Dialogue = "dialogue",
    }
}

/// Calls of one group.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct SpendingRow {
    pub key: String,
    pub usd: f64,
    pub calls: u64,
    pub tokens_in: u64,
    pub tokens_cached: u64,
    pub tokens_out: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SpendingReport {
    pub total_usd: f64,
    /// Calls whose cost is unknown.
    pub unpriced_calls: u64,
    pub tokens_in: u64,
    pub tokens_out: u64,
    /// Share of the input that providers read from their caches.
    pub cached_share: Option<f64>,
    pub rows: Vec<SpendingRow>,
}

/// Adds up the calls of runs.
#[derive(Debug)]
pub struct SpendingSum {
    group: SpendingGroup,
    /// Calls sent before are left out.
    since: Option<Moment>,
    usd_micros: BTreeMap<String, u64>,
    rows: BTreeMap<String, SpendingRow>,
    unpriced_calls: u64,
}

impl SpendingSum {
    pub fn new(group: SpendingGroup, since: Option<Moment>) -> Self {
        let (usd_micros, rows) = (BTreeMap::new(), BTreeMap::new());
        Self { group, since, usd_micros, rows, unpriced_calls: 0 }
    }

    /// Adds the calls of a run. Calls that were rejected cost nothing, and calls without a result
    /// have an unknown cost.
    pub fn add_run(&mut self, state: &RunState) {
        let since = self.since;
        let is_wanted = |at: Moment| since.is_none_or(|since| at >= since);
        for asked in &state.asks {
            for call in asked.calls.iter().filter(|call| is_wanted(call.sent_at)) {
                let (seat, at) = (&asked.ask.seat, call.sent_at);
                match &call.outcome {
                    CallOutcome::Replied(reply, _) => self.add_reply(state, seat, at, reply),
                    CallOutcome::Failed(failure, _) => {
                        match known_usd_micros(failure, call.dispatch.reserved) {
                            Some(0) => {}
                            usd => {
                                let served = served_model(state, seat);
                                let row = self.add_call(state, seat, served, at, usd);
                                row.add_usage(failure.broken_usage().unwrap_or_default());
                            }
                        }
                    }
                    CallOutcome::Lost if call.dispatch.reserved.usd_micros == Some(0) => {}
                    CallOutcome::Lost => {
                        self.add_call(state, seat, served_model(state, seat), at, None);
                    }
                    CallOutcome::InFlight => {}
                }
            }
        }
        for restated in all_restatements(state).filter(|_| is_wanted(state.opened_at)) {
            self.add_reply(state, &restated.seat, state.opened_at, &restated.reply);
        }
    }

    fn add_reply(&mut self, state: &RunState, seat: &ExpertSlug, at: Moment, reply: &ModelReply) {
        let served = reply.model.as_deref();
        let row = self.add_call(state, seat, served, at, reply.cost.usd_micros);
        row.add_usage(reply.usage.unwrap_or_default());
    }

    fn add_call(
        &mut self,
        state: &RunState,
        seat: &ExpertSlug,
        served: Option<&str>,
        at: Moment,
        usd_micros: Option<u64>,
    ) -> &mut SpendingRow {
        let planned = state.plan.find_seat(seat);
        let key = match self.group {
            SpendingGroup::Model => {
                let asked = planned.map(|seat| seat.model.as_str());
                served.or(asked).unwrap_or(seat.as_str()).to_owned()
            }
            SpendingGroup::Provider => planned.map_or(seat, |seat| &seat.provider).to_string(),
            SpendingGroup::Day => at.utc_day().to_string(),
            SpendingGroup::Dialogue => state.opening.dialogue_id.to_string(),
        };
        self.unpriced_calls += u64::from(usd_micros.is_none());
        let sum = self.usd_micros.entry(key.clone()).or_default();
        *sum = sum.saturating_add(usd_micros.unwrap_or(0));
        let row = self.rows.entry(key.clone()).or_default();
        row.key = key;
        row.calls += 1;
        row
    }

    /// The report: days newest first, other groups by their cost.
    pub fn into_report(self) -> SpendingReport {
        let usd = |key: &str| to_dollars(self.usd_micros.get(key).copied().unwrap_or(0));
        let rows = self.rows.into_values().map(|row| SpendingRow { usd: usd(&row.key), ..row });
        let mut rows: Vec<SpendingRow> = rows.collect();
        match self.group {
            SpendingGroup::Day => rows.reverse(),
            SpendingGroup::Model | SpendingGroup::Provider | SpendingGroup::Dialogue => {
                rows.sort_by(|a, b| b.usd.total_cmp(&a.usd).then_with(|| a.key.cmp(&b.key)));
            }
        }
        let sum = |part: fn(&SpendingRow) -> u64| rows.iter().map(part).sum();
        let (tokens_in, cached): (u64, u64) =
            (sum(|row| row.tokens_in), sum(|row| row.tokens_cached));
        SpendingReport {
            total_usd: to_dollars(self.usd_micros.values().sum()),
            unpriced_calls: self.unpriced_calls,
            tokens_in,
            tokens_out: sum(|row| row.tokens_out),
            cached_share: cached_share(cached, tokens_in),
            rows,
        }
    }
}

impl SpendingRow {
    fn add_usage(&mut self, usage: TokenUsage) {
        self.tokens_in = self.tokens_in.saturating_add(usage.input_tokens);
        self.tokens_cached = self.tokens_cached.saturating_add(usage.cached_tokens);
        self.tokens_out = self.tokens_out.saturating_add(usage.output_tokens);
    }
}

/// The model that last replied for a seat under another name than the one that was asked for. A call
/// that failed belongs to it.
fn served_model<'a>(state: &'a RunState, seat: &ExpertSlug) -> Option<&'a str> {
    let asked = state.asks.iter().filter(|asked| asked.ask.seat == *seat);
    let mut replies = asked.filter_map(|asked| asked.last_reply());
    replies.next_back().and_then(|(reply, _)| reply.model.as_deref())
}
