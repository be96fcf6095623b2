//! How much weight a pipeline gives to what it is told.

use super::concerns::PlacedConcern;
use super::document::{ReviewDocument, ReviewVerdict};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Grade {
    Error,
    Warning,
    Note,
}

impl Grade {
    /// What a file came to; nothing, where there is nothing to point out.
    pub(super) fn of_verdict(verdict: ReviewVerdict) -> Option<Self> {
        match verdict {
            ReviewVerdict::Hold | ReviewVerdict::Incomplete => Some(Self::Error),
            ReviewVerdict::Revise => Some(Self::Warning),
            ReviewVerdict::Ship => Some(Self::Note),
            ReviewVerdict::Skipped => None,
        }
    }

    /// A concern weighs as much as its deliberator's word; on what goes out, less.
    pub(super) fn of_concern(told: &ReviewDocument, concern: &PlacedConcern) -> Self {
        match (told.verdict == ReviewVerdict::Ship, concern.blocking) {
            (false, true) => Self::Error,
            (false, false) | (true, true) => Self::Warning,
            (true, false) => Self::Note,
        }
    }
}
