//! Where the calls of an ask continue that has calls on record: at which transport, at which attempt,
//! and in place of which lost call.

use plenary_core::model::ask::{Ask, AskState, CallDispatch, CallOutcome, TransportFallback};
use plenary_core::model::run_state::RunState;

use crate::providers::retry::{ATTEMPTS_MAX, is_transient};
use crate::providers::transport::Transport;

/// The transport, the attempt and the fallback with which an interrupted ask continues.
pub(crate) fn resume_position(
    asked: &AskState,
    transports: &[Transport],
) -> Option<(usize, u8, Option<TransportFallback>)> {
    let call = asked.calls.last()?;
    let CallDispatch { transport: kind, attempt, fallback, .. } = &call.dispatch;
    let place = transports.iter().position(|transport| transport.kind() == *kind).unwrap_or(0);
    Some(match &call.outcome {
        CallOutcome::Failed(failure, _) => {
            let may_pass = *attempt < ATTEMPTS_MAX && is_transient(failure.error_type);
            if may_pass || place + 1 >= transports.len() {
                return Some((place, attempt.saturating_add(1), fallback.clone()));
            }
            let fallback = TransportFallback { from: *kind, reason: failure.message.clone() };
            (place + 1, 1, Some(fallback))
        }
        // A lost call is repeated as it was.
        CallOutcome::InFlight | CallOutcome::Lost | CallOutcome::Replied(..) => {
            (place, *attempt, fallback.clone())
        }
    })
}

/// The transport of the seat's last reply, if it was not the first one, and why.
pub(crate) fn last_working_transport(
    state: &RunState,
    ask: &Ask,
    transports: &[Transport],
) -> (usize, Option<TransportFallback>) {
    let of_seat = state.asks.iter().filter(|asked| asked.ask.seat == ask.seat);
    let last = of_seat
        .flat_map(|asked| &asked.calls)
        .rfind(|call| matches!(call.outcome, CallOutcome::Replied(..)));
    let Some(CallDispatch { transport, fallback: Some(fallback), .. }) =
        last.map(|call| &call.dispatch)
    else {
        return (0, None);
    };
    let place = transports.iter().position(|known| known.kind() == *transport);
    place.map_or((0, None), |place| (place, Some(fallback.clone())))
}

/// The call of this ask that was in flight when the last process died.
pub(crate) fn lost_call(asked: &AskState) -> Option<u32> {
    let last = asked.calls.last()?;
    (last.outcome == CallOutcome::Lost).then_some(last.dispatch.call)
}
