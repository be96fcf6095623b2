//! Derives events from journal entries.

use super::event::{AskSeen, Event, SeatSeen};
use super::readings;
use crate::domain::ask::{Reply, Sending};
use crate::domain::change::Change;
use crate::domain::council::report::CouncilFinalReport;
use crate::domain::plan::{Plan, Seat};
use crate::domain::transcript::Transcript;
use crate::export::council::metrics::dollars;
use crate::export::interventions::InterventionSeen;

/// The events of one journal entry, which is already applied to the run state.
pub fn events(transcript: &Transcript, changes: &[Change]) -> Vec<Event> {
    changes.iter().filter_map(|change| event(transcript, change)).collect()
}

fn event(transcript: &Transcript, change: &Change) -> Option<Event> {
    Some(match change {
        Change::RunPlanned(plan) => opened(transcript, plan),
        Change::RunStarted { .. } => Event::Started { start: transcript.owners.len() },
        Change::AskPrepared { ask, .. } => {
            Event::Asked { ask: seen(transcript, ask.id)?, stricter: ask.stricter.clone() }
        }
        Change::CallSent(sending) => sent(seen(transcript, sending.ask)?, sending),
        Change::ReplyKept { call, reply } => replied(of_call(transcript, *call)?, *call, reply),
        Change::CallFailed { call, failure, gave_up } => Event::CallFailed {
            ask: of_call(transcript, *call)?,
            call: *call,
            error_type: failure.error_type,
            message: failure.message.clone(),
            gave_up: *gave_up,
        },
        Change::ReplyRead { ask, reading } => {
            readings::event(transcript, seen(transcript, *ask)?, reading)
        }
        Change::AskNotSent { ask, shortage } => {
            Event::NotSent { ask: seen(transcript, *ask)?, shortage: *shortage }
        }
        Change::ShortcutWeighed(shortcut) => Event::Shortcut(shortcut.clone()),
        Change::RoundHeld { round, .. } => Event::RoundHeld { round: *round },
        Change::ReportGiven(report) => reported(report),
        Change::Intervened { round, intervention } => {
            Event::Intervened(InterventionSeen::of(*round, intervention))
        }
        Change::Concluded(ending) => Event::Concluded {
            terminal_state: ending.terminal_state,
            recommendation: ending.delivered().map(|given| given.recommendation.clone()),
        },
        // A run stopped while it wrote its report may still have finished; ignore such a stop.
        Change::RunStopped(stop) if transcript.stopped.as_ref() != Some(stop) => return None,
        Change::RunStopped(stop) => Event::Stopped(stop.clone()),
        Change::Ruled(ruling) => Event::Ruled {
            verdict: ruling.verdict,
            policy: ruling.arithmetic,
            revision_brief: ruling.adjudication.revision_brief.clone(),
        },
        Change::VerdictLogged(row) => Event::Logged {
            verdict_id: row.verdict_id.clone(),
            verdict: row.adjudicator.final_verdict,
        },
        Change::Overridden(decision) => Event::Overridden(decision.clone()),
        Change::DialogueOpened(_)
        | Change::CapsSet { .. }
        | Change::PoolGiven { .. }
        | Change::ExpertAdded(_)
        | Change::ExpertJoined { .. }
        | Change::PanelSet { .. }
        | Change::ScoreGiven { .. }
        | Change::RawReplyKept { .. }
        | Change::EntityAdded(_)
        | Change::ReferenceAdded(_)
        | Change::EventAdded(_)
        | Change::MoveMade(_)
        | Change::BatchAnswered { .. }
        | Change::VerdictGiven(_)
        | Change::ConclusionPlanned { .. }
        | Change::ConclusionBegun { .. }
        | Change::StageReached { .. }
        | Change::OutcomeRecorded(_)
        | Change::StatusSet { .. } => return None,
    })
}

fn opened(transcript: &Transcript, plan: &Plan) -> Event {
    Event::Opened {
        title: transcript.opening.title.clone(),
        question: transcript.question().to_owned(),
        mode: plan.mode,
        rehearsal: transcript.opening.rehearsal,
        seats: plan.seats.iter().map(seat_seen).collect(),
    }
}

fn sent(ask: AskSeen, sending: &Sending) -> Event {
    Event::CallSent {
        ask,
        call: sending.call,
        transport: sending.transport,
        attempt: sending.attempt,
        fallback: sending.fallback.clone(),
        repeats: sending.repeats,
    }
}

fn replied(ask: AskSeen, call: u32, reply: &Reply) -> Event {
    Event::Replied {
        ask,
        call,
        latency_ms: reply.latency_ms,
        tokens_in: reply.usage.map(|usage| usage.input_tokens),
        tokens_out: reply.usage.map(|usage| usage.output_tokens),
        cost_usd: reply.cost.usd_micros.map(dollars),
    }
}

fn reported(given: &CouncilFinalReport) -> Event {
    Event::Reported {
        outcome: given.report.conclusion.outcome,
        statement: given.report.conclusion.statement.clone(),
        chair: given.chair_provider.clone(),
        fallback: given.fallback,
    }
}

fn seat_seen(seat: &Seat) -> SeatSeen {
    SeatSeen {
        seat: seat.name.clone(),
        model: seat.model.clone(),
        family: seat.family.clone(),
        roles: seat.roles.clone(),
    }
}

fn seen(transcript: &Transcript, ask: u32) -> Option<AskSeen> {
    let ask = &transcript.asked(ask)?.ask;
    Some(AskSeen { id: ask.id, round: ask.round, seat: ask.seat.clone(), purpose: ask.purpose })
}

fn of_call(transcript: &Transcript, call: u32) -> Option<AskSeen> {
    let sent = transcript.calls().find(|sent| sent.sending.call == call)?;
    seen(transcript, sent.sending.ask)
}
