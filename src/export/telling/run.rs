//! Events in words, one line each.

use super::{ending, review};
use crate::domain::ask::Purpose;
use crate::domain::transcript::{CallOutcome, Shortcut, Transcript};
use crate::export::council::{AskSeen, Event, cost_usd};
use crate::protocols::conclusion::SECOND_AUDIT;

/// How a line is meant, for its mark and colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Heading,
    /// The Principal speaks.
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

/// What an event says to a person; nothing, where it says nothing.
pub(crate) fn tell(transcript: &Transcript, event: &Event) -> Vec<Told> {
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
        Event::CallSent { ask, fallback, repeats, transport, .. } => {
            let again = repeats.map(|call| format!("call {call} was lost in flight; repeated"));
            let back = fallback
                .as_ref()
                .map(|from| format!("by {transport}, since {} failed: {}", from.from, from.reason));
            let said = again.or(back).map(|said| format!("{}{said}", seat(transcript, ask)));
            said.map(|said| told(Tone::Warning, said)).unwrap_or_default()
        }
        Event::CallFailed { ask, error_type, message, gave_up, .. } => {
            let (tone, end) = match gave_up {
                true => (Tone::Bad, "absent"),
                false => (Tone::Warning, "trying again"),
            };
            let seat = seat(transcript, ask);
            told(tone, format!("{seat}{error_type}, {end}: {message}"))
        }
        Event::Read { ask, stance, confidence, repaired } => {
            let mut said = match (stance, confidence) {
                (Some(stance), Some(confidence)) => format!("{stance}, confidence {confidence}"),
                _ => word(ask.purpose).to_owned(),
            };
            if *repaired {
                said.push_str(", its JSON mended");
            }
            let time = seconds(transcript, ask.id);
            told(Tone::Good, format!("{}{said}{time}", seat(transcript, ask)))
        }
        Event::Unreadable { ask, reason, refusal } => {
            let word = if *refusal { "refused" } else { "could not be read" };
            told(Tone::Warning, format!("{}{word}: {reason}", seat(transcript, ask)))
        }
        Event::NotSent { ask, shortage } => {
            let seat = seat(transcript, ask);
            told(
                Tone::Bad,
                format!("{seat}not asked: what is left of {shortage} does not cover it"),
            )
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

/// Which seat a line is about, so padded that what is said of each stands in one column.
pub(crate) fn seat(transcript: &Transcript, ask: &AskSeen) -> String {
    let names = transcript.plan.seats.iter().map(|seat| seat.name.as_str().len());
    let width = names.max().unwrap_or(0);
    format!("{:<width$}  ", ask.seat.as_str())
}

fn word(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Opinion => "opinion",
        Purpose::Review => "review",
        Purpose::Synthesis => "report",
        Purpose::Conclusion => "conclusion",
        Purpose::Audit => "audit",
        Purpose::Revision => "revision",
        Purpose::Restatement => "restatement",
        Purpose::Judgement => "judgement",
        Purpose::CrossReading => "second judgement",
        Purpose::Adjudication => "adjudication",
    }
}

pub(crate) fn name_of_round(ask: &AskSeen) -> &'static str {
    match ask.purpose {
        Purpose::Opinion => "R1 independent opinions",
        Purpose::Review => "R2 cross review",
        Purpose::Synthesis => "R3 chair's report",
        Purpose::Conclusion => "Conclusion",
        Purpose::Audit if ask.round == SECOND_AUDIT => "Blind audit, the second look",
        Purpose::Audit => "Blind audit",
        Purpose::Revision => "Revision",
        Purpose::Restatement => "Restatement",
        Purpose::Judgement => "R1 independent judgements",
        Purpose::CrossReading => "R2 cross-reading",
        Purpose::Adjudication => "Adjudication",
    }
}

/// How long the reply took, in brackets.
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
