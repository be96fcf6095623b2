//! Interventions of the Principal: written into the journal of a run, found by its process. The
//! chair's model is asked to restate a directive.

use std::sync::Arc;
use std::time::{Duration, Instant};

use plenary_core::model::ask::{AskPurpose, CallErrorType, FinishReason};
use plenary_core::model::ids::{DialogueId, ExpertSlug};
use plenary_core::model::intervention::{
    DirectiveRestatement, INTERVENTION_CHARS_MAX, Intervention, InterventionEntry,
};
use plenary_core::model::journal::{JournalEntryKind, JournalEvent};
use plenary_core::model::plan::{Seat, TimeLimit};
use plenary_core::model::run_state::RunState;
use plenary_core::model::validation_error::{ErrorCode, ValidationError};
use plenary_core::parsing::plain_text::parse_restatement;
use plenary_core::prompting::layout::restatement_messages;
use plenary_core::protocols::protocol::Protocols;
use tokio::sync::watch;

use crate::clock::System;
use crate::engine::budget::{Budget, worst_cost};
use crate::engine::call::build_reply;
use crate::engine::daily_budget::DailyBudget;
use crate::engine::run_start::{LoadedRun, SeatTransports, abandoned_error, load_run};
use crate::error::Error;
use crate::providers::call_progress::SilenceTimer;
use crate::providers::transport::{CallError, CallRequest};
use crate::store::traits::{Store, in_transaction};

/// Each intervention is part of every later ask, so their number is limited.
const INTERVENTIONS_MAX: usize = 100;

/// Journals an intervention in a run that is not finished.
pub fn record_intervention(
    protocols: &Protocols,
    store: &dyn Store,
    ambient: &dyn System,
    id: &DialogueId,
    intervention: &Intervention,
) -> Result<InterventionEntry, Error> {
    loop {
        let LoadedRun { state, entries } = load_run(store, id)?;
        check_intervention(protocols, &state, intervention)?;
        let (at, round) = (ambient.now(), state.current_round());
        let change = JournalEvent::Intervened { round, intervention: intervention.clone() };
        let is_noted = in_transaction(store, |unit| -> Result<bool, Error> {
            // The journal grew since the check: load and check again.
            if unit.count_entries(id)? != entries {
                return Ok(false);
            }
            unit.append_entry(id, JournalEntryKind::Intervened, at, std::slice::from_ref(&change))?;
            Ok(true)
        })?;
        if is_noted {
            return Ok(InterventionEntry { at, round, intervention: intervention.clone() });
        }
    }
}

/// Checks that the run can still accept the intervention.
pub fn check_intervention(
    protocols: &Protocols,
    state: &RunState,
    intervention: &Intervention,
) -> Result<(), ValidationError> {
    let id = &state.opening.dialogue_id;
    let protocol = protocols.of_run(state)?;
    if !protocol.accepts_interventions() {
        let name = protocol.name();
        let message = format!("'{id}' is a {name}, which accepts no interventions");
        let fault = ValidationError::new(ErrorCode::NotSupported, message);
        let way =
            format!("Ctrl-C in its process interrupts it, `plenary resume {id}` continues it");
        return Err(fault.with_suggestion(way));
    }
    if state.is_finished() {
        let fault = ValidationError::new(ErrorCode::DialogueClosed, format!("'{id}' is finished"));
        return Err(fault.with_suggestion(format!("`plenary show {id}` shows the result")));
    }
    if state.is_abandoned {
        return Err(abandoned_error(id));
    }
    // The limit never applies to a stop.
    let is_word = *intervention != Intervention::Stop;
    if is_word && state.interventions.len() >= INTERVENTIONS_MAX {
        let message = format!("'{id}' has {INTERVENTIONS_MAX} interventions, the limit of a run");
        let fault = ValidationError::new(ErrorCode::NotSupported, message);
        return Err(fault.with_suggestion("ask a new question with `plenary ask`"));
    }
    let is_ending = state.participants.is_some();
    match intervention {
        Intervention::Whisper { text, to } => {
            check_text(text)?;
            match to {
                Some(seat) if is_ending => Err(too_late(id, &format!("{seat} is not asked again"))),
                Some(seat) => check_seat(state, seat),
                None => Ok(()),
            }
        }
        Intervention::Directive { text, .. } => {
            check_text(text)?;
            if is_ending { Err(too_late(id, "no seat argues")) } else { Ok(()) }
        }
        Intervention::Stop if is_ending => Err(too_late(id, "no round is running")),
        Intervention::Stop if state.is_cut_short => {
            let message = format!("'{id}' is already stopped");
            let fault = ValidationError::new(ErrorCode::DialogueClosed, message);
            Err(fault.with_suggestion(format!("`plenary watch {id}` shows how it ends")))
        }
        Intervention::Stop => Ok(()),
    }
}

fn check_text(text: &str) -> Result<(), ValidationError> {
    let fault = if text.trim().is_empty() {
        ValidationError::new(ErrorCode::MissingField, "the text is empty")
            .with_suggestion("write a sentence")
    } else if text.contains('\0') {
        ValidationError::new(ErrorCode::InvalidType, "the text contains a NUL character")
            .with_suggestion("check where the text comes from")
    } else if text.chars().count() > INTERVENTION_CHARS_MAX {
        ValidationError::new(
            ErrorCode::FieldTooLong,
            format!("the text is over {INTERVENTION_CHARS_MAX} characters"),
        )
        .with_suggestion("shorten it: every later ask contains it")
    } else {
        return Ok(());
    };
    Err(fault.with_field("text"))
}

/// Only seats that take part in the rounds can receive a whisper.
fn check_seat(state: &RunState, seat: &ExpertSlug) -> Result<(), ValidationError> {
    let is_seated = round_seats(state).contains(&seat);
    if is_seated { Ok(()) } else { Err(unknown_seat(state, seat.as_str())) }
}

/// The seats that read a whisper. With the built-in Judge these are the experts and the Judge; the
/// other seats are the providers that play them.
fn round_seats(state: &RunState) -> Vec<&ExpertSlug> {
    if let (Some(judged), Some(plan)) = (&state.alignment, &state.plan.alignment) {
        let panel = judged.panels.values().next_back().into_iter().flatten();
        return panel.map(|seat| &seat.expert_slug).chain([&plan.judge]).collect();
    }
    let seats = state.plan.seats.iter().filter(|seat| !seat.roles.is_empty());
    seats.map(|seat| &seat.name).collect()
}

/// What a message calls the run.
pub fn name_of_run(state: &RunState) -> &'static str {
    if state.alignment.is_some() { "dialogue" } else { "council" }
}

/// Error for an unknown seat name; lists the known ones.
pub fn unknown_seat(state: &RunState, name: &str) -> ValidationError {
    let message = format!("'{name}' is not a seat of this {}", name_of_run(state));
    let names: Vec<&str> = round_seats(state).into_iter().map(ExpertSlug::as_str).collect();
    let fault = ValidationError::new(ErrorCode::ExpertNotInDialogue, message)
        .with_field("to")
        .with_value(name);
    fault.with_suggestion(format!("its seats are {}", names.join(", "))).with_options(names)
}

fn too_late(id: &DialogueId, why: &str) -> ValidationError {
    let message = format!("the rounds of '{id}' are over: {why}");
    ValidationError::new(ErrorCode::DialogueClosed, message)
        .with_suggestion(format!("`plenary watch {id}` shows its conclusion"))
}

/// Short enough that a stop takes effect visibly; a query takes some microseconds.
const PAUSE: Duration = Duration::from_millis(200);

/// Signals new interventions in any run of the store. One poll serves all runs of a process. Only a
/// stop needs the signal: whispers and directives are found when the next ask is journalled.
#[derive(Debug, Clone)]
pub struct InterventionWatcher(watch::Receiver<u64>);

impl InterventionWatcher {
    /// A watcher that never signals.
    pub fn disabled() -> Self {
        Self(watch::channel(0).1)
    }

    /// Returns a watcher and the polling task that must run for it. The initial value is not
    /// queried, to avoid a connection at start-up. The first poll may therefore signal once without
    /// a new intervention; runs ignore it.
    pub fn start(store: Arc<dyn Store>) -> (Self, impl Future<Output = ()> + Send) {
        let (heard, watcher) = watch::channel(0);
        let listening = async move {
            while !heard.is_closed() {
                tokio::time::sleep(PAUSE).await;
                // A failed query is retried at the next poll.
                let Ok(now) = store.last_intervention_seq() else { continue };
                heard.send_if_modified(|known| std::mem::replace(known, now) != now);
            }
        };
        (Self(watcher), listening)
    }

    /// Waits for an intervention since the last call.
    pub(crate) async fn changed(&mut self) {
        if self.0.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// One sentence, from the first of the chair's transports that gives one. The cost is reserved in
/// the budget of the run and in the servers' daily budget; without both the call is not made.
pub async fn restate_directive(
    state: &RunState,
    connections: &SeatTransports,
    text: &str,
    daily_budget: Option<&DailyBudget>,
) -> Result<DirectiveRestatement, CallError> {
    let plan = &state.plan;
    let unknown = |message: &str| CallError::new(CallErrorType::Unknown, message);
    let chair = plan.chairs.first().and_then(|name| plan.find_seat(name));
    let seat = chair.ok_or_else(|| unknown("there is no chair"))?;
    // A directive is typed while the run is live, so its last entry is of today.
    let today = state.last_entry_at.utc_day();
    let messages = restatement_messages(&plan.secret, state.question(), text, today);
    let messages = Arc::new(messages);
    let budget = Budget::for_resumed_run(plan.caps, state);
    let worst = worst_cost(seat, &messages);
    let not_covered =
        |shortage| unknown(&format!("the remainder of {shortage} does not cover the restatement"));
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
        timer: SilenceTimer::start(time),
        partial_text: None,
        is_stricter: false,
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
    let mut last = CallError::new(CallErrorType::Unknown, "the chair has no transport");
    let mut may_be_billed = false;
    for transport in connections.for_seat(&seat.name) {
        let start = Instant::now();
        let sent = tokio::time::timeout(time, transport.send_until_accepted(request)).await;
        let received = match sent {
            Ok(Ok(received)) => received,
            Ok(Err(error)) => {
                may_be_billed |= !error.is_unserved && !error.error_type.is_unbilled();
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
        let reply = build_reply(seat, received, latency_ms, request.timer.first_byte());
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
