//! Replies of the three seats: the same for a seat and a round, under any letter. The attempt's
//! name selects how the run ends.

use std::time::Duration;

use plenary::domain::ask::Purpose;
use serde_json::{Value, json};

use crate::kit::{Play, Seen, fitting, purpose_of};

/// Each seat with the text that identifies its opinion, best first, and its stance.
const SEATS: [(&str, &str, &str); 3] = [
    ("ann", "crimson", "approve"),
    ("bob", "emerald", "conditional"),
    ("cid", "cobalt", "approve"),
];

/// The critic's objection and the revised text, by which a second audit is recognised.
const OBJECTION: &str = "FLAG: key_condition - nobody says what going back costs";
const MENDED: &str = "Somebody has tried the way back.";

/// Long enough for another process to intervene.
const SLOW: Duration = Duration::from_millis(400);

/// Long enough that a random moment often finds a call in flight.
const BRISK: Duration = Duration::from_millis(20);

/// The seat of a request.
pub fn seat(seen: &Seen) -> &str {
    seen.model.trim_start_matches("model-")
}

/// The attempt that sent a request: the first part of the path.
pub fn life(seen: &Seen) -> &str {
    seen.path.split('/').nth(1).unwrap_or_default()
}

/// How a council ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finale {
    /// With the chair's report, and no conclusion.
    Report,
    Unaudited,
    Clean,
    Revised,
    Unconverged,
}

impl Finale {
    pub const ALL: [Self; 5] =
        [Self::Report, Self::Unaudited, Self::Clean, Self::Revised, Self::Unconverged];

    /// The part of the attempt's name that tells the critic how to reply.
    pub fn word(self) -> &'static str {
        match self {
            Self::Report => "report",
            Self::Unaudited => "unaudited",
            Self::Clean => "clean",
            Self::Revised => "revised",
            Self::Unconverged => "unconverged",
        }
    }

    pub fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::Report => &["--no-conclusion"],
            Self::Unaudited => &["--no-audit"],
            Self::Clean | Self::Revised | Self::Unconverged => &[],
        }
    }

    /// The terminal state as stored and printed.
    pub fn terminal_state(self) -> Option<&'static str> {
        match self {
            Self::Report | Self::Unaudited => None,
            Self::Clean | Self::Revised | Self::Unconverged => Some(self.word()),
        }
    }

    /// Calls without failures: seven in the rounds, and those of the conclusion.
    pub fn calls(self) -> usize {
        match self {
            Self::Report => 7,
            Self::Unaudited => 8,
            Self::Clean => 9,
            Self::Revised | Self::Unconverged => 11,
        }
    }

    /// Journal entries: the opening; two rounds of asks with their calls and three replies; a round
    /// of one with its verdict; the start of the conclusion, two entries for each of its calls, and
    /// its end.
    pub fn entries(self) -> usize {
        let rounds = 1 + 5 + 5 + 2 + 2;
        match self {
            Self::Report => rounds,
            Self::Unaudited | Self::Clean | Self::Revised | Self::Unconverged => {
                rounds + 1 + 2 * (self.calls() - Self::Report.calls()) + 1
            }
        }
    }
}

/// The round of a request.
pub fn round(seen: &Seen) -> u8 {
    match purpose_of(&seen.system) {
        Purpose::Restatement
        | Purpose::Other(_)
        | Purpose::Judgement
        | Purpose::CrossReading
        | Purpose::Adjudication => 0,
        Purpose::Opinion => 1,
        Purpose::Review => 2,
        Purpose::Synthesis => 3,
        Purpose::Conclusion => 4,
        Purpose::Audit if !seen.user.contains(MENDED) => 5,
        Purpose::Revision => 6,
        Purpose::Audit => 7,
    }
}

/// Whether the attempt's name contains a keyword.
fn says(seen: &Seen, word: &str) -> bool {
    life(seen).split('.').any(|known| known == word)
}

/// A valid reply. Never replies if the attempt's name contains `opinion-bob`, for the second audit
/// `second-audit-bob`, and so on; replies with a delay if it contains `slow` or `brisk`.
pub fn play(seen: &Seen) -> Play {
    let second = if round(seen) == 7 { "second-" } else { "" };
    let held = format!("{second}{}-{}", purpose_of(&seen.system).name(), seat(seen));
    let reply = || Play::Reply(reply(seen));
    if says(seen, &held) {
        Play::Hang
    } else if says(seen, "slow") {
        Play::Slow(SLOW, Box::new(reply()))
    } else if says(seen, "brisk") {
        Play::Slow(BRISK, Box::new(reply()))
    } else {
        reply()
    }
}

fn reply(seen: &Seen) -> String {
    let is_any = |finales: &[Finale]| finales.iter().any(|finale| says(seen, finale.word()));
    match round(seen) {
        5 if is_any(&[Finale::Revised, Finale::Unconverged]) => OBJECTION.to_owned(),
        7 if is_any(&[Finale::Unconverged]) => OBJECTION.to_owned(),
        _ => {
            let document = document(seen);
            // A plain string is not quoted as JSON.
            document.as_str().map_or_else(|| document.to_string(), str::to_owned)
        }
    }
}

fn document(seen: &Seen) -> Value {
    let mut reply = fitting(seen);
    let letters = letters(&seen.user);
    match purpose_of(&seen.system) {
        Purpose::Opinion => {
            let (_, colour, stance) = SEATS.iter().find(|(name, ..)| *name == seat(seen)).unwrap();
            reply["summary"] = json!(format!("The {colour} way, in small steps."));
            reply["stance"] = json!(stance);
        }
        Purpose::Review => {
            let target = |(place, letter): (usize, &&str)| {
                let mut target = reply["targets"][0].clone();
                target["letter"] = json!(letter);
                target["rating"] = json!(9 - 2 * place);
                target
            };
            reply["targets"] = letters.iter().enumerate().map(target).collect();
        }
        Purpose::Synthesis => {
            let point =
                |letter| json!({ "provider": letter, "key_point": "Steps", "weight": "high" });
            reply["rationale"]["supporting_opinions"] = letters.iter().map(point).collect();
            reply["risks"][0]["mentioned_by"] = json!(letters);
        }
        Purpose::Revision => reply["key_condition"] = json!(MENDED),
        Purpose::Conclusion
        | Purpose::Audit
        | Purpose::Restatement
        | Purpose::Other(_)
        | Purpose::Judgement
        | Purpose::CrossReading
        | Purpose::Adjudication => {}
    }
    reply
}

/// The letters of the opinions in a text, in the order of the seats.
fn letters(text: &str) -> Vec<&str> {
    let letter = |(_, colour, _): &(&str, &str, &str)| {
        let before = &text[..text.find(colour)?];
        let (_, label) = before.rsplit_once("BEGIN OPINION ")?;
        label.get(..1)
    };
    SEATS.iter().filter_map(letter).collect()
}
