//! The default panel of a review.

use crate::domain::words::words;

/// Seat name of the adjudicator.
pub const ADJUDICATOR_SEAT: &str = "adjudicator";

words! {
    /// The built-in deliberators, in the order of their seats.
    pub enum BuiltInDeliberator {
        Skeptic = "skeptic",
        VoiceIdentity = "voice_identity",
        Evidence = "evidence",
        Strategy = "strategy",
    }
}

impl BuiltInDeliberator {
    /// Names of the scores that the deliberator gives.
    pub fn score_fields(self) -> [&'static str; 3] {
        match self {
            Self::Skeptic => {
                ["argument_soundness", "evidence_completeness", "objection_pre_emption"]
            }
            Self::VoiceIdentity => ["voice_match", "register_fit", "reader_test"],
            Self::Evidence => {
                ["source_verification", "tier_classification", "confidence_calibration"]
            }
            Self::Strategy => ["goal_fit", "stake_calibration", "opportunity_cost"],
        }
    }
}

/// Score names of a built-in deliberator; `None` for one that an operator defined.
pub fn score_names(deliberator: &str) -> Option<[&'static str; 3]> {
    BuiltInDeliberator::named(deliberator).map(BuiltInDeliberator::score_fields)
}
