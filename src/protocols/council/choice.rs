//! Picks the best single opinion: by its peers' ratings, else by completeness.

use serde::Serialize;

use super::letters::SeatLetters;
use super::voices::{SeatAnswer, list_opinions, list_peer_reviews};
use crate::domain::council::opinion::OpinionReply;
use crate::domain::ids::ExpertSlug;
use crate::domain::transcript::RunState;

/// A longer summary does not make an opinion more complete.
const SUMMARY_CHARS_REASONABLE: usize = 2_000;

/// The opinion that its peers rate best.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PeerChoice {
    pub provider: ExpertSlug,
    /// The mean of its peers' ratings; none if no peer rated it.
    pub rating: Option<f64>,
    pub ratings: usize,
    pub summary: String,
    pub recommendation: String,
    /// `peer_ratings`, or `completeness` if there are no ratings.
    pub basis: &'static str,
}

pub fn peer_choice(transcript: &RunState) -> Option<PeerChoice> {
    let best = best_opinion(transcript)?;
    let ratings = peer_ratings(transcript, best.seat);
    Some(PeerChoice {
        provider: best.seat.clone(),
        rating: mean_rating(&ratings),
        ratings: ratings.len(),
        summary: best.said.summary.clone(),
        recommendation: best.said.details.recommendation.clone(),
        basis: if ratings.is_empty() { "completeness" } else { "peer_ratings" },
    })
}

/// Orders by complete replies first, then mean rating, completeness and order of the panel.
pub(super) fn best_opinion(transcript: &RunState) -> Option<SeatAnswer<'_, OpinionReply>> {
    let rank = |voice: &SeatAnswer<'_, OpinionReply>| {
        let ratings = peer_ratings(transcript, voice.seat);
        let sum: u64 = ratings.iter().map(|rating| u64::from(*rating)).sum();
        // Thousandths, so that two means compare without rounding errors.
        let mean = (sum * 1_000).checked_div(ratings.len() as u64).unwrap_or(0);
        (!voice.asked.is_truncated(), mean, count_filled_fields(voice.said))
    };
    first_greatest(list_opinions(transcript), rank)
}

/// The most complete opinion, ties by order of the panel. It replaces the report of a failed
/// chair. A reply that was cut off is used only if there is no other.
pub(super) fn most_complete_opinion(transcript: &RunState) -> Option<SeatAnswer<'_, OpinionReply>> {
    let rank = |voice: &SeatAnswer<'_, OpinionReply>| {
        (!voice.asked.is_truncated(), count_filled_fields(voice.said))
    };
    first_greatest(list_opinions(transcript), rank)
}

/// `max_by_key` returns the last of equal items; here the first must win.
fn first_greatest<T, K: Ord>(items: Vec<T>, key: impl Fn(&T) -> K) -> Option<T> {
    items.into_iter().rev().max_by_key(key)
}

/// Counts the filled fields of an opinion; a summary of reasonable length is one more. Confidence
/// is not counted, because an opinion without it is not parsed.
fn count_filled_fields(opinion: &OpinionReply) -> usize {
    let details = &opinion.details;
    let filled = [
        !opinion.summary.trim().is_empty(),
        opinion.summary.chars().count() <= SUMMARY_CHARS_REASONABLE,
        !details.understanding.trim().is_empty(),
        !details.key_considerations.is_empty(),
        !details.recommendation.trim().is_empty(),
        !details.rationale.trim().is_empty(),
        !opinion.risks.is_empty(),
        !opinion.assumptions.is_empty(),
        !opinion.questions.is_empty(),
    ];
    filled.into_iter().filter(|is_filled| *is_filled).count()
}

fn peer_ratings(transcript: &RunState, of: &ExpertSlug) -> Vec<u8> {
    let letters = SeatLetters::from_plan(&transcript.plan);
    let heard = list_peer_reviews(transcript);
    let targets = heard.iter().flat_map(|voice| &voice.said.targets);
    targets
        .filter(|target| letters.seat_of(&target.letter) == Some(of))
        .map(|target| target.rating)
        .collect()
}

fn mean_rating(ratings: &[u8]) -> Option<f64> {
    let sum: u32 = ratings.iter().map(|rating| u32::from(*rating)).sum();
    let count = u32::try_from(ratings.len()).ok().filter(|count| *count > 0)?;
    Some((f64::from(sum) / f64::from(count) * 100.0).round() / 100.0)
}
