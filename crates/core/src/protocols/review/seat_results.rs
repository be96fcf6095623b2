//! The judgements of each deliberator in both rounds, and their count by the policy.

use crate::model::ids::ExpertSlug;
use crate::model::run_state::{ReplyDocument, RunState};
use crate::protocols::council::answers::{ProviderFailure, list_failures};
use crate::protocols::review::policy::{AdjudicatorReply, BlockTally};
use crate::protocols::review::types::{DeliberatorJudgement, ReviewConcern};

/// The two rounds of a review and its adjudication.
pub const FIRST: u8 = 1;
pub const SECOND: u8 = 2;
pub const ADJUDICATION: u8 = 3;

/// The two rounds of one deliberator.
#[derive(Debug, Clone)]
pub struct SeatResult<'a> {
    pub seat: &'a ExpertSlug,
    pub first: RoundResult<'a>,
    pub second: RoundResult<'a>,
    pub(crate) is_second_begun: bool,
}

/// The result of one deliberator in one round.
#[derive(Debug, Clone)]
pub enum RoundResult<'a> {
    /// Not asked, or no answer yet.
    Open,
    Judged(&'a DeliberatorJudgement),
    Absent(ProviderFailure),
}

impl<'a> RoundResult<'a> {
    pub fn judgement(&self) -> Option<&'a DeliberatorJudgement> {
        match self {
            Self::Judged(judgement) => Some(judgement),
            Self::Open | Self::Absent(_) => None,
        }
    }
}

impl<'a> SeatResult<'a> {
    /// The judgement that counts: the second, else the first.
    pub fn final_judgement(&self) -> Option<&'a DeliberatorJudgement> {
        self.second.judgement().or(self.first.judgement())
    }

    /// Whether the first judgement counts because the second round gave none.
    pub fn is_fallback(&self) -> bool {
        self.is_second_begun
            && self.second.judgement().is_none()
            && self.first.judgement().is_some()
    }

    /// Whether the verdict or the block changed between the rounds. A block that became irreducible
    /// counts as changed, because it may decide alone.
    pub fn is_changed(&self) -> bool {
        let (Some(before), Some(after)) = (self.first.judgement(), self.second.judgement()) else {
            return false;
        };
        (before.verdict, before.block_level()) != (after.verdict, after.block_level())
    }

    /// Whether the deliberator changed its judgement without citing a concern of another.
    pub fn is_uncited(&self, all: &[SeatResult<'_>]) -> bool {
        self.is_changed() && self.cited_concerns(all).is_empty()
    }

    /// The concerns of others that it cites in the second round, with their ids.
    pub fn cited_concerns<'b>(&self, all: &[SeatResult<'b>]) -> Vec<NumberedConcern<'b>> {
        let Some(after) = self.second.judgement() else { return Vec::new() };
        let peers = all.iter().filter(|peer| peer.seat != self.seat);
        let held = peers.filter_map(|peer| Some((peer.seat, peer.first.judgement()?)));
        let concerns =
            held.flat_map(|(seat, judgement)| NumberedConcern::from_first_round(seat, judgement));
        concerns.filter(|one| is_cited(after, &one.id)).collect()
    }
}

/// The results of all deliberators, in the order of the plan; empty for a council.
pub fn list_seat_results(state: &RunState) -> Vec<SeatResult<'_>> {
    let Some(gate) = state.review_plan() else { return Vec::new() };
    let absent = [FIRST, SECOND].map(|round| list_failures(state, round));
    let [absent_first, absent_second] = &absent;
    let is_second_begun = state.asks_in_round(SECOND).next().is_some();
    let seats = gate.deliberators.iter().map(|deliberator| &deliberator.seat);
    seats
        .map(|seat| SeatResult {
            seat,
            first: round_result(state, FIRST, seat, absent_first),
            second: round_result(state, SECOND, seat, absent_second),
            is_second_begun,
        })
        .collect()
}

fn round_result<'a>(
    state: &'a RunState,
    round: u8,
    seat: &ExpertSlug,
    absent: &[ProviderFailure],
) -> RoundResult<'a> {
    let document = state.last_ask(round, seat).and_then(|asked| asked.parsed_document());
    if let Some(ReplyDocument::Judgement(judgement)) = document {
        return RoundResult::Judged(judgement);
    }
    let failure = absent.iter().find(|failure| failure.provider == *seat);
    failure.map_or(RoundResult::Open, |failure| RoundResult::Absent(failure.clone()))
}

/// The count of the judgements by the policy.
pub fn tally_blocks(state: &RunState) -> Option<BlockTally> {
    let policy = state.review_plan()?.policy;
    Some(
        policy
            .count_blocks(list_seat_results(state).iter().filter_map(SeatResult::final_judgement)),
    )
}

/// The count while the review has no outcome; it decides nothing.
pub fn tally_if_undecided(state: &RunState) -> Option<BlockTally> {
    Some(BlockTally { computed: None, ..tally_blocks(state)? })
}

/// The adjudicator's reply, once it is parsed.
pub fn read_adjudication(state: &RunState) -> Option<&AdjudicatorReply> {
    let seat = &state.review_plan()?.adjudicator;
    let ReplyDocument::Adjudication(word) =
        state.last_ask(ADJUDICATION, seat)?.parsed_document()?
    else {
        return None;
    };
    Some(word)
}

fn is_cited(judgement: &DeliberatorJudgement, id: &str) -> bool {
    let lists = judgement.concessions.iter().chain(&judgement.escalations);
    lists.chain([&judgement.delta_from_r1]).any(|text| names_concern(text, id))
}

/// Whether the text contains the id as a whole word: `skeptic-1` is not in `skeptic-12`. Models
/// often write a hyphen for an underscore.
fn names_concern(text: &str, id: &str) -> bool {
    let plain = |text: &str| text.to_ascii_lowercase().replace('_', "-");
    let (text, id) = (plain(text), plain(id));
    let parts: Vec<&str> = text.split(id.as_str()).collect();
    parts.windows(2).any(|pair| {
        let [before, after] = pair else { return false };
        let is_part = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
        !is_part(before.chars().next_back()) && !is_part(after.chars().next())
    })
}

/// A concern with the id that others cite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumberedConcern<'a> {
    pub id: String,
    /// Its number among those of its deliberator, from 1.
    pub number: usize,
    pub concern: &'a ReviewConcern,
}

/// The concerns of a deliberator at the end, and those that it dropped after the first round.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConcernIds<'a> {
    pub kept: Vec<NumberedConcern<'a>>,
    pub dropped: Vec<NumberedConcern<'a>>,
}

impl<'a> NumberedConcern<'a> {
    /// The concerns of a first judgement, in their order.
    pub fn from_first_round(seat: &ExpertSlug, judgement: &'a DeliberatorJudgement) -> Vec<Self> {
        (1..).zip(&judgement.concerns).map(|(number, one)| Self::new(seat, number, one)).collect()
    }

    fn new(seat: &ExpertSlug, number: usize, concern: &'a ReviewConcern) -> Self {
        Self { id: format!("{seat}-{number}"), number, concern }
    }
}

impl<'a> ConcernIds<'a> {
    /// A concern of the first round keeps its id, so citations stay valid; new concerns get the
    /// next numbers.
    pub fn from_results(position: &SeatResult<'a>) -> Self {
        let seat = position.seat;
        let first = position
            .first
            .judgement()
            .map(|judgement| NumberedConcern::from_first_round(seat, judgement));
        let mut open = first.unwrap_or_default();
        let Some(second) = position.second.judgement() else {
            return Self { kept: open, dropped: Vec::new() };
        };
        let mut unused = open.len() + 1..;
        let mut kept = Vec::new();
        for concern in &second.concerns {
            let same = open.iter().position(|known| is_same_concern(known.concern, concern));
            let number = same.map(|place| open.remove(place).number).or_else(|| unused.next());
            kept.extend(number.map(|number| NumberedConcern::new(seat, number, concern)));
        }
        Self { kept, dropped: open }
    }
}

/// Whether two concerns quote the same text or state the same issue.
fn is_same_concern(one: &ReviewConcern, other: &ReviewConcern) -> bool {
    let plain = |text: &str| text.trim().to_lowercase();
    let same = |one: &str, other: &str| !one.trim().is_empty() && plain(one) == plain(other);
    same(&one.locus, &other.locus) || same(&one.issue, &other.issue)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_cited_as_a_word_of_its_own() {
        for text in ["skeptic-1", "Yes: (Skeptic-1) is right.", "see skeptic_1, skeptic-12"] {
            assert!(names_concern(text, "skeptic-1"), "{text}");
        }
        for text in ["", "skeptic-12", "askeptic-1", "skeptic", "skeptic 1"] {
            assert!(!names_concern(text, "skeptic-1"), "{text}");
        }
        assert!(names_concern("voice-identity-2 convinced me", "voice_identity-2"));
    }
}
