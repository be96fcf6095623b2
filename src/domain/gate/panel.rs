//! Who sits at the gate, unless its operator seats others.

use crate::domain::words::words;

/// The seat of the one who decides.
pub const ADJUDICATOR: &str = "adjudicator";

words! {
    /// The deliberators that come with the program, in the order of their seats.
    pub enum BuiltIn {
        Skeptic = "skeptic",
        VoiceIdentity = "voice_identity",
        Evidence = "evidence",
        Strategy = "strategy",
    }
}

impl BuiltIn {
    /// The names of what it scores.
    pub fn scores(self) -> [&'static str; 3] {
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

/// What a deliberator scores; nothing for one that an operator wrote.
pub fn score_names(deliberator: &str) -> Option<[&'static str; 3]> {
    BuiltIn::named(deliberator).map(BuiltIn::scores)
}
