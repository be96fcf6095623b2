//! The parsed answers and the failures of each round.

use serde::Serialize;

use crate::domain::ask::ErrorType;
use crate::domain::council::opinion::Opinion;
use crate::domain::council::review::Review;
use crate::domain::council::tally::Tally;
use crate::domain::ids::ExpertSlug;
use crate::domain::transcript::{Asked, CallOutcome, Document, Reading, Transcript};

/// The rounds of a council. Later round numbers belong to the conclusion.
pub const ROUNDS: [u8; 3] = [1, 2, 3];

/// A parsed answer of a seat, with its ask.
#[derive(Debug, Clone, Copy)]
pub struct Voice<'a, T> {
    pub seat: &'a ExpertSlug,
    pub said: &'a T,
    pub asked: &'a Asked,
}

/// The opinions of the first round, in the order of the panel.
pub fn opinions(transcript: &Transcript) -> Vec<Voice<'_, Opinion>> {
    let seats = transcript.plan.participants();
    let heard = seats.filter_map(|seat| {
        let asked = transcript.last_ask(1, &seat.name)?;
        let Document::Opinion(said) = asked.document()? else { return None };
        Some(Voice { seat: &seat.name, said: said.as_ref(), asked })
    });
    heard.collect()
}

/// The peer reviews of the second round, in the order of the panel.
pub fn reviews(transcript: &Transcript) -> Vec<Voice<'_, Review>> {
    let seats = transcript.plan.participants();
    let heard = seats.filter_map(|seat| {
        let asked = transcript.last_ask(2, &seat.name)?;
        let Document::Review(said) = asked.document()? else { return None };
        Some(Voice { seat: &seat.name, said: said.as_ref(), asked })
    });
    heard.collect()
}

/// Counts the rounds with enough answers. A failed chair does not complete the third.
pub fn rounds_completed(transcript: &Transcript) -> u8 {
    let is_completed = |round: &u8| {
        let is_heard = !transcript.heard_in(*round).is_empty();
        is_heard && (*round == 3 || transcript.is_held(*round))
    };
    u8::try_from(ROUNDS.iter().filter(|round| is_completed(round)).count()).unwrap_or(3)
}

/// Counts the stances of the first round.
pub fn tally(transcript: &Transcript) -> Tally {
    Tally::of(opinions(transcript).iter().map(|voice| voice.said.stance))
}

/// A seat that was asked and gave no usable answer, in the seed's shape.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProviderFailure {
    pub provider: ExpertSlug,
    pub round: String,
    pub error_type: ErrorType,
    pub error_message: String,
    pub retried: bool,
    pub fallback_used: bool,
}

/// The seats that failed in a round; the engine tries none of them again.
pub fn failures(transcript: &Transcript, round: u8) -> Vec<ProviderFailure> {
    let mut seats: Vec<&ExpertSlug> = Vec::new();
    for asked in transcript.asks_of(round) {
        if !seats.contains(&&asked.ask.seat) {
            seats.push(&asked.ask.seat);
        }
    }
    let failed = seats.into_iter().filter_map(|seat| {
        let last = transcript.last_ask(round, seat)?;
        failure(last, transcript.asks_of(round).filter(|asked| asked.ask.seat == *seat))
    });
    failed.collect()
}

fn failure<'a>(last: &Asked, all: impl Iterator<Item = &'a Asked>) -> Option<ProviderFailure> {
    let (error_type, error_message) = match &last.reading {
        Some(Reading::Read { .. }) => return None,
        Some(Reading::Unreadable { reason, refusal: true }) => (ErrorType::Refused, reason.clone()),
        Some(Reading::Unreadable { reason, refusal: false }) => {
            (ErrorType::ParseError, reason.clone())
        }
        None => {
            let (failure, _) = last.failure().filter(|_| last.gave_up)?;
            (failure.error_type, failure.message.clone())
        }
    };
    let asks: Vec<&Asked> = all.filter(|asked| !asked.retired).collect();
    let calls = || asks.iter().flat_map(|asked| &asked.calls);
    let answered = calls().filter(|call| call.outcome != CallOutcome::Lost);
    Some(ProviderFailure {
        provider: last.ask.seat.clone(),
        round: format!("R{}", last.ask.round),
        error_type,
        error_message,
        retried: answered.count() > 1,
        fallback_used: calls().any(|call| call.sending.fallback.is_some()),
    })
}
