//! The closed vocabularies of a council.

use crate::domain::words::words;

words! {
    /// What kind of question it is.
    pub enum Mode {
        General = "general",
        Architecture = "architecture",
        Review = "review",
    }
}

words! {
    /// How much of something: severity, confidence, weight, priority.
    pub enum Level {
        Low = "low",
        Medium = "medium",
        High = "high",
    }
}

impl Level {
    /// One step less sure, as a skipped round makes it.
    #[must_use]
    pub fn lowered(self) -> Self {
        match self {
            Self::Low | Self::Medium => Self::Low,
            Self::High => Self::Medium,
        }
    }
}

words! {
    /// Where an opinion stands towards what was asked.
    pub enum Stance {
        Approve = "approve",
        Reject = "reject",
        Conditional = "conditional",
        Abstain = "abstain",
        None = "none",
    }
}

words! {
    /// What a critique is about: the review dimensions.
    pub enum CritiqueType {
        Error = "error",
        Inconsistency = "inconsistency",
        Omission = "omission",
        Risk = "risk",
        Assumption = "assumption",
        Alternative = "alternative",
    }
}

words! {
    /// What a reviewer holds of a peer's finding.
    pub enum FindingStand {
        Confirm = "confirm",
        Dispute = "dispute",
    }
}

words! {
    /// How the chair's report ends.
    pub enum Outcome {
        Adopt = "adopt",
        Reject = "reject",
        NeedInfo = "need-info",
        Answer = "answer",
    }
}

words! {
    /// Whether the panel agrees on a risk.
    pub enum RiskConsensus {
        Agreed = "agreed",
        Disputed = "disputed",
    }
}

/// Models are told the options of each word.
macro_rules! schema_of_words {
    ($($name:ident),+) => {$(
        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let options: Vec<&str> = Self::ALL.iter().map(|word| word.name()).collect();
                schemars::json_schema!({ "type": "string", "enum": options })
            }
        }
    )+};
}

schema_of_words!(Level, Stance, CritiqueType, FindingStand, Outcome, RiskConsensus);
