//! The asks of a round that are still to be sent.

use crate::model::ask::{Ask, AskPurpose, AskState};
use crate::model::ids::ExpertSlug;
use crate::model::intervention::{Intervention, InterventionEntry};
use crate::model::run_state::{BudgetShortage, ParseOutcome, RunState, RunStopReason};
use crate::protocols::protocol::Step;

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
    state: &RunState,
    round: u8,
    purpose: AskPurpose,
    retry: RetryRule,
    seats: impl IntoIterator<Item = &'a ExpertSlug>,
) -> Option<Step> {
    let (mut asks, mut shortage) = (Vec::new(), None);
    let mut id = state.next_ask_id();
    for seat in seats {
        let stricter = match seat_state(state.last_ask_for(round, seat, purpose), retry) {
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

/// How much of the interventions an ask may see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InterventionScope {
    /// What the Principal said to all, and to this seat alone.
    OwnAndPublic,
    /// What the Principal said to all. The conclusion is for all readers, so nothing that was said
    /// to one seat belongs in it.
    Public,
}

/// The interventions that an ask includes, oldest first: those that existed when it was prepared,
/// or all so far if it is not prepared yet. An ask that must see none does not call this.
pub fn visible_interventions<'a>(
    state: &'a RunState,
    ask: &Ask,
    hearing: InterventionScope,
) -> Vec<&'a InterventionEntry> {
    let all = &state.interventions;
    let known = state.find_ask(ask.id).map_or(all.len(), |asked| asked.interventions);
    all.iter().take(known).filter(|noted| is_visible_to(noted, ask, hearing)).collect()
}

fn is_visible_to(noted: &InterventionEntry, ask: &Ask, hearing: InterventionScope) -> bool {
    match &noted.intervention {
        Intervention::Whisper { to: Some(seat), .. } => {
            hearing == InterventionScope::OwnAndPublic && *seat == ask.seat
        }
        Intervention::Whisper { to: None, .. } => true,
        // All seats receive it at once, so it applies from the next round on.
        Intervention::Directive { confirmed, .. } => *confirmed && noted.round < ask.round,
        Intervention::Stop => false,
    }
}
