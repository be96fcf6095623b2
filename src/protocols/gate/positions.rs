//! What each deliberator held in either round, and what follows from all of them together.

use super::numbering::Numbered;
use crate::domain::gate::{Adjudication, Arithmetic, Judgement};
use crate::domain::ids::ExpertSlug;
use crate::domain::transcript::{Document, Transcript};
use crate::protocols::council::{ProviderFailure, failures};

/// The rounds of a review, and the one in which it is decided.
pub const FIRST: u8 = 1;
pub const SECOND: u8 = 2;
pub const ADJUDICATION: u8 = 3;

/// Where one deliberator stands.
#[derive(Debug, Clone)]
pub struct Position<'a> {
    pub seat: &'a ExpertSlug,
    pub first: Part<'a>,
    pub second: Part<'a>,
    pub(super) is_second_begun: bool,
}

/// A deliberator's part in a round.
#[derive(Debug, Clone)]
pub enum Part<'a> {
    /// Not asked, or not answered yet.
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
    /// What counts: the second judgement, and the first where there is no other.
    pub fn held(&self) -> Option<&'a Judgement> {
        self.second.held().or(self.first.held())
    }

    /// The second round has begun without a judgement of its own, and the first stands in.
    pub fn is_fallback(&self) -> bool {
        self.is_second_begun && self.second.held().is_none() && self.first.held().is_some()
    }

    /// Whether the verdict or the block changed between the rounds. A block that became
    /// irreducible is another: it may decide alone.
    pub fn is_changed(&self) -> bool {
        let (Some(before), Some(after)) = (self.first.held(), self.second.held()) else {
            return false;
        };
        (before.verdict, before.block()) != (after.verdict, after.block())
    }

    /// It changed its mind, and names no concern of anybody else for it.
    pub fn is_uncited(&self, all: &[Position<'_>]) -> bool {
        self.is_changed() && self.cites(all).is_empty()
    }

    /// The concerns of others that it names in the second round, and what it calls them.
    pub fn cites<'b>(&self, all: &[Position<'b>]) -> Vec<Numbered<'b>> {
        let Some(after) = self.second.held() else { return Vec::new() };
        let peers = all.iter().filter(|peer| peer.seat != self.seat);
        let held = peers.filter_map(|peer| Some((peer.seat, peer.first.held()?)));
        let concerns = held.flat_map(|(seat, judgement)| Numbered::of_first(seat, judgement));
        concerns.filter(|one| is_cited(after, &one.id)).collect()
    }
}

/// The positions of all deliberators, in the order of the plan; of a council, none.
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

/// What those who are present hold, counted by the policy.
pub fn arithmetic(transcript: &Transcript) -> Option<Arithmetic> {
    let policy = transcript.gate()?.policy;
    Some(policy.count(positions(transcript).iter().filter_map(Position::held)))
}

/// The counts while nothing is decided: nothing follows from them yet.
pub fn undecided(transcript: &Transcript) -> Option<Arithmetic> {
    Some(Arithmetic { computed: None, ..arithmetic(transcript)? })
}

/// The adjudicator's word, once it could be read.
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

/// Whether the text has the id in it as a word: `skeptic-1` is not in `skeptic-12`. Models take
/// a hyphen for an underscore.
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
