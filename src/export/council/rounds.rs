//! The results of each council round, in the seed's shapes.

use serde::Serialize;

use super::metrics::span;
use crate::domain::ask::Usage;
use crate::domain::council::opinion::{CouncilOpinion, Opinion};
use crate::domain::council::report::CouncilFinalReport;
use crate::domain::council::review::{CouncilReview, NamedTarget, Review};
use crate::domain::ids::ExpertSlug;
use crate::domain::time::Moment;
use crate::domain::transcript::{Asked, Transcript};
use crate::protocols::council::{Letters, ProviderFailure, Voice, failures, opinions, reviews};

#[derive(Debug, Serialize)]
pub struct Rounds {
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
    pub reviews: Vec<CouncilReview>,
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

pub(super) fn rounds(transcript: &Transcript) -> Rounds {
    let duration = |round| span(transcript, round).map_or(0, |span| span.duration_ms());
    let was_asked = |round| transcript.asks_of(round).next().is_some();
    Rounds {
        r1: R1Result {
            opinions: opinions(transcript).iter().map(|voice| opinion(transcript, voice)).collect(),
            failed_providers: failures(transcript, 1),
            round_duration_ms: duration(1),
        },
        r2: was_asked(2).then(|| R2Result {
            reviews: reviews(transcript).iter().map(|voice| review(transcript, voice)).collect(),
            failed_providers: failures(transcript, 2),
            round_duration_ms: duration(2),
        }),
        r3: transcript.report.clone().map(|final_report| R3Result {
            chair_provider: final_report.chair_provider.clone(),
            final_report,
            failed_providers: failures(transcript, 3),
            round_duration_ms: duration(3),
        }),
    }
}

/// Time, token usage, latency and model of a reply.
fn facts(transcript: &Transcript, asked: &Asked) -> (Moment, Option<Usage>, u64, String) {
    let model = transcript.plan.seat(&asked.ask.seat).map(|seat| seat.model.clone());
    let model = model.unwrap_or_default();
    match asked.reply() {
        Some((reply, at)) => (at, reply.usage, reply.latency_ms, model),
        None => (asked.prepared_at, None, 0, model),
    }
}

fn opinion(transcript: &Transcript, voice: &Voice<'_, Opinion>) -> CouncilOpinion {
    let (timestamp, token_usage, latency_ms, model) = facts(transcript, voice.asked);
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

fn review(transcript: &Transcript, voice: &Voice<'_, Review>) -> CouncilReview {
    let letters = Letters::of(&transcript.plan);
    let (timestamp, token_usage, latency_ms, reviewer_model) = facts(transcript, voice.asked);
    let targets = voice.said.targets.iter().filter_map(|target| {
        let target_provider = letters.seat(&target.letter)?.clone();
        Some(NamedTarget { target_provider, target: target.clone() })
    });
    CouncilReview {
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
