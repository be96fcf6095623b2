//! [`EarlierDecision`]: what was decided on a content before, so that the gate does not judge the same
//! bytes twice.

use serde::Serialize;
use serde_json::json;

use crate::model::hash::canonical_sha256;
use crate::model::ids::DialogueId;
use crate::model::plan::Plan;
use crate::model::time::Moment;
use crate::protocols::review::log_row::{LoggedVerdict, RecordedOverride};
use crate::protocols::review::phrases::end_with_stop;
use crate::protocols::review::policy::ReviewVerdict;
use crate::protocols::review::types::ReviewPlan;

/// A decision on a content that applies to the same content again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EarlierDecision {
    pub verdict_id: String,
    pub dialogue_id: DialogueId,
    /// The decision in effect.
    pub verdict: ReviewVerdict,
    pub at: Moment,
    /// A person's decision; without one the gate decided.
    pub overridden: Option<RecordedOverride>,
}

/// `decided_before` of a review's document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DecisionMark {
    pub verdict_id: String,
    pub at: Moment,
    /// The person, or `gate`.
    pub by: String,
}

/// Who decided when no person did.
const GATE: &str = "gate";

/// The person of an override without a name.
pub const UNNAMED_PERSON: &str = "a person";

impl EarlierDecision {
    /// Finds the newest decision that applies: a person's, or the gate's with the same settings.
    /// `settings` is `None` if only a person's decision applies. A person's decision ends when the
    /// gate judges the content again.
    pub fn find(logged: &[LoggedVerdict], settings: Option<&str>) -> Option<Self> {
        let mut events: Vec<(Moment, &LoggedVerdict, bool)> = Vec::new();
        for row in logged {
            events.push((row.row.ts, row, false));
            events.extend(row.overridden.as_ref().map(|word| (word.at, row, true)));
        }
        events.sort_by_key(|(at, row, is_person)| (*at, row.seq, *is_person));
        let mut is_judged_again = false;
        for (at, row, is_person) in events.into_iter().rev() {
            let gate = row.row.adjudicator.final_verdict;
            let is_same = settings.is_some() && row.row.settings_sha256.as_deref() == settings;
            if is_person && !is_judged_again {
                return Some(Self::new(row, row.effective_verdict(), at, row.overridden.clone()));
            }
            if !is_person && gate.to_decision().is_some() && row.overridden.is_none() {
                if is_same && !row.row.imported {
                    return Some(Self::new(row, gate, at, None));
                }
                is_judged_again = true;
            }
        }
        None
    }

    fn new(
        row: &LoggedVerdict,
        verdict: ReviewVerdict,
        at: Moment,
        overridden: Option<RecordedOverride>,
    ) -> Self {
        let (verdict_id, dialogue_id) = (row.verdict_id.clone(), row.dialogue_id.clone());
        Self { verdict_id, dialogue_id, verdict, at, overridden }
    }

    pub fn to_mark(&self) -> DecisionMark {
        let by = match &self.overridden {
            Some(word) => word.by.clone().unwrap_or_else(|| UNNAMED_PERSON.to_owned()),
            None => GATE.to_owned(),
        };
        DecisionMark { verdict_id: self.verdict_id.clone(), at: self.at, by }
    }

    /// When and by whom the content was decided.
    pub fn sentence(&self) -> String {
        let (verdict, at) = (self.verdict, self.at.format_minute());
        match &self.overridden {
            Some(word) => {
                let by = word.by.as_deref().unwrap_or(UNNAMED_PERSON);
                format!(
                    "Same content: {by} decided {verdict} on {at}: {}",
                    end_with_stop(&word.why)
                )
            }
            None => format!("Same content and settings: the gate decided {verdict} on {at}."),
        }
    }
}

/// Digest of everything that a verdict depends on, besides the content and the earlier verdicts:
/// policy, panel, instructions and reference files.
pub fn settings_digest(plan: &Plan, gate: &ReviewPlan) -> String {
    let seats = plan.seats.iter().map(|seat| {
        json!({ "name": seat.name, "model": seat.model, "family": seat.family, "version": seat.version })
    });
    canonical_sha256(&json!({
        "type": gate.artifact.artifact_type,
        "policy": gate.policy,
        "deliberators": gate.deliberators,
        "seats": seats.collect::<Vec<_>>(),
    }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::protocols::review::policy::ReviewDecision;

    fn moment(minute: u32) -> Moment {
        format!("2026-05-18T10:{minute:02}:00Z").parse().unwrap()
    }

    /// `12 SHIP a` is a verdict at minute 12 with settings `a`; `12 HOLD a > 20 SHIP` is overridden.
    fn logged(text: &str, place: usize) -> LoggedVerdict {
        let (verdict, word) = text.split_once(" > ").map_or((text, None), |(v, w)| (v, Some(w)));
        let parts: Vec<&str> = verdict.split(' ').collect();
        let row = serde_json::from_value(json!({
            "v": 2, "ts": moment(parts[0].parse().unwrap()), "artifact": "post.md", "artifact_type": "post",
            "adjudicator": {"final_verdict": parts[1]}, "settings_sha256": parts[2],
        }))
        .unwrap();
        let overridden = word.map(|word| {
            let (minute, decision) = word.split_once(' ').unwrap();
            let decision: ReviewDecision = decision.parse().unwrap();
            RecordedOverride {
                decision,
                why: "Checked.".to_owned(),
                by: None,
                at: moment(minute.parse().unwrap()),
            }
        });
        let dialogue_id = "talk".parse().unwrap();
        let (seq, verdict_id) = (place as u64, place.to_string());
        LoggedVerdict { seq, verdict_id, dialogue_id, row, line: String::new(), overridden }
    }

    #[track_caller]
    fn check(rows: &[&str], settings: Option<&str>, expected: Option<&str>) {
        let rows: Vec<LoggedVerdict> =
            rows.iter().enumerate().map(|(place, row)| logged(row, place)).collect();
        let found = EarlierDecision::find(&rows, settings);
        let found = found.map(|one| format!("{} {}", one.verdict, one.to_mark().by));
        assert_eq!(found.as_deref(), expected);
    }

    #[test]
    fn the_newest_decision_that_applies_is_taken() {
        check(&[], Some("a"), None);
        check(&["1 SHIP a"], Some("a"), Some("SHIP gate"));
        check(&["1 SHIP a"], Some("b"), None);
        check(&["1 INCOMPLETE a"], Some("a"), None);
        check(&["1 SHIP a", "2 HOLD a"], Some("a"), Some("HOLD gate"));
        check(&["1 SHIP a", "2 HOLD b"], Some("a"), Some("SHIP gate"));
    }

    #[test]
    fn a_person_decides_for_all_settings_until_the_gate_judges_again() {
        check(&["1 HOLD a > 2 SHIP"], Some("b"), Some("SHIP a person"));
        check(&["1 HOLD a > 2 SHIP"], None, Some("SHIP a person"));
        check(&["1 INCOMPLETE a > 2 SHIP"], Some("a"), Some("SHIP a person"));
        check(&["1 HOLD a > 2 SHIP", "3 HOLD a"], Some("a"), Some("HOLD gate"));
        check(&["1 HOLD a > 2 SHIP", "3 HOLD b"], Some("a"), None);
        check(&["1 HOLD a > 9 SHIP", "3 HOLD a"], Some("a"), Some("SHIP a person"));
        check(&["1 HOLD a > 2 SHIP", "3 INCOMPLETE a"], Some("a"), Some("SHIP a person"));
    }
}
