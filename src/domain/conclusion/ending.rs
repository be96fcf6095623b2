//! How the protocol ended, and what became of it.

use serde::{Deserialize, Serialize};

use super::audit::Objection;
use super::text::{Conclusion, Field};
use crate::domain::dialogue::TerminalState;
use crate::domain::ids::ExpertSlug;
use crate::domain::time::Moment;
use crate::domain::words::words;

/// The end of a deliberation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ending {
    /// Nothing, when nobody was to audit it.
    pub terminal_state: Option<TerminalState>,
    /// What is delivered; when unconverged, what was rejected last.
    pub conclusion: Conclusion,
    /// Nothing, when nobody was to audit it.
    pub audit: Option<Trail>,
    pub synthesizer: Author,
    pub critic: Option<Author>,
    /// Nothing, when nothing was revised.
    pub reviser: Option<Author>,
}

/// Which seat wrote something, and the model behind it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Author {
    pub seat: ExpertSlug,
    pub model: String,
    pub family: String,
}

/// What the audit said and what was done about it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trail {
    /// None: it passed at first sight.
    pub objections: Vec<Objection>,
    /// The fields that the reviser was to mend.
    pub revised_fields: Vec<Field>,
    pub second_objections: Vec<Objection>,
    /// What was first presented, where it was revised.
    pub original: Option<Conclusion>,
}

words! {
    /// What became of a conclusion when its time had come.
    pub enum OutcomeWord {
        Held = "held",
        Failed = "failed",
        Mixed = "mixed",
    }
}

/// A person's word on what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    pub outcome: OutcomeWord,
    pub note: Option<String>,
}

/// An ending as the record keeps it, with what became of it, oldest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Concluded {
    pub ending: Ending,
    pub at: Moment,
    pub outcomes: Vec<(Moment, Outcome)>,
}

impl Ending {
    /// What may be relied on; nothing, when it was rejected twice.
    pub fn delivered(&self) -> Option<&Conclusion> {
        let is_rejected = self.terminal_state == Some(TerminalState::Unconverged);
        (!is_rejected).then_some(&self.conclusion)
    }
}
