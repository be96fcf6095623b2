//! Marks of states: each has a sign and a tone of the same meaning.

use crate::model::dialogue::{DialogueStatus, TerminalState};
use crate::model::lifecycle::EntityStatus;
use crate::protocols::council::types::{OpinionStance, RatingLevel};
use crate::protocols::review::policy::{ReviewDecision, ReviewVerdict};
use crate::protocols::review::types::DeliberatorVerdict;
use crate::report::page::TextTone;

/// A sign and its tone.
pub type StateMark = (&'static str, TextTone);

pub(crate) fn status_mark(status: EntityStatus) -> StateMark {
    match status {
        EntityStatus::Open
        | EntityStatus::Proposed
        | EntityStatus::Cited
        | EntityStatus::Asserted => ("○", TextTone::Plain),
        EntityStatus::Refined | EntityStatus::Amended | EntityStatus::Addressed => {
            ("◐", TextTone::Caution)
        }
        EntityStatus::Resolved
        | EntityStatus::Adopted
        | EntityStatus::Confirmed
        | EntityStatus::Supported => ("●", TextTone::Good),
        EntityStatus::Reopened | EntityStatus::Challenged | EntityStatus::Opposed => {
            ("▲", TextTone::Bad)
        }
        EntityStatus::Rejected | EntityStatus::Refuted => ("×", TextTone::Bad),
        EntityStatus::Conceded | EntityStatus::Merged | EntityStatus::Withdrawn => {
            ("–", TextTone::Faint)
        }
    }
}

pub(crate) fn dialogue_mark(status: DialogueStatus) -> StateMark {
    match status {
        DialogueStatus::Open => ("○", TextTone::Plain),
        DialogueStatus::Converging => ("◐", TextTone::Caution),
        DialogueStatus::Converged => ("●", TextTone::Good),
        DialogueStatus::Abandoned => ("×", TextTone::Bad),
    }
}

/// The mark of a terminal state; `None` is an unaudited conclusion.
pub fn terminal_state_mark(state: Option<TerminalState>) -> StateMark {
    match state {
        Some(TerminalState::Clean) => ("●", TextTone::Good),
        Some(TerminalState::Revised) => ("◐", TextTone::Caution),
        Some(TerminalState::Unconverged) => ("▲", TextTone::Bad),
        None => ("○", TextTone::Caution),
    }
}

pub fn review_mark(verdict: ReviewVerdict) -> StateMark {
    match verdict {
        ReviewVerdict::Ship => ("●", TextTone::Good),
        ReviewVerdict::Revise => ("◐", TextTone::Caution),
        ReviewVerdict::Hold => ("▲", TextTone::Bad),
        ReviewVerdict::Incomplete => ("×", TextTone::Bad),
        ReviewVerdict::Skipped => ("–", TextTone::Faint),
    }
}

/// The mark of a deliberator's own verdict.
pub(crate) fn deliberator_mark(verdict: DeliberatorVerdict) -> StateMark {
    review_mark(ReviewDecision::from(verdict).into())
}

pub(crate) fn stance_mark(stance: OpinionStance) -> StateMark {
    match stance {
        OpinionStance::Approve => ("●", TextTone::Good),
        OpinionStance::Reject => ("▲", TextTone::Bad),
        OpinionStance::Conditional => ("◐", TextTone::Caution),
        OpinionStance::Abstain | OpinionStance::None => ("○", TextTone::Plain),
    }
}

/// A high severity is the most alarming.
pub(crate) fn severity_tone(severity: RatingLevel) -> TextTone {
    match severity {
        RatingLevel::High => TextTone::Bad,
        RatingLevel::Medium => TextTone::Caution,
        RatingLevel::Low => TextTone::Faint,
    }
}

/// A low confidence is the most alarming.
pub(crate) fn confidence_tone(confidence: RatingLevel) -> TextTone {
    match confidence {
        RatingLevel::Low => TextTone::Bad,
        RatingLevel::Medium => TextTone::Caution,
        RatingLevel::High => TextTone::Faint,
    }
}
