//! Derives events from journal entries.

use super::event::{AskSummary, RunEvent, SeatSummary};
use super::readings;
use crate::domain::ask::{CallDispatch, ModelReply};
use crate::domain::change::JournalEvent;
use crate::domain::council::report::CouncilFinalReport;
use crate::domain::plan::{Plan, Seat};
use crate::domain::transcript::RunState;
use crate::export::council::metrics::to_dollars;
use crate::export::interventions::InterventionSummary;

/// The events of one journal entry, which is already applied to the run state.
pub fn derive_events(transcript: &RunState, changes: &[JournalEvent]) -> Vec<RunEvent> {
    changes.iter().filter_map(|change| derive_event(transcript, change)).collect()
}

fn derive_event(transcript: &RunState, change: &JournalEvent) -> Option<RunEvent> {
    Some(match change {
        JournalEvent::RunPlanned(plan) => opened_event(transcript, plan),
        JournalEvent::RunStarted { .. } => RunEvent::Started { start: transcript.owners.len() },
        JournalEvent::AskPrepared { ask, .. } => RunEvent::Asked {
            ask: ask_summary(transcript, ask.id)?,
            stricter: ask.retry_reason.clone(),
        },
        JournalEvent::CallSent(sending) => {
            call_sent_event(ask_summary(transcript, sending.ask)?, sending)
        }
        JournalEvent::ReplyKept { call, reply } => {
            replied_event(ask_of_call(transcript, *call)?, *call, reply)
        }
        JournalEvent::CallFailed { call, failure, gave_up } => RunEvent::CallFailed {
            ask: ask_of_call(transcript, *call)?,
            call: *call,
            error_type: failure.error_type,
            message: failure.message.clone(),
            gave_up: *gave_up,
        },
        JournalEvent::ReplyParsed { ask, reading } => {
            readings::outcome_event(transcript, ask_summary(transcript, *ask)?, reading)
        }
        JournalEvent::AskNotSent { ask, shortage } => {
            RunEvent::NotSent { ask: ask_summary(transcript, *ask)?, shortage: *shortage }
        }
        JournalEvent::ShortcutRecorded(shortcut) => RunEvent::Shortcut(shortcut.clone()),
        JournalEvent::RoundRecorded { round, .. } => RunEvent::RoundHeld { round: *round },
        JournalEvent::ReportGiven(report) => reported_event(report),
        JournalEvent::Intervened { round, intervention } => {
            RunEvent::Intervened(InterventionSummary::from_intervention(*round, intervention))
        }
        JournalEvent::Concluded(ending) => RunEvent::Concluded {
            terminal_state: ending.terminal_state,
            recommendation: ending.delivered_conclusion().map(|given| given.recommendation.clone()),
        },
        // A run stopped while it wrote its report may still have finished; ignore such a stop.
        JournalEvent::RunStopped(stop) if transcript.stopped.as_ref() != Some(stop) => return None,
        JournalEvent::RunStopped(stop) => RunEvent::Stopped(stop.clone()),
        JournalEvent::ReviewDecided(ruling) => RunEvent::Ruled {
            verdict: ruling.verdict,
            policy: ruling.tally,
            revision_brief: ruling.adjudication.revision_brief.clone(),
        },
        JournalEvent::VerdictLogged(row) => RunEvent::Logged {
            verdict_id: row.verdict_id.clone(),
            verdict: row.adjudicator.final_verdict,
        },
        JournalEvent::VerdictOverridden(decision) => RunEvent::Overridden(decision.clone()),
        JournalEvent::DialogueOpened(_)
        | JournalEvent::CapsSet { .. }
        | JournalEvent::PoolGiven { .. }
        | JournalEvent::ExpertAdded(_)
        | JournalEvent::ExpertJoined { .. }
        | JournalEvent::PanelSet { .. }
        | JournalEvent::ScoreGiven { .. }
        | JournalEvent::RawReplyKept { .. }
        | JournalEvent::EntityAdded(_)
        | JournalEvent::ReferenceAdded(_)
        | JournalEvent::EventAdded(_)
        | JournalEvent::MoveMade(_)
        | JournalEvent::BatchAnswered { .. }
        | JournalEvent::VerdictGiven(_)
        | JournalEvent::ConclusionPlanned { .. }
        | JournalEvent::ConclusionBegun { .. }
        | JournalEvent::StageReached { .. }
        | JournalEvent::OutcomeRecorded(_)
        | JournalEvent::StatusSet { .. } => return None,
    })
}

fn opened_event(transcript: &RunState, plan: &Plan) -> RunEvent {
    RunEvent::Opened {
        title: transcript.opening.title.clone(),
        question: transcript.question().to_owned(),
        mode: plan.mode,
        rehearsal: transcript.opening.rehearsal,
        seats: plan.seats.iter().map(seat_summary).collect(),
    }
}

fn call_sent_event(ask: AskSummary, sending: &CallDispatch) -> RunEvent {
    RunEvent::CallSent {
        ask,
        call: sending.call,
        transport: sending.transport,
        attempt: sending.attempt,
        fallback: sending.fallback.clone(),
        repeats: sending.repeats,
    }
}

fn replied_event(ask: AskSummary, call: u32, reply: &ModelReply) -> RunEvent {
    RunEvent::Replied {
        ask,
        call,
        latency_ms: reply.latency_ms,
        tokens_in: reply.usage.map(|usage| usage.input_tokens),
        tokens_out: reply.usage.map(|usage| usage.output_tokens),
        cost_usd: reply.cost.usd_micros.map(to_dollars),
    }
}

fn reported_event(given: &CouncilFinalReport) -> RunEvent {
    RunEvent::Reported {
        outcome: given.report.conclusion.outcome,
        statement: given.report.conclusion.statement.clone(),
        chair: given.chair_provider.clone(),
        fallback: given.fallback,
    }
}

fn seat_summary(seat: &Seat) -> SeatSummary {
    SeatSummary {
        seat: seat.name.clone(),
        model: seat.model.clone(),
        family: seat.family.clone(),
        roles: seat.roles.clone(),
    }
}

fn ask_summary(transcript: &RunState, ask: u32) -> Option<AskSummary> {
    let ask = &transcript.find_ask(ask)?.ask;
    Some(AskSummary { id: ask.id, round: ask.round, seat: ask.seat.clone(), purpose: ask.purpose })
}

fn ask_of_call(transcript: &RunState, call: u32) -> Option<AskSummary> {
    let sent = transcript.all_calls().find(|sent| sent.dispatch.call == call)?;
    ask_summary(transcript, sent.dispatch.ask)
}
