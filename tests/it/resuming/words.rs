//! What the three seats say: the same for a seat and a round, whatever letter it has.
//! How it ends stands in the name of the life.

use std::time::Duration;

use plenary::domain::ask::Purpose;
use serde_json::{Value, json};

use crate::kit::{Play, Seen, fitting, purpose_of};

/// Each seat with the word by which its opinion is known, best first, and its stance.
const SEATS: [(&str, &str, &str); 3] = [
    ("ann", "crimson", "approve"),
    ("bob", "emerald", "conditional"),
    ("cid", "cobalt", "approve"),
];

/// What the critic objects to, and what is put in its place; by that a second look is known.
const OBJECTION: &str = "FLAG: key_condition - nobody says what going back costs";
const MENDED: &str = "Somebody has tried the way back.";

/// Long enough for another process to come in between.
const SLOW: Duration = Duration::from_millis(400);

/// Long enough that a random moment often finds a call in flight.
const BRISK: Duration = Duration::from_millis(20);

/// The seat that a request is for.
pub fn seat(seen: &Seen) -> &str {
    seen.model.trim_start_matches("model-")
}

/// The life that sent a request: the first part of the path.
pub fn life(seen: &Seen) -> &str {
    seen.path.split('/').nth(1).unwrap_or_default()
}

/// How a council is to end.
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

    /// By this word in the name of a life the critic knows what to say.
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

    /// As the store and the document name it.
    pub fn terminal_state(self) -> Option<&'static str> {
        match self {
            Self::Report | Self::Unaudited => None,
            Self::Clean | Self::Revised | Self::Unconverged => Some(self.word()),
        }
    }

    /// How many calls it takes when nothing goes wrong: seven in the rounds, and the ending's.
    pub fn calls(self) -> usize {
        match self {
            Self::Report => 7,
            Self::Unaudited => 8,
            Self::Clean => 9,
            Self::Revised | Self::Unconverged => 11,
        }
    }

    /// The entries of its journal: its opening, two rounds of asks with their calls and three
    /// replies that are then held, and a round of one with its verdict; that the ending begins,
    /// two for each of its calls, and that it ended.
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

/// The round that a request belongs to.
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

/// Whether the name of a life holds a word.
fn says(seen: &Seen, word: &str) -> bool {
    life(seen).split('.').any(|known| known == word)
}

/// A fitting reply; nothing ever, where the name of the life says `opinion-bob`, at the second
/// look `second-audit-bob`, and so on; not at once, where it says `slow` or `brisk`.
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
            // A word is no JSON.
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

/// The letters of the opinions that a text shows, in the order of the seats.
fn letters(text: &str) -> Vec<&str> {
    let letter = |(_, colour, _): &(&str, &str, &str)| {
        let before = &text[..text.find(colour)?];
        let (_, label) = before.rsplit_once("BEGIN OPINION ")?;
        label.get(..1)
    };
    SEATS.iter().filter_map(letter).collect()
}
