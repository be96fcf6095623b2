//! The transparency record: providers, transports, tokens, costs and exclusions of a run.

use std::collections::BTreeMap;

use serde::Serialize;

use super::health::truncated_replies;
use super::metrics::{all_restatements, to_dollars};
use crate::domain::ask::{CallErrorType, CostSource, TransportFallback, TransportKind};
use crate::domain::digest::sha256_hex;
use crate::domain::ids::{DialogueId, ExpertSlug};
use crate::domain::plan::{ExcludedFile, Seat};
use crate::domain::transcript::{AskState, CallOutcome, RoundShortcut, RunState};
use crate::export::wording;
use crate::protocols::council::SeatLetters;

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

#[derive(Debug, Serialize)]
pub struct ProviderRecord {
    pub provider: ExpertSlug,
    pub model: String,
    pub family: String,
    pub version: String,
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
    pub condensed: Vec<String>,
}

pub(crate) fn transparency_record(transcript: &RunState) -> TransparencyRecord {
    let plan = &transcript.plan;
    let mut condensed: Vec<String> = Vec::new();
    for note in transcript.asks.iter().flat_map(|asked| &asked.condensed) {
        if !condensed.contains(note) {
            condensed.push(note.clone());
        }
    }
    TransparencyRecord {
        run_id: transcript.opening.dialogue_id.clone(),
        query_sha256: sha256_hex([transcript.question().as_bytes()]),
        providers: plan.seats.iter().map(|seat| provider_record(transcript, seat)).collect(),
        context: ContextRecord {
            files: plan.context.files.len(),
            bytes: plan.context.files.iter().map(|file| file.text.len()).sum(),
            indexed: plan.context.indexed.len(),
            excluded: plan.context.excluded.clone(),
            condensed,
        },
        short_circuit: transcript.shortcuts.clone(),
        letter_map: SeatLetters::from_plan(plan)
            .iter()
            .map(|(letter, name)| (letter, name.clone()))
            .collect(),
        anonymous_review: plan.anonymous_review,
        starts: transcript.owners.len(),
    }
}

fn provider_record(transcript: &RunState, seat: &Seat) -> ProviderRecord {
    let asks: Vec<&AskState> =
        transcript.asks.iter().filter(|asked| asked.ask.seat == seat.name).collect();
    let calls = || asks.iter().flat_map(|asked| &asked.calls);
    let restated = || all_restatements(transcript).filter(|restated| restated.seat == seat.name);
    let replies = || {
        let answers = asks.iter().filter_map(|asked| Some(asked.last_reply()?.0));
        answers.chain(restated().map(|restated| &restated.reply))
    };
    let mut rounds: Vec<u8> = asks.iter().map(|asked| asked.ask.round).collect();
    rounds.dedup();
    let is_heard = |round: &&u8| {
        transcript
            .last_ask(**round, &seat.name)
            .is_some_and(|asked| asked.parsed_document().is_some())
    };
    let heard = rounds.iter().filter(is_heard).count();
    let mut names: Vec<String> = rounds.iter().map(|round| wording::round_name(*round)).collect();
    names.dedup();
    let costs: Vec<u64> = replies().filter_map(|reply| reply.cost.usd_micros).collect();
    let sources = replies().map(|reply| reply.cost.source);
    ProviderRecord {
        provider: seat.name.clone(),
        model: seat.model.clone(),
        family: seat.family.clone(),
        version: seat.version.clone(),
        transport: calls()
            .last()
            .map(|call| call.dispatch.transport)
            .or(seat.transports.first().copied()),
        endpoint: seat.endpoint.clone(),
        fallback: calls().rev().find_map(|call| call.dispatch.fallback.clone()),
        status: match (rounds.len(), heard) {
            (0, _) => "not_asked",
            (_, 0) if asks.iter().all(|asked| !asked.gave_up && asked.last_reply().is_none()) => {
                "unanswered"
            }
            (_, 0) => "failed",
            (asked, heard) if heard < asked => "partial",
            _ => "ok",
        },
        rounds: names,
        truncated: truncated_replies(transcript)
            .filter(|asked| asked.ask.seat == seat.name)
            .map(|asked| wording::round_name(asked.ask.round))
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
