//! Models that misbehave at random and write the canary into every text except the conclusion.

use std::collections::HashMap;
use std::sync::Mutex;

use plenary_core::model::ask::AskPurpose;
use plenary_core::model::hash::SeededRandom;
use plenary_core::protocols::conclusion::types::ConclusionField;
use serde_json::{Value, json};

use super::canary::CanaryString;
use crate::councils::harness::seat_of;
use crate::kit::{ModelRequest, ScriptedReply, purpose_of, valid_reply};

/// Each request has its own random generator, so that the order of requests does not matter.
pub(super) struct RandomModels {
    secret: String,
    canary: CanaryString,
    ask_counts: Mutex<HashMap<(String, &'static str), u32>>,
}

impl RandomModels {
    pub(super) fn new(secret: &str, canary: &CanaryString) -> Self {
        Self { secret: secret.to_owned(), canary: canary.clone(), ask_counts: Mutex::default() }
    }

    pub(super) fn choose_reply(&self, seen: &ModelRequest) -> ScriptedReply {
        let (seat, purpose) = (seat_of(seen), purpose_of(seen));
        let nth = {
            let mut asked = self.ask_counts.lock().unwrap();
            let count = asked.entry((seat.clone(), purpose.name())).or_default();
            *count += 1;
            *count
        };
        let mut dice =
            SeededRandom::from_secret(&self.secret, &format!("{seat} {} {nth}", purpose.name()));
        match dice.next_u64() % 30 {
            0 | 1 => ScriptedReply::Status(400, Vec::new(), self.error_body()),
            2 => {
                ScriptedReply::Status(429, vec![("retry-after", "0".to_owned())], self.error_body())
            }
            3..=5 => ScriptedReply::Reply(format!("PASS it on: {}", self.canary.make_sentence())),
            6..=8 => {
                ScriptedReply::Reply(self.canary.insert_into(json!({ "summary": 7 })).to_string())
            }
            _ => ScriptedReply::Reply(self.valid_text(purpose, seen, &mut dice)),
        }
    }

    fn error_body(&self) -> String {
        json!({ "error": { "message": self.canary.make_sentence() } }).to_string()
    }

    fn valid_text(
        &self,
        purpose: AskPurpose,
        seen: &ModelRequest,
        dice: &mut SeededRandom,
    ) -> String {
        match purpose {
            AskPurpose::Opinion | AskPurpose::PeerReview | AskPurpose::Synthesis => {
                self.canary.insert_into(fill_lists(purpose, valid_reply(seen))).to_string()
            }
            AskPurpose::Conclusion => conclusion_reply(seen, dice).to_string(),
            AskPurpose::Revision => self.revision_reply(seen, dice).to_string(),
            AskPurpose::Audit => self.audit_reply(dice),
            AskPurpose::Restatement
            | AskPurpose::Other(_)
            | AskPurpose::Judgement
            | AskPurpose::CrossReading
            | AskPurpose::Design
            | AskPurpose::Panel
            | AskPurpose::Contribution
            | AskPurpose::Reconciliation
            | AskPurpose::Verdicts
            | AskPurpose::Adjudication => self.canary.make_sentence(),
        }
    }

    /// The critic must not see its own objections in the second audit either.
    fn audit_reply(&self, dice: &mut SeededRandom) -> String {
        let flag =
            |field: ConclusionField| format!("FLAG: {field} - {}", self.canary.make_sentence());
        match dice.next_u64() % 5 {
            0 | 1 => "PASS".to_owned(),
            2 => [ConclusionField::Recommendation, ConclusionField::UnresolvedPoints]
                .map(flag)
                .join("\n"),
            3 => flag(ConclusionField::ReviewBy),
            _ => flag(ConclusionField::KeyCondition),
        }
    }

    /// The whole conclusion, with the canary in every field without an objection.
    fn revision_reply(&self, seen: &ModelRequest, dice: &mut SeededRandom) -> Value {
        let mut whole = conclusion_reply(seen, dice);
        whole["recommendation"] = json!("Go ahead, and stop when it costs more than it brings.");
        let (_, flagged) = seen.user.split_once("Flagged fields to fix: ").unwrap();
        let (flagged, _) = flagged.split_once(". Everything").unwrap();
        for field in ["recommendation", "key_condition"] {
            if !flagged.contains(field) {
                whole[field] = json!(self.canary.make_sentence());
            }
        }
        whole
    }
}

/// Fills every list of the document.
fn fill_lists(purpose: AskPurpose, mut document: Value) -> Value {
    let finding = json!({ "id": "SEC-001", "title": "A gap", "severity": "high", "category": "x",
        "location": "a.rs:1", "description": "There is a gap", "fix_approach": "Close it" });
    match purpose {
        AskPurpose::Opinion => {
            let risk = json!({ "description": "It breaks", "severity": "high", "mitigation": "x" });
            document["risks"].as_array_mut().unwrap().push(risk);
            document["findings"] = json!([finding]);
        }
        AskPurpose::PeerReview => {
            let point = json!({ "topic": "Pace", "reviewer_position": "slow",
                "target_position": "fast", "rationale": "it breaks" });
            for target in document["targets"].as_array_mut().unwrap() {
                target["disagreement_points"] = json!([point]);
            }
        }
        AskPurpose::Synthesis => {
            let letter = document["risks"][0]["mentioned_by"][0].clone();
            let position = json!({ "provider": letter, "position": "slow" });
            document["disagreements"] = json!([{ "topic": "Pace", "positions": [position],
                "resolution": "slow", "resolution_rationale": "it breaks" }]);
            document["alternatives"] = json!(["Wait"]);
        }
        AskPurpose::Conclusion
        | AskPurpose::Audit
        | AskPurpose::Revision
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
    document
}

/// Sometimes with a dispute that cites the record.
fn conclusion_reply(seen: &ModelRequest, dice: &mut SeededRandom) -> Value {
    let mut conclusion = valid_reply(seen);
    let lines = seen.user.lines().filter(|line| line.starts_with("{\"id\":\"P"));
    let cited: Option<Value> = lines.filter_map(|line| serde_json::from_str(line).ok()).next();
    if let Some(cited) = cited.filter(|_| dice.next_u64().is_multiple_of(2)) {
        let agent = &cited["agents"][0];
        conclusion["unresolved_points"] = json!([{
            "point": "How fast to go",
            "agents_involved": [agent],
            "claims": [{ "id": cited["id"], "agent": agent, "claim": "Slowly" }],
        }]);
    }
    conclusion
}
