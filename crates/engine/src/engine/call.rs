//! Drives one ask until it has a reply, fails for good or exceeds the budget.
//!
//! The engine reserves the cost of a call, journals it, sends it, and journals the result before it
//! does anything else. A failed seat is an entry, not an error of the run.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use plenary_core::dialogue::diagnostics::dialogue_not_found;
use plenary_core::model::ask::{
    Ask, AskMessages, AskState, BudgetReservation, CallCost, CallDispatch, CallErrorType,
    CallFailure, CostSource, ModelReply, PartialReply, SharedBlock, TransportFallback,
};
use plenary_core::model::journal::{JournalEntryKind, JournalEvent};
use plenary_core::model::plan::{Seat, TimeLimit};
use plenary_core::model::record::DialogueRecord;
use plenary_core::model::run_state::RunState;
use plenary_core::model::validation_error::{ErrorCode, ValidationError};
use plenary_core::prompting::layout::RenderedPrompt;
use plenary_core::protocols::protocol::Protocols;
use tokio::time::Instant;

use crate::engine::budget::{
    NotReserved, actual_cost, broken_reply_cost, broken_reply_usage, price_usage, worst_cost,
};
use crate::engine::call_budget::CallHold;
use crate::engine::journal::keep_sections;
use crate::engine::resumed_call::{last_working_transport, lost_call, resume_position};
use crate::engine::run::Run;
use crate::engine::run_start::unreachable_seat;
use crate::error::Error;
use crate::providers::call_progress::SilenceTimer;
use crate::providers::pace::{PAUSE_MAX, PacePermit, PaceTicket, ProviderPace};
use crate::providers::retry::{allows_fallback, retry_delay};
use crate::providers::transport::{CallError, CallReply, CallRequest, Transport};

/// The state of the calls for one ask.
pub(crate) struct CallAttempt<'a> {
    pub(crate) ask: Ask,
    seat: Seat,
    /// Which of the time limits its silence has.
    limit: TimeLimit,
    pub(crate) request: CallRequest,
    transport: &'a Transport,
    /// Which attempt on this transport, from 1.
    attempt: u8,
    /// Transports to fall back to.
    further: &'a [Transport],
    fallback: Option<TransportFallback>,
    repeats: Option<u32>,
    /// The current call and its reserved cost.
    call: u32,
    reserved: BudgetReservation,
    hold: Option<CallHold>,
    /// Place in the queue of the provider, and the permit to send.
    ticket: PaceTicket,
    permit: Option<PacePermit>,
    /// Repetitions after a wait that the provider named.
    named_waits: u8,
}

/// The result of reserving a call.
pub(crate) enum ReserveOutcome {
    /// The call may be sent once this change is in the journal.
    Reserved(JournalEvent),
    Refused(JournalEvent),
    /// Calls in flight may release enough of the budget.
    MustWait,
}

/// Repetitions of one ask that wait as long as the provider says; later ones count as retries.
const NAMED_WAITS_MAX: u8 = 3;

/// What to do after a failed call.
enum CallNextStep {
    /// Repeat the call after the wait that the provider named. It is no retry.
    WaitNamed,
    Retry(Duration),
    /// The transport leaves out what the server refused.
    Repeat,
    FallBack,
    GiveUp,
}

impl Run {
    /// Reserves the worst cost of the next call. The caller journals the result; a call is sent
    /// only if its cost is reserved and journalled.
    pub(crate) fn reserve_call(&self, course: &mut CallAttempt<'_>) -> ReserveOutcome {
        let worst = worst_cost(&course.seat, &course.request.messages);
        let permit = course.transport.pace().map(ProviderPace::try_enter);
        if matches!(permit, Some(None)) {
            return ReserveOutcome::MustWait;
        }
        match self.budgets.hold(worst) {
            Ok(hold) => {
                course.permit = permit.flatten();
                ReserveOutcome::Reserved(course.record_sending(worst, hold))
            }
            Err(NotReserved::MustWait) => ReserveOutcome::MustWait,
            Err(NotReserved::Refused(shortage)) => {
                ReserveOutcome::Refused(JournalEvent::AskNotSent { ask: course.ask.id, shortage })
            }
        }
    }

    /// The same, after waiting for the provider's turn and for what other calls give back; it is in
    /// the journal then. False, when nothing more can be sent. The turn comes first: a call that
    /// holds a reservation waits for nothing else.
    async fn reserve_or_wait(&self, course: &mut CallAttempt<'_>) -> Result<bool, Error> {
        let worst = worst_cost(&course.seat, &course.request.messages);
        let came = Instant::now();
        if let Some(pace) = course.transport.pace() {
            course.permit = Some(pace.enter(&mut course.ticket, self.time_left()).await);
        }
        let held = self.budgets.hold_or_wait(worst).await;
        // Time in the queues is not the model's.
        course.request.timer.extend(came.elapsed());
        match held {
            Ok(hold) => {
                let sent = course.record_sending(worst, hold);
                self.append_entry(JournalEntryKind::CallSent, vec![sent]).await?;
                Ok(true)
            }
            Err(shortage) => {
                let not_sent = JournalEvent::AskNotSent { ask: course.ask.id, shortage };
                self.append_entry(JournalEntryKind::AskNotSent, vec![not_sent]).await?;
                Ok(false)
            }
        }
    }

    /// Makes calls until the ask has a reply or failed for good. The first call is journalled, or
    /// waits for its budget.
    pub(crate) async fn drive_call(&self, mut course: CallAttempt<'_>) -> Result<(), Error> {
        if course.hold.is_none() && !self.reserve_or_wait(&mut course).await? {
            return Ok(());
        }
        loop {
            let (call, reserved) = (course.call, course.reserved);
            course.request.partial_text = Some(self.partial_text_sink(&course.ask));
            let answered = course.send_request().await;
            course.permit = None;
            let (error, latency_ms) = match answered {
                Ok((received, latency_ms)) => {
                    let first_byte = course.request.timer.first_byte();
                    let reply = build_reply(&course.seat, received, latency_ms, first_byte);
                    let actual = actual_cost(reserved, reply.usage, reply.cost);
                    // A cost over the reservation counts at once. The rest of a reservation is
                    // released after the journal has the reply, so the journal never understates
                    // what could be spent.
                    let at_most = reserved.max_of_each(actual);
                    let mut hold = course.hold.take();
                    hold.iter_mut().for_each(|hold| hold.raise(at_most));
                    let change = JournalEvent::ReplyKept { call, reply };
                    self.append_entry(JournalEntryKind::ReplyKept, vec![change]).await?;
                    hold.into_iter().for_each(|hold| hold.settle(actual));
                    self.parse_reply_of(&course.ask);
                    return Ok(());
                }
                Err(failed) => failed,
            };
            let onward = course.next_action(&error, self.ambient.random_u64(), self.time_left());
            let failure = CallFailure {
                error_type: error.error_type,
                message: error.message.clone(),
                latency_ms,
                refused: error.refused,
                estimated: course.estimate_failed_call(&error),
                arrived: course.describe_arrived(),
            };
            let gave_up = matches!(onward, CallNextStep::GiveUp);
            let counted = failure.counted_cost(reserved);
            let change = JournalEvent::CallFailed { call, failure, gave_up };
            self.append_entry(JournalEntryKind::CallFailed, vec![change]).await?;
            course.hold.take().into_iter().for_each(|hold| hold.settle(counted));
            match onward {
                CallNextStep::GiveUp => return Ok(()),
                // The pace of the provider pauses that long for all calls.
                CallNextStep::WaitNamed => course.named_waits += 1,
                CallNextStep::Retry(wait) => {
                    tokio::time::sleep(wait).await;
                    course.attempt += 1;
                }
                CallNextStep::Repeat => {}
                CallNextStep::FallBack => course.fall_back(&error),
            }
            course.repeats = None;
            if !self.reserve_or_wait(&mut course).await? {
                return Ok(());
            }
        }
    }
}

impl<'a> CallAttempt<'a> {
    /// A new ask starts at the transport that last reached the seat, or at the first.
    pub(crate) fn start_call(
        protocols: &Protocols,
        state: &RunState,
        ask: &Ask,
        transports: &'a [Transport],
        messages: Arc<AskMessages>,
    ) -> Option<Self> {
        let plan = &state.plan;
        let (place, fallback) = last_working_transport(state, ask, transports);
        let (transport, further) = transports.get(place..)?.split_first()?;
        let seat = plan.find_seat(&ask.seat)?.clone();
        let protocol = protocols.of_purpose(ask.purpose)?;
        let limit = protocol.ask_rules(ask.purpose, ask.round).time_limit;
        let time = Duration::from_millis(plan.timeout_ms(&seat, limit));
        let request = CallRequest {
            seat: ask.seat.clone(),
            round: ask.round,
            purpose: ask.purpose,
            messages,
            schema: protocol.reply_schema(state, ask),
            is_stricter: ask.retry_reason.is_some(),
            timer: SilenceTimer::start(time),
            partial_text: None,
        };
        Some(Self {
            ask: ask.clone(),
            seat,
            limit,
            request,
            transport,
            attempt: 1,
            further,
            fallback,
            repeats: None,
            call: 0,
            reserved: BudgetReservation::default(),
            hold: None,
            ticket: PaceTicket::default(),
            permit: None,
            named_waits: 0,
        })
    }

    /// An ask of a crashed process continues from its recorded calls.
    pub(crate) fn resume_call(
        protocols: &Protocols,
        state: &RunState,
        ask: &Ask,
        transports: &'a [Transport],
        asked: &AskState,
        messages: Arc<AskMessages>,
    ) -> Option<Self> {
        let course = Self::start_call(protocols, state, ask, transports, messages)?;
        let Some((place, attempt, fallback)) = resume_position(asked, transports) else {
            return Some(course);
        };
        let (transport, further) = transports.get(place..)?.split_first()?;
        Some(Self { transport, attempt, further, fallback, repeats: lost_call(asked), ..course })
    }

    /// The change that journals the next call.
    fn record_sending(&mut self, worst: BudgetReservation, hold: CallHold) -> JournalEvent {
        (self.call, self.reserved, self.hold) = (hold.call, worst, Some(hold));
        JournalEvent::CallSent(self.to_sending())
    }

    fn to_sending(&self) -> CallDispatch {
        CallDispatch {
            call: self.call,
            ask: self.ask.id,
            transport: self.transport.kind(),
            attempt: self.attempt,
            reserved: self.reserved,
            fallback: self.fallback.clone(),
            repeats: self.repeats,
            without: self.transport.refused_parameters(),
        }
    }

    /// Makes the call within the time that is left for the ask.
    async fn send_request(&mut self) -> Result<(CallReply, u64), (CallError, u64)> {
        let start = Instant::now();
        self.request.timer.mark_sent();
        self.hold.iter_mut().for_each(CallHold::mark_sent);
        // Pinned in place: moving the future would hold it in memory twice.
        let call = pin!(self.transport.send(&self.request));
        // In this order: a transport that ends a silent call itself says where the server is.
        let sent = tokio::select! {
            biased;
            sent = call => Some(sent),
            () = self.request.timer.expired() => None,
        };
        let latency_ms = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
        match sent {
            Some(Ok(received)) => Ok((received, latency_ms)),
            Some(Err(error)) => Err((self.name_time_limit(error), latency_ms)),
            None => {
                let message = format!("it {}", self.request.timer.describe_silence());
                let error = CallError::new(CallErrorType::Timeout, message);
                Err((self.name_time_limit(error), latency_ms))
            }
        }
    }

    /// Names the setting that gives a silent server more time.
    fn name_time_limit(&self, error: CallError) -> CallError {
        if error.error_type != CallErrorType::Timeout || !self.request.timer.time_left().is_zero() {
            return error;
        }
        let message = format!("{}; raise `timeouts.{}`", error.message, self.limit.setting_name());
        CallError { message, ..error }
    }

    /// The use of a failed call: estimated from what arrived of its reply, nothing if the server
    /// did no work, else unknown.
    fn estimate_failed_call(&self, error: &CallError) -> Option<BudgetReservation> {
        let bytes = self.request.timer.text_bytes();
        if bytes > 0 {
            return Some(broken_reply_cost(&self.seat, &self.request.messages, bytes));
        }
        error.is_unserved.then_some(BudgetReservation { usd_micros: Some(0), tokens: 0 })
    }

    /// What arrived of a reply that broke off.
    fn describe_arrived(&self) -> Option<PartialReply> {
        let timer = &self.request.timer;
        let bytes = timer.text_bytes();
        let usage = broken_reply_usage(&self.seat, &self.request.messages, bytes);
        let first_byte_ms = to_millis(timer.first_byte());
        (bytes > 0).then_some(PartialReply { first_byte_ms, usage })
    }

    /// `run_left` is the time until the run's deadline: a wait beyond it would end the whole run
    /// where another transport, or the absence of this seat, does not.
    fn next_action(&self, error: &CallError, dice: u64, run_left: Duration) -> CallNextStep {
        let time_left = self.request.timer.time_left().min(run_left);
        if error.refused.is_some() && !time_left.is_zero() {
            return CallNextStep::Repeat;
        }
        let is_busy =
            matches!(error.error_type, CallErrorType::RateLimit | CallErrorType::ServerError);
        let is_named = error.retry_after.is_some_and(|wait| wait <= PAUSE_MAX && wait < run_left);
        let is_paced = self.transport.pace().is_some() && !error.is_final;
        if is_busy && is_named && is_paced && self.named_waits < NAMED_WAITS_MAX {
            return CallNextStep::WaitNamed;
        }
        if let Some(wait) = retry_delay(error, self.attempt, time_left, dice) {
            return CallNextStep::Retry(wait);
        }
        let may_turn = !self.further.is_empty() && !time_left.is_zero();
        if may_turn && allows_fallback(error.error_type) {
            CallNextStep::FallBack
        } else {
            CallNextStep::GiveUp
        }
    }

    fn fall_back(&mut self, error: &CallError) {
        let Some((next, further)) = self.further.split_first() else { return };
        let from = self.transport.kind();
        self.fallback = Some(TransportFallback { from, reason: error.message.clone() });
        (self.transport, self.attempt, self.further) = (next, 1, further);
        (self.ticket, self.named_waits) = (PaceTicket::default(), 0);
    }
}

pub(crate) fn build_reply(
    seat: &Seat,
    received: CallReply,
    latency_ms: u64,
    first_byte: Option<Duration>,
) -> ModelReply {
    let computed =
        seat.price.as_ref().zip(received.usage).map(|(price, usage)| price_usage(price, usage));
    let reported = received.cost_usd.filter(|usd| usd.is_finite() && *usd >= 0.0);
    let cost = match (reported, computed) {
        (Some(usd), _) => {
            let usd_micros = Some((usd * 1e6).ceil() as u64);
            CallCost { usd_micros, source: CostSource::Reported }
        }
        (None, Some(usd_micros)) => {
            CallCost { usd_micros: Some(usd_micros), source: CostSource::Computed }
        }
        (None, None) => CallCost { usd_micros: None, source: CostSource::Unknown },
    };
    ModelReply {
        text: received.text,
        usage: received.usage,
        model: received.model.filter(|model| *model != seat.model),
        finish: received.finish,
        cost,
        latency_ms,
        structured: received.structured,
        first_byte_ms: to_millis(first_byte),
    }
}

fn to_millis(time: Option<Duration>) -> Option<u64> {
    time.and_then(|time| u64::try_from(time.as_millis()).ok())
}

impl Run {
    /// A call for each ask, and the changes that record the messages of new asks.
    pub(crate) fn prepare_calls<'a>(
        &'a self,
        asks: &[Ask],
    ) -> Result<(Vec<JournalEvent>, Vec<CallAttempt<'a>>), Error> {
        let state = self.state();
        let (mut prepared, mut courses) = (Vec::new(), Vec::new());
        let first = asks.first();
        let rules = first.and_then(|ask| self.protocols.ask_rules(ask.purpose, ask.round));
        let reached = rules.and_then(|rules| rules.stage);
        if let Some(stage) = reached.filter(|stage| state.stage != Some(*stage)) {
            prepared.push(JournalEvent::StageReached { stage });
        }
        let mut kept_blocks = state.shared_blocks.clone();
        for ask in asks {
            let transports = self.connections.for_planned_seat(&state.plan, &ask.seat);
            let course = if let Some(asked) = state.find_ask(ask.id) {
                // If prompts are not kept, the same run state gives the same messages again.
                let messages = match &asked.messages {
                    Some(messages) => Arc::clone(messages),
                    None => Arc::new(self.render_messages(&state, ask)?.messages),
                };
                CallAttempt::resume_call(&self.protocols, &state, ask, transports, asked, messages)
            } else {
                let RenderedPrompt { messages, condensed } = self.render_messages(&state, ask)?;
                let messages = Arc::new(messages);
                let keeps = state.plan.keep_prompts;
                let block = messages.shared.as_ref().filter(|_| keeps);
                let is_kept = |block: &&Arc<SharedBlock>| {
                    kept_blocks.iter().any(|kept| kept.sha256 == block.sha256)
                };
                if let Some(block) = block.filter(|block| !is_kept(block)) {
                    let added = block.to_extension(&kept_blocks);
                    let added = added.without_files(&state.plan.context);
                    prepared.push(JournalEvent::SharedBlockPrepared(Arc::new(added)));
                    kept_blocks.push(Arc::clone(block));
                }
                let stored = keeps.then(|| {
                    keep_sections(&messages, &state.plan, &mut kept_blocks, &mut prepared)
                });
                prepared.push(JournalEvent::AskPrepared {
                    ask: ask.clone(),
                    messages: stored,
                    messages_sha256: (!keeps).then(|| messages.content_hash()),
                    condensed,
                });
                CallAttempt::start_call(&self.protocols, &state, ask, transports, messages)
            };
            // The protocol would ask an unreachable seat again and again.
            courses.push(course.ok_or_else(|| unreachable_seat(&ask.seat))?);
        }
        Ok((prepared, courses))
    }

    /// The messages of an ask.
    fn render_messages(&self, state: &RunState, ask: &Ask) -> Result<RenderedPrompt, Error> {
        let rules = self.protocols.ask_rules(ask.purpose, ask.round);
        let needs_record = rules.is_some_and(|rules| rules.needs_record);
        let record = if needs_record { Some(self.load_record()?) } else { None };
        let messages = self.protocols.render_messages(state, record.as_ref(), ask);
        Ok(messages.ok_or_else(|| missing_material(ask))?)
    }

    /// The whole record, as the tables have it now.
    pub(crate) fn load_record(&self) -> Result<DialogueRecord, Error> {
        let record = self.store.load_record(&self.id)?;
        Ok(record.ok_or_else(|| dialogue_not_found(self.id.as_str()))?)
    }
}

/// A protocol only asks when it has material for the messages; a changed journal might lack it.
fn missing_material(ask: &Ask) -> ValidationError {
    let (purpose, seat) = (ask.purpose, &ask.seat);
    let message = format!("the record lacks the input of '{seat}' for its {purpose}");
    ValidationError::new(ErrorCode::NotSupported, message)
        .with_suggestion("`plenary verify` checks the record")
}
