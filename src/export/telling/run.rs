//! Renders run events as progress lines.

use super::{ending, review};
use crate::domain::ask::{Fallback, TransportKind};
use crate::domain::transcript::{CallOutcome, Shortcut, Transcript};
use crate::export::council::{AskSeen, Event, cost_usd};
use crate::protocols::Protocols;

/// The severity of a line, for its mark and colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Heading,
    /// An action of the Principal or another person.
    Aside,
    Good,
    Warning,
    Bad,
    Quiet,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Told {
    pub tone: Tone,
    pub text: String,
}

pub(super) fn told(tone: Tone, text: impl Into<String>) -> Vec<Told> {
    vec![Told { tone, text: text.into() }]
}

/// The lines of an event; empty if it has none.
pub(crate) fn tell(protocols: &Protocols, transcript: &Transcript, event: &Event) -> Vec<Told> {
    match event {
        Event::Opened { seats, rehearsal, .. } => {
            let who = if *rehearsal { "rehearsal panel" } else { "panel" };
            let id = &transcript.opening.dialogue_id;
            told(Tone::Quiet, format!("{id} · {who} of {}", seats.len()))
        }
        Event::Started { start: 1 } => Vec::new(),
        Event::Started { start } => told(Tone::Quiet, format!("taken up again ({start}. start)")),
        Event::Asked { ask, stricter: Some(_) } => {
            told(Tone::Quiet, format!("{}asked again, more strictly", seat(transcript, ask)))
        }
        Event::Asked { .. } | Event::Replied { .. } => Vec::new(),
        Event::CallSent { ask, fallback, repeats, transport, .. } => match (repeats, fallback) {
            (Some(lost), _) => repeated(transcript, ask, *lost),
            (None, Some(from)) => fallen_back(transcript, ask, *transport, from),
            (None, None) => Vec::new(),
        },
        Event::CallFailed { ask, error_type, message, gave_up, .. } => {
            let (tone, end) = match gave_up {
                true => (Tone::Bad, "absent"),
                false => (Tone::Warning, "trying again"),
            };
            told(tone, format!("{}{error_type}, {end}: {message}", seat(transcript, ask)))
        }
        Event::Read { ask, stance, confidence, repaired, truncated } => {
            let opinion = stance.zip(*confidence);
            let said = opinion.map(|(stance, level)| format!("{stance}, confidence {level}"));
            let said = said.unwrap_or_else(|| noun(protocols, ask).to_owned());
            match truncated {
                true => read(transcript, ask, Tone::Warning, &said, ", cut off before its end"),
                false => read(transcript, ask, Tone::Good, &said, mended(*repaired)),
            }
        }
        Event::Unreadable { ask, reason, refusal } => {
            let word = if *refusal { "refused" } else { "could not be read" };
            told(Tone::Warning, format!("{}{word}: {reason}", seat(transcript, ask)))
        }
        Event::NotSent { ask, shortage } => {
            let why = format!("what is left of {} does not cover it", shortage.described());
            told(Tone::Bad, format!("{}not asked: {why}", seat(transcript, ask)))
        }
        Event::Shortcut(shortcut) => tell_shortcut(shortcut),
        Event::RoundHeld { round } => told(Tone::Quiet, held(transcript, *round)),
        Event::Intervened(seen) => ending::intervened(seen),
        Event::Drafted { ask, recommendation, repaired } => {
            ending::drafted(transcript, ask, recommendation, *repaired)
        }
        Event::Audited { ask, look, objections, .. } => {
            ending::audited(transcript, ask, *look, objections)
        }
        Event::Revised { ask, fields, .. } => ending::revised(transcript, ask, fields),
        Event::Concluded { terminal_state, .. } => ending::concluded(*terminal_state),
        Event::Judged { ask, judged } => review::judged(transcript, ask, judged),
        Event::Adjudicated { ask, word } => review::adjudicated(transcript, ask, *word),
        Event::Ruled { verdict, policy, .. } => review::ruled(*verdict, policy),
        Event::Overridden(decision) => review::overridden(decision),
        Event::Reported { .. } | Event::Logged { .. } | Event::Stopped(_) => Vec::new(),
    }
}

fn repeated(transcript: &Transcript, ask: &AskSeen, lost: u32) -> Vec<Told> {
    let seat = seat(transcript, ask);
    told(Tone::Warning, format!("{seat}call {lost} was lost in flight; repeated"))
}

fn fallen_back(
    transcript: &Transcript,
    ask: &AskSeen,
    transport: TransportKind,
    fallback: &Fallback,
) -> Vec<Told> {
    let (seat, Fallback { from, reason, .. }) = (seat(transcript, ask), fallback);
    told(Tone::Warning, format!("{seat}by {transport}, since {from} failed: {reason}"))
}

/// The line of a parsed reply, with stance and confidence of an opinion.
fn read(
    transcript: &Transcript,
    ask: &AskSeen,
    tone: Tone,
    said: &str,
    condition: &str,
) -> Vec<Told> {
    let (seat, time) = (seat(transcript, ask), seconds(transcript, ask.id));
    told(tone, format!("{seat}{said}{condition}{time}"))
}

/// Notes that the JSON of a reply was repaired.
pub(super) fn mended(is_repaired: bool) -> &'static str {
    if is_repaired { ", its JSON mended" } else { "" }
}

fn tell_shortcut(shortcut: &Shortcut) -> Vec<Told> {
    let Shortcut { round, triggered, reason, shadow, .. } = shortcut;
    match (triggered, shadow) {
        (false, _) => told(Tone::Quiet, format!("R{round} is held: {reason}")),
        (true, false) => told(Tone::Warning, format!("R{round} is skipped: {reason}")),
        (true, true) => {
            told(Tone::Quiet, format!("R{round} would be skipped, and is held anyway: {reason}"))
        }
    }
}

/// The seat's name, padded to a column.
pub(crate) fn seat(transcript: &Transcript, ask: &AskSeen) -> String {
    let names = transcript.plan.seats.iter().map(|seat| seat.name.as_str().len());
    let width = names.max().unwrap_or(0);
    format!("{:<width$}  ", ask.seat.as_str())
}

fn noun(protocols: &Protocols, ask: &AskSeen) -> &'static str {
    protocols.ask_rules(ask.purpose, ask.round).map_or(ask.purpose.name(), |rules| rules.noun)
}

/// The heading of the round that an ask belongs to.
pub(crate) fn name_of_round(protocols: &Protocols, ask: &AskSeen) -> &'static str {
    protocols.ask_rules(ask.purpose, ask.round).map_or(ask.purpose.name(), |rules| rules.title)
}

/// The latency of the reply, in parentheses.
pub(super) fn seconds(transcript: &Transcript, ask: u32) -> String {
    let latency = transcript.asked(ask).and_then(|asked| Some(asked.reply()?.0.latency_ms));
    latency.map_or_else(String::new, |ms| format!(" ({:.1} s)", ms as f64 / 1_000.0))
}

fn held(transcript: &Transcript, round: u8) -> String {
    let heard = transcript.heard_in(round).len();
    let calls = transcript.calls().filter(|call| call.outcome != CallOutcome::InFlight).count();
    let cost = match cost_usd(transcript) {
        Some(usd) if usd > 0.0 => format!("${usd:.4} so far"),
        Some(_) => "no cost so far".to_owned(),
        None => "cost unknown".to_owned(),
    };
    format!("R{round}: {heard} heard · {calls} calls · {cost}")
}
