//! Colours and marks of all pages. Every colour comes with a name or a mark of the same meaning.

use anstyle::{AnsiColor, Color, Style};

use crate::model::dialogue::{DialogueStatus, TerminalState};
use crate::model::lifecycle::EntityStatus;
use crate::model::verdict::VerdictType;
use crate::protocols::review::document::ReviewVerdict;
use crate::protocols::review::policy::{FinalVerdict, ReviewDecision};
use crate::protocols::review::types::DeliberatorVerdict;

pub const PLAIN: Style = Style::new();
pub const STRONG: Style = Style::new().bold();
pub const FAINT: Style = Style::new().dimmed();
pub const ID: Style = foreground_style(AnsiColor::Cyan);
pub const GOOD: Style = foreground_style(AnsiColor::Green);
pub const CAUTION: Style = foreground_style(AnsiColor::Yellow);
pub const BAD: Style = foreground_style(AnsiColor::Red);

const fn foreground_style(color: AnsiColor) -> Style {
    Style::new().fg_color(Some(Color::Ansi(color)))
}

/// Mark and colour of an entity status.
pub(crate) fn status_mark(status: EntityStatus) -> (&'static str, Style) {
    match status {
        EntityStatus::Open
        | EntityStatus::Proposed
        | EntityStatus::Cited
        | EntityStatus::Asserted => ("○", PLAIN),
        EntityStatus::Refined | EntityStatus::Amended | EntityStatus::Addressed => ("◐", CAUTION),
        EntityStatus::Resolved
        | EntityStatus::Adopted
        | EntityStatus::Confirmed
        | EntityStatus::Supported => ("●", GOOD),
        EntityStatus::Reopened | EntityStatus::Challenged | EntityStatus::Opposed => ("▲", BAD),
        EntityStatus::Rejected | EntityStatus::Refuted => ("×", BAD),
        EntityStatus::Conceded | EntityStatus::Merged | EntityStatus::Withdrawn => ("–", FAINT),
    }
}

pub(crate) fn dialogue_mark(status: DialogueStatus) -> (&'static str, Style) {
    match status {
        DialogueStatus::Open => ("○", PLAIN),
        DialogueStatus::Converging => ("◐", CAUTION),
        DialogueStatus::Converged => ("●", GOOD),
        DialogueStatus::Abandoned => ("×", BAD),
    }
}

/// Mark and colour of a terminal state; `None` is an unaudited conclusion.
pub fn terminal_state_mark(state: Option<TerminalState>) -> (&'static str, Style) {
    match state {
        Some(TerminalState::Clean) => ("●", GOOD),
        Some(TerminalState::Revised) => ("◐", CAUTION),
        Some(TerminalState::Unconverged) => ("▲", BAD),
        None => ("○", CAUTION),
    }
}

/// The bar beside a verdict: heavy for verdicts that take effect, light for objections.
pub(crate) fn verdict_mark(verdict_type: VerdictType) -> (&'static str, Style) {
    let style = match verdict_type {
        VerdictType::Final => GOOD,
        VerdictType::Interim => ID,
        VerdictType::Minority => CAUTION,
        VerdictType::Dissent => BAD,
    };
    (if verdict_type.takes_effect() { "┃" } else { "│" }, style)
}

/// Mark and colour of a review verdict.
pub fn review_mark(verdict: ReviewVerdict) -> (&'static str, Style) {
    match verdict {
        ReviewVerdict::Ship => ("●", GOOD),
        ReviewVerdict::Revise => ("◐", CAUTION),
        ReviewVerdict::Hold => ("▲", BAD),
        ReviewVerdict::Incomplete => ("×", BAD),
        ReviewVerdict::Skipped => ("–", FAINT),
    }
}

/// Mark and colour of a deliberator's own verdict.
pub(crate) fn leaning_mark(leaning: DeliberatorVerdict) -> (&'static str, Style) {
    review_mark(FinalVerdict::from(ReviewDecision::from(leaning)).into())
}
