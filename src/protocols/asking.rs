//! The asks of a round that are still to be sent.

use super::step::Step;
use crate::domain::ask::{Ask, AskPurpose};
use crate::domain::ids::ExpertSlug;
use crate::domain::transcript::{AskState, BudgetShortage, ParseOutcome, RunState, RunStopReason};

/// The state of one seat in a round.
enum SeatState<'a> {
    Unasked,
    Open(&'a AskState),
    /// The reply could not be parsed, for this reason; the seat gets one stricter ask.
    AskStricter(String),
    /// The budget did not cover the call.
    Unpaid(BudgetShortage),
    Settled,
}

/// Which unusable replies are asked for again, once and more strictly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryRule {
    /// Those that could not be parsed. A seat that refuses is one of several and not pressed.
    Unparsed,
    /// Refusals, too: the run cannot continue without this seat.
    All,
}

/// Asks the seats of a round that have neither an answer nor a final failure; none if all have.
pub fn pending_asks<'a>(
    transcript: &RunState,
    round: u8,
    purpose: AskPurpose,
    retry: RetryRule,
    seats: impl IntoIterator<Item = &'a ExpertSlug>,
) -> Option<Step> {
    let (mut asks, mut shortage) = (Vec::new(), None);
    let mut id = transcript.next_ask_id();
    for seat in seats {
        let stricter = match seat_state(transcript.last_ask(round, seat), retry) {
            SeatState::Settled => continue,
            SeatState::Unpaid(of) => {
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
        asks.push(Ask { id, round, seat: seat.clone(), purpose, retry_reason: stricter });
        id += 1;
    }
    match (asks.is_empty(), shortage) {
        (false, _) => Some(Step::Ask(asks)),
        (true, Some(shortage)) => Some(Step::Stop(RunStopReason::Budget { shortage })),
        (true, None) => None,
    }
}

fn seat_state(last: Option<&AskState>, retry: RetryRule) -> SeatState<'_> {
    let Some(asked) = last else { return SeatState::Unasked };
    match &asked.parse_outcome {
        Some(ParseOutcome::Parsed { .. }) => return SeatState::Settled,
        Some(ParseOutcome::Unreadable { reason, refusal })
            if may_ask_again(asked, *refusal, retry) =>
        {
            return SeatState::AskStricter(reason.clone());
        }
        Some(ParseOutcome::Unreadable { .. }) => return SeatState::Settled,
        None => {}
    }
    match asked.not_sent {
        _ if asked.gave_up => SeatState::Settled,
        Some(shortage) => SeatState::Unpaid(shortage),
        None => SeatState::Open(asked),
    }
}

fn may_ask_again(asked: &AskState, refusal: bool, retry: RetryRule) -> bool {
    asked.ask.retry_reason.is_none() && (retry == RetryRule::All || !refusal)
}
