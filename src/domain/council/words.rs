//! Types of a council: string enums, the opinions of round 1 with their tally, and the peer reviews
//! of round 2.

use crate::domain::words::words;

words! {
    /// Kind of question.
    pub enum QuestionMode {
        General = "general",
        Architecture = "architecture",
        Review = "review",
    }
}

words! {
    /// A degree, for severity, confidence, weight and priority.
    pub enum RatingLevel {
        Low = "low",
        Medium = "medium",
        High = "high",
    }
}

impl RatingLevel {
    /// One level lower, for the confidence after a skipped round.
    #[must_use]
    pub fn lower_level(self) -> Self {
        match self {
            Self::Low | Self::Medium => Self::Low,
            Self::High => Self::Medium,
        }
    }
}

words! {
    /// A participant's stance on the question.
    pub enum OpinionStance {
        Approve = "approve",
        Reject = "reject",
        Conditional = "conditional",
        Abstain = "abstain",
        None = "none",
    }
}

words! {
    /// Kind of critique: the review dimensions.
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
    /// A reviewer's stance on a peer's finding.
    pub enum FindingStance {
        Confirm = "confirm",
        Dispute = "dispute",
    }
}

words! {
    /// Outcome in the chair's report.
    pub enum ReportOutcome {
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

/// Lists the valid names in the schema sent to models.
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

schema_of_words!(
    RatingLevel,
    OpinionStance,
    CritiqueType,
    FindingStance,
    ReportOutcome,
    RiskConsensus
);
