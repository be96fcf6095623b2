//! Renders run events as progress lines.

use crate::model::ask::{CallOutcome, TransportFallback, TransportKind};
use crate::model::ids::ExpertSlug;
use crate::model::plan::SettingChange;
use crate::model::run_state::{RoundShortcut, RunState};
use crate::protocols::alignment::phrases::dialogue_lines;
use crate::protocols::conclusion::phrases::{
    audited_lines, concluded_lines, drafted_lines, intervened_lines, revised_lines,
};
use crate::protocols::council::types::OpinionStance;
use crate::protocols::protocol::Protocols;
use crate::protocols::review::phrases::{
    adjudicated_lines, decision_lines, judged_lines, overridden_lines,
};
use crate::report::events::{AskSummary, RunEvent};
use crate::report::phrases::call_error_text;
use crate::report::run_metrics::cost_usd;

/// The severity of a line, for its mark and colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineSeverity {
    Heading,
    /// An action of the Principal or another person.
    Aside,
    Good,
    Warning,
    Bad,
    Quiet,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgressLine {
    pub tone: LineSeverity,
    pub text: String,
}

pub(crate) fn single_line(tone: LineSeverity, text: impl Into<String>) -> Vec<ProgressLine> {
    vec![ProgressLine { tone, text: text.into() }]
}

/// The lines of an event; empty if it has none.
pub fn describe_event(
    protocols: &Protocols,
    state: &RunState,
    event: &RunEvent,
) -> Vec<ProgressLine> {
    match event {
        RunEvent::Opened { seats, rehearsal, .. } => {
            let who = if *rehearsal { "rehearsal panel" } else { "panel" };
            let id = &state.opening.dialogue_id;
            // A whole id may be wider than the terminal, and ids are never broken.
            let id = id.hex_digits().unwrap_or(id.as_str());
            single_line(LineSeverity::Quiet, format!("{id} · {who} of {}", seats.len()))
        }
        RunEvent::Started { start: 1 } => Vec::new(),
        RunEvent::Started { start } => {
            single_line(LineSeverity::Quiet, format!("resumed (start {start})"))
        }
        RunEvent::SeatChanged { seat, changes } => changed_seat_lines(seat, changes),
        RunEvent::Asked { ask, stricter: Some(_) } => single_line(
            LineSeverity::Quiet,
            format!("{}asked again with stricter instructions", seat_column(state, ask)),
        ),
        RunEvent::Asked { .. } | RunEvent::Replied { .. } | RunEvent::SeatsAdded { .. } => {
            Vec::new()
        }
        RunEvent::CallSent { ask, fallback, repeats, transport, .. } => match (repeats, fallback) {
            (Some(lost), _) => repeated_lines(state, ask, *lost),
            (None, Some(from)) => fallback_lines(state, ask, *transport, from),
            (None, None) => Vec::new(),
        },
        RunEvent::CallFailed { ask, .. } => failed_call_lines(&seat_column(state, ask), event),
        RunEvent::Read { ask, stance, confidence, repaired, truncated } => {
            let opinion = stance.zip(*confidence);
            let printed = opinion.map(|(stance, level)| format!("{stance}, confidence {level}"));
            let printed = printed.unwrap_or_else(|| noun(protocols, ask).to_owned());
            let (tone, note) = match truncated {
                true => (LineSeverity::Warning, ", cut off before its end"),
                false => (stance_severity(*stance), repair_note(*repaired)),
            };
            read_lines(state, ask, tone, &printed, note)
        }
        RunEvent::Unreadable { ask, reason, refusal } => {
            let word = if *refusal { "refused" } else { "could not be read" };
            let column = seat_column(state, ask);
            single_line(LineSeverity::Warning, format!("{column}{word}: {reason}"))
        }
        RunEvent::NotSent { ask, shortage } => {
            let why =
                format!("the remainder of {} does not cover this call", shortage.describe_budget());
            let column = seat_column(state, ask);
            single_line(LineSeverity::Bad, format!("{column}not asked: {why}"))
        }
        RunEvent::Shortcut(shortcut) => shortcut_lines(shortcut),
        RunEvent::RoundHeld { round, judged: None } => round_lines(state, *round),
        RunEvent::RoundHeld { judged: Some(_), .. }
        | RunEvent::PanelSet { .. }
        | RunEvent::VerdictGiven { .. }
        | RunEvent::Refused { .. } => dialogue_lines(Some(state), event),
        RunEvent::Intervened(seen) => intervened_lines(seen),
        RunEvent::Drafted { ask, recommendation, repaired } => {
            drafted_lines(state, ask, recommendation, *repaired)
        }
        RunEvent::Audited { ask, look, objections, .. } => {
            audited_lines(state, ask, *look, objections)
        }
        RunEvent::Revised { ask, fields, .. } => revised_lines(state, ask, fields),
        RunEvent::Concluded { terminal_state, .. } => concluded_lines(*terminal_state),
        RunEvent::Judged { ask, judged } => judged_lines(state, ask, judged),
        RunEvent::Adjudicated { ask, word } => adjudicated_lines(state, ask, *word),
        RunEvent::Ruled { verdict, policy, .. } => decision_lines(*verdict, policy),
        RunEvent::Overridden(decision) => overridden_lines(decision),
        RunEvent::Reported { .. } | RunEvent::Logged { .. } | RunEvent::Stopped(_) => Vec::new(),
    }
}

/// The lines of an event of a dialogue without a run.
pub fn describe_dialogue_event(event: &RunEvent) -> Vec<ProgressLine> {
    dialogue_lines(None, event)
}

fn repeated_lines(state: &RunState, ask: &AskSummary, lost: u32) -> Vec<ProgressLine> {
    let seat = seat_column(state, ask);
    single_line(
        LineSeverity::Warning,
        format!("{seat}call {lost} got no reply before the run stopped; Plenary repeats it"),
    )
}

fn fallback_lines(
    state: &RunState,
    ask: &AskSummary,
    transport: TransportKind,
    fallback: &TransportFallback,
) -> Vec<ProgressLine> {
    let (seat, TransportFallback { from, reason, .. }) = (seat_column(state, ask), fallback);
    single_line(
        LineSeverity::Warning,
        format!("{seat}uses {transport}, because {from} failed: {reason}"),
    )
}

/// The colour says what the seat thinks, not that it answered: a rejection is never green.
fn stance_severity(stance: Option<OpinionStance>) -> LineSeverity {
    match stance {
        Some(OpinionStance::Reject) => LineSeverity::Warning,
        Some(
            OpinionStance::Approve
            | OpinionStance::Conditional
            | OpinionStance::Abstain
            | OpinionStance::None,
        )
        | None => LineSeverity::Good,
    }
}

/// The line of a parsed reply, with stance and confidence of an opinion.
fn read_lines(
    state: &RunState,
    ask: &AskSummary,
    tone: LineSeverity,
    printed: &str,
    condition: &str,
) -> Vec<ProgressLine> {
    let (seat, time) = (seat_column(state, ask), latency_note(state, ask.id));
    single_line(tone, format!("{seat}{printed}{condition}{time}"))
}

/// Notes that the JSON of a reply was repaired.
pub(crate) fn repair_note(is_repaired: bool) -> &'static str {
    if is_repaired { ", its JSON repaired" } else { "" }
}

fn shortcut_lines(shortcut: &RoundShortcut) -> Vec<ProgressLine> {
    let RoundShortcut { round, triggered, reason, shadow, .. } = shortcut;
    match (triggered, shadow) {
        (false, _) => single_line(LineSeverity::Quiet, format!("R{round} runs: {reason}")),
        (true, false) => {
            single_line(LineSeverity::Warning, format!("R{round} is skipped: {reason}"))
        }
        (true, true) => single_line(
            LineSeverity::Quiet,
            format!("R{round} runs although the rules would skip it (shadow mode): {reason}"),
        ),
    }
}

/// The seat's name, padded to a column.
pub fn seat_column(state: &RunState, ask: &AskSummary) -> String {
    let names = state.plan.seats.iter().map(|seat| seat.name.as_str().len());
    let width = names.max().unwrap_or(0);
    format!("{:<width$}  ", ask.seat.as_str())
}

fn noun(protocols: &Protocols, ask: &AskSummary) -> &'static str {
    protocols.ask_rules(ask.purpose, ask.round).map_or(ask.purpose.name(), |rules| rules.noun)
}

/// The heading of the round that an ask belongs to.
pub fn round_title(protocols: &Protocols, ask: &AskSummary) -> &'static str {
    protocols.ask_rules(ask.purpose, ask.round).map_or(ask.purpose.name(), |rules| rules.title)
}

/// The latency of the reply, in parentheses.
pub(crate) fn latency_note(state: &RunState, ask: u32) -> String {
    let latency = state.find_ask(ask).and_then(|asked| Some(asked.last_reply()?.0.latency_ms));
    latency.map_or_else(String::new, |ms| format!(" ({:.1} s)", ms as f64 / 1_000.0))
}

fn round_lines(state: &RunState, round: u8) -> Vec<ProgressLine> {
    let heard = state.seats_answered_in(round).len();
    let calls = state.all_calls().filter(|call| call.outcome != CallOutcome::InFlight).count();
    let cost = match cost_usd(state) {
        Some(usd) if usd > 0.0 => format!("${usd:.4} so far"),
        Some(_) => "no cost so far".to_owned(),
        None => "cost unknown".to_owned(),
    };
    let text = format!("R{round}: {heard} answered · {calls} calls · {cost}");
    single_line(LineSeverity::Quiet, text)
}

fn failed_call_lines(column: &str, event: &RunEvent) -> Vec<ProgressLine> {
    let RunEvent::CallFailed { error_type, message, gave_up, refused, .. } = event else {
        return Vec::new();
    };
    let (tone, reason) = match (gave_up, refused) {
        (true, _) => (LineSeverity::Bad, format!("{}, absent", call_error_text(*error_type))),
        (false, Some(name)) => (LineSeverity::Quiet, format!("asked again without `{name}`")),
        (false, None) => {
            (LineSeverity::Warning, format!("{}, trying again", call_error_text(*error_type)))
        }
    };
    single_line(tone, format!("{column}{reason}: {message}"))
}

/// What `resume` took again from the configuration.
fn changed_seat_lines(seat: &ExpertSlug, changes: &[SettingChange]) -> Vec<ProgressLine> {
    let list = changes.iter().map(|one| format!("{} {} → {}", one.field, one.from, one.to));
    let list = list.collect::<Vec<_>>().join(", ");
    single_line(LineSeverity::Quiet, format!("{seat} continues with: {list}"))
}
