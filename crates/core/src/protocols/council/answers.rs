//! The parsed answers and the failures of each round.

use serde::Serialize;

use crate::model::ask::{AskState, CallErrorType, CallOutcome};
use crate::model::hash::SeededRandom;
use crate::model::ids::ExpertSlug;
use crate::model::plan::Plan;
use crate::model::run_state::{ParseOutcome, ReplyDocument, RunState};
use crate::protocols::council::types::{OpinionReply, PeerReview, StanceTally};

/// The rounds of a council. Later round numbers belong to the conclusion.
pub const ROUNDS: [u8; 3] = [1, 2, 3];

/// A parsed answer of a seat, with its ask.
#[derive(Debug, Clone, Copy)]
pub struct SeatAnswer<'a, T> {
    pub seat: &'a ExpertSlug,
    pub content: &'a T,
    pub asked: &'a AskState,
}

/// The opinions of the first round, in the order of the panel.
pub fn list_opinions(state: &RunState) -> Vec<SeatAnswer<'_, OpinionReply>> {
    let seats = state.plan.participant_seats();
    let heard = seats.filter_map(|seat| {
        let asked = state.last_ask(1, &seat.name)?;
        let ReplyDocument::Opinion(content) = asked.parsed_document()? else { return None };
        Some(SeatAnswer { seat: &seat.name, content: content.as_ref(), asked })
    });
    heard.collect()
}

/// The peer reviews of the second round, in the order of the panel.
pub fn list_peer_reviews(state: &RunState) -> Vec<SeatAnswer<'_, PeerReview>> {
    let seats = state.plan.participant_seats();
    let heard = seats.filter_map(|seat| {
        let asked = state.last_ask(2, &seat.name)?;
        let ReplyDocument::PeerReview(content) = asked.parsed_document()? else { return None };
        Some(SeatAnswer { seat: &seat.name, content: content.as_ref(), asked })
    });
    heard.collect()
}

/// Counts the rounds with enough answers. A failed chair does not complete the third.
pub fn rounds_completed(state: &RunState) -> u8 {
    let is_completed = |round: &u8| {
        let is_heard = !state.seats_answered_in(*round).is_empty();
        is_heard && (*round == 3 || state.is_round_recorded(*round))
    };
    u8::try_from(ROUNDS.iter().filter(|round| is_completed(round)).count()).unwrap_or(3)
}

/// Counts the stances of the first round.
pub fn tally_stances(state: &RunState) -> StanceTally {
    StanceTally::from_stances(list_opinions(state).iter().map(|voice| voice.content.stance))
}

/// A seat that was asked and gave no usable answer, in the seed's shape.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProviderFailure {
    pub provider: ExpertSlug,
    pub round: String,
    pub error_type: CallErrorType,
    pub error_message: String,
    pub retried: bool,
    pub fallback_used: bool,
}

/// The seats that failed in a round; the engine tries none of them again.
pub fn list_failures(state: &RunState, round: u8) -> Vec<ProviderFailure> {
    let mut seats: Vec<&ExpertSlug> = Vec::new();
    for asked in state.asks_in_round(round) {
        if !seats.contains(&&asked.ask.seat) {
            seats.push(&asked.ask.seat);
        }
    }
    let failed = seats.into_iter().filter_map(|seat| {
        let last = state.last_ask(round, seat)?;
        seat_failure(last, state.asks_in_round(round).filter(|asked| asked.ask.seat == *seat))
    });
    failed.collect()
}

fn seat_failure<'a>(
    last: &AskState,
    all: impl Iterator<Item = &'a AskState>,
) -> Option<ProviderFailure> {
    let (error_type, error_message) = match &last.parse_outcome {
        Some(ParseOutcome::Parsed { .. }) => return None,
        Some(ParseOutcome::Unreadable { reason, refusal: true }) => {
            (CallErrorType::Refused, reason.clone())
        }
        Some(ParseOutcome::Unreadable { reason, refusal: false }) => {
            (CallErrorType::ParseError, reason.clone())
        }
        None => {
            let (failure, _) = last.last_failure().filter(|_| last.gave_up)?;
            (failure.error_type, failure.message.clone())
        }
    };
    let asks: Vec<&AskState> = all.filter(|asked| !asked.retired).collect();
    let calls = || asks.iter().flat_map(|asked| &asked.calls);
    let answered = calls().filter(|call| call.outcome != CallOutcome::Lost);
    Some(ProviderFailure {
        provider: last.ask.seat.clone(),
        round: format!("R{}", last.ask.round),
        error_type,
        error_message,
        retried: answered.count() > 1,
        fallback_used: calls().any(|call| call.dispatch.fallback.is_some()),
    })
}

/// Maps participants to letters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SeatLetters(Vec<(char, ExpertSlug)>);

impl SeatLetters {
    pub fn from_plan(plan: &Plan) -> Self {
        let mut seats: Vec<ExpertSlug> =
            plan.participant_seats().map(|seat| seat.name.clone()).collect();
        SeededRandom::from_secret(&plan.secret, "letters").shuffle_items(&mut seats);
        Self(('A'..='Z').zip(seats).collect())
    }

    pub fn letter_of(&self, seat: &ExpertSlug) -> Option<char> {
        self.0.iter().find(|(_, name)| name == seat).map(|(letter, _)| *letter)
    }

    /// The seat of a letter in a reply. A text of more than one letter, such as `A and B`, names no
    /// seat: neither may get what was said of both.
    pub fn seat_of(&self, letter: &str) -> Option<&ExpertSlug> {
        let mut letters = letter.chars();
        let letter = letters.next().filter(|_| letters.next().is_none())?;
        self.0.iter().find(|(known, _)| *known == letter).map(|(_, name)| name)
    }

    pub fn iter(&self) -> impl Iterator<Item = (char, &ExpertSlug)> {
        self.0.iter().map(|(letter, name)| (*letter, name))
    }

    /// All seats but the reader, in an order of its own for each reader.
    pub fn other_seats(&self, plan: &Plan, reader: &ExpertSlug) -> Vec<(char, &ExpertSlug)> {
        let mut others: Vec<_> = self.iter().filter(|(_, name)| *name != reader).collect();
        let purpose = format!("order for {reader}");
        SeededRandom::from_secret(&plan.secret, &purpose).shuffle_items(&mut others);
        others
    }
}
