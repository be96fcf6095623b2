//! What happens in a run, one event at a time: the contract of every screen and stream.
//!
//! Events are derived from journal entries and nothing else, so a live run, one
//! that is watched from elsewhere and one that is replayed look alike. They are
//! listed for users in `docs/events.md`.

use serde::Serialize;

use super::metrics::dollars;
use crate::domain::ask::{ErrorType, Fallback, Purpose, TransportKind};
use crate::domain::change::Change;
use crate::domain::council::words::{Level, Mode, Outcome, Stance};
use crate::domain::ids::ExpertSlug;
use crate::domain::plan::{Plan, Role, Seat};
use crate::domain::transcript::{Document, Reading, Shortage, Shortcut, Stop, Transcript};

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    Opened {
        title: String,
        question: String,
        mode: Mode,
        rehearsal: bool,
        seats: Vec<SeatSeen>,
    },
    Started {
        start: usize,
    },
    Asked {
        ask: AskSeen,
        stricter: Option<String>,
    },
    CallSent {
        ask: AskSeen,
        call: u32,
        transport: TransportKind,
        attempt: u8,
        fallback: Option<Fallback>,
        repeats: Option<u32>,
    },
    Replied {
        ask: AskSeen,
        call: u32,
        latency_ms: u64,
        tokens_in: Option<u64>,
        tokens_out: Option<u64>,
        cost_usd: Option<f64>,
    },
    CallFailed {
        ask: AskSeen,
        call: u32,
        error_type: ErrorType,
        message: String,
        gave_up: bool,
    },
    Read {
        ask: AskSeen,
        stance: Option<Stance>,
        confidence: Option<Level>,
        repaired: bool,
    },
    Unreadable {
        ask: AskSeen,
        reason: String,
        refusal: bool,
    },
    NotSent {
        ask: AskSeen,
        shortage: Shortage,
    },
    Shortcut(Shortcut),
    RoundHeld {
        round: u8,
    },
    Reported {
        outcome: Outcome,
        statement: String,
        chair: Option<ExpertSlug>,
        fallback: bool,
    },
    Stopped(Stop),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SeatSeen {
    pub seat: ExpertSlug,
    pub model: String,
    pub family: String,
    pub roles: Vec<Role>,
}

/// Which ask an event is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AskSeen {
    pub id: u32,
    pub round: u8,
    pub seat: ExpertSlug,
    pub purpose: Purpose,
}

/// The events of one journal entry; the transcript has taken it in by then.
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
        Change::CallSent(sending) => Event::CallSent {
            ask: seen(transcript, sending.ask)?,
            call: sending.call,
            transport: sending.transport,
            attempt: sending.attempt,
            fallback: sending.fallback.clone(),
            repeats: sending.repeats,
        },
        Change::ReplyKept { call, reply } => Event::Replied {
            ask: of_call(transcript, *call)?,
            call: *call,
            latency_ms: reply.latency_ms,
            tokens_in: reply.usage.map(|usage| usage.input_tokens),
            tokens_out: reply.usage.map(|usage| usage.output_tokens),
            cost_usd: reply.cost.usd_micros.map(dollars),
        },
        Change::CallFailed { call, failure, gave_up } => Event::CallFailed {
            ask: of_call(transcript, *call)?,
            call: *call,
            error_type: failure.error_type,
            message: failure.message.clone(),
            gave_up: *gave_up,
        },
        Change::ReplyRead { ask, reading } => of_reading(seen(transcript, *ask)?, reading),
        Change::AskNotSent { ask, shortage } => {
            Event::NotSent { ask: seen(transcript, *ask)?, shortage: *shortage }
        }
        Change::ShortcutWeighed(shortcut) => Event::Shortcut(shortcut.clone()),
        Change::RoundHeld { round, .. } => Event::RoundHeld { round: *round },
        Change::ReportGiven(report) => Event::Reported {
            outcome: report.report.conclusion.outcome,
            statement: report.report.conclusion.statement.clone(),
            chair: report.chair_provider.clone(),
            fallback: report.fallback,
        },
        // A run that was cut while its report was written came to its end all the same.
        Change::RunStopped(stop) if transcript.stopped.as_ref() != Some(stop) => return None,
        Change::RunStopped(stop) => Event::Stopped(stop.clone()),
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
        | Change::Intervened { .. }
        | Change::ConclusionPlanned { .. }
        | Change::ConclusionBegun { .. }
        | Change::StageReached { .. }
        | Change::Concluded(_)
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

fn of_reading(ask: AskSeen, reading: &Reading) -> Event {
    match reading {
        Reading::Read { document, repaired } => {
            let opinion = match document {
                Document::Opinion(opinion) => Some(opinion),
                Document::Review(_)
                | Document::Report(_)
                | Document::Conclusion(_)
                | Document::Audit(_)
                | Document::Revision(_) => None,
            };
            Event::Read {
                ask,
                stance: opinion.map(|opinion| opinion.stance),
                confidence: opinion.map(|opinion| opinion.confidence),
                repaired: *repaired,
            }
        }
        Reading::Unreadable { reason, refusal } => {
            Event::Unreadable { ask, reason: reason.clone(), refusal: *refusal }
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = include_str!("../../../docs/events.md");

    fn seen() -> AskSeen {
        AskSeen { id: 1, round: 1, seat: "ann".parse().unwrap(), purpose: Purpose::Opinion }
    }

    /// A new event does not compile here; it goes into the list below too.
    fn is_listed(event: &Event) -> bool {
        match event {
            Event::Opened { .. }
            | Event::Started { .. }
            | Event::Asked { .. }
            | Event::CallSent { .. }
            | Event::Replied { .. }
            | Event::CallFailed { .. }
            | Event::Read { .. }
            | Event::Unreadable { .. }
            | Event::NotSent { .. }
            | Event::Shortcut(_)
            | Event::RoundHeld { .. }
            | Event::Reported { .. }
            | Event::Stopped(_) => true,
        }
    }

    fn one_of_each() -> Vec<Event> {
        vec![
            Event::Opened {
                title: String::new(),
                question: String::new(),
                mode: Mode::General,
                rehearsal: false,
                seats: Vec::new(),
            },
            Event::Started { start: 1 },
            Event::Asked { ask: seen(), stricter: None },
            Event::CallSent {
                ask: seen(),
                call: 1,
                transport: TransportKind::Http,
                attempt: 1,
                fallback: None,
                repeats: None,
            },
            Event::Replied {
                ask: seen(),
                call: 1,
                latency_ms: 1,
                tokens_in: None,
                tokens_out: None,
                cost_usd: None,
            },
            Event::CallFailed {
                ask: seen(),
                call: 1,
                error_type: ErrorType::Timeout,
                message: String::new(),
                gave_up: true,
            },
            Event::Read { ask: seen(), stance: None, confidence: None, repaired: false },
            Event::Unreadable { ask: seen(), reason: String::new(), refusal: false },
            Event::NotSent { ask: seen(), shortage: Shortage::Money },
            Event::Shortcut(Shortcut {
                round: 2,
                triggered: true,
                reason: String::new(),
                rounds_skipped: Vec::new(),
                confidence_adjustment: 0,
                shadow: true,
                would_have_been_right: Some(true),
            }),
            Event::RoundHeld { round: 1 },
            Event::Reported {
                outcome: Outcome::Adopt,
                statement: String::new(),
                chair: None,
                fallback: true,
            },
            Event::Stopped(Stop::Done),
        ]
    }

    #[test]
    fn every_event_and_each_of_its_fields_is_documented() {
        for event in one_of_each() {
            assert!(is_listed(&event));
            let document = serde_json::to_value(&event).unwrap();
            let name = document["event"].as_str().unwrap().to_owned();
            let row = PAGE.lines().find(|line| line.starts_with(&format!("| `{name}` |")));
            let row = row.unwrap_or_else(|| panic!("`{name}` is not in docs/events.md"));
            let fields = document.as_object().unwrap().keys().filter(|field| *field != "event");
            for field in fields {
                assert!(row.contains(&format!("`{field}")), "`{name}`: `{field}` is missing");
            }
        }
    }

    #[test]
    fn every_reason_a_call_can_fail_for_is_documented() {
        for error_type in ErrorType::ALL {
            assert!(PAGE.contains(&format!("`{}`", error_type.name())), "{error_type}");
        }
    }
}
