//! The results of each council round, in the seed's shapes.

use serde::Serialize;

use super::metrics::round_span;
use crate::domain::ask::TokenUsage;
use crate::domain::council::opinion::{CouncilOpinion, OpinionReply};
use crate::domain::council::report::CouncilFinalReport;
use crate::domain::council::review::{CouncilPeerReview, NamedAssessment, PeerReview};
use crate::domain::ids::ExpertSlug;
use crate::domain::time::Moment;
use crate::domain::transcript::{AskState, RunState};
use crate::protocols::council::{
    ProviderFailure, SeatAnswer, SeatLetters, list_failures, list_opinions, list_peer_reviews,
};

#[derive(Debug, Serialize)]
pub struct CouncilRounds {
    pub r1: R1Result,
    pub r2: Option<R2Result>,
    pub r3: Option<R3Result>,
}

#[derive(Debug, Serialize)]
pub struct R1Result {
    pub opinions: Vec<CouncilOpinion>,
    pub failed_providers: Vec<ProviderFailure>,
    pub round_duration_ms: u64,
}

#[derive(Debug, Serialize)]
pub struct R2Result {
    pub reviews: Vec<CouncilPeerReview>,
    pub failed_providers: Vec<ProviderFailure>,
    pub round_duration_ms: u64,
}

#[derive(Debug, Serialize)]
pub struct R3Result {
    pub final_report: CouncilFinalReport,
    pub chair_provider: Option<ExpertSlug>,
    pub failed_providers: Vec<ProviderFailure>,
    pub round_duration_ms: u64,
}

pub(super) fn council_rounds(transcript: &RunState) -> CouncilRounds {
    let duration = |round| round_span(transcript, round).map_or(0, |span| span.duration_ms());
    let was_asked = |round| transcript.asks_in_round(round).next().is_some();
    CouncilRounds {
        r1: R1Result {
            opinions: list_opinions(transcript)
                .iter()
                .map(|voice| to_opinion(transcript, voice))
                .collect(),
            failed_providers: list_failures(transcript, 1),
            round_duration_ms: duration(1),
        },
        r2: was_asked(2).then(|| R2Result {
            reviews: list_peer_reviews(transcript)
                .iter()
                .map(|voice| to_review(transcript, voice))
                .collect(),
            failed_providers: list_failures(transcript, 2),
            round_duration_ms: duration(2),
        }),
        r3: transcript.report.clone().map(|final_report| R3Result {
            chair_provider: final_report.chair_provider.clone(),
            final_report,
            failed_providers: list_failures(transcript, 3),
            round_duration_ms: duration(3),
        }),
    }
}

/// Time, token usage, latency and model of a reply.
fn reply_facts(
    transcript: &RunState,
    asked: &AskState,
) -> (Moment, Option<TokenUsage>, u64, String) {
    let model = transcript.plan.find_seat(&asked.ask.seat).map(|seat| seat.model.clone());
    let model = model.unwrap_or_default();
    match asked.last_reply() {
        Some((reply, at)) => (at, reply.usage, reply.latency_ms, model),
        None => (asked.prepared_at, None, 0, model),
    }
}

fn to_opinion(transcript: &RunState, voice: &SeatAnswer<'_, OpinionReply>) -> CouncilOpinion {
    let (timestamp, token_usage, latency_ms, model) = reply_facts(transcript, voice.asked);
    CouncilOpinion {
        provider: voice.seat.clone(),
        model,
        round: "R1",
        timestamp,
        mode: transcript.plan.mode,
        opinion: voice.said.clone(),
        token_usage,
        latency_ms,
        truncated: voice.asked.is_truncated(),
    }
}

fn to_review(transcript: &RunState, voice: &SeatAnswer<'_, PeerReview>) -> CouncilPeerReview {
    let letters = SeatLetters::from_plan(&transcript.plan);
    let (timestamp, token_usage, latency_ms, reviewer_model) = reply_facts(transcript, voice.asked);
    let targets = voice.said.targets.iter().filter_map(|target| {
        let target_provider = letters.seat_of(&target.letter)?.clone();
        Some(NamedAssessment { target_provider, target: target.clone() })
    });
    CouncilPeerReview {
        reviewer_provider: voice.seat.clone(),
        reviewer_model,
        round: "R2",
        timestamp,
        targets: targets.collect(),
        would_change_my_opinion: voice.said.would_change_my_opinion.clone(),
        token_usage,
        latency_ms,
        truncated: voice.asked.is_truncated(),
    }
}
