//! The judgements of each deliberator in both rounds, and their count by the policy.

use super::numbering::Numbered;
use crate::domain::gate::{Adjudication, Arithmetic, Judgement};
use crate::domain::ids::ExpertSlug;
use crate::domain::transcript::{Document, Transcript};
use crate::protocols::council::{ProviderFailure, failures};

/// The two rounds of a review and its adjudication.
pub const FIRST: u8 = 1;
pub const SECOND: u8 = 2;
pub const ADJUDICATION: u8 = 3;

/// The two rounds of one deliberator.
#[derive(Debug, Clone)]
pub struct Position<'a> {
    pub seat: &'a ExpertSlug,
    pub first: Part<'a>,
    pub second: Part<'a>,
    pub(super) is_second_begun: bool,
}

/// The result of one deliberator in one round.
#[derive(Debug, Clone)]
pub enum Part<'a> {
    /// Not asked, or no answer yet.
    Open,
    Held(&'a Judgement),
    Absent(ProviderFailure),
}

impl<'a> Part<'a> {
    pub fn held(&self) -> Option<&'a Judgement> {
        match self {
            Self::Held(judgement) => Some(judgement),
            Self::Open | Self::Absent(_) => None,
        }
    }
}

impl<'a> Position<'a> {
    /// The judgement that counts: the second, else the first.
    pub fn held(&self) -> Option<&'a Judgement> {
        self.second.held().or(self.first.held())
    }

    /// Whether the first judgement counts because the second round gave none.
    pub fn is_fallback(&self) -> bool {
        self.is_second_begun && self.second.held().is_none() && self.first.held().is_some()
    }

    /// Whether the verdict or the block changed between the rounds. A block that became irreducible
    /// counts as changed, because it may decide alone.
    pub fn is_changed(&self) -> bool {
        let (Some(before), Some(after)) = (self.first.held(), self.second.held()) else {
            return false;
        };
        (before.verdict, before.block()) != (after.verdict, after.block())
    }

    /// Whether the deliberator changed its judgement without citing a concern of another.
    pub fn is_uncited(&self, all: &[Position<'_>]) -> bool {
        self.is_changed() && self.cites(all).is_empty()
    }

    /// The concerns of others that it cites in the second round, with their ids.
    pub fn cites<'b>(&self, all: &[Position<'b>]) -> Vec<Numbered<'b>> {
        let Some(after) = self.second.held() else { return Vec::new() };
        let peers = all.iter().filter(|peer| peer.seat != self.seat);
        let held = peers.filter_map(|peer| Some((peer.seat, peer.first.held()?)));
        let concerns = held.flat_map(|(seat, judgement)| Numbered::of_first(seat, judgement));
        concerns.filter(|one| is_cited(after, &one.id)).collect()
    }
}

/// The results of all deliberators, in the order of the plan; empty for a council.
pub fn positions(transcript: &Transcript) -> Vec<Position<'_>> {
    let Some(gate) = transcript.gate() else { return Vec::new() };
    let absent = [FIRST, SECOND].map(|round| failures(transcript, round));
    let [absent_first, absent_second] = &absent;
    let is_second_begun = transcript.asks_of(SECOND).next().is_some();
    let seats = gate.deliberators.iter().map(|deliberator| &deliberator.seat);
    seats
        .map(|seat| Position {
            seat,
            first: part(transcript, FIRST, seat, absent_first),
            second: part(transcript, SECOND, seat, absent_second),
            is_second_begun,
        })
        .collect()
}

fn part<'a>(
    transcript: &'a Transcript,
    round: u8,
    seat: &ExpertSlug,
    absent: &[ProviderFailure],
) -> Part<'a> {
    let document = transcript.last_ask(round, seat).and_then(|asked| asked.document());
    if let Some(Document::Judgement(judgement)) = document {
        return Part::Held(judgement);
    }
    let failure = absent.iter().find(|failure| failure.provider == *seat);
    failure.map_or(Part::Open, |failure| Part::Absent(failure.clone()))
}

/// The count of the judgements by the policy.
pub fn arithmetic(transcript: &Transcript) -> Option<Arithmetic> {
    let policy = transcript.gate()?.policy;
    Some(policy.count(positions(transcript).iter().filter_map(Position::held)))
}

/// The count while the review has no outcome; it decides nothing.
pub fn undecided(transcript: &Transcript) -> Option<Arithmetic> {
    Some(Arithmetic { computed: None, ..arithmetic(transcript)? })
}

/// The adjudicator's reply, once it is parsed.
pub fn adjudication(transcript: &Transcript) -> Option<&Adjudication> {
    let seat = &transcript.gate()?.adjudicator;
    let Document::Adjudication(word) = transcript.last_ask(ADJUDICATION, seat)?.document()? else {
        return None;
    };
    Some(word)
}

fn is_cited(judgement: &Judgement, id: &str) -> bool {
    let lists = judgement.concessions.iter().chain(&judgement.escalations);
    lists.chain([&judgement.delta_from_r1]).any(|text| names(text, id))
}

/// Whether the text contains the id as a whole word: `skeptic-1` is not in `skeptic-12`. Models
/// often write a hyphen for an underscore.
fn names(text: &str, id: &str) -> bool {
    let plain = |text: &str| text.to_ascii_lowercase().replace('_', "-");
    let (text, id) = (plain(text), plain(id));
    let parts: Vec<&str> = text.split(id.as_str()).collect();
    parts.windows(2).any(|pair| {
        let [before, after] = pair else { return false };
        let is_part = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
        !is_part(before.chars().next_back()) && !is_part(after.chars().next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_cited_as_a_word_of_its_own() {
        for text in ["skeptic-1", "Yes: (Skeptic-1) is right.", "see skeptic_1, skeptic-12"] {
            assert!(names(text, "skeptic-1"), "{text}");
        }
        for text in ["", "skeptic-12", "askeptic-1", "skeptic", "skeptic 1"] {
            assert!(!names(text, "skeptic-1"), "{text}");
        }
        assert!(names("voice-identity-2 convinced me", "voice_identity-2"));
    }
}
