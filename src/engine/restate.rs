//! Asks the chair's model what it understands a directive to mean.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::connections::Connections;
use super::purse::{Purse, worst};
use super::pursue::reply;
use crate::domain::ask::{ErrorType, Finish, Purpose};
use crate::domain::intervention::Restatement;
use crate::domain::transcript::Transcript;
use crate::normalise;
use crate::prompting::conclusion::restatement;
use crate::providers::{CallError, Request};

/// One sentence, from the first of the chair's transports that answers with one. What it
/// costs is held against the run's budget; the call is not made where that does not cover it.
pub async fn restate(
    transcript: &Transcript,
    connections: &Connections,
    text: &str,
) -> Result<Restatement, CallError> {
    let plan = &transcript.plan;
    let unknown = |message: &str| CallError::new(ErrorType::Unknown, message);
    let chair = plan.chairs.first().and_then(|name| plan.seat(name));
    let seat = chair.ok_or_else(|| unknown("there is no chair"))?;
    let messages = Arc::new(restatement(&plan.secret, transcript.question(), text));
    let purse = Purse::after(plan.caps, transcript);
    purse
        .reserve(worst(seat, &messages))
        .map_err(|shortage| unknown(&format!("what is left of {shortage} does not cover it")))?;
    let time = Duration::from_millis(plan.timeout_ms(seat, Purpose::Restatement));
    let request = Request {
        seat: seat.name.clone(),
        round: 0,
        purpose: Purpose::Restatement,
        messages,
        schema: None,
        time_left: time,
    };
    let mut last = unknown("nothing leads to the chair");
    for transport in connections.of(&seat.name) {
        let start = Instant::now();
        let sent = tokio::time::timeout(time, transport.send(&request)).await;
        let received = match sent {
            Ok(Ok(received)) => received,
            Ok(Err(error)) => {
                last = error;
                continue;
            }
            Err(_) => {
                let message = format!("no answer within {} s", time.as_secs());
                last = CallError::new(ErrorType::Timeout, message);
                continue;
            }
        };
        let latency_ms = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
        let reply = reply(seat, received, latency_ms);
        match normalise::restatement(&reply.text) {
            Ok(_) if reply.finish == Finish::Length => {
                last = CallError::new(ErrorType::ParseError, "the reply was cut off");
            }
            Ok(read) => {
                return Ok(Restatement { seat: seat.name.clone(), sentence: read.document, reply });
            }
            Err(unreadable) => last = CallError::new(ErrorType::ParseError, unreadable.reason),
        }
    }
    Err(last)
}
