//! Durations, tokens and costs of a run, per round and in total.

use serde::Serialize;

use crate::domain::ask::{Reply, Usage};
use crate::domain::council::words::Mode;
use crate::domain::ids::DialogueId;
use crate::domain::intervention::{self, Restatement};
use crate::domain::time::Moment;
use crate::domain::transcript::{Asked, CallOutcome, Shortcut, Transcript};
use crate::export::wording;
use crate::protocols::conclusion::{AUDIT, DRAFT, REVISION, SECOND_AUDIT};
use crate::protocols::council::{ROUNDS, rounds_completed};

#[derive(Debug, Serialize)]
pub struct Metrics {
    pub rounds: Vec<RoundMetrics>,
    /// The conclusion's rounds: `conclusion`, `audit`, `revision`, `audit`.
    pub ending: Vec<RoundMetrics>,
    pub session: SessionMetrics,
}

/// Fields as in the seed.
#[derive(Debug, Serialize)]
pub struct RoundMetrics {
    pub round: String,
    pub start_time: Moment,
    pub end_time: Moment,
    pub duration_ms: u64,
    pub providers_attempted: usize,
    pub providers_succeeded: usize,
    pub providers_failed: usize,
    pub total_tokens_in: u64,
    pub total_tokens_out: u64,
}

#[derive(Debug, Serialize)]
pub struct SessionMetrics {
    pub session_id: DialogueId,
    pub mode: Mode,
    pub total_duration_ms: u64,
    pub rounds_completed: u8,
    pub short_circuit_triggered: bool,
    /// In dollars; `None` if no call has a known cost.
    pub total_cost_estimate: Option<f64>,
    /// Includes the conclusion and the restatements of directives.
    pub total_tokens_in: u64,
    pub total_tokens_out: u64,
    pub calls: usize,
    pub repeated_calls: usize,
}

pub(crate) fn metrics(transcript: &Transcript) -> Metrics {
    let measured = |rounds: &[u8]| -> Vec<RoundMetrics> {
        rounds.iter().filter_map(|round| of_round(transcript, *round)).collect()
    };
    let end = transcript.last_entry_at;
    let tokens = |part: fn(Usage) -> u64| -> u64 {
        replies(transcript).filter_map(|reply| reply.usage).map(part).sum()
    };
    Metrics {
        session: SessionMetrics {
            session_id: transcript.opening.dialogue_id.clone(),
            mode: transcript.plan.mode,
            total_duration_ms: end.millis_since(transcript.opened_at),
            rounds_completed: rounds_completed(transcript),
            short_circuit_triggered: transcript.shortcuts.iter().any(Shortcut::is_taken),
            total_cost_estimate: cost_usd(transcript),
            total_tokens_in: tokens(|usage| usage.input_tokens),
            total_tokens_out: tokens(|usage| usage.output_tokens),
            calls: transcript.calls().count() + restatements(transcript).count(),
            repeated_calls: transcript
                .calls()
                .filter(|call| call.sending.repeats.is_some())
                .count(),
        },
        rounds: measured(&ROUNDS),
        ending: measured(&[DRAFT, AUDIT, REVISION, SECOND_AUDIT]),
    }
}

/// The known cost in dollars; `None` if no cost is known.
pub fn cost_usd(transcript: &Transcript) -> Option<f64> {
    let known: Vec<u64> = replies(transcript).filter_map(|reply| reply.cost.usd_micros).collect();
    (!known.is_empty()).then(|| dollars(known.iter().sum()))
}

/// All replies, in ask order; restatements last.
fn replies(transcript: &Transcript) -> impl Iterator<Item = &Reply> {
    let replied = transcript.calls().filter_map(|call| match &call.outcome {
        CallOutcome::Replied(reply, _) => Some(reply),
        CallOutcome::InFlight | CallOutcome::Lost | CallOutcome::Failed(..) => None,
    });
    replied.chain(restatements(transcript).map(|restated| &restated.reply))
}

/// Restatements of directives, whose calls count towards the run.
pub(super) fn restatements(transcript: &Transcript) -> impl Iterator<Item = &Restatement> {
    intervention::restatements(&transcript.interventions)
}

pub(super) fn dollars(micros: u64) -> f64 {
    micros as f64 / 1e6
}

/// From the first call of a round to its last result.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    start: Moment,
    end: Moment,
}

impl Span {
    pub(super) fn duration_ms(self) -> u64 {
        self.end.millis_since(self.start)
    }
}

pub(super) fn span(transcript: &Transcript, round: u8) -> Option<Span> {
    let calls = || transcript.asks_of(round).flat_map(|asked| &asked.calls);
    let start = calls().map(|call| call.sent_at).min()?;
    let ends = calls().map(|call| match &call.outcome {
        CallOutcome::Replied(_, at) | CallOutcome::Failed(_, at) => *at,
        CallOutcome::InFlight | CallOutcome::Lost => call.sent_at,
    });
    Some(Span { start, end: ends.max()? })
}

fn of_round(transcript: &Transcript, round: u8) -> Option<RoundMetrics> {
    let span = span(transcript, round)?;
    let asks: Vec<&Asked> = transcript.asks_of(round).collect();
    let mut seats: Vec<_> = asks.iter().map(|asked| &asked.ask.seat).collect();
    seats.sort_unstable();
    seats.dedup();
    let heard = transcript.heard_in(round).len();
    let usage = |part: fn(Usage) -> u64| {
        let used = asks.iter().filter_map(|asked| asked.reply()?.0.usage);
        used.map(part).sum()
    };
    Some(RoundMetrics {
        round: wording::round_name(round),
        start_time: span.start,
        end_time: span.end,
        duration_ms: span.duration_ms(),
        providers_attempted: seats.len(),
        providers_succeeded: heard,
        providers_failed: seats.len().saturating_sub(heard),
        total_tokens_in: usage(|usage| usage.input_tokens),
        total_tokens_out: usage(|usage| usage.output_tokens),
    })
}
