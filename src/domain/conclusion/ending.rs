//! The result of the conclusion protocol, and its later outcome.

use serde::{Deserialize, Serialize};

use super::audit::AuditObjection;
use super::text::{Conclusion, ConclusionField};
use crate::domain::dialogue::TerminalState;
use crate::domain::ids::ExpertSlug;
use crate::domain::time::Moment;
use crate::domain::words::words;

/// The result of a concluded dialogue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConclusionResult {
    /// `None` if no audit was planned.
    pub terminal_state: Option<TerminalState>,
    /// The delivered conclusion; if unconverged, the one that the critic rejected last.
    pub conclusion: Conclusion,
    /// `None` if no audit was planned.
    pub audit: Option<AuditTrail>,
    pub synthesizer: SeatAuthor,
    pub critic: Option<SeatAuthor>,
    /// `None` if no field was revised.
    pub reviser: Option<SeatAuthor>,
}

/// A seat with the model behind it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeatAuthor {
    pub seat: ExpertSlug,
    pub model: String,
    pub family: String,
}

/// The objections of the audit, and the revision they led to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditTrail {
    /// Empty if the first audit passed.
    pub objections: Vec<AuditObjection>,
    /// The fields that the reviser had to change.
    pub revised_fields: Vec<ConclusionField>,
    pub second_objections: Vec<AuditObjection>,
    /// The first version, if it was revised.
    pub original: Option<Conclusion>,
}

words! {
    /// Whether a conclusion proved right by its review date.
    pub enum OutcomeKind {
        Held = "held",
        Failed = "failed",
        Mixed = "mixed",
    }
}

/// A person's report on how a conclusion turned out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConclusionOutcome {
    pub outcome: OutcomeKind,
    pub note: Option<String>,
}

/// A result as recorded, with its outcomes, oldest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedConclusion {
    pub ending: ConclusionResult,
    pub at: Moment,
    pub outcomes: Vec<(Moment, ConclusionOutcome)>,
}

impl ConclusionResult {
    /// The conclusion a reader may rely on; `None` if the critic rejected it twice.
    pub fn delivered_conclusion(&self) -> Option<&Conclusion> {
        let is_rejected = self.terminal_state == Some(TerminalState::Unconverged);
        (!is_rejected).then_some(&self.conclusion)
    }
}
