//! What the three seats say: the same for a seat and a round, whatever letter it has.

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

/// A fitting reply; nothing ever, where the name of the life says `opinion-bob` and so on;
/// not at once, where it says `slow` or `brisk`.
pub fn play(seen: &Seen) -> Play {
    let held = format!("{}-{}", purpose_of(&seen.system).name(), seat(seen));
    let says = |word: &str| life(seen).split('.').any(|known| known == word);
    let reply = || Play::Reply(reply(seen).to_string());
    if says(&held) {
        Play::Hang
    } else if says("slow") {
        Play::Slow(SLOW, Box::new(reply()))
    } else if says("brisk") {
        Play::Slow(BRISK, Box::new(reply()))
    } else {
        reply()
    }
}

fn reply(seen: &Seen) -> Value {
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
        Purpose::Conclusion | Purpose::Audit | Purpose::Revision | Purpose::Restatement => {}
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
