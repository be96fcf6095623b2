//! Replies of the three seats: the same for a seat and a round, under any letter. The attempt's
//! name selects how the run ends.

use std::time::Duration;

use plenary_core::model::ask::AskPurpose;
use serde_json::{Value, json};

use crate::kit::{ModelRequest, ScriptedReply, purpose_of, valid_reply};

/// Each seat with the text that identifies its opinion, best first, and its stance.
const SEATS: [(&str, &str, &str); 3] = [
    ("ann", "crimson", "approve"),
    ("bob", "emerald", "conditional"),
    ("cid", "cobalt", "approve"),
];

/// The critic's objection and the revised text, by which a second audit is recognised.
const OBJECTION: &str = "FLAG: key_condition - nobody says what going back costs";
const REVISED_TEXT: &str = "Somebody has tried the way back.";

/// Long enough for another process to intervene.
const SLOW_DELAY: Duration = Duration::from_millis(400);

/// Long enough that a random moment often finds a call in flight.
const BRISK_DELAY: Duration = Duration::from_millis(20);

/// The seat of a request.
pub fn seat_of_request(seen: &ModelRequest) -> &str {
    seen.model.trim_start_matches("model-")
}

/// The attempt that sent a request: the first part of the path.
pub fn attempt_of_request(seen: &ModelRequest) -> &str {
    seen.path.split('/').nth(1).unwrap_or_default()
}

/// How a council ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CouncilFinale {
    /// With the chair's report, and no conclusion.
    Report,
    Unaudited,
    Clean,
    Revised,
    Unconverged,
}

impl CouncilFinale {
    pub const ALL: [Self; 5] =
        [Self::Report, Self::Unaudited, Self::Clean, Self::Revised, Self::Unconverged];

    /// The part of the attempt's name that tells the critic how to reply.
    pub fn name_part(self) -> &'static str {
        match self {
            Self::Report => "report",
            Self::Unaudited => "unaudited",
            Self::Clean => "clean",
            Self::Revised => "revised",
            Self::Unconverged => "unconverged",
        }
    }

    pub fn ask_arguments(self) -> &'static [&'static str] {
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
            Self::Clean | Self::Revised | Self::Unconverged => Some(self.name_part()),
        }
    }

    /// Calls without failures: seven in the rounds, and those of the conclusion.
    pub fn call_count(self) -> usize {
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
    pub fn entry_count(self) -> usize {
        let rounds = 1 + 5 + 5 + 2 + 2;
        match self {
            Self::Report => rounds,
            Self::Unaudited | Self::Clean | Self::Revised | Self::Unconverged => {
                rounds + 1 + 2 * (self.call_count() - Self::Report.call_count()) + 1
            }
        }
    }
}

/// The round of a request.
pub fn round_of_request(seen: &ModelRequest) -> u8 {
    match purpose_of(seen) {
        AskPurpose::Restatement
        | AskPurpose::Other(_)
        | AskPurpose::Judgement
        | AskPurpose::CrossReading
        | AskPurpose::Design
        | AskPurpose::Panel
        | AskPurpose::Contribution
        | AskPurpose::Reconciliation
        | AskPurpose::Verdicts
        | AskPurpose::Adjudication => 0,
        AskPurpose::Opinion => 1,
        AskPurpose::PeerReview => 2,
        AskPurpose::Synthesis => 3,
        AskPurpose::Conclusion => 4,
        AskPurpose::Audit if !seen.user.contains(REVISED_TEXT) => 5,
        AskPurpose::Revision => 6,
        AskPurpose::Audit => 7,
    }
}

/// Whether the attempt's name contains a keyword.
fn attempt_contains(seen: &ModelRequest, word: &str) -> bool {
    attempt_of_request(seen).split('.').any(|known| known == word)
}

/// A valid reply. Never replies if the attempt's name contains `opinion-bob`, for the second audit
/// `second-audit-bob`, and so on; replies with a delay if it contains `slow` or `brisk`.
pub fn reply_to(seen: &ModelRequest) -> ScriptedReply {
    let second = if round_of_request(seen) == 7 { "second-" } else { "" };
    let held = format!("{second}{}-{}", purpose_of(seen).name(), seat_of_request(seen));
    let reply = || ScriptedReply::Reply(reply_text(seen));
    if attempt_contains(seen, &held) {
        ScriptedReply::Hang
    } else if attempt_contains(seen, "slow") {
        ScriptedReply::Slow(SLOW_DELAY, Box::new(reply()))
    } else if attempt_contains(seen, "brisk") {
        ScriptedReply::Slow(BRISK_DELAY, Box::new(reply()))
    } else {
        reply()
    }
}

fn reply_text(seen: &ModelRequest) -> String {
    let is_any = |finales: &[CouncilFinale]| {
        finales.iter().any(|finale| attempt_contains(seen, finale.name_part()))
    };
    match round_of_request(seen) {
        5 if is_any(&[CouncilFinale::Revised, CouncilFinale::Unconverged]) => OBJECTION.to_owned(),
        7 if is_any(&[CouncilFinale::Unconverged]) => OBJECTION.to_owned(),
        _ => {
            let document = reply_document(seen);
            // A plain string is not quoted as JSON.
            document.as_str().map_or_else(|| document.to_string(), str::to_owned)
        }
    }
}

fn reply_document(seen: &ModelRequest) -> Value {
    let mut reply = valid_reply(seen);
    let letters = find_letters(&seen.user);
    match purpose_of(seen) {
        AskPurpose::Opinion => {
            let (_, colour, stance) =
                SEATS.iter().find(|(name, ..)| *name == seat_of_request(seen)).unwrap();
            reply["summary"] = json!(format!("The {colour} way, in small steps."));
            reply["stance"] = json!(stance);
        }
        AskPurpose::PeerReview => {
            let target = |(place, letter): (usize, &&str)| {
                let mut target = reply["targets"][0].clone();
                target["letter"] = json!(letter);
                target["rating"] = json!(9 - 2 * place);
                target
            };
            reply["targets"] = letters.iter().enumerate().map(target).collect();
        }
        AskPurpose::Synthesis => {
            let point =
                |letter| json!({ "provider": letter, "key_point": "Steps", "weight": "high" });
            reply["rationale"]["supporting_opinions"] = letters.iter().map(point).collect();
            reply["risks"][0]["mentioned_by"] = json!(letters);
        }
        AskPurpose::Revision => reply["key_condition"] = json!(REVISED_TEXT),
        AskPurpose::Conclusion
        | AskPurpose::Audit
        | AskPurpose::Restatement
        | AskPurpose::Other(_)
        | AskPurpose::Judgement
        | AskPurpose::CrossReading
        | AskPurpose::Design
        | AskPurpose::Panel
        | AskPurpose::Contribution
        | AskPurpose::Reconciliation
        | AskPurpose::Verdicts
        | AskPurpose::Adjudication => {}
    }
    reply
}

/// The letters of the opinions in a text, in the order of the seats.
fn find_letters(text: &str) -> Vec<&str> {
    let letter = |(_, colour, _): &(&str, &str, &str)| {
        let before = &text[..text.find(colour)?];
        let (_, label) = before.rsplit_once(" OPINION ")?;
        label.get(..1)
    };
    SEATS.iter().filter_map(letter).collect()
}
