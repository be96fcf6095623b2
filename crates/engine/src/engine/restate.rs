//! Asks the chair's model to restate a directive.

use std::sync::Arc;
use std::time::{Duration, Instant};

use plenary_core::model::ask::{AskPurpose, CallErrorType, FinishReason};
use plenary_core::model::intervention::DirectiveRestatement;
use plenary_core::model::plan::{Seat, TimeLimit};
use plenary_core::model::run_state::RunState;
use plenary_core::parsing::plain_text::parse_restatement;
use plenary_core::prompting::messages::restatement_messages;

use crate::engine::budget::{Budget, worst_cost};
use crate::engine::call::build_reply;
use crate::engine::daily_budget::DailyBudget;
use crate::engine::run_start::SeatTransports;
use crate::providers::transport::{CallError, CallRequest};

/// One sentence, from the first of the chair's transports that gives one. The cost is reserved in
/// the budget of the run and in the servers' daily budget; without both the call is not made.
pub async fn restate_directive(
    transcript: &RunState,
    connections: &SeatTransports,
    text: &str,
    daily_budget: Option<&DailyBudget>,
) -> Result<DirectiveRestatement, CallError> {
    let plan = &transcript.plan;
    let unknown = |message: &str| CallError::new(CallErrorType::Unknown, message);
    let chair = plan.chairs.first().and_then(|name| plan.find_seat(name));
    let seat = chair.ok_or_else(|| unknown("there is no chair"))?;
    let messages = Arc::new(restatement_messages(&plan.secret, transcript.question(), text));
    let budget = Budget::for_resumed_run(plan.caps, transcript);
    let worst = worst_cost(seat, &messages);
    let not_covered = |shortage| unknown(&format!("what is left of {shortage} does not cover it"));
    budget.reserve(worst).map_err(not_covered)?;
    if let Some(daily) = daily_budget {
        daily.reserve_restatement(worst).map_err(not_covered)?;
    }
    let time = Duration::from_millis(plan.timeout_ms(seat, TimeLimit::Chair));
    let request = CallRequest {
        seat: seat.name.clone(),
        round: 0,
        purpose: AskPurpose::Restatement,
        messages,
        schema: None,
        time_left: time,
    };
    let restated = try_transports(seat, connections, &request, time).await;
    // The journal records the cost of a parsed restatement; only this budget counts another.
    let is_counted = match &restated {
        Ok(_) => true,
        Err(failed) => !failed.may_be_billed,
    };
    if let Some(daily) = daily_budget.filter(|_| is_counted) {
        daily.release_restatement(worst);
    }
    restated.map_err(|failed| failed.error)
}

/// Why there is no restatement, and whether the call may be billed.
struct RestatementError {
    error: CallError,
    may_be_billed: bool,
}

/// Tries each of the chair's transports until one gives a sentence.
async fn try_transports(
    seat: &Seat,
    connections: &SeatTransports,
    request: &CallRequest,
    time: Duration,
) -> Result<DirectiveRestatement, RestatementError> {
    let mut last = CallError::new(CallErrorType::Unknown, "nothing leads to the chair");
    let mut may_be_billed = false;
    for transport in connections.for_seat(&seat.name) {
        let start = Instant::now();
        let sent = tokio::time::timeout(time, transport.send(request)).await;
        let received = match sent {
            Ok(Ok(received)) => received,
            Ok(Err(error)) => {
                may_be_billed |= !error.error_type.is_unbilled();
                last = error;
                continue;
            }
            Err(_) => {
                let message = format!("no answer within {} s", time.as_secs());
                last = CallError::new(CallErrorType::Timeout, message);
                may_be_billed = true;
                continue;
            }
        };
        may_be_billed = true;
        let latency_ms = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
        let reply = build_reply(seat, received, latency_ms);
        match parse_restatement(&reply.text) {
            Ok(_) if reply.finish == FinishReason::Length => {
                last = CallError::new(CallErrorType::ParseError, "the reply was cut off");
            }
            Ok(read) => {
                return Ok(DirectiveRestatement {
                    seat: seat.name.clone(),
                    sentence: read.document,
                    reply,
                });
            }
            Err(unreadable) => last = CallError::new(CallErrorType::ParseError, unreadable.reason),
        }
    }
    Err(RestatementError { error: last, may_be_billed })
}
