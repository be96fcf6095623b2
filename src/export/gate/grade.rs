//! Severity levels of annotations and SARIF results.

use super::concerns::PlacedConcern;
use super::document::{ReviewDocument, ReviewVerdict};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FindingLevel {
    Error,
    Warning,
    Note,
}

impl FindingLevel {
    /// The level of a verdict; `None` for a skipped file.
    pub(super) fn of_verdict(verdict: ReviewVerdict) -> Option<Self> {
        match verdict {
            ReviewVerdict::Hold | ReviewVerdict::Incomplete => Some(Self::Error),
            ReviewVerdict::Revise => Some(Self::Warning),
            ReviewVerdict::Ship => Some(Self::Note),
            ReviewVerdict::Skipped => None,
        }
    }

    /// A blocking concern is an error. If the verdict is SHIP, each concern is one level lower.
    pub(super) fn of_concern(told: &ReviewDocument, concern: &PlacedConcern) -> Self {
        match (told.verdict == ReviewVerdict::Ship, concern.blocking) {
            (false, true) => Self::Error,
            (false, false) | (true, true) => Self::Warning,
            (true, false) => Self::Note,
        }
    }
}
