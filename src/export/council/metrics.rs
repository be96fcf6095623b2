//! Durations, tokens and costs of a run, per round and in total.

use serde::Serialize;

use crate::domain::ask::{ModelReply, TokenUsage};
use crate::domain::council::words::QuestionMode;
use crate::domain::ids::DialogueId;
use crate::domain::intervention::{self, DirectiveRestatement};
use crate::domain::time::Moment;
use crate::domain::transcript::{AskState, CallOutcome, RoundShortcut, RunState};
use crate::export::wording;
use crate::protocols::conclusion::{AUDIT, DRAFT, REVISION, SECOND_AUDIT};
use crate::protocols::council::{ROUNDS, rounds_completed};

#[derive(Debug, Serialize)]
pub struct RunMetrics {
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
    pub mode: QuestionMode,
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

pub(crate) fn run_metrics(transcript: &RunState) -> RunMetrics {
    let measured = |rounds: &[u8]| -> Vec<RoundMetrics> {
        rounds.iter().filter_map(|round| round_metrics(transcript, *round)).collect()
    };
    let end = transcript.last_entry_at;
    let tokens = |part: fn(TokenUsage) -> u64| -> u64 {
        all_replies(transcript).filter_map(|reply| reply.usage).map(part).sum()
    };
    RunMetrics {
        session: SessionMetrics {
            session_id: transcript.opening.dialogue_id.clone(),
            mode: transcript.plan.mode,
            total_duration_ms: end.millis_since(transcript.opened_at),
            rounds_completed: rounds_completed(transcript),
            short_circuit_triggered: transcript.shortcuts.iter().any(RoundShortcut::is_taken),
            total_cost_estimate: cost_usd(transcript),
            total_tokens_in: tokens(|usage| usage.input_tokens),
            total_tokens_out: tokens(|usage| usage.output_tokens),
            calls: transcript.all_calls().count() + all_restatements(transcript).count(),
            repeated_calls: transcript
                .all_calls()
                .filter(|call| call.dispatch.repeats.is_some())
                .count(),
        },
        rounds: measured(&ROUNDS),
        ending: measured(&[DRAFT, AUDIT, REVISION, SECOND_AUDIT]),
    }
}

/// The known cost in dollars; `None` if no cost is known.
pub fn cost_usd(transcript: &RunState) -> Option<f64> {
    let known: Vec<u64> =
        all_replies(transcript).filter_map(|reply| reply.cost.usd_micros).collect();
    (!known.is_empty()).then(|| to_dollars(known.iter().sum()))
}

/// All replies, in ask order; restatements last.
fn all_replies(transcript: &RunState) -> impl Iterator<Item = &ModelReply> {
    let replied = transcript.all_calls().filter_map(|call| match &call.outcome {
        CallOutcome::Replied(reply, _) => Some(reply),
        CallOutcome::InFlight | CallOutcome::Lost | CallOutcome::Failed(..) => None,
    });
    replied.chain(all_restatements(transcript).map(|restated| &restated.reply))
}

/// Restatements of directives, whose calls count towards the run.
pub(super) fn all_restatements(
    transcript: &RunState,
) -> impl Iterator<Item = &DirectiveRestatement> {
    intervention::unique_restatements(&transcript.interventions)
}

pub(super) fn to_dollars(micros: u64) -> f64 {
    micros as f64 / 1e6
}

/// From the first call of a round to its last result.
#[derive(Debug, Clone, Copy)]
pub(super) struct RoundSpan {
    start: Moment,
    end: Moment,
}

impl RoundSpan {
    pub(super) fn duration_ms(self) -> u64 {
        self.end.millis_since(self.start)
    }
}

pub(super) fn round_span(transcript: &RunState, round: u8) -> Option<RoundSpan> {
    let calls = || transcript.asks_in_round(round).flat_map(|asked| &asked.calls);
    let start = calls().map(|call| call.sent_at).min()?;
    let ends = calls().map(|call| match &call.outcome {
        CallOutcome::Replied(_, at) | CallOutcome::Failed(_, at) => *at,
        CallOutcome::InFlight | CallOutcome::Lost => call.sent_at,
    });
    Some(RoundSpan { start, end: ends.max()? })
}

fn round_metrics(transcript: &RunState, round: u8) -> Option<RoundMetrics> {
    let span = round_span(transcript, round)?;
    let asks: Vec<&AskState> = transcript.asks_in_round(round).collect();
    let mut seats: Vec<_> = asks.iter().map(|asked| &asked.ask.seat).collect();
    seats.sort_unstable();
    seats.dedup();
    let heard = transcript.seats_answered_in(round).len();
    let usage = |part: fn(TokenUsage) -> u64| {
        let used = asks.iter().filter_map(|asked| asked.last_reply()?.0.usage);
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
