//! Models that misbehave at random and write the canary into every text except the conclusion.

use std::collections::HashMap;
use std::sync::Mutex;

use plenary::domain::ask::Purpose;
use plenary::domain::conclusion::Field;
use plenary::domain::dice::SplitMix;
use serde_json::{Value, json};

use super::canary::Canary;
use crate::councils::harness::seat_of;
use crate::kit::{Play, Seen, fitting, purpose_of};

/// Each request has its own random generator, so that the order of requests does not matter.
pub(super) struct Manners {
    secret: String,
    canary: Canary,
    asked: Mutex<HashMap<(String, &'static str), u32>>,
}

impl Manners {
    pub(super) fn new(secret: &str, canary: &Canary) -> Self {
        Self { secret: secret.to_owned(), canary: canary.clone(), asked: Mutex::default() }
    }

    pub(super) fn play(&self, seen: &Seen) -> Play {
        let (seat, purpose) = (seat_of(seen), purpose_of(&seen.system));
        let nth = {
            let mut asked = self.asked.lock().unwrap();
            let count = asked.entry((seat.clone(), purpose.name())).or_default();
            *count += 1;
            *count
        };
        let mut dice =
            SplitMix::from_secret(&self.secret, &format!("{seat} {} {nth}", purpose.name()));
        match dice.roll() % 30 {
            0 | 1 => Play::Status(400, Vec::new(), self.error()),
            2 => Play::Status(429, vec![("retry-after", "0".to_owned())], self.error()),
            3..=5 => Play::Reply(format!("PASS it on: {}", self.canary.sentence())),
            6..=8 => Play::Reply(self.canary.put_into(json!({ "summary": 7 })).to_string()),
            _ => Play::Reply(self.said(purpose, seen, &mut dice)),
        }
    }

    fn error(&self) -> String {
        json!({ "error": { "message": self.canary.sentence() } }).to_string()
    }

    fn said(&self, purpose: Purpose, seen: &Seen, dice: &mut SplitMix) -> String {
        match purpose {
            Purpose::Opinion | Purpose::Review | Purpose::Synthesis => {
                self.canary.put_into(richer(purpose, fitting(seen))).to_string()
            }
            Purpose::Conclusion => conclusion(seen, dice).to_string(),
            Purpose::Revision => self.revision(seen, dice).to_string(),
            Purpose::Audit => self.audit(dice),
            Purpose::Restatement
            | Purpose::Other(_)
            | Purpose::Judgement
            | Purpose::CrossReading
            | Purpose::Adjudication => self.canary.sentence(),
        }
    }

    /// The critic must not see its own objections in the second audit either.
    fn audit(&self, dice: &mut SplitMix) -> String {
        let flag = |field: Field| format!("FLAG: {field} - {}", self.canary.sentence());
        match dice.roll() % 5 {
            0 | 1 => "PASS".to_owned(),
            2 => [Field::Recommendation, Field::UnresolvedPoints].map(flag).join("\n"),
            3 => flag(Field::ReviewBy),
            _ => flag(Field::KeyCondition),
        }
    }

    /// The whole conclusion, with the canary in every field without an objection.
    fn revision(&self, seen: &Seen, dice: &mut SplitMix) -> Value {
        let mut whole = conclusion(seen, dice);
        whole["recommendation"] = json!("Go ahead, and stop when it costs more than it brings.");
        let (_, flagged) = seen.user.split_once("to be mended: ").unwrap();
        let (flagged, _) = flagged.split_once(". Everything").unwrap();
        for field in ["recommendation", "key_condition"] {
            if !flagged.contains(field) {
                whole[field] = json!(self.canary.sentence());
            }
        }
        whole
    }
}

/// Fills every list of the document.
fn richer(purpose: Purpose, mut document: Value) -> Value {
    let finding = json!({ "id": "SEC-001", "title": "A gap", "severity": "high", "category": "x",
        "location": "a.rs:1", "description": "There is a gap", "fix_approach": "Close it" });
    match purpose {
        Purpose::Opinion => {
            let risk = json!({ "description": "It breaks", "severity": "high", "mitigation": "x" });
            document["risks"].as_array_mut().unwrap().push(risk);
            document["findings"] = json!([finding]);
        }
        Purpose::Review => {
            let point = json!({ "topic": "Pace", "reviewer_position": "slow",
                "target_position": "fast", "rationale": "it breaks" });
            for target in document["targets"].as_array_mut().unwrap() {
                target["disagreement_points"] = json!([point]);
            }
        }
        Purpose::Synthesis => {
            let letter = document["risks"][0]["mentioned_by"][0].clone();
            let position = json!({ "provider": letter, "position": "slow" });
            document["disagreements"] = json!([{ "topic": "Pace", "positions": [position],
                "resolution": "slow", "resolution_rationale": "it breaks" }]);
            document["alternatives"] = json!(["Wait"]);
        }
        Purpose::Conclusion
        | Purpose::Audit
        | Purpose::Revision
        | Purpose::Restatement
        | Purpose::Other(_)
        | Purpose::Judgement
        | Purpose::CrossReading
        | Purpose::Adjudication => {}
    }
    document
}

/// Sometimes with a dispute that cites the record.
fn conclusion(seen: &Seen, dice: &mut SplitMix) -> Value {
    let mut conclusion = fitting(seen);
    let lines = seen.user.lines().filter(|line| line.starts_with("{\"id\":\"P"));
    let cited: Option<Value> = lines.filter_map(|line| serde_json::from_str(line).ok()).next();
    if let Some(cited) = cited.filter(|_| dice.roll().is_multiple_of(2)) {
        let agent = &cited["agents"][0];
        conclusion["unresolved_points"] = json!([{
            "point": "How fast to go",
            "agents_involved": [agent],
            "claims": [{ "id": cited["id"], "agent": agent, "claim": "Slowly" }],
        }]);
    }
    conclusion
}
