//! Who of those that a round wants to hear still has something to say.

use super::step::Step;
use crate::domain::ask::{Ask, Purpose};
use crate::domain::ids::ExpertSlug;
use crate::domain::transcript::{Asked, Reading, Shortage, Stop, Transcript};

/// Where one seat's part in a round stands.
enum SeatState<'a> {
    Unasked,
    Open(&'a Asked),
    /// A reply that could not be read gets one stricter ask.
    AskStricter(String),
    Starved(Shortage),
    Settled,
}

/// Asks those who still have something to say in a round; nothing, when all is settled.
pub(super) fn ask<'a>(
    transcript: &Transcript,
    round: u8,
    purpose: Purpose,
    seats: impl Iterator<Item = &'a ExpertSlug>,
) -> Option<Step> {
    let (mut asks, mut shortage) = (Vec::new(), None);
    let mut id = transcript.next_ask_id();
    for seat in seats {
        let stricter = match state_of(transcript.last_ask(round, seat)) {
            SeatState::Settled => continue,
            SeatState::Starved(of) => {
                shortage = Some(of);
                continue;
            }
            SeatState::Open(asked) => {
                asks.push(asked.ask.clone());
                continue;
            }
            SeatState::Unasked => None,
            SeatState::AskStricter(reason) => Some(reason),
        };
        asks.push(Ask { id, round, seat: seat.clone(), purpose, stricter });
        id += 1;
    }
    match (asks.is_empty(), shortage) {
        (false, _) => Some(Step::Ask(asks)),
        (true, Some(shortage)) => Some(Step::Stop(Stop::Budget { shortage })),
        (true, None) => None,
    }
}

fn state_of(last: Option<&Asked>) -> SeatState<'_> {
    let Some(asked) = last else { return SeatState::Unasked };
    match &asked.reading {
        Some(Reading::Read { .. }) => return SeatState::Settled,
        Some(Reading::Unreadable { reason, refusal }) if may_ask_again(asked, *refusal) => {
            return SeatState::AskStricter(reason.clone());
        }
        Some(Reading::Unreadable { .. }) => return SeatState::Settled,
        None => {}
    }
    match asked.not_sent {
        _ if asked.gave_up => SeatState::Settled,
        Some(shortage) => SeatState::Starved(shortage),
        None => SeatState::Open(asked),
    }
}

/// A reply that could not be read gets one stricter ask. In a round nobody is pressed who
/// refused to answer; the ending has one seat for each part, and does not go on without it.
fn may_ask_again(asked: &Asked, refusal: bool) -> bool {
    let is_ending = match asked.ask.purpose {
        Purpose::Conclusion | Purpose::Audit | Purpose::Revision | Purpose::Adjudication => true,
        Purpose::Opinion
        | Purpose::Review
        | Purpose::Synthesis
        | Purpose::Restatement
        | Purpose::Judgement
        | Purpose::CrossReading => false,
    };
    asked.ask.stricter.is_none() && (is_ending || !refusal)
}
