//! Durations, tokens and costs of a run, per round and in total.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::model::ask::{
    AskState, BudgetReservation, CallErrorType, CallFailure, CallOutcome, CostSource, ModelReply,
    RequestParameter, TokenUsage, TransportFallback, TransportKind,
};
use crate::model::hash::sha256_hex;
use crate::model::ids::{DialogueId, ExpertSlug};
use crate::model::intervention::{DirectiveRestatement, unique_restatements};
use crate::model::plan::{ContextFile, ExcludedFile, IndexedFile, Seat};
use crate::model::run_state::{RoundShortcut, RunState};
use crate::model::time::Moment;
use crate::protocols::conclusion::next::{AUDIT, DRAFT, REVISION, SECOND_AUDIT, run_round};
use crate::protocols::council::answers::{ROUNDS, SeatLetters, rounds_completed};
use crate::protocols::council::document::truncated_replies;
use crate::protocols::council::types::QuestionMode;
use crate::report::phrases::round_name;

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
    /// A stop, the deadline or an interrupt came before their answer.
    pub providers_cancelled: usize,
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
    /// Input tokens that providers read from their caches, and their share of the input.
    pub cached_tokens: u64,
    pub cached_share: Option<f64>,
    /// Median time from sending a call to the first byte of its answer.
    pub first_byte_ms: Option<u64>,
    /// Calls that were repeated without a parameter that a server refused; for pages.
    #[serde(skip)]
    pub(crate) refused: Vec<(RequestParameter, usize)>,
}

pub(crate) fn run_metrics(state: &RunState) -> RunMetrics {
    let measured = |rounds: &[u8]| -> Vec<RoundMetrics> {
        rounds.iter().filter_map(|round| round_metrics(state, *round)).collect()
    };
    let end = state.last_entry_at;
    let tokens = |part: fn(TokenUsage) -> u64| -> u64 {
        let replied = all_replies(state).filter_map(|reply| reply.usage);
        replied.chain(broken_usages(state)).map(part).sum()
    };
    RunMetrics {
        session: SessionMetrics {
            session_id: state.opening.dialogue_id.clone(),
            mode: state.plan.mode,
            total_duration_ms: end.millis_since(state.opened_at).saturating_sub(state.paused_ms),
            rounds_completed: rounds_completed(state),
            short_circuit_triggered: state.shortcuts.iter().any(RoundShortcut::is_taken),
            total_cost_estimate: cost_usd(state),
            total_tokens_in: tokens(|usage| usage.input_tokens),
            total_tokens_out: tokens(|usage| usage.output_tokens),
            calls: state.all_calls().count() + all_restatements(state).count(),
            repeated_calls: state
                .all_calls()
                .filter(|call| call.dispatch.repeats.is_some())
                .count(),
            cached_tokens: tokens(|usage| usage.cached_tokens),
            cached_share: cached_share(
                tokens(|usage| usage.cached_tokens),
                tokens(|usage| usage.input_tokens),
            ),
            first_byte_ms: median(
                all_replies(state).filter_map(|reply| reply.first_byte_ms).collect(),
            ),
            refused: count_refused(state),
        },
        rounds: match &state.alignment {
            Some(judged) => measured(&(0..=judged.next_round()).collect::<Vec<_>>()),
            None => measured(&ROUNDS),
        },
        ending: measured(
            &[DRAFT, AUDIT, REVISION, SECOND_AUDIT].map(|round| run_round(state, round)),
        ),
    }
}

fn count_refused(state: &RunState) -> Vec<(RequestParameter, usize)> {
    let refused: Vec<RequestParameter> = state
        .all_calls()
        .filter_map(|call| match &call.outcome {
            CallOutcome::Failed(failure, _) => failure.refused,
            CallOutcome::InFlight | CallOutcome::Lost | CallOutcome::Replied(..) => None,
        })
        .collect();
    let count = |one: &RequestParameter| refused.iter().filter(|other| *other == one).count();
    let counted = RequestParameter::ALL.iter().map(|one| (*one, count(one)));
    counted.filter(|(_, count)| *count > 0).collect()
}

/// Share of the input that providers read from their caches; `None` without input.
pub fn cached_share(cached: u64, input: u64) -> Option<f64> {
    // Four digits say enough, and print the same on every machine.
    (input > 0).then(|| (cached as f64 / input as f64 * 1e4).round() / 1e4)
}

/// The middle value; of two middle values the lower one.
pub fn median(mut values: Vec<u64>) -> Option<u64> {
    values.sort_unstable();
    values.get(values.len().saturating_sub(1) / 2).copied()
}

/// The known cost in dollars; `None` if no cost is known. Replies that broke off count as
/// estimated, rejected calls as nothing.
pub fn cost_usd(state: &RunState) -> Option<f64> {
    let replies = all_replies(state).filter_map(|reply| reply.cost.usd_micros);
    let broken = state.all_calls().filter_map(|call| match &call.outcome {
        CallOutcome::Failed(failure, _) => known_usd_micros(failure, call.dispatch.reserved),
        CallOutcome::InFlight | CallOutcome::Lost | CallOutcome::Replied(..) => None,
    });
    let known: Vec<u64> = replies.chain(broken).collect();
    (!known.is_empty()).then(|| to_dollars(known.iter().sum()))
}

/// Estimated use of the replies that broke off.
fn broken_usages(state: &RunState) -> impl Iterator<Item = TokenUsage> {
    state.all_calls().filter_map(|call| match &call.outcome {
        CallOutcome::Failed(failure, _) => failure.broken_usage(),
        CallOutcome::InFlight | CallOutcome::Lost | CallOutcome::Replied(..) => None,
    })
}

/// The cost of a failed call that a reader can rely on: nothing for a call that was rejected or is
/// free. `None` if it is unknown.
pub(crate) fn known_usd_micros(failure: &CallFailure, reserved: BudgetReservation) -> Option<u64> {
    let is_free = failure.error_type.is_unbilled() || reserved.usd_micros == Some(0);
    if is_free { Some(0) } else { failure.estimated?.usd_micros }
}

/// All replies, in ask order; restatements last.
fn all_replies(state: &RunState) -> impl Iterator<Item = &ModelReply> {
    let replied = state.all_calls().filter_map(|call| match &call.outcome {
        CallOutcome::Replied(reply, _) => Some(reply),
        CallOutcome::InFlight | CallOutcome::Lost | CallOutcome::Failed(..) => None,
    });
    replied.chain(all_restatements(state).map(|restated| &restated.reply))
}

/// Restatements of directives, whose calls count towards the run.
pub(crate) fn all_restatements(state: &RunState) -> impl Iterator<Item = &DirectiveRestatement> {
    unique_restatements(&state.interventions)
}

pub(crate) fn to_dollars(micros: u64) -> f64 {
    micros as f64 / 1e6
}

/// From the first call of a round to its last result.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RoundSpan {
    start: Moment,
    end: Moment,
}

impl RoundSpan {
    pub(crate) fn duration_ms(self) -> u64 {
        self.end.millis_since(self.start)
    }
}

pub(crate) fn round_span(state: &RunState, round: u8) -> Option<RoundSpan> {
    let calls = || state.asks_in_round(round).flat_map(|asked| &asked.calls);
    let start = calls().map(|call| call.sent_at).min()?;
    let ends = calls().map(|call| match &call.outcome {
        CallOutcome::Replied(_, at) | CallOutcome::Failed(_, at) => *at,
        CallOutcome::InFlight | CallOutcome::Lost => call.sent_at,
    });
    Some(RoundSpan { start, end: ends.max()? })
}

fn round_metrics(state: &RunState, round: u8) -> Option<RoundMetrics> {
    let span = round_span(state, round)?;
    let asks: Vec<&AskState> = state.asks_in_round(round).collect();
    let mut seats: Vec<_> = asks.iter().map(|asked| &asked.ask.seat).collect();
    seats.sort_unstable();
    seats.dedup();
    let heard = state.seats_answered_in(round).len();
    let is_cancelled = |seat: &&&ExpertSlug| {
        let last = state.last_ask(round, seat);
        last.is_some_and(|asked| state.is_cancelled(asked))
    };
    let cancelled = seats.iter().filter(is_cancelled).count();
    let usage = |part: fn(TokenUsage) -> u64| {
        let used = asks.iter().filter_map(|asked| asked.last_reply()?.0.usage);
        used.map(part).sum()
    };
    Some(RoundMetrics {
        round: round_name(round),
        start_time: span.start,
        end_time: span.end,
        duration_ms: span.duration_ms(),
        providers_attempted: seats.len(),
        providers_succeeded: heard,
        providers_failed: seats.len().saturating_sub(heard + cancelled),
        providers_cancelled: cancelled,
        total_tokens_in: usage(|usage| usage.input_tokens),
        total_tokens_out: usage(|usage| usage.output_tokens),
    })
}

#[derive(Debug, Serialize)]
pub struct TransparencyRecord {
    pub run_id: DialogueId,
    pub query_sha256: String,
    pub providers: Vec<ProviderRecord>,
    pub context: ContextRecord,
    pub short_circuit: Vec<RoundShortcut>,
    pub letter_map: BTreeMap<char, ExpertSlug>,
    pub anonymous_review: bool,
    /// How often the run was started or resumed.
    pub starts: usize,
}

impl TransparencyRecord {
    pub(crate) fn lens_of(&self, seat: &ExpertSlug) -> Option<&str> {
        self.providers.iter().find(|one| one.provider == *seat)?.lens.as_deref()
    }
}

#[derive(Debug, Serialize)]
pub struct ProviderRecord {
    pub provider: ExpertSlug,
    pub model: String,
    pub family: String,
    pub version: String,
    /// Where the seat looks first when it gives an opinion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lens: Option<String>,
    /// The transport of the last call, or the first configured one before any call.
    pub transport: Option<TransportKind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    pub fallback: Option<TransportFallback>,
    pub rounds: Vec<String>,
    pub status: &'static str,
    /// The rounds in which a truncated reply of this seat is used.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub truncated: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<CallErrorType>,
    pub latency_ms: u64,
    pub tokens_in: u64,
    pub tokens_out: u64,
    pub cost_usd: Option<f64>,
    pub cost_source: CostSource,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price_source: Option<String>,
}

#[derive(Debug, Serialize)]
pub struct ContextRecord {
    pub files: usize,
    pub bytes: usize,
    pub indexed: usize,
    pub excluded: Vec<ExcludedFile>,
    /// The files that were sent whole.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sent: Vec<SentFile>,
    /// The files of which the seats read only the name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub named: Vec<IndexedFile>,
    pub condensed: Vec<String>,
}

/// A file that was sent whole; its hash proves its content.
#[derive(Debug, Serialize)]
pub struct SentFile {
    pub path: String,
    pub bytes: usize,
    pub sha256: String,
}

impl SentFile {
    fn from_file(file: &ContextFile) -> Self {
        let (path, sha256) = (file.path.clone(), file.sha256.clone());
        Self { path, bytes: file.text.len(), sha256 }
    }
}

pub(crate) fn transparency_record(state: &RunState) -> TransparencyRecord {
    let plan = &state.plan;
    let mut condensed: Vec<String> = Vec::new();
    for note in state.asks.iter().flat_map(|asked| &asked.condensed) {
        if !condensed.contains(note) {
            condensed.push(note.clone());
        }
    }
    TransparencyRecord {
        run_id: state.opening.dialogue_id.clone(),
        query_sha256: sha256_hex([state.question().as_bytes()]),
        providers: plan.seats.iter().map(|seat| provider_record(state, seat)).collect(),
        context: ContextRecord {
            files: plan.context.files.len(),
            bytes: plan.context.files.iter().map(|file| file.text.len()).sum(),
            indexed: plan.context.indexed.len(),
            excluded: plan.context.excluded.clone(),
            sent: plan.context.files.iter().map(SentFile::from_file).collect(),
            named: plan.context.indexed.clone(),
            condensed,
        },
        short_circuit: state.shortcuts.clone(),
        letter_map: SeatLetters::from_plan(plan)
            .iter()
            .map(|(letter, name)| (letter, name.clone()))
            .collect(),
        anonymous_review: plan.anonymous_review,
        starts: state.owners.len(),
    }
}

fn provider_record(state: &RunState, seat: &Seat) -> ProviderRecord {
    let asks: Vec<&AskState> =
        state.asks.iter().filter(|asked| asked.ask.seat == seat.name).collect();
    let calls = || asks.iter().flat_map(|asked| &asked.calls);
    let restated = || all_restatements(state).filter(|restated| restated.seat == seat.name);
    let replies = || {
        let answers = asks.iter().filter_map(|asked| Some(asked.last_reply()?.0));
        answers.chain(restated().map(|restated| &restated.reply))
    };
    let mut rounds: Vec<u8> = asks.iter().map(|asked| asked.ask.round).collect();
    rounds.dedup();
    let is_heard = |round: &&u8| {
        state.last_ask(**round, &seat.name).is_some_and(|asked| asked.parsed_document().is_some())
    };
    let heard = rounds.iter().filter(is_heard).count();
    let mut names: Vec<String> = rounds.iter().map(|round| round_name(*round)).collect();
    names.dedup();
    let costs: Vec<u64> = replies().filter_map(|reply| reply.cost.usd_micros).collect();
    let sources = replies().map(|reply| reply.cost.source);
    ProviderRecord {
        provider: seat.name.clone(),
        model: seat.model.clone(),
        family: seat.family.clone(),
        version: seat.version.clone(),
        lens: seat.lens.clone(),
        transport: calls()
            .last()
            .map(|call| call.dispatch.transport)
            .or(seat.transports.first().copied()),
        endpoint: seat.endpoint.clone(),
        fallback: calls().rev().find_map(|call| call.dispatch.fallback.clone()),
        status: match (rounds.len(), heard) {
            (0, _) => "not_asked",
            _ if asks.iter().any(|asked| state.is_cancelled(asked)) => "cancelled",
            (_, 0) if asks.iter().all(|asked| !asked.gave_up && asked.last_reply().is_none()) => {
                "unanswered"
            }
            (_, 0) => "failed",
            (asked, heard) if heard < asked => "partial",
            _ => "ok",
        },
        rounds: names,
        truncated: truncated_replies(state)
            .filter(|asked| asked.ask.seat == seat.name)
            .map(|asked| round_name(asked.ask.round))
            .collect(),
        errors: calls()
            .filter_map(|call| match &call.outcome {
                CallOutcome::Failed(failure, _) => Some(failure.error_type),
                CallOutcome::InFlight | CallOutcome::Lost | CallOutcome::Replied(..) => None,
            })
            .collect(),
        latency_ms: replies().map(|reply| reply.latency_ms).sum(),
        tokens_in: replies().filter_map(|reply| reply.usage).map(|usage| usage.input_tokens).sum(),
        tokens_out: replies()
            .filter_map(|reply| reply.usage)
            .map(|usage| usage.output_tokens)
            .sum(),
        cost_usd: (!costs.is_empty()).then(|| to_dollars(costs.iter().sum())),
        cost_source: sources.min().unwrap_or(CostSource::Unknown),
        price_source: seat.price.as_ref().map(|price| price.source.clone()),
    }
}
