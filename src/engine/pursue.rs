//! One ask, pursued until it is answered, given up, or cannot be paid for.
//!
//! Each call is reserved, then journalled, then sent; whatever comes of it is
//! journalled before anything else happens. A seat's failure is an entry, not an
//! error of the run.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::deliberation::Deliberation;
use super::purse::{self, actual, price_of};
use super::reading::letters;
use crate::domain::ask::{
    Ask, Cost, CostSource, ErrorType, Failure, Fallback, Reply, Reservation, Sending,
};
use crate::domain::change::{Change, EntryKind};
use crate::domain::plan::Seat;
use crate::domain::transcript::{Asked, Outcome, Shortage, Transcript};
use crate::error::Error;
use crate::normalise;
use crate::prompting::council::prepare;
use crate::providers::{CallError, Received, Request, Transport, retry};

/// Where the pursuit of an ask stands.
struct Course {
    seat: Seat,
    request: Request,
    deadline: Instant,
    /// Which of the seat's transports, and which attempt on it, from 1.
    place: usize,
    attempt: u8,
    fallback: Option<Fallback>,
    repeats: Option<u32>,
}

/// What follows a failed call.
enum Onward {
    Again(Duration),
    Elsewhere,
    GiveUp,
}

impl Deliberation {
    pub(super) async fn pursue(&self, ask: &Ask) -> Result<(), Error> {
        let course = Course::of(&self.transcript(), ask, self.connections.of(&ask.seat));
        let Some(mut course) = course else { return Ok(()) };
        loop {
            let Some(transport) = self.connections.of(&ask.seat).get(course.place) else {
                return Ok(());
            };
            let reserved = purse::worst(&course.seat, &course.request.messages);
            if let Err(shortage) = self.reserve(reserved) {
                let change = Change::AskNotSent { ask: ask.id, shortage };
                return self.note(EntryKind::AskNotSent, vec![change]).await;
            }
            let sending = course.sending(self.next_call(), ask, transport, reserved);
            let call = sending.call;
            self.note(EntryKind::CallSent, vec![Change::CallSent(sending)]).await?;
            match course.send(transport).await {
                Ok((received, latency_ms)) => {
                    let reply = reply(&course.seat, received, latency_ms);
                    let actual = actual(reserved, reply.usage, reply.cost);
                    // More than was set aside counts at once. What is left over is free when the
                    // journal says so: it shows at every moment what could be spent.
                    let at_most = reserved.or_more(actual);
                    self.settle(reserved, at_most);
                    let change = Change::ReplyKept { call, reply };
                    self.note(EntryKind::ReplyKept, vec![change]).await?;
                    self.settle(at_most, actual);
                    self.read(ask);
                    return Ok(());
                }
                Err((error, latency_ms)) => {
                    let onward = course.onward(
                        &error,
                        self.connections.of(&ask.seat).len(),
                        self.ambient.chance(),
                    );
                    let failure = Failure {
                        error_type: error.error_type,
                        message: error.message.clone(),
                        latency_ms,
                    };
                    let gave_up = matches!(onward, Onward::GiveUp);
                    let change = Change::CallFailed { call, failure, gave_up };
                    self.note(EntryKind::CallFailed, vec![change]).await?;
                    if error.error_type.is_unbilled() {
                        self.settle(reserved, Reservation::default());
                    }
                    match onward {
                        Onward::GiveUp => return Ok(()),
                        Onward::Again(wait) => {
                            tokio::time::sleep(wait).await;
                            course.attempt += 1;
                        }
                        Onward::Elsewhere => course.turn_elsewhere(transport, &error),
                    }
                    course.repeats = None;
                }
            }
        }
    }

    /// Out of the run's own purse, and out of the batch's.
    fn reserve(&self, worst: Reservation) -> Result<(), Shortage> {
        self.purse.reserve(worst)?;
        let Some(common) = &self.common_purse else { return Ok(()) };
        common.reserve(worst).inspect_err(|_| self.purse.give_back(worst))
    }

    fn settle(&self, reserved: Reservation, actual: Reservation) {
        self.purse.settle(reserved, actual);
        if let Some(common) = &self.common_purse {
            common.settle(reserved, actual);
        }
    }
}

impl Course {
    /// A fresh ask begins at the beginning; one that a dead run left behind goes on from
    /// what was recorded of it.
    fn of(transcript: &Transcript, ask: &Ask, transports: &[Transport]) -> Option<Self> {
        let asked = transcript.asked(ask.id)?;
        let seat = transcript.plan.seat(&ask.seat)?.clone();
        // Where prompts are not kept they are written anew: the same transcript, the same words.
        let anew = || Arc::new(prepare(transcript, ask).messages);
        let messages = asked.messages.clone().unwrap_or_else(anew);
        let time = Duration::from_millis(transcript.plan.timeout_ms(&seat, ask.purpose));
        let (place, attempt, fallback) = resumed(asked, transports);
        let letters = letters(transcript, ask);
        let schema = normalise::schema(ask.purpose, transcript.plan.mode, &letters);
        let request = Request {
            seat: ask.seat.clone(),
            round: ask.round,
            purpose: ask.purpose,
            messages,
            schema: Some(schema),
            time_left: time,
        };
        let deadline = Instant::now() + time;
        Some(Self { seat, request, deadline, place, attempt, fallback, repeats: lost(asked) })
    }

    fn sending(
        &self,
        call: u32,
        ask: &Ask,
        transport: &Transport,
        reserved: Reservation,
    ) -> Sending {
        Sending {
            call,
            ask: ask.id,
            transport: transport.kind(),
            attempt: self.attempt,
            reserved,
            fallback: self.fallback.clone(),
            repeats: self.repeats,
        }
    }

    /// Makes the call, within what is left of the ask's time.
    async fn send(&mut self, transport: &Transport) -> Result<(Received, u64), (CallError, u64)> {
        let start = Instant::now();
        self.request.time_left = self.deadline.saturating_duration_since(start);
        let sent = tokio::time::timeout_at(self.deadline, transport.send(&self.request)).await;
        let latency_ms = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
        match sent {
            Ok(Ok(received)) => Ok((received, latency_ms)),
            Ok(Err(error)) => Err((error, latency_ms)),
            Err(_) => {
                let message = format!("no answer within {latency_ms} ms");
                Err((CallError::new(ErrorType::Timeout, message), latency_ms))
            }
        }
    }

    fn onward(&self, error: &CallError, transports: usize, dice: u64) -> Onward {
        let time_left = self.deadline.saturating_duration_since(Instant::now());
        if let Some(wait) = retry::again(error, self.attempt, time_left, dice) {
            return Onward::Again(wait);
        }
        let may_turn = self.place + 1 < transports && !time_left.is_zero();
        if may_turn && retry::falls_back(error.error_type) {
            Onward::Elsewhere
        } else {
            Onward::GiveUp
        }
    }

    fn turn_elsewhere(&mut self, from: &Transport, error: &CallError) {
        self.fallback = Some(Fallback { from: from.kind(), reason: error.message.clone() });
        self.place += 1;
        self.attempt = 1;
    }
}

/// Where a pursuit that was cut short goes on: transport, attempt, and what it fell back from.
fn resumed(asked: &Asked, transports: &[Transport]) -> (usize, u8, Option<Fallback>) {
    let Some(call) = asked.calls.last() else { return (0, 1, None) };
    let Sending { transport: kind, attempt, fallback, .. } = &call.sending;
    let place = transports.iter().position(|transport| transport.kind() == *kind).unwrap_or(0);
    match &call.outcome {
        Outcome::Failed(failure, _) => {
            let may_pass = *attempt < retry::ATTEMPTS_MAX && retry::may_pass(failure.error_type);
            if may_pass || place + 1 >= transports.len() {
                return (place, attempt.saturating_add(1), fallback.clone());
            }
            let fallback = Fallback { from: *kind, reason: failure.message.clone() };
            (place + 1, 1, Some(fallback))
        }
        // What was lost is made again the way it was made.
        Outcome::InFlight | Outcome::Lost | Outcome::Replied(..) => {
            (place, *attempt, fallback.clone())
        }
    }
}

/// The call that was in flight when the last run died, if this ask had one.
fn lost(asked: &Asked) -> Option<u32> {
    let last = asked.calls.last()?;
    (last.outcome == Outcome::Lost).then_some(last.sending.call)
}

fn reply(seat: &Seat, received: Received, latency_ms: u64) -> Reply {
    let computed =
        seat.price.as_ref().zip(received.usage).map(|(price, usage)| price_of(price, usage));
    let reported = received.cost_usd.filter(|usd| usd.is_finite() && *usd >= 0.0);
    let cost = match (reported, computed) {
        (Some(usd), _) => {
            let usd_micros = Some((usd * 1e6).ceil() as u64);
            Cost { usd_micros, source: CostSource::Reported }
        }
        (None, Some(usd_micros)) => {
            Cost { usd_micros: Some(usd_micros), source: CostSource::Computed }
        }
        (None, None) => Cost { usd_micros: None, source: CostSource::Unknown },
    };
    Reply {
        text: received.text,
        usage: received.usage,
        model: received.model.filter(|model| *model != seat.model),
        finish: received.finish,
        cost,
        latency_ms,
        structured: received.structured,
    }
}
