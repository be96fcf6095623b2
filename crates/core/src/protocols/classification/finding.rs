//! [`ClassifierFinding`]: what the classifier said of a document, and the tier that follows from it.
//!
//! **Invariant:** the effective tier is never below that of the rules, and a document of which the
//! classifier said nothing usable is reviewed.

use serde::{Deserialize, Serialize};

use crate::model::ids::DialogueId;
use crate::model::text::trim_and_truncate;
use crate::protocols::review::types::ReviewTier;

/// Longer reasons are cut; the whole reply is in the record of the classification.
const REASON_CHARS_MAX: usize = 300;

/// What the classifier said of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassifierFinding {
    /// `None` if the classifier gave no usable answer.
    pub tier: Option<ReviewTier>,
    /// The tier by the rules alone.
    pub rule_tier: ReviewTier,
    /// The classifier's reason, or why there is no answer.
    pub reason: String,
    pub model: String,
    /// The record of the classification.
    pub dialogue_id: DialogueId,
    /// An earlier answer about the same content, so no model was asked now.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub recorded_before: bool,
}

impl ClassifierFinding {
    pub fn new(
        answer: Result<ClassifierAnswer, String>,
        rule_tier: ReviewTier,
        model: &str,
        dialogue_id: DialogueId,
    ) -> Self {
        let (tier, reason) = match answer {
            Ok(ClassifierAnswer { tier, reason }) => (Some(tier), reason),
            Err(reason) => (None, reason),
        };
        let reason = trim_and_truncate(&reason, REASON_CHARS_MAX);
        let model = model.to_owned();
        Self { tier, rule_tier, reason, model, dialogue_id, recorded_before: false }
    }

    /// The tier that applies: the stricter of both, and tier 1 without an answer.
    pub fn effective_tier(&self) -> ReviewTier {
        match self.tier {
            Some(tier) => tier.stricter_of(self.rule_tier),
            None => ReviewTier::Always,
        }
    }

    /// What happened, for the page of a review and for a skipped file.
    pub fn sentence(&self) -> String {
        let Self { tier, rule_tier, reason, model, dialogue_id, .. } = self;
        let id = dialogue_id.hex_digits().unwrap_or(dialogue_id.as_str());
        let (rule, effective) = (rule_tier.tier_number(), self.effective_tier().tier_number());
        let Some(tier) = tier else {
            return format!(
                "the classifier gave no usable answer ({reason}), so the file is reviewed as tier 1 (`plenary show {id}`)"
            );
        };
        let (tier_number, reason) = (tier.tier_number(), reason.trim_end_matches('.'));
        let message = format!(
            "the classifier ({model}) says tier {tier_number}: {reason} (`plenary show {id}`)"
        );
        match (effective == rule, *tier == *rule_tier) {
            (true, true) => message,
            (true, false) => format!("{message}; it cannot lower tier {rule} of the rules"),
            (false, _) => format!("tier {effective} instead of {rule}: {message}"),
        }
    }
}

/// The classifier's reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassifierAnswer {
    pub reason: String,
    pub tier: ReviewTier,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(rule: u8, message: Option<u8>, expected: u8) {
        let tier = |number: u8| ReviewTier::try_from(number).unwrap();
        let answer =
            message.map(|message| ClassifierAnswer { reason: "x".into(), tier: tier(message) });
        let id = "tier-of-x-1a2b3c4d".parse().unwrap();
        let answer = answer.ok_or_else(|| "no answer".to_owned());
        let finding = ClassifierFinding::new(answer, tier(rule), "m", id);
        assert_eq!(finding.effective_tier().tier_number(), expected, "{rule} {message:?}");
    }

    #[test]
    fn the_classifier_raises_a_tier_and_never_lowers_one() {
        for (rule, message, expected) in [
            (2, Some(2), 2),
            (2, Some(3), 3),
            (2, Some(1), 1),
            (3, Some(2), 3),
            (3, Some(3), 3),
            (3, Some(1), 1),
            (1, Some(2), 1),
            (1, Some(3), 1),
        ] {
            check(rule, message, expected);
        }
    }

    #[test]
    fn a_document_without_an_answer_is_reviewed() {
        for rule in [1, 2, 3] {
            check(rule, None, 1);
        }
    }
}
